//! Blocks on the OpenAI Chat wire.

use super::{Making, Role, words};
use crate::model::Place;
use crate::model::blocks::{Block, What, blocks};
use crate::model::fold::{Call, Fold};
use crate::model::tame::{clean, clean_text};
use serde_json::{Value, json};

/// Longest name of a function.
const NAME: usize = 64;

/// The blocks that a result brings: its own, or those of its replacement.
pub(super) fn result_blocks(fold: &Fold<'_>, place: Place) -> Vec<Block> {
    if let Some(other) = fold.replaced(place) {
        return blocks(&other.event);
    }
    let Some(entry) = fold.get(place.0) else {
        return Vec::new();
    };
    if entry.event["type"] == "tool_result" {
        return blocks(&entry.event);
    }
    let content = fold
        .block(place)
        .map(|block| block.value["content"].clone())
        .unwrap_or(Value::Null);
    blocks(&json!({"content": content}))
}

impl Making<'_, '_> {
    /// A response: its words, its calls, then a tool message for each call.
    pub(super) fn unit_chat(&mut self, parts: &[usize], calls: &[Call]) {
        for seq in parts {
            let Some(entry) = self.fold.get(*seq) else {
                continue;
            };
            for (index, block) in blocks(&entry.event).iter().enumerate() {
                let place = (*seq, index);
                match block.what {
                    What::Thinking => {}
                    What::Call => self.chat_call(calls, place, block),
                    _ => self.block(place, block, Role::Assistant, &entry.event),
                }
            }
        }
        for call in calls {
            let value = self.chat_result(call);
            let source = call.answer().map_or(call.place, |(place, _)| *place);
            self.push(Role::Result, value, Some(source));
        }
    }

    /// A block that is no call, result or thinking of a response.
    pub(super) fn plain_chat(&mut self, place: Place, block: &Block, role: Role, event: &Value) {
        let value = match block.what {
            What::Text => match block.words() {
                Some(words) if words::blank(&words) => return,
                Some(words) => words::text(&words),
                None => super::anthropic::raw(block),
            },
            What::Image | What::Document => match self.unshown(block, role) {
                Some(words) => words,
                None if block.what == What::Image => self.picture(block),
                None => self.document(block),
            },
            What::Thinking => return,
            _ if super::compaction::is_block(block) => return,
            What::Other
                if block.chat
                    && event["issuer"].is_string()
                    && event["issuer"] == self.profile["provider"] =>
            {
                clean(&block.value)
            }
            _ => super::anthropic::raw(block),
        };
        self.push(role, value, Some(place));
    }

    fn chat_call(&mut self, calls: &[Call], place: Place, block: &Block) {
        let Some(call) = calls.iter().find(|call| call.place == place) else {
            return;
        };
        let arguments = if block.chat {
            clean_text(
                block.value["function"]["arguments"]
                    .as_str()
                    .unwrap_or("{}"),
            )
        } else {
            match block.value.get("input") {
                None => "{}".to_owned(),
                Some(input) => clean(input).to_string(),
            }
        };
        let function = json!({"name": words::name(&block.name(), NAME), "arguments": arguments});
        let value = json!({"id": super::anthropic::wire_id(call), "type": "function", "function": function});
        self.push(Role::Assistant, value, Some(place));
    }

    fn chat_result(&mut self, call: &Call) -> Value {
        let words = match call.answer() {
            None => "[No result: the call was not answered.]".to_owned(),
            Some((place, _)) => self.result_words(*place),
        };
        let words = if words::blank(&words) {
            "(no output)".to_owned()
        } else {
            words
        };
        json!({"role": "tool", "tool_call_id": super::anthropic::wire_id(call), "content": words})
    }

    fn result_words(&self, place: Place) -> String {
        let list = result_blocks(self.fold, place);
        let texts = list.iter().filter_map(|block| match block.what {
            What::Text => match block.words() {
                Some(words) => Some(words).filter(|words| list.len() == 1 || !words::blank(words)),
                None => Some(clean(&block.value).to_string()),
            },
            What::Image => Some("[image]".to_owned()),
            What::Document => self.document(block)["text"].as_str().map(str::to_owned),
            _ => Some(clean(&block.value).to_string()),
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
