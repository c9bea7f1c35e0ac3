//! A short session under a small window: moves of a host in any order, against the same provider.
//!
//! - Where a run relives what people did, a drill does what nobody would: refusals that are lies, summaries that come late or never,
//!   undone folds, folds of its own, events of the generator in between.

mod judge;

use super::body::Body;
use super::line::Line;
use super::provider::{Provider, Reply};
use super::recording::prose;
use super::setup::Setup;
use super::summary;
use crate::generate::{KINDS, Op};
use crate::recordings::Dice;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How often a prompt is asked for before the drill gives up on an answer.
const ATTEMPTS: usize = 12;

/// What a host does next.
#[derive(Clone, Copy, Debug)]
pub enum Move {
    /// The person writes so many words.
    Say(u16),
    /// A prompt is asked for and sent; the model answers with so many words and so many calls.
    Ask(u16, u8),
    /// Every open call gets a result of so many words.
    Results(u16),
    /// The person compacts; without a model, or with one that answers.
    Compact(bool),
    /// Summaries are answered only when the session waits for them (true), or at once (false).
    Late(bool),
    /// What is pending is given up.
    Abandon,
    /// The provider refuses what it could have taken.
    Lie,
    /// Back by so many turns.
    Back(u8),
    /// One of the last undoable events is undone.
    Undo(u8),
    /// So many minutes pass.
    Idle(u8),
    /// The host stages a span for collapsing.
    Stage(u8),
    /// An event of the generator.
    Event(Op),
}

/// Kinds of the generator that a drill hands in: what makes deep states, without what sets windows or speaks for the provider.
const HANDED: [&str; 12] = [
    "message",
    "tool_result",
    "inject",
    "replace",
    "delete_range",
    "snip",
    "collapse_stage",
    "collapse_commit",
    "compact_commit",
    "undo",
    "memory",
    "todo",
];

/// A drill in progress.
#[derive(Debug)]
pub struct Drill {
    /// The engine.
    pub line: Line,
    /// The provider.
    pub provider: Provider,
    /// What must not be.
    pub defects: Vec<String>,
    /// What happened, by name: moves, outcomes, events.
    pub census: BTreeMap<String, u64>,
    /// The log so far.
    pub log: Vec<Value>,
    setup: Setup,
    dice: Dice,
    now: u64,
    late: bool,
    answered: u64,
    names: u64,
    /// Compactions that were committed, by position, with the tokens shown just before and just after.
    pub commits: Vec<(u64, u64, u64)>,
}

impl Drill {
    /// Begins a session.
    ///
    /// # Errors
    /// In words.
    pub fn new(setup: Setup) -> Result<Self, String> {
        let line = Line::simulated("drill", None)?;
        let mut drill = Self {
            line,
            provider: Provider::new(setup.traits(), &setup.seed),
            defects: Vec::new(),
            census: BTreeMap::new(),
            log: Vec::new(),
            dice: Dice::new(&setup.seed),
            setup,
            now: 1_700_000_000_000,
            late: false,
            answered: 0,
            names: 0,
            commits: Vec::new(),
        };
        let ask = json!({
            "create": true,
            "profile": drill.setup.profile(false),
            "policy": drill.setup.policy(),
            "at": drill.now,
        });
        drill.call("v1.session.open", ask);
        let tools = json!([{"name": "read", "description": "reads a file", "input_schema": {"type": "object"}}]);
        drill.append(json!({"type": "system", "content": "Be brief."}));
        drill.append(json!({"type": "tools", "tools": tools}));
        drill.follow();
        Ok(drill)
    }

    /// Does a move, and looks at what was logged.
    pub fn step(&mut self, step: Move) {
        self.now += 1_000;
        match step {
            Move::Say(words) => self.say(words),
            Move::Ask(words, calls) => self.ask(words, calls, false),
            Move::Lie => self.ask(20, 0, true),
            Move::Results(words) => self.results(words),
            Move::Compact(model_free) => self.compact(model_free),
            Move::Late(late) => self.late = late,
            Move::Abandon => self.abandon(),
            Move::Back(turns) => {
                let ask = json!({"to": {"turns": 1 + turns % 3}, "at": self.now});
                self.call("v1.session.rollback", ask);
            }
            Move::Undo(number) => self.undo(number),
            Move::Idle(minutes) => self.now += u64::from(minutes) * 60_000,
            Move::Stage(number) => self.stage(number),
            Move::Event(op) => self.hand(op),
        }
        self.follow();
    }

    fn count(&mut self, name: &str) {
        *self.census.entry(name.to_owned()).or_default() += 1;
    }

    fn call(&mut self, method: &'static str, params: Value) -> Option<Value> {
        match self.line.call(method, params) {
            Ok(answer) => Some(answer),
            Err(refused) => {
                if !matches!(
                    refused.kind.as_str(),
                    "Rejected" | "NotFound" | "Invalid" | "Conflict"
                ) {
                    self.defects.push(format!("{refused:?}"));
                }
                if method == "v1.session.prepare" {
                    self.defects.push(format!("{refused:?}"));
                }
                let short = method.trim_start_matches("v1.session.");
                self.count(&format!("{short} {}", refused.kind));
                None
            }
        }
    }

    fn append(&mut self, mut event: Value) -> Option<Value> {
        if let Some(object) = event.as_object_mut() {
            object.insert("at".to_owned(), json!(self.now));
        }
        self.call("v1.session.append", json!({"events": [event]}))
    }

    fn say(&mut self, words: u16) {
        let text = prose(&mut self.dice, u64::from(words) + 1);
        self.append(json!({"type": "message", "role": "user", "content": text}));
    }

    fn results(&mut self, words: u16) {
        let text = prose(&mut self.dice, u64::from(words) + 1);
        let status = self.call("v1.session.project", json!({}));
        let open = status.map(|status| status["waiting"]["calls"].clone());
        for block in open
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let event = json!({"type": "tool_result", "block": block, "content": text});
            self.append(event);
        }
    }

    fn ask(&mut self, words: u16, calls: u8, lie: bool) {
        let mut lie = lie;
        for _ in 0..ATTEMPTS {
            self.now += 1;
            let Some(prepared) =
                self.call("v1.session.prepare", json!({"now": self.now, "heal": true}))
            else {
                return;
            };
            let outcome = prepared["outcome"].as_str().unwrap_or("?").to_owned();
            self.count(&outcome);
            if (!self.late || outcome == "waiting") && self.act(&prepared["actions"]) {
                continue;
            }
            if outcome != "ready" {
                if outcome == "impossible" || outcome == "blocked" {
                    self.stuck(&prepared);
                }
                return;
            }
            match self.send(prepared, words, calls, std::mem::take(&mut lie)) {
                Some(()) => return,
                None => continue,
            }
        }
        self.defects
            .push(format!("no answer after {ATTEMPTS} prompts"));
    }

    fn send(&mut self, mut prepared: Value, words: u16, calls: u8, mut lie: bool) -> Option<()> {
        for _ in 0..ATTEMPTS {
            let number = self.line.next_issued().saturating_sub(1);
            let text = prepared["request"]["body"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let reply = self.provider.send(&text, self.now);
            let refusal = match reply {
                Reply::Answered { .. } if lie => {
                    lie = false;
                    // Without counts: with some, it would be a fact that the meter has to believe.
                    json!({"status": 400, "body": "prompt is too long"})
                }
                Reply::Answered { account, deleted } => {
                    self.answered += 1;
                    self.count("answered");
                    self.answer(number, words, calls);
                    let mut usage = Provider::usage(&account, deleted, 10);
                    if let Some(object) = usage.as_object_mut() {
                        object.insert("type".to_owned(), json!("usage"));
                        object.insert("issued".to_owned(), json!(format!("@issued:{number}")));
                        object.insert(
                            "request".to_owned(),
                            json!(format!("answer-{}", self.names)),
                        );
                    }
                    self.append(usage);
                    return Some(());
                }
                // Blocks that only their own provider knows come from the generator; nothing else is excused.
                Reply::Invalid(violations) => {
                    self.count("invalid");
                    let own = violations
                        .iter()
                        .all(|one| matches!(one.rule, "block-kind" | "part-kind"));
                    if !own {
                        self.defects
                            .push(format!("invalid request: {:?}", violations.first()));
                    }
                    return Some(());
                }
                Reply::Refused(refusal) => {
                    self.count("refused");
                    self.judge(&text, &prepared);
                    refusal.error
                }
            };
            self.now += 1;
            let ask =
                json!({"now": self.now, "error": refusal, "issued": format!("@issued:{number}")});
            let answer = self.call("v1.session.overflowed", ask)?;
            self.count(&format!(
                "overflowed {}",
                answer["outcome"].as_str().unwrap_or("?")
            ));
            match answer["outcome"].as_str() {
                Some("retry") => prepared = answer["retry"].clone(),
                Some("summarise") => {
                    self.summarise(&answer["compaction"], &answer["requests"]);
                    return None;
                }
                _ => return Some(()),
            }
        }
        self.defects
            .push(format!("refused {ATTEMPTS} times in a row"));
        Some(())
    }

    fn answer(&mut self, number: usize, words: u16, calls: u8) {
        self.names += 1;
        let text = prose(&mut self.dice, u64::from(words) + 1);
        let mut content = vec![json!({"type": "text", "text": text})];
        for call in 0..calls % 3 {
            let id = format!("toolu_{}_{call}", self.names);
            let path = format!("file{}.txt", self.dice.below(4));
            content.push(
                json!({"type": "tool_use", "id": id, "name": "read", "input": {"file_path": path}}),
            );
        }
        let event = json!({
            "type": "message", "role": "assistant", "content": content,
            "response": format!("answer-{}", self.names), "issued": format!("@issued:{number}"),
        });
        self.append(event);
    }

    fn act(&mut self, actions: &Value) -> bool {
        let mut changed = false;
        // Its other chunks were answered with the first: an answer names what is still open.
        let mut answered: Vec<&Value> = Vec::new();
        for action in actions.as_array().into_iter().flatten() {
            if action["kind"] == "summarise" {
                if answered.contains(&&action["compaction"]) {
                    continue;
                }
                answered.push(&action["compaction"]);
                let request = json!([{"chunk": action["chunk"], "request": action["request"]}]);
                self.summarise(&action["compaction"], &request);
                changed = true;
            } else {
                self.call(
                    "v1.session.done",
                    json!({"action": action["id"], "now": self.now}),
                );
            }
        }
        changed
    }

    fn summarise(&mut self, compaction: &Value, requests: &Value) {
        let mut open: Vec<Value> = requests.as_array().cloned().unwrap_or_default();
        for _ in 0..ATTEMPTS {
            let Some(one) = open.first().cloned() else {
                return;
            };
            self.now += 1;
            let text = one["request"]["body"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let mut ask = json!({"compaction": compaction, "chunk": one["chunk"], "now": self.now});
            match (
                self.provider.send(&text, self.now),
                Body::parse(self.setup.wire, &text),
            ) {
                (Reply::Answered { account, deleted }, Ok(body)) => {
                    let written = self.provider.summarise(&body);
                    if written.fault == Some(summary::Fault::Overloaded) {
                        ask["error"] = json!({"status": 529, "body": "overloaded_error"});
                    } else {
                        ask["text"] = json!(written.text);
                        ask["stop"] = json!(written.stop);
                        ask["usage"] = Provider::usage(&account, deleted, 100);
                    }
                }
                (Reply::Refused(refusal), _) => ask["error"] = refusal.error,
                (reply, _) => {
                    self.count("invalid summary request");
                    if let Reply::Invalid(violations) = reply
                        && !violations
                            .iter()
                            .all(|one| matches!(one.rule, "block-kind" | "part-kind"))
                    {
                        self.defects.push(format!(
                            "invalid request for a summary: {:?}",
                            violations.first()
                        ));
                    }
                    ask["error"] = json!("invalid_request_error");
                }
            }
            let Some(answer) = self.call("v1.session.summarised", ask) else {
                return;
            };
            self.count(&format!(
                "summarised {}",
                answer["outcome"].as_str().unwrap_or("?")
            ));
            match answer["outcome"].as_str() {
                Some("next" | "retry") => {
                    open = answer["requests"].as_array().cloned().unwrap_or_default();
                }
                _ => return,
            }
        }
        self.defects.push(format!(
            "{compaction} was not done after {ATTEMPTS} answers"
        ));
    }

    fn compact(&mut self, model_free: bool) {
        let ask = json!({"now": self.now, "model_free": model_free});
        let Some(answer) = self.call("v1.session.compact", ask) else {
            return;
        };
        self.count(&format!(
            "compact {}",
            answer["outcome"].as_str().unwrap_or("?")
        ));
        if !self.late {
            self.summarise(&answer["compaction"], &answer["requests"]);
        }
    }

    fn abandon(&mut self) {
        let pending = self.call("v1.session.status", json!({}));
        let pending = pending.and_then(|status| status["pending"][0].as_str().map(str::to_owned));
        if let Some(compaction) = pending {
            let ask =
                json!({"compaction": compaction, "reason": "the person said so", "now": self.now});
            self.call("v1.session.abandon", ask);
        }
    }

    fn undo(&mut self, number: u8) {
        let undoable = [
            "compact_commit",
            "collapse_commit",
            "replace",
            "snip",
            "rollback",
            "undo",
            "inject",
        ];
        let recent: Vec<u64> = self
            .log
            .iter()
            .rev()
            .filter(|event| {
                event["type"]
                    .as_str()
                    .is_some_and(|kind| undoable.contains(&kind))
            })
            .filter_map(|event| event["seq"].as_u64())
            .take(4)
            .collect();
        if let Some(event) = recent.get(usize::from(number) % recent.len().max(1)) {
            self.call("v1.session.undo", json!({"event": event, "at": self.now}));
        }
    }

    /// Stages a whole turn: from an authored message to what stands before the next one.
    fn stage(&mut self, number: u8) {
        let content =
            |event: &&Value| matches!(event["type"].as_str(), Some("message" | "tool_result"));
        let seq = |event: &Value| event["seq"].as_u64();
        let said: Vec<&Value> = self.log.iter().filter(content).collect();
        let turns: Vec<usize> = said
            .iter()
            .enumerate()
            .filter(|(_, event)| event["role"] == "user" && event["content"].is_string())
            .map(|(index, _)| index)
            .collect();
        let pick = usize::from(number) % turns.len().max(2).saturating_sub(1);
        let (first, next) = (turns.get(pick), turns.get(pick + 1));
        let span = first.zip(next).and_then(|(first, next)| {
            let last = said.get(next.checked_sub(1)?)?;
            Some((seq(said.get(*first)?)?, seq(last)?))
        });
        if let Some((first, last)) = span {
            self.names += 1;
            let id = format!("span-{}", self.names);
            self.append(json!({"type": "collapse_stage", "id": id, "first": first, "last": last, "summary": "they talked"}));
        }
    }

    fn hand(&mut self, op: Op) {
        let handed = KINDS
            .get(op.kind)
            .is_some_and(|(kind, _, _)| HANDED.contains(kind));
        if !handed {
            return;
        }
        let mut host = crate::generate::Host::new();
        host.tidy = true;
        host.log.clone_from(&self.log);
        let given = host.event(op);
        let kind = given.value["type"].as_str().unwrap_or("?").to_owned();
        let mut event = given.value;
        if let Some(object) = event.as_object_mut() {
            object.shift_remove("because");
        }
        if self.append(event).is_some() {
            self.count(&format!("handed {kind}"));
        }
    }
}
