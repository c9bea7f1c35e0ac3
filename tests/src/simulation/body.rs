//! A request's body, as the provider's side reads it: blocks in the order of the cache, without marks.
//!
//! - It parses JSON into values of its own; it knows nothing of the renderer.

use crate::validator::Wire;
use serde_json::{Map, Value};

/// How long a marked prefix lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    /// Five minutes.
    Short,
    /// An hour.
    Long,
}

impl Life {
    /// In ms.
    #[must_use]
    pub fn millis(self) -> u64 {
        match self {
            Self::Short => 5 * 60_000,
            Self::Long => 60 * 60_000,
        }
    }
}

/// What a block is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A tool.
    Tool,
    /// The system prompt.
    System,
    /// What the person or the host said.
    User,
    /// What the model said.
    Assistant,
    /// A result of a tool.
    Result,
}

/// A block of a request without its marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What it is of.
    pub part: Part,
    /// The message that it stands in; none for tools and system.
    pub message: Option<usize>,
    /// The block without cache marks and references.
    pub value: Value,
    /// Its bytes, canonical: role, then the value as JSON.
    pub bytes: String,
    /// A cache breakpoint stands on it.
    pub mark: Option<Life>,
    /// What cache edits may call it.
    pub reference: Option<String>,
    /// The call that it answers, for results.
    pub answers: Option<String>,
}

/// A parsed request.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The blocks, in the order of the cache: tools, system, messages.
    pub blocks: Vec<Block>,
    /// References named by cache edits, in order.
    pub deleted: Vec<String>,
    /// The answer's limit.
    pub max_tokens: u64,
    /// Parameters beside tools, system and messages, by name.
    pub params: Map<String, Value>,
    /// Bytes as sent.
    pub length: u64,
}

impl Body {
    /// Reads a body.
    ///
    /// # Errors
    /// It is not JSON, or its messages are no list.
    pub fn parse(wire: Wire, text: &str) -> Result<Self, String> {
        let mut value: Value =
            serde_json::from_str(text).map_err(|cause| format!("not JSON: {cause}"))?;
        let top = value.as_object_mut().ok_or("no object")?;
        let mut body = Self {
            length: text.len() as u64,
            max_tokens: ["max_tokens", "max_completion_tokens"]
                .iter()
                .find_map(|name| top.get(*name)?.as_u64())
                .unwrap_or(0),
            ..Self::default()
        };
        for tool in list(top.shift_remove("tools")) {
            body.push(Part::Tool, "", None, tool);
        }
        for block in blocks_of(top.shift_remove("system")) {
            body.push(Part::System, "", None, block);
        }
        let messages = top.shift_remove("messages").ok_or("no messages")?;
        for (index, message) in list(Some(messages)).into_iter().enumerate() {
            match wire {
                Wire::Anthropic => body.message(index, message),
                Wire::Chat => body.chat(index, message),
            }
        }
        body.params = std::mem::take(top);
        Ok(body)
    }

    fn message(&mut self, index: usize, mut message: Value) {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        let content = message.get_mut("content").map(Value::take);
        for block in blocks_of(content) {
            if block["type"] == "cache_edits" {
                let named = list(block.get("edits").cloned());
                let named = named
                    .iter()
                    .filter_map(|edit| edit["cache_reference"].as_str());
                self.deleted.extend(named.map(str::to_owned));
                continue;
            }
            let part = match (role.as_str(), block["type"].as_str()) {
                (_, Some("tool_result")) => Part::Result,
                ("assistant", _) => Part::Assistant,
                ("system", _) => Part::System,
                _ => Part::User,
            };
            self.push(part, &role, Some(index), block);
        }
    }

    /// A message of the other dialect: its content blocks, then its calls.
    fn chat(&mut self, index: usize, mut message: Value) {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        let part = match role.as_str() {
            "assistant" => Part::Assistant,
            "tool" => Part::Result,
            "system" | "developer" => Part::System,
            _ => Part::User,
        };
        let content = message.get_mut("content").map(Value::take);
        let answers = message["tool_call_id"].as_str().map(str::to_owned);
        for mut block in blocks_of(content) {
            if let (Some(answers), Some(object)) = (&answers, block.as_object_mut()) {
                object.insert("tool_call_id".to_owned(), Value::String(answers.clone()));
            }
            self.push(part, &role, Some(index), block);
        }
        for call in list(message.get_mut("tool_calls").map(Value::take)) {
            self.push(part, &role, Some(index), call);
        }
    }

    fn push(&mut self, part: Part, role: &str, message: Option<usize>, mut value: Value) {
        let mark = value
            .as_object_mut()
            .and_then(|object| object.shift_remove("cache_control"))
            .map(|mark| {
                if mark["ttl"] == "1h" {
                    Life::Long
                } else {
                    Life::Short
                }
            });
        let reference = value
            .as_object_mut()
            .and_then(|object| object.shift_remove("cache_reference"));
        let answers = ["tool_use_id", "tool_call_id"]
            .iter()
            .find_map(|name| Some(value.get(name)?.as_str()?.to_owned()));
        let bytes = format!("{role} {value}");
        self.blocks.push(Block {
            part,
            message,
            bytes,
            mark,
            reference: reference.and_then(|name| name.as_str().map(str::to_owned)),
            answers,
            value,
        });
    }

    /// The words of the last block of the last message, where it is text.
    #[must_use]
    pub fn last_words(&self) -> Option<&str> {
        self.blocks.last()?.value["text"].as_str()
    }

    /// Messages in the request.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.blocks
            .last()
            .and_then(|block| block.message)
            .map_or(0, |index| index + 1)
    }
}

/// A list's items; nothing for everything else.
fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Content as blocks: a string is one text block.
fn blocks_of(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::String(text)) => vec![serde_json::json!({"type": "text", "text": text})],
        other => list(other),
    }
}
