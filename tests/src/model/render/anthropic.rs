//! Blocks on the Anthropic wire.

use super::{Making, Role, compaction, words};
use crate::model::Place;
use crate::model::blocks::{Block, What, blocks};
use crate::model::fold::Call;
use crate::model::tame::{clean, wild};
use serde_json::{Map, Value, json};

/// Longest tool name.
const NAME: usize = 128;

/// The members of an object that a list has, in their order, made fit for a wire.
pub(super) fn members(value: &Value, kept: &[&str]) -> Value {
    let object = value.as_object().into_iter().flatten();
    let kept = object
        .filter(|(key, _)| kept.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), clean(value)));
    Value::Object(kept.collect::<Map<String, Value>>())
}

/// A block's JSON as words.
pub(super) fn raw(block: &Block) -> Value {
    words::text(&clean(&block.value).to_string())
}

/// The id of a call on the wire.
pub(super) fn wire_id(call: &Call) -> String {
    if call.as_given {
        call.id.clone()
    } else {
        format!("call_{}_{}", call.place.0, call.place.1)
    }
}

/// The members of a kind that is shown as it is, and those without which it is refused.
fn table(kind: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    match kind {
        "search_result" => Some((
            &["type", "source", "title", "content", "citations"],
            &["source", "title", "content"],
        )),
        "container_upload" => Some((&["type", "file_id"], &["file_id"])),
        "server_tool_use" => Some((
            &["type", "id", "name", "input", "caller"],
            &["id", "name", "input"],
        )),
        "web_search_tool_result" | "web_fetch_tool_result" => Some((
            &["type", "tool_use_id", "content", "caller"],
            &["tool_use_id", "content"],
        )),
        "code_execution_tool_result"
        | "bash_code_execution_tool_result"
        | "text_editor_code_execution_tool_result"
        | "tool_search_tool_result" => Some((
            &["type", "tool_use_id", "content"],
            &["tool_use_id", "content"],
        )),
        _ => None,
    }
}

impl Making<'_, '_> {
    /// A response: its blocks, then a result for each call.
    pub(super) fn unit_anthropic(
        &mut self,
        parts: &[usize],
        calls: &[Call],
        current: bool,
        last: bool,
    ) {
        let prefix = words::hex(words::root(&self.pieces));
        let compacted = self
            .compaction
            .is_some_and(|(_, (seq, _))| parts.contains(&seq));
        let prefix = (!compacted).then_some(prefix.as_str());
        for seq in parts {
            let Some(entry) = self.fold.get(*seq) else {
                continue;
            };
            for (index, block) in blocks(&entry.event).iter().enumerate() {
                let place = (*seq, index);
                let compaction = self.compaction.map(|(_, place)| place);
                if compaction.is_some_and(|last| place < last) {
                    continue;
                }
                if compaction == Some(place) {
                    self.push(Role::Assistant, block.value.clone(), Some(place));
                    continue;
                }
                match block.what {
                    What::Thinking => self.thinking(place, block, &entry.event, current, prefix),
                    What::Call => self.call(calls, place, block),
                    What::ServerCall | What::ServerResult => self.server(place, block, parts, last),
                    _ => self.block(place, block, Role::Assistant, &entry.event),
                }
            }
        }
        for call in calls {
            let value = self.result(call);
            let source = call.answer().map_or(call.place, |(place, _)| *place);
            self.push(Role::Result, value, Some(source));
        }
    }

    /// A block that is no call, result, thinking or server block of a response.
    pub(super) fn plain_anthropic(
        &mut self,
        place: Place,
        block: &Block,
        role: Role,
        event: &Value,
    ) {
        let value = match block.what {
            What::Text => match block.words() {
                Some(words) if words::blank(&words) => return,
                Some(words) => self.text_of(block, &words),
                None => raw(block),
            },
            What::Image | What::Document => match self.unshown(block, role) {
                Some(words) => words,
                None if block.what == What::Image => self.picture(block),
                None => self.document(block),
            },
            What::Thinking => return,
            _ if compaction::is_block(block) => return,
            _ if role == Role::Assistant && block.value["type"] == "search_result" => raw(block),
            _ => self.other(block, event),
        };
        self.push(role, value, Some(place));
    }

    fn other(&self, block: &Block, event: &Value) -> Value {
        let kind = block.value["type"].as_str().unwrap_or("");
        if let Some((kept, must)) = table(kind).filter(|_| block.what == What::Other) {
            let whole = must.iter().all(|key| block.value.get(*key).is_some());
            return if whole {
                members(&block.value, kept)
            } else {
                raw(block)
            };
        }
        let own = !block.chat
            && event["issuer"].is_string()
            && event["issuer"] == self.profile["provider"];
        if own && block.what == What::Other {
            clean(&block.value)
        } else {
            raw(block)
        }
    }

    fn call(&mut self, calls: &[Call], place: Place, block: &Block) {
        let Some(call) = calls.iter().find(|call| call.place == place) else {
            return;
        };
        let id = Value::String(wire_id(call));
        let name = Value::String(words::name(&block.name(), NAME));
        let input = input(block);
        let value = if block.chat {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        } else {
            let mut value = members(&block.value, &["type", "id", "name", "input", "caller"]);
            value["id"] = id;
            value["name"] = name;
            value["input"] = input;
            value
        };
        self.push(Role::Assistant, value, Some(place));
    }

    fn result(&mut self, call: &Call) -> Value {
        let id = wire_id(call);
        let Some((place, status)) = call.answer() else {
            let words = "[No result: the call was not answered.]";
            return json!({"type": "tool_result", "tool_use_id": id, "content": words, "is_error": true});
        };
        let block = self
            .fold
            .block(*place)
            .filter(|block| block.what == What::Result);
        let error = match &block {
            Some(block) => block.value["is_error"] == true,
            None => !matches!(status.as_str(), "ok" | "interim"),
        };
        let content = self.result_content(*place, error);
        let content = if content.as_array().is_some_and(Vec::is_empty) {
            "(no output)".into()
        } else {
            content
        };
        if let Some(block) = block {
            let mut value = members(
                &block.value,
                &["type", "tool_use_id", "content", "is_error"],
            );
            value["tool_use_id"] = id.into();
            value["content"] = content;
            return value;
        }
        let mut value = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if error {
            value["is_error"] = true.into();
        }
        value
    }

    /// A string, or a list of blocks; an empty list for nothing.
    fn result_content(&mut self, place: Place, error: bool) -> Value {
        let list = super::chat::result_blocks(self.fold, place);
        if let [
            Block {
                value: Value::String(text),
                ..
            },
        ] = list.as_slice()
        {
            let words = crate::model::tame::clean_text(text);
            return if words::blank(&words) {
                json!([])
            } else {
                words.into()
            };
        }
        let mut shown = Vec::new();
        for block in &list {
            match block.what {
                What::Text => match block.words() {
                    Some(words) if words::blank(&words) => {}
                    Some(words) => shown.push(self.text_of(block, &words)),
                    None => shown.push(raw(block)),
                },
                What::Image if error => shown.push(words::text("[image]")),
                What::Document if error => shown.push(words::text("[document]")),
                What::Image => shown.push(self.picture(block)),
                What::Document => shown.push(self.document(block)),
                _ if block.value["type"] == "search_result" && !block.chat && !error => {
                    shown.push(self.other(block, &Value::Null))
                }
                _ => shown.push(raw(block)),
            }
        }
        Value::Array(shown)
    }

    fn thinking(
        &mut self,
        place: Place,
        block: &Block,
        event: &Value,
        current: bool,
        prefix: Option<&str>,
    ) {
        let same = |own: &Value, wanted: &Value| own.is_null() || own == wanted;
        let binds = self.profile["thinking"]["binds"] == true;
        let issuer = same(&event["issuer"], &self.profile["provider"])
            && (!binds || same(&event["model"], &self.profile["model"]));
        let text = |key: &str| {
            block.value[key]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        };
        let signed = match block.value["type"] == "thinking" {
            true => text("signature"),
            false => text("data"),
        };
        let kept = match self.profile["thinking"]["keeps"].as_str() {
            Some("last") => current,
            Some("none") => false,
            _ => true,
        };
        if !self.thinking || block.chat || !issuer || !signed || !kept || wild(&block.value) {
            return;
        }
        let other = prefix.is_some_and(|prefix| event["issued"].as_str() != Some(prefix));
        if binds && (self.broken || other) {
            self.broken = true;
            return;
        }
        let kept: &[&str] = if block.value["type"] == "thinking" {
            &["type", "thinking", "signature"]
        } else {
            &["type", "data"]
        };
        self.push(Role::Assistant, members(&block.value, kept), Some(place));
    }

    /// A server call or result as it is, where it may stand, else its JSON as words.
    fn server(&mut self, place: Place, block: &Block, parts: &[usize], last: bool) {
        let value = if self.server_stands(place, block, parts, last) {
            if block.what == What::ServerCall {
                self.servers.push(block.id());
            }
            let (kept, _) = table(block.value["type"].as_str().unwrap_or("")).unwrap_or((&[], &[]));
            members(&block.value, kept)
        } else {
            raw(block)
        };
        self.push(Role::Assistant, value, Some(place));
    }

    fn server_stands(&self, place: Place, block: &Block, parts: &[usize], last: bool) -> bool {
        let all: Vec<(Place, Block, bool)> = parts
            .iter()
            .filter_map(|seq| self.fold.get(*seq))
            .flat_map(|entry| {
                let paused = entry.event["stop"] == "pause_turn";
                let list = blocks(&entry.event).into_iter().enumerate();
                list.map(move |(index, block)| ((entry.seq, index), block, paused))
                    .collect::<Vec<_>>()
            })
            .collect();
        let whole = |block: &Block| {
            let must = table(block.value["type"].as_str().unwrap_or("")).map(|(_, must)| must);
            must.is_some_and(|must| must.iter().all(|key| block.value.get(*key).is_some()))
        };
        let id = if block.what == What::ServerCall {
            block.id()
        } else {
            block.answers()
        };
        let calls: Vec<_> = all
            .iter()
            .filter(|(_, b, _)| b.what == What::ServerCall && b.id() == id)
            .collect();
        let results: Vec<_> = all
            .iter()
            .filter(|(_, b, _)| b.what == What::ServerResult && b.answers() == id)
            .collect();
        let Some((call_at, call, _)) = calls.first() else {
            return false;
        };
        let rest = id.strip_prefix("srvtoolu_").unwrap_or("");
        let well_named =
            !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let offered = self.fold.newest("tools").is_some_and(|tools| {
            tools.event["tools"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|tool| tool["name"].as_str() == Some(offering(&call.name())))
        });
        let first = block.what == What::ServerResult || !self.servers.contains(&id);
        let proper =
            well_named && offered && first && whole(call) && call.value["input"].is_object();
        let fits = match results.first() {
            Some((at, result, _)) => {
                call_at < at && whole(result) && (place == *call_at || place == *at)
            }
            None => {
                let paused = all.last().is_some_and(|(_, _, paused)| *paused);
                last && paused && place == *call_at
            }
        };
        proper && fits
    }
}

/// The tool that a server call belongs to.
fn offering(call: &str) -> &str {
    match call {
        "bash_code_execution" | "text_editor_code_execution" => "code_execution",
        other => other,
    }
}

/// A call's input as an object.
fn input(block: &Block) -> Value {
    if block.chat {
        let given = block.value["function"]["arguments"].as_str().unwrap_or("");
        let object = serde_json::from_str::<Value>(&crate::model::tame(given))
            .ok()
            .filter(Value::is_object);
        return object.map_or_else(
            || json!({"arguments": crate::model::tame::clean_text(given)}),
            |value| clean(&value),
        );
    }
    match block.value.get("input") {
        Some(Value::Object(_)) => clean(&block.value["input"]),
        Some(other) => json!({"value": clean(other)}),
        None => json!({}),
    }
}
