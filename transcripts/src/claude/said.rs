//! What is said: messages of the person and of the model, with the results of calls among them.
//!
//! - One line is one message; the lines of a response share its id and are parts of it.
//! - The usage of a response stands on each of its lines and grows: each is an event, and one request counts once.

use super::envelope;
use super::record::Record;
use super::session::{Session, Turns};
use super::timeline::Sort;
use crate::json::{self, Members};
use crate::profile::{self, THINKING_TOKENS};
use crate::{Report, Source, blocks};
use recount_events::{Body, Content, Format, Message, Role, Stop, Text, Usage};

impl<'a> Session<'a> {
    /// A line of a response.
    pub(super) fn assistant(&mut self, record: &Record<'a>, report: &mut Report) {
        let Some((message, content)) = said(record) else {
            return self.malformed(record, report);
        };
        let unit = self
            .timeline
            .unit(message.text("id").map(|id| format!("message {id}")));
        let (sort, turns) = match content.blocks.is_empty() {
            true => (Sort::Aside, Turns::Never),
            false => (Sort::Said, Turns::Always),
        };
        let place = self.place(record, report);
        self.settle(record, place, unit, turns, report);
        let first = self.events.len();
        self.profile(record, &message);
        let body = Message {
            response: message.text("id").map(|id| Text::plain(&id)),
            model: message.text("model").map(|model| Text::plain(&model)),
            issuer: Some(Text::plain(issuer(&message))),
            stop: stop(record, &message),
            ..Message::of(Role::Assistant, content)
        };
        let event = self.say(record, body);
        let sort = self.in_order(sort, record, report);
        let node = self.timeline.grow(first, event, unit, sort);
        self.stand(record, Some(node));
        self.calls(record, event, node, unit);
        self.usage(record, &message);
    }

    /// A message in the person's role.
    pub(super) fn user(&mut self, record: &Record<'a>, report: &mut Report) {
        if record.members.is_true("isCompactSummary") {
            return self.summary(record, report);
        }
        if record.members.is_true("isVisibleInTranscriptOnly") {
            return self.beside(record, report);
        }
        let Some((_, content)) = said(record) else {
            return self.malformed(record, report);
        };
        let answers = answered(record);
        let sort = sort(record, &content, &answers);
        let place = self.place(record, report);
        let unit = self.unit_of(record, &answers);
        self.settle(record, place, unit, turns(sort, record), report);
        // A message with results is judged when it is taken in, with its results.
        self.note_thinking(record);
        let authored = (answers.is_empty() && injected(record, &content)).then_some(false);
        let event = self.say(
            record,
            Message {
                authored,
                ..Message::of(Role::User, content)
            },
        );
        let sort = self.in_order(sort, record, report);
        let node = self.timeline.grow(event, event, unit, sort);
        self.stand(record, Some(node));
        self.answers(record, event, node, answers);
    }

    /// A message that came after its child is not in the way of what follows the child.
    fn in_order(&mut self, sort: Sort, record: &Record<'a>, report: &mut Report) -> Sort {
        if sort == Sort::Said && self.late(record, report) {
            Sort::Aside
        } else {
            sort
        }
    }

    fn say(&mut self, record: &Record<'a>, message: Message) -> usize {
        self.push(
            Body::Message(message),
            record.source.clone(),
            Some(envelope::besides_content(record)),
        )
    }

    /// A profile stands before the first message of each model, and where thinking begins or ends.
    fn profile(&mut self, record: &Record<'a>, message: &Members<'a>) {
        if record.blocks().iter().any(signed) {
            self.thinking = self.thinking.or(Some(THINKING_TOKENS));
        }
        let Some(model) = message.text("model").filter(|model| !model.is_empty()) else {
            return;
        };
        let wanted = (model, self.thinking);
        let now = self
            .timeline
            .profile
            .and_then(|event| self.profiles.get(&event));
        if now == Some(&wanted) {
            return;
        }
        let body = Body::Profile(profile::anthropic(&wanted.0, issuer(message), wanted.1));
        let source = Source {
            bytes: 0,
            ..record.source.clone()
        };
        let event = self.push(body, source, None);
        self.profiles.insert(event, wanted);
        self.timeline.profile = Some(event);
    }

    /// A prompt tells whether its answer is to think.
    fn note_thinking(&mut self, record: &Record<'a>) {
        let Some(told) = record.members.members("thinkingMetadata") else {
            return;
        };
        let level = told.text("level");
        if let Some(tokens) = told.number("maxThinkingTokens") {
            self.thinking = (tokens > 0).then_some(tokens);
        } else if told.is_true("disabled") || level.as_deref() == Some("none") {
            self.thinking = None;
        } else if level.is_some() {
            self.thinking = Some(THINKING_TOKENS);
        }
    }

    /// Notes the calls of a message.
    fn calls(&mut self, record: &Record<'a>, event: usize, node: usize, unit: usize) {
        for (index, block) in (0u32..).zip(record.blocks()) {
            if block.text("type").as_deref() != Some("tool_use") {
                continue;
            }
            let prompt = block
                .members("input")
                .and_then(|input| input.text("prompt"));
            if prompt.is_some() || matches!(block.text("name").as_deref(), Some("Task" | "Agent")) {
                self.tasks.note(event, prompt);
            }
            let id = block.text("id").unwrap_or_default();
            self.timeline.name_unit(format!("call {id}"), unit);
            self.calls.insert(id.clone(), (event, index));
            self.pairs
                .entry(node)
                .or_default()
                .calls
                .push((id, (event, index)));
        }
    }

    /// Notes the results in a message.
    fn answers(
        &mut self,
        record: &Record<'a>,
        event: usize,
        node: usize,
        answers: Vec<(u32, String)>,
    ) {
        let result = record.members.members("toolUseResult");
        if let (Some(agent), Some((_, id))) = (
            result.and_then(|result| result.text("agentId")),
            answers.first(),
        ) {
            self.agents.insert(agent, id.clone());
        }
        for (index, id) in answers {
            self.results.insert(id.clone(), (event, index));
            self.pairs.entry(node).or_default().results.push(id);
        }
    }

    /// The unit of the call that is answered, else a new one.
    fn unit_of(&mut self, record: &Record<'a>, answers: &[(u32, String)]) -> usize {
        let Some((_, id)) = answers.first() else {
            return self.timeline.unit(None);
        };
        let by_call = self.timeline.known_unit(&format!("call {id}"));
        let source = record.members.text("sourceToolAssistantUUID");
        let by_line = source
            .and_then(|uuid| self.timeline.find(&uuid)?)
            .and_then(|node| self.timeline.node(node));
        let known = by_call.or(by_line.map(|node| node.unit));
        known.unwrap_or_else(|| self.timeline.unit(None))
    }

    fn usage(&mut self, record: &Record<'a>, message: &Members<'a>) {
        let Some(raw) = message.raw("usage") else {
            return;
        };
        let Some(usage) = Members::parse(raw) else {
            return;
        };
        let request = message
            .text("id")
            .or_else(|| record.members.text("requestId"));
        let body = Usage {
            request: request.map(|id| Text::plain(&id)),
            raw: Some(Text::json(raw)),
            ..tokens(&usage)
        };
        self.push(Body::Usage(body), record.source.clone(), None);
    }
}

fn said<'a>(record: &Record<'a>) -> Option<(Members<'a>, Content)> {
    let message = record.message.clone()?;
    let content = blocks::content(message.raw("content"), Format::Anthropic)?;
    Some((message, content))
}

/// Thinking as a provider signs it.
fn signed(block: &Members<'_>) -> bool {
    let filled = |key: &str| block.text(key).is_some_and(|text| !text.is_empty());
    match block.text("type").as_deref() {
        Some("thinking") => filled("signature"),
        Some("redacted_thinking") => filled("data"),
        _ => false,
    }
}

/// Who signs its opaque blocks. Ids of other shapes come from gateways whose signatures the model's maker does not know.
fn issuer(message: &Members<'_>) -> &'static str {
    match message.text("id") {
        Some(id) if id.starts_with("gen-") => "gateway",
        _ => "anthropic",
    }
}

fn stop(record: &Record<'_>, message: &Members<'_>) -> Option<Stop> {
    if record.members.is_true("isAbortedMidStream") {
        return Some(Stop::Interrupted);
    }
    match message.text("stop_reason")?.as_str() {
        "end_turn" | "stop_sequence" => Some(Stop::EndTurn),
        "tool_use" => Some(Stop::ToolUse),
        "max_tokens" => Some(Stop::MaxTokens),
        "pause_turn" => Some(Stop::PauseTurn),
        "refusal" => Some(Stop::Refusal),
        "model_context_window_exceeded" => Some(Stop::WindowExceeded),
        _ => None,
    }
}

/// The results in a message: their blocks and the ids that they answer.
fn answered(record: &Record<'_>) -> Vec<(u32, String)> {
    let blocks = (0u32..).zip(record.blocks());
    let results = blocks.filter(|(_, block)| block.text("type").as_deref() == Some("tool_result"));
    results
        .map(|(index, block)| (index, block.text("tool_use_id").unwrap_or_default()))
        .collect()
}

fn sort(record: &Record<'_>, content: &Content, answers: &[(u32, String)]) -> Sort {
    if !answers.is_empty() {
        Sort::Result
    } else if content.blocks.is_empty() || record.members.is_true("isMeta") {
        Sort::Aside
    } else {
        Sort::Said
    }
}

fn turns(sort: Sort, record: &Record<'_>) -> Turns {
    match sort {
        Sort::Result => Turns::OffBranch,
        Sort::Aside if !record.members.is_true("isMeta") => Turns::Never,
        _ => Turns::Always,
    }
}

/// How text begins that the host puts into the person's role.
const INJECTED: [&str; 6] = [
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<bash-stdout>",
    "<task-notification>",
    "[Request interrupted by user",
    "Caveat: The messages below were generated by the user while running local commands",
];

/// The person did not write it.
fn injected(record: &Record<'_>, content: &Content) -> bool {
    let origin = record
        .members
        .members("origin")
        .and_then(|origin| origin.text("kind"));
    let words = |block: &recount_events::Block| {
        let raw = block.raw.as_str()?;
        json::unescape(raw).or_else(|| Members::parse(raw)?.text("text"))
    };
    let begins = |text: String| INJECTED.iter().any(|start| text.starts_with(start));
    record.members.is_true("isMeta")
        || origin.as_deref() == Some("task-notification")
        || (!content.blocks.is_empty()
            && content
                .blocks
                .iter()
                .all(|block| words(block).is_some_and(begins)))
}

fn tokens(usage: &Members<'_>) -> Usage {
    let count = |key: &str| usage.number(key).unwrap_or(0);
    let made = usage.members("cache_creation");
    let by_life = |key: &str| made.as_ref().and_then(|made| made.number(key));
    let long = by_life("ephemeral_1h_input_tokens").unwrap_or(0);
    // Old lines give only the sum; it was all written for five minutes then.
    let short = by_life("ephemeral_5m_input_tokens");
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write_5m: short
            .unwrap_or_else(|| count("cache_creation_input_tokens").saturating_sub(long)),
        cache_write_1h: long,
        cache_deleted: usage.number("cache_deleted_input_tokens"),
        ..Usage::default()
    }
}
