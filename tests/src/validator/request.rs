//! A body as the rules look at it: its messages with their blocks and paths.
//!
//! - Nothing is repaired: what has the wrong shape is passed over here and reported by the rule for that shape.

use super::Facts;
use serde_json::{Map, Value};

/// A body with what is allowed.
pub(super) struct Request<'a> {
    /// The whole body.
    pub body: &'a Value,
    /// Its bytes.
    pub bytes: u64,
    /// What is allowed.
    pub facts: &'a Facts,
    /// Its messages, as far as they are objects.
    pub messages: Vec<Turn<'a>>,
}

/// A message.
#[derive(Clone)]
pub(super) struct Turn<'a> {
    /// `messages[i]`.
    pub path: String,
    /// Its role, or nothing.
    pub role: &'a str,
    /// The message.
    pub object: &'a Map<String, Value>,
    /// Its content's blocks; none when it is a string or missing.
    pub blocks: Vec<Block<'a>>,
}

/// A block of a message.
#[derive(Clone)]
pub(super) struct Block<'a> {
    /// `messages[i].content[j]`.
    pub path: String,
    /// Its type, or nothing.
    pub kind: &'a str,
    /// The block.
    pub value: &'a Value,
}

/// A break of a rule.
pub(super) struct Found {
    /// Where.
    pub path: String,
    /// What.
    pub text: String,
}

/// A break of a rule at a path.
pub(super) fn found(path: impl Into<String>, text: impl Into<String>) -> Found {
    Found {
        path: path.into(),
        text: text.into(),
    }
}

impl<'a> Request<'a> {
    /// Looks at a body.
    pub(super) fn new(body: &'a Value, bytes: u64, facts: &'a Facts) -> Self {
        let messages = list(&body["messages"])
            .enumerate()
            .filter_map(|(i, value)| turn(i, value))
            .collect();
        Self {
            body,
            bytes,
            facts,
            messages,
        }
    }

    /// Every block of every message.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block<'a>> {
        self.messages.iter().flat_map(|turn| &turn.blocks)
    }

    /// Every block of every message, and those inside results.
    pub(super) fn all_blocks(&self) -> Vec<Block<'a>> {
        self.blocks()
            .flat_map(|block| std::iter::once(block.clone()).chain(block.inner()))
            .collect()
    }
}

impl<'a> Block<'a> {
    /// The blocks inside a result.
    pub(super) fn inner(&self) -> Vec<Block<'a>> {
        if self.kind == "tool_result" {
            blocks(&format!("{}.content", self.path), &self.value["content"])
        } else {
            Vec::new()
        }
    }

    /// A member's string, or nothing.
    pub(super) fn text(&self, key: &str) -> &'a str {
        self.value[key].as_str().unwrap_or("")
    }
}

/// The items of a list; nothing for anything else.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The blocks of a content.
pub(super) fn blocks<'a>(path: &str, content: &'a Value) -> Vec<Block<'a>> {
    list(content)
        .enumerate()
        .map(|(i, value)| Block {
            path: format!("{path}[{i}]"),
            kind: value["type"].as_str().unwrap_or(""),
            value,
        })
        .collect()
}

fn turn(index: usize, value: &Value) -> Option<Turn<'_>> {
    let path = format!("messages[{index}]");
    let object = value.as_object()?;
    let blocks = blocks(&format!("{path}.content"), &value["content"]);
    Some(Turn {
        path,
        role: value["role"].as_str().unwrap_or(""),
        object,
        blocks,
    })
}

/// The keys of an object that a list does not have, with their paths.
pub(super) fn strangers(path: &str, value: &Value, allowed: &[&str]) -> Vec<Found> {
    let keys = value.as_object().into_iter().flat_map(Map::keys);
    keys.filter(|key| !allowed.contains(&key.as_str()))
        .map(|key| found(path, format!("extra key={key}")))
        .collect()
}

/// White space only, or nothing.
pub(super) fn blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// A name or an id of so many of `[a-zA-Z0-9_-]` at most.
pub(super) fn word(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
