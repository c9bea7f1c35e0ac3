//! What the prompt shows, as Cline's messages: neighbours of one role are one message, as they are on the wire.
//!
//! - Results stand in the user's message behind their calls, as lists of blocks; those of calls that nobody answered are no blocks of it,
//!   since Cline makes them up anew for each request.
//! - Where a range took calls, and nothing but their results stood in the message behind them, Cline keeps an empty message. So does this: the
//!   arithmetic of ranges counts it.
//! - Texts are the original ones; what is shown in their place stands in [`View::edits`].

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_cline::{EditKind, Edits, Message, Text, mentioned};
use recount_events::{Block, BlockId, BlockKind, Body, Content, Form, Format, Seq, Status, escape};
use recount_events::{Text as Raw, raw};
use recount_projections::{Answer, Logged, Said, Shown, Timeline, Unit};

/// The time that edits have which were there before, in ms; those of a run have a later one.
const BEFORE: f64 = 0.0;

/// The timeline as Cline's messages.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The messages that are shown.
    pub messages: Vec<Message>,
    /// What is shown in the place of their blocks.
    pub edits: Edits,
    /// The log's block for each of a message's blocks; none for what nothing can take the place of.
    pub(super) spots: Vec<Vec<Option<BlockId>>>,
    /// The entries of what is shown, by key, and the message that each begins in.
    pub(super) places: Vec<(Seq, usize)>,
}

/// Messages while they are put together.
#[derive(Default)]
struct Draft {
    messages: Vec<(bool, Vec<String>)>,
    spots: Vec<Vec<Option<BlockId>>>,
    places: Vec<(Seq, usize)>,
}

impl View {
    /// The messages of a timeline.
    #[must_use]
    pub fn of(timeline: &Timeline) -> Self {
        let mut draft = Draft::default();
        let mut end = None;
        for (key, shown) in &timeline.shown {
            // What is said while a call runs stands between the call and its result.
            let behind = end.filter(|end| end < key);
            let mut between = behind
                .into_iter()
                .flat_map(|end| timeline.masked.range(end..*key));
            let gap = between.next().is_some();
            draft.take(*key, shown, gap);
            let reach = timeline.units.get(key).map_or(*key, |hull| hull.last);
            end = end.max(Some(reach.max(*key)));
        }
        let mut view = Self {
            messages: draft.messages.iter().map(message).collect(),
            spots: draft.spots,
            places: draft.places,
            edits: Edits::new(),
        };
        view.edits = view.edited(timeline);
        view
    }

    /// What takes the place of blocks now.
    fn edited(&self, timeline: &Timeline) -> Edits {
        let mut edits = Edits::new();
        for (index, (spots, message)) in (0_i64..).zip(self.spots.iter().zip(&self.messages)) {
            let blocks = message.blocks().unwrap_or_default();
            for (at, (spot, block)) in (0_i64..).zip(spots.iter().zip(blocks)) {
                let logged = spot.and_then(|spot| timeline.replaced.get(&spot));
                let Some(Body::Replace(replace)) = logged.map(|logged| &logged.event.body) else {
                    continue;
                };
                let now = replace.with.blocks.first().map(text_of).unwrap_or_default();
                let paths = block.text().and_then(|original| paths(original, &now));
                let kind = match paths {
                    Some(_) => EditKind::MENTION,
                    None => EditKind::READ,
                };
                edits.put((index, at), kind, BEFORE, now, paths);
            }
        }
        edits
    }

    /// The log's block behind a block of a message.
    pub(super) fn spot(&self, message: i64, block: i64) -> Option<BlockId> {
        let spots = self.spots.get(usize::try_from(message).ok()?)?;
        *spots.get(usize::try_from(block).ok()?)?
    }
}

/// What of the mentioned files was replaced, and all of them; none where something else was done to the text.
fn paths(original: &Text, now: &Text) -> Option<(Vec<Text>, Vec<Text>)> {
    let (before, after) = (mentioned(original), mentioned(now));
    let pairs = before.iter().zip(&after);
    let gone = pairs.filter(|(before, after)| after.replaced && !before.replaced);
    let gone: Vec<Text> = gone.map(|(before, _)| before.path.clone()).collect();
    let same = before.len() == after.len() && !gone.is_empty();
    same.then(|| (gone, before.into_iter().map(|file| file.path).collect()))
}

fn message((user, blocks): &(bool, Vec<String>)) -> Message {
    let role = if *user { "user" } else { "assistant" };
    let blocks = blocks.join(",");
    Message::from_json(&format!(r#"{{"role":"{role}","content":[{blocks}]}}"#))
}

impl Draft {
    /// Takes an entry in; `gap`: something is hidden before it.
    fn take(&mut self, key: Seq, shown: &Shown, gap: bool) {
        let user = !matches!(shown, Shown::Unit(_));
        self.open(user, gap);
        self.places
            .push((key, self.messages.len().saturating_sub(1)));
        match shown {
            Shown::Unit(unit) => self.unit(unit),
            Shown::Said(said) => self.said(said),
            Shown::Inject(logged) => {
                if let Body::Inject(inject) = &logged.event.body {
                    // It is the host's: nothing takes its place.
                    for block in &inject.content.blocks {
                        self.push(block_json(block, inject.content.format), None);
                    }
                }
            }
            Shown::Summary(summary) => {
                let words = summary.text.words().unwrap_or_default();
                self.push(said_json(&escape(&words)), None);
            }
        }
    }

    /// The message of a role goes on, or the next one begins.
    fn open(&mut self, user: bool, gap: bool) {
        let same = self.messages.last().is_some_and(|(last, _)| *last == user);
        if same && (user || !gap) {
            return;
        }
        if same {
            self.begin(true);
        }
        self.begin(user);
    }

    fn begin(&mut self, user: bool) {
        self.messages.push((user, Vec::new()));
        self.spots.push(Vec::new());
    }

    fn push(&mut self, json: String, spot: Option<BlockId>) {
        if let (Some((_, blocks)), Some(spots)) = (self.messages.last_mut(), self.spots.last_mut())
        {
            blocks.push(json);
            spots.push(spot);
        }
    }

    fn said(&mut self, said: &Said) {
        if let Some(message) = said.logged.message() {
            self.content(&message.content, said.logged.seq);
        }
    }

    fn unit(&mut self, unit: &Unit) {
        for part in &unit.parts {
            if let Some(message) = part.message() {
                self.content(&message.content, part.seq);
            }
        }
        if unit.calls.is_empty() {
            return;
        }
        self.open(true, false);
        let answers = unit.calls.iter().filter_map(|call| call.answer.as_ref());
        for answer in answers.filter(|answer| answer.status != Status::Unknown) {
            self.push(result_json(answer), Some(answer.block));
        }
    }

    /// The blocks of a content; the results in a user's message stand with their calls.
    fn content(&mut self, content: &Content, seq: Seq) {
        for (index, block) in (0_u32..).zip(&content.blocks) {
            if block.kind != BlockKind::Result {
                self.push(
                    block_json(block, content.format),
                    Some(BlockId { seq, index }),
                );
            }
        }
    }
}

/// What the rules look at in a block; what they do not look at is named only.
fn block_json(block: &Block, format: Format) -> String {
    let own = block.json().filter(|json| json.starts_with('{'));
    match block.kind {
        BlockKind::Text | BlockKind::Image if format == Format::Anthropic && own.is_some() => {
            own.unwrap_or_default().to_string()
        }
        BlockKind::Text => said_json(&text_of(block).to_token()),
        BlockKind::Image => r#"{"type":"image"}"#.to_string(),
        BlockKind::Call => r#"{"type":"tool_use"}"#.to_string(),
        _ => r#"{"type":"other"}"#.to_string(),
    }
}

fn said_json(token: &str) -> String {
    format!(r#"{{"type":"text","text":{token}}}"#)
}

/// A result, with the first of its blocks: no rule looks at another one.
fn result_json(answer: &Answer) -> String {
    let first = match &answer.logged.event.body {
        Body::ToolResult(result) => {
            let block = result.content.blocks.first();
            block.map(|block| block_json(block, result.content.format))
        }
        _ => raw_result(&answer.logged, answer.block).and_then(first_json),
    };
    let first = first.unwrap_or_default();
    format!(r#"{{"type":"tool_result","content":[{first}]}}"#)
}

/// The content of a result among the blocks of a message.
pub(super) fn raw_result(logged: &Logged, block: BlockId) -> Option<&str> {
    let content = &logged.message()?.content;
    let block = content.blocks.get(usize::try_from(block.index).ok()?)?;
    block.result(content.format)?.content
}

fn first_json(content: &str) -> Option<String> {
    let content = content.trim_ascii();
    if content.starts_with('"') {
        return Some(said_json(content));
    }
    Some(raw::elements(content)?.next()?.to_string())
}

/// The words of a text, halves of surrogate pairs included.
fn text_of(block: &Block) -> Text {
    let token = |raw: &Raw| {
        let json = raw.as_str().filter(|_| raw.form == Form::Json)?;
        let token = match json.starts_with('"') {
            true => json,
            false => raw::member(json, "text")?,
        };
        Text::from_token(token)
    };
    let words = || block.words().map(|words: Cow<'_, str>| Text::from(&*words));
    token(&block.raw).or_else(words).unwrap_or_default()
}
