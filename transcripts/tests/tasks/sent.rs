//! What a host would have sent, as what a prompt of ours says: the deviations that every prompt has, rule by rule.
//!
//! 1. Neighbours of one role are one message, and a string is a text block.
//! 2. Members that the API does not know are left out, of messages and of blocks.
//! 3. Texts of white space only, and messages without a block, are left out.
//! 4. A result that the host makes up for a call without one says that it failed.
//! 5. A call that nothing could answer yet waits, and what would be said in the place of its result is no part of this.

use serde_json::{Map, Value, json};

/// Messages, in the form in which both sides are compared.
pub(crate) fn plain(messages: &Value) -> Value {
    let mut all: Vec<(String, Vec<Value>)> = Vec::new();
    for message in messages.as_array().unwrap() {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        let blocks = blocks(&message["content"]);
        if blocks.is_empty() {
            continue;
        }
        match all.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => all.push((role, blocks)),
        }
    }
    let all = all
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}));
    Value::Array(all.collect())
}

fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => said(text).into_iter().collect(),
        Value::Array(blocks) => blocks.iter().filter_map(block).collect(),
        _ => Vec::new(),
    }
}

fn said(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn block(block: &Value) -> Option<Value> {
    let kind = block["type"].as_str().unwrap_or_default();
    let members: &[&str] = match kind {
        "text" => return said(block["text"].as_str().unwrap_or_default()),
        "image" => &["type", "source"],
        "tool_use" => &["type", "id", "name", "input"],
        "thinking" => &["type", "thinking", "signature"],
        "tool_result" if block["content"] == "[No result: the call was not answered.]" => {
            return None;
        }
        "tool_result" => return Some(result(block)),
        _ => return Some(block.clone()),
    };
    let kept = members
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), block.get(*key)?.clone())));
    Some(Value::Object(kept.collect::<Map<_, _>>()))
}

fn result(block: &Value) -> Value {
    let content = match &block["content"] {
        Value::Array(inner) => Value::Array(inner.iter().filter_map(self::block).collect()),
        other => other.clone(),
    };
    let mut result =
        json!({"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": content});
    let failed = block["is_error"] == true && block["content"] != "result missing";
    if failed {
        result["is_error"] = Value::Bool(true);
    }
    result
}

/// Fails with the place where two lists of messages part.
pub(crate) fn same(ours: &Value, theirs: &Value, what: &str) {
    let (ours, theirs) = (plain(ours), plain(theirs));
    if ours == theirs {
        return;
    }
    let (ours, theirs) = (ours.as_array().unwrap(), theirs.as_array().unwrap());
    let at = ours
        .iter()
        .zip(theirs)
        .take_while(|(one, other)| one == other)
        .count();
    let show = |list: &[Value]| {
        list.get(at)
            .map(|value| value.to_string().chars().take(1_500).collect::<String>())
    };
    panic!(
        "{what}: {} messages and {}; they part at {at}:\n ours   {:?}\n theirs {:?}",
        ours.len(),
        theirs.len(),
        show(ours),
        show(theirs)
    );
}
