//! A recorded session as steps that a host can live through again.
//!
//! - It comes out of the engine's own import, read back from the log of a directory of its own: what a host appends, in order, with
//!   its times. What only a recorder writes (usages, kept records, folds of the other host) is left out.
//! - Parts of one response and the results between them are one step; no prompt is asked for within it.

use crate::recordings::{Dice, stem};
use recount::{Engine, api};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What happens next.
#[derive(Clone, Debug)]
pub enum Step {
    /// The person or a tool says something.
    Say(Vec<Happening>),
    /// The model answers: a prompt is asked for first.
    Answer {
        /// The response's id.
        response: String,
        /// Its parts, with results between them.
        parts: Vec<Happening>,
    },
    /// The person goes back to a position of the recording.
    Back(u64),
}

/// An event that a host appends.
#[derive(Clone, Debug)]
pub struct Happening {
    /// Where it stood in the recording.
    pub seq: u64,
    /// When, in ms; never earlier than what came before.
    pub at: u64,
    /// The event.
    pub event: Value,
}

/// A recorded session.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its name in tables.
    pub name: String,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// Tools that it calls, by name.
    pub tools: BTreeSet<String>,
    /// It holds thinking.
    pub thinks: bool,
}

/// Members of an event that a host writes; the rest is the recorder's.
const OWN: [&str; 12] = [
    "type", "role", "content", "format", "response", "model", "stop", "authored", "call", "status",
    "bytes", "tool",
];

/// The longest session of a recorded file; none when the file holds nothing that can be relived.
#[must_use]
pub fn read(path: &Path) -> Option<Recording> {
    let dir = tempfile::tempdir().ok()?;
    let engine = crate::host::engine(dir.path()).ok()?;
    let ask = api::Import {
        path: path.to_string_lossy().into_owned(),
        ..Default::default()
    };
    let imported = engine.import(&ask).ok()?;
    let longest = imported.sessions.iter().max_by_key(|line| line.head)?;
    let events = log(&engine, &longest.session)?;
    // A task's file has the same name in every folder; the folder is the task's.
    let folder = path.parent().map(stem).unwrap_or_default();
    let name = match stem(path) {
        name if name.starts_with("api_") => folder,
        name => name,
    };
    let name: String = name.chars().take(12).collect();
    Some(relive(&name, &events))
}

/// All events of a session, as the log shows them.
#[must_use]
pub fn log(engine: &Engine, session: &str) -> Option<Vec<Value>> {
    let session = engine.session(session).ok()?;
    let mut events = Vec::new();
    let mut from = Some(0);
    while let Some(next) = from {
        let page = session.log(next, 1_000).ok()?;
        let read = |event: &serde_json::value::RawValue| serde_json::from_str(event.get()).ok();
        events.extend(page.events.iter().filter_map(|event| read(event)));
        from = page.next;
    }
    Some(events)
}

/// Makes steps of a log.
#[must_use]
pub fn relive(name: &str, events: &[Value]) -> Recording {
    let mut recording = Recording {
        name: name.to_owned(),
        steps: Vec::new(),
        tools: BTreeSet::new(),
        thinks: false,
    };
    let mut now = 0;
    for (index, event) in events.iter().enumerate() {
        let seq = event["seq"].as_u64().unwrap_or(index as u64);
        now = event["at"].as_u64().unwrap_or(0).max(now);
        recording.take(seq, now, event);
    }
    recording.join();
    recording
}

impl Recording {
    fn take(&mut self, seq: u64, at: u64, event: &Value) {
        match event["type"].as_str() {
            Some("message" | "tool_result") => {}
            Some("rollback") => {
                let to = event["resolved"]
                    .as_u64()
                    .or_else(|| event["to"]["seq"].as_u64());
                self.steps.extend(to.map(Step::Back));
                return;
            }
            _ => return,
        }
        let happening = Happening {
            seq,
            at,
            event: own(event),
        };
        for block in event["content"].as_array().into_iter().flatten() {
            if let ("tool_use", Some(name)) =
                (block["type"].as_str().unwrap_or(""), block["name"].as_str())
            {
                self.tools.insert(name.to_owned());
            }
            self.thinks |= block["type"] == "thinking";
        }
        if event["role"] != "assistant" {
            match self.steps.last_mut() {
                Some(Step::Say(said)) => said.push(happening),
                _ => self.steps.push(Step::Say(vec![happening])),
            }
            return;
        }
        let made_up = || format!("response-{seq}");
        let response = event["response"]
            .as_str()
            .map_or_else(made_up, str::to_owned);
        self.steps.push(Step::Answer {
            response,
            parts: vec![happening],
        });
    }

    /// Joins the parts of one response with the results between them.
    fn join(&mut self) {
        let mut joined: Vec<Step> = Vec::new();
        for step in std::mem::take(&mut self.steps) {
            let Step::Answer { response, parts } = &step else {
                joined.push(step);
                continue;
            };
            let same = |step: &Step| matches!(step, Step::Answer { response: other, .. } if other == response);
            let between = |step: &Step| matches!(step, Step::Say(said) if said.iter().all(|one| is_result(&one.event)));
            let place = joined
                .iter()
                .rposition(|step| !between(step))
                .filter(|place| joined.get(*place).is_some_and(same));
            let Some(place) = place else {
                joined.push(step);
                continue;
            };
            let results: Vec<Happening> = joined
                .drain(place + 1..)
                .flat_map(|step| match step {
                    Step::Say(said) => said,
                    _ => Vec::new(),
                })
                .collect();
            if let Some(Step::Answer { parts: first, .. }) = joined.last_mut() {
                first.extend(results);
                first.extend(parts.iter().cloned());
            }
        }
        self.steps = joined;
    }

    /// Responses in it.
    #[must_use]
    pub fn answers(&self) -> usize {
        let answers = self.steps.iter();
        answers
            .filter(|step| matches!(step, Step::Answer { .. }))
            .count()
    }

    /// The first so many steps.
    #[must_use]
    pub fn shortened(&self, steps: usize) -> Self {
        let mut short = self.clone();
        short.steps.truncate(steps);
        short
    }

    /// One recording behind another, as a day of work in one session.
    #[must_use]
    pub fn followed_by(&self, next: &Self) -> Self {
        let mut both = self.clone();
        let last = |steps: &[Step]| {
            steps.iter().rev().find_map(|step| match step {
                Step::Say(said) => said.last().map(|one| one.at),
                Step::Answer { parts, .. } => parts.last().map(|one| one.at),
                Step::Back(_) => None,
            })
        };
        let end = last(&self.steps).unwrap_or(0);
        let begin = next.steps.iter().find_map(|step| match step {
            Step::Say(said) => said.first().map(|one| one.at),
            Step::Answer { parts, .. } => parts.first().map(|one| one.at),
            Step::Back(_) => None,
        });
        let begin = begin.unwrap_or(0);
        // Positions of the second stand behind all of the first.
        let base = 1_000_000;
        let moved = |one: &Happening| Happening {
            seq: one.seq + base,
            at: end + 60_000 + one.at.saturating_sub(begin),
            event: one.event.clone(),
        };
        both.steps.extend(next.steps.iter().map(|step| match step {
            Step::Say(said) => Step::Say(said.iter().map(moved).collect()),
            Step::Answer { response, parts } => Step::Answer {
                response: format!("{response}-b"),
                parts: parts.iter().map(moved).collect(),
            },
            Step::Back(to) => Step::Back(to + base),
        }));
        both.name = format!("{}+{}", self.name, next.name);
        both.tools.extend(next.tools.iter().cloned());
        both.thinks |= next.thinks;
        both
    }

    /// Tools that such a host would declare: descriptions and schemas of a realistic length, the same for the same recording.
    #[must_use]
    pub fn declared(&self) -> Vec<Value> {
        let mut dice = Dice::new(&format!("tools {}", self.name));
        let inputs = self.inputs();
        self.tools
            .iter()
            .map(|name| {
                let words = prose(&mut dice, 40);
                let given = inputs.get(name).cloned().unwrap_or_default();
                let properties: Map<String, Value> = given
                    .into_iter()
                    .map(|input| {
                        let about = prose(&mut dice, 8);
                        (input, json!({"description": about}))
                    })
                    .collect();
                json!({"name": name, "description": words, "input_schema": {"type": "object", "properties": properties}})
            })
            .collect()
    }

    /// Names of the inputs that each tool was called with.
    fn inputs(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let parts = self.steps.iter().filter_map(|step| match step {
            Step::Answer { parts, .. } => Some(parts),
            _ => None,
        });
        for block in parts
            .flatten()
            .filter_map(|one| one.event["content"].as_array())
            .flatten()
        {
            if let (Some(name), Some(input)) = (block["name"].as_str(), block["input"].as_object())
            {
                let known = found.entry(name.to_owned()).or_default();
                known.extend(input.keys().cloned());
            }
        }
        found
    }
}

/// Sentences of a fixed stock of words.
#[must_use]
pub fn prose(dice: &mut Dice, words: u64) -> String {
    const STOCK: [&str; 24] = [
        "the", "file", "reads", "and", "writes", "a", "project", "with", "care", "where", "tests",
        "show", "what", "changes", "before", "answer", "never", "without", "asking", "person",
        "paths", "are", "absolute", "always",
    ];
    let mut text = String::new();
    for number in 0..words {
        let word = usize::try_from(dice.below(STOCK.len() as u64))
            .ok()
            .and_then(|index| STOCK.get(index))
            .unwrap_or(&"and");
        text.push_str(word);
        text.push_str(if number % 11 == 10 { ". " } else { " " });
    }
    text.trim_end().to_owned()
}

/// The event with only what a host writes.
fn own(event: &Value) -> Value {
    let mut kept = Map::new();
    for name in OWN {
        if let Some(value) = event.get(name).filter(|value| !value.is_null()) {
            kept.insert(name.to_owned(), value.clone());
        }
    }
    if !kept.contains_key("call")
        && let Some(block) = event.get("block")
    {
        kept.insert("block".to_owned(), block.clone());
    }
    Value::Object(kept)
}

/// The event holds results and nothing else.
#[must_use]
pub(super) fn is_result(event: &Value) -> bool {
    if event["type"] == "tool_result" {
        return true;
    }
    let blocks = event["content"].as_array();
    blocks.is_some_and(|blocks| {
        !blocks.is_empty() && blocks.iter().all(|block| block["type"] == "tool_result")
    })
}
