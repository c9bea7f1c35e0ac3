//! Contents of events as lists of blocks, in the dialects of Anthropic and OpenAI Chat.

use super::tame::clean_text;
use serde_json::Value;

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Text,
    Image,
    Document,
    Call,
    Result,
    Thinking,
    ServerCall,
    ServerResult,
    Other,
}

/// A block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub what: What,
    /// Written in the Chat dialect.
    pub chat: bool,
    /// Its JSON; a string for a string content.
    pub value: Value,
}

/// The blocks of an event's content, or of a replacement's `with`.
pub(crate) fn blocks(event: &Value) -> Vec<Block> {
    let chat = event["format"] == "openai_chat";
    if let Some(bytes) = event["bytes"].as_str() {
        return vec![Block {
            what: What::Text,
            chat: false,
            value: Value::String(decoded(bytes)),
        }];
    }
    let content = event
        .get("with")
        .or_else(|| event.get("content"))
        .unwrap_or(&Value::Null);
    let said = match content {
        Value::String(_) => vec![Block {
            what: What::Text,
            chat,
            value: content.clone(),
        }],
        Value::Array(list) => list
            .iter()
            .map(|value| Block {
                what: what(chat, value),
                chat,
                value: value.clone(),
            })
            .collect(),
        _ => Vec::new(),
    };
    let calls = event["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|_| chat);
    let calls = calls.map(|value| Block {
        what: What::Call,
        chat,
        value: value.clone(),
    });
    said.into_iter().chain(calls).collect()
}

/// Bytes as text: U+FDD1 for what is not UTF-8, so that digests can tell it from what is mended by an escape.
fn decoded(base64: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(base64)
        .unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace(['\0', '\u{fffd}'], "\u{fdd1}")
}

fn what(chat: bool, value: &Value) -> What {
    let kind = value["type"].as_str().unwrap_or("");
    match (chat, kind) {
        (_, "text") => What::Text,
        (true, "image_url") => What::Image,
        (true, "file") => What::Document,
        (true, _) => What::Other,
        (_, "image") => What::Image,
        (_, "document") => What::Document,
        (_, "tool_use") => What::Call,
        (_, "tool_result") => What::Result,
        (_, "thinking" | "redacted_thinking") => What::Thinking,
        (_, "server_tool_use") => What::ServerCall,
        (_, other) if other.ends_with("_tool_result") => What::ServerResult,
        _ => What::Other,
    }
}

impl Block {
    /// The provider's id of a call, as given.
    pub(crate) fn id(&self) -> String {
        self.value["id"]
            .as_str()
            .map(clean_surrogates)
            .unwrap_or_default()
    }

    /// The id of the call that a result block answers.
    pub(crate) fn answers(&self) -> String {
        self.value["tool_use_id"]
            .as_str()
            .map(clean_surrogates)
            .unwrap_or_default()
    }

    /// The name of a call.
    pub(crate) fn name(&self) -> String {
        let name = if self.chat {
            &self.value["function"]["name"]
        } else {
            &self.value["name"]
        };
        name.as_str().unwrap_or("").to_owned()
    }

    /// The words of a text block; `None` when it has none.
    pub(crate) fn words(&self) -> Option<String> {
        match &self.value {
            Value::String(text) => Some(clean_text(text)),
            value => value["text"].as_str().map(clean_text),
        }
    }
}

/// Ids are compared with U+FFFD for what was ill-formed; U+0000 is well-formed.
pub(crate) fn clean_surrogates(id: &str) -> String {
    id.replace('\u{fdd0}', "\u{fffd}")
}
