//! A message of Cline's history, beside its JSON as it was given.

use crate::block::{Block, with_member};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use recount_events::raw;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person, or the tools.
    User,
    /// The model.
    Assistant,
    /// Anything else that stands there.
    Other,
}

/// A message; cloning shares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    raw: Arc<str>,
    role: Role,
    /// None: the content is no list, most likely a string.
    blocks: Option<Arc<[Block]>>,
}

impl Message {
    /// Reads a message; its JSON is kept as it is, unknown keys included.
    #[must_use]
    pub fn from_json(json: &str) -> Message {
        let json = json.trim_ascii();
        let role = match raw::member_words(json, "role").as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => Role::Other,
        };
        let blocks = raw::member(json, "content")
            .and_then(raw::elements)
            .map(|elements| elements.map(Block::from_json).collect());
        Message {
            raw: json.into(),
            role,
            blocks,
        }
    }

    /// Reads a list of messages; `None` when the value is no list.
    #[must_use]
    pub fn list(json: &str) -> Option<Vec<Message>> {
        Some(raw::elements(json)?.map(Message::from_json).collect())
    }

    /// Its JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.raw
    }

    /// Who says it.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Its blocks; none when its content is no list.
    #[must_use]
    pub fn blocks(&self) -> Option<&[Block]> {
        self.blocks.as_deref()
    }

    /// The block at an index of the history, which may be any number.
    pub(crate) fn block(&self, index: i64) -> Option<&Block> {
        self.blocks()?.get(usize::try_from(index).ok()?)
    }

    /// The message with other blocks, all else as it was.
    #[must_use]
    pub fn with_blocks(&self, blocks: Vec<Block>) -> Message {
        let mut content = String::from("[");
        for block in &blocks {
            if content.len() > 1 {
                content.push(',');
            }
            content.push_str(block.as_json());
        }
        content.push(']');
        Message {
            raw: with_member(&self.raw, "content", &content).into(),
            role: self.role,
            blocks: Some(blocks.into()),
        }
    }
}

/// Writes messages as a JSON list.
#[must_use]
pub fn to_json(messages: &[Message]) -> String {
    let mut json = String::from("[");
    for message in messages {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(message.as_json());
    }
    json.push(']');
    json
}
