//! An independent differ: what of a prompt changed since the one before it, and what in the log explains that.
//!
//! - It compares blocks as the provider reads them, without cache marks; the list of causes is its own.

use super::body::{Block, Body, Part};
use serde_json::Value;
use std::collections::BTreeMap;

/// Kinds that exist to change what stands before them.
const CHANGES: [&str; 12] = [
    "profile",
    "system",
    "tools",
    "rendering",
    "replace",
    "delete_range",
    "snip",
    "collapse_commit",
    "compact_commit",
    "rollback",
    "undo",
    "policy",
];

/// A change of what had been sent before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The place of the first block that is no longer there as it was.
    pub block: usize,
    /// What it is of.
    pub part: Option<Part>,
    /// Its bytes, cut short.
    pub was: String,
    /// What stands there now, cut short.
    pub now: String,
    /// The kind of event that explains it, and its position; none: nothing does.
    pub cause: Option<(String, u64)>,
}

/// Compares the prompts of a session as they are issued.
#[derive(Clone, Debug, Default)]
pub struct Differ {
    last: Vec<Block>,
    /// The newest position when the last prompt was issued.
    pub head: Option<u64>,
    /// Texts that stand at the end for as long as they are the newest, with their events.
    tails: Vec<(u64, String)>,
    /// What it said about thinking.
    thinking: Value,
    /// Changes by the kind of their cause; those without one under `nothing`.
    pub causes: BTreeMap<String, u64>,
}

impl Differ {
    /// The first block of the last prompt that is not at the same place in this one.
    #[must_use]
    pub fn changed(&self, body: &Body) -> Option<usize> {
        let blocks = &body.blocks;
        self.last
            .iter()
            .enumerate()
            .find(|(index, block)| {
                blocks
                    .get(*index)
                    .is_none_or(|other| other.bytes != block.bytes)
            })
            .map(|(index, _)| index)
    }

    /// Compares a prompt with the one before; `between` holds the events logged since.
    pub fn next(&mut self, body: &Body, head: u64, between: &[Value]) -> Option<Change> {
        for event in between {
            if event["type"] == "inject" && event["lifetime"] == "tail" {
                let seq = event["seq"].as_u64().unwrap_or(0);
                let blocks = event["content"].as_array().into_iter().flatten();
                let texts = blocks.filter_map(|block| block["text"].as_str());
                let whole = event["content"].as_str();
                self.tails.extend(
                    whole
                        .into_iter()
                        .chain(texts)
                        .map(|text| (seq, text.to_owned())),
                );
            }
        }
        let change = self.changed(body).map(|block| {
            let was = self.last.get(block);
            let cut = |block: Option<&Block>| {
                block.map_or_else(String::new, |block| block.bytes.chars().take(160).collect())
            };
            Change {
                block,
                part: was.map(|block| block.part),
                was: cut(was),
                now: cut(body.blocks.get(block)),
                cause: was
                    .and_then(|was| cause(was, between))
                    .or_else(|| self.thinking_turned(body, between))
                    .or_else(|| self.tail_moved(block)),
            }
        });
        if let Some(change) = &change {
            let kind = change.cause.as_ref().map_or("nothing", |(kind, _)| kind);
            *self.causes.entry(kind.to_owned()).or_default() += 1;
        }
        self.last.clone_from(&body.blocks);
        self.thinking = thinking(body);
        self.head = Some(head);
        change
    }

    /// Injections of lifetime tail stand behind everything, so whatever comes moves them: nothing but such stood from the change on, and
    /// behind the last breakpoint.
    fn tail_moved(&self, place: usize) -> Option<(String, u64)> {
        let rest = self.last.get(place..)?;
        let of = |block: &Block| {
            let words = block.value["text"].as_str()?;
            let found = |(_, content): &&(u64, String)| content == words;
            self.tails.iter().rev().find(found).map(|(seq, _)| *seq)
        };
        let seqs: Option<Vec<u64>> = rest
            .iter()
            .map(|block| of(block).filter(|_| block.mark.is_none()))
            .collect();
        seqs?.first().map(|seq| ("tail".to_owned(), *seq))
    }

    /// Thinking was turned off or on by a response of the open loop that does not begin with it, or by the end of that loop: then all
    /// thinking comes or goes, and nothing else does.
    fn thinking_turned(&self, body: &Body, between: &[Value]) -> Option<(String, u64)> {
        let worded = |blocks: &[Block]| -> Vec<String> {
            let spoken = blocks.iter().filter(|block| {
                // What stands at the end for as long as it is the newest has moved meanwhile.
                let tail = |words: &str| self.tails.iter().any(|(_, text)| text == words);
                !block.value["text"].as_str().is_some_and(tail)
                    && !matches!(
                        block.value["type"].as_str(),
                        Some("thinking" | "redacted_thinking")
                    )
            });
            spoken.map(|block| block.bytes.clone()).collect()
        };
        let (was, now) = (worded(&self.last), worded(&body.blocks));
        let event = between.iter().find(|event| event["type"] == "message")?;
        (self.thinking != thinking(body) && now.starts_with(&was))
            .then(|| ("thinking".to_owned(), event["seq"].as_u64().unwrap_or(0)))
    }
}

/// Whether the request asks for thinking; its budget changes nothing that was said.
fn thinking(body: &Body) -> Value {
    body.params
        .get("thinking")
        .map_or(Value::Null, |thinking| thinking["type"].clone())
}

/// The first event that explains a change of a block.
fn cause(was: &Block, between: &[Value]) -> Option<(String, u64)> {
    let seq = |event: &Value| event["seq"].as_u64().unwrap_or(0);
    let named = between.iter().find_map(|event| {
        let kind = event["type"].as_str()?;
        CHANGES
            .contains(&kind)
            .then(|| (kind.to_owned(), seq(event)))
    });
    if named.is_some() {
        return named;
    }
    // A result that comes late takes the place of what was made up for it.
    let late = between.iter().find(|event| {
        was.answers
            .as_deref()
            .is_some_and(|call| answers(event, call))
    });
    late.map(|event| ("tool_result".to_owned(), seq(event)))
}

/// The event is, or holds, the result of a call.
fn answers(event: &Value, call: &str) -> bool {
    if event["type"] == "tool_result" && event["call"] == call {
        return true;
    }
    let blocks = event["content"].as_array();
    blocks
        .into_iter()
        .flatten()
        .any(|block| block["type"] == "tool_result" && block["tool_use_id"] == call)
}
