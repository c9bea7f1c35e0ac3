//! Blocks in the dialects of Anthropic and OpenAI Chat, sound and odd.

use super::dice::Dice;
use super::words::{call_id, tool_name, words};
use base64::Engine as _;
use serde_json::{Value, json};

/// A small PNG's head with these sides, as base64.
fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(*b"\x08\x06\0\0\0");
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Keys that hosts leave in blocks.
fn stray(dice: &mut Dice, mut block: Value) -> Value {
    if dice.percent(8) {
        block["index"] = json!(0);
    }
    if dice.percent(8) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    block
}

/// A text block.
pub(super) fn text(dice: &mut Dice) -> Value {
    let words = words(dice);
    let mut block = json!({"type": "text", "text": words});
    if dice.percent(3) {
        block["citations"] = json!([]);
    }
    if dice.percent(2) {
        block = json!({"type": "text", "content": "no text here"});
    }
    stray(dice, block)
}

/// A picture, inline or named, sound or not.
pub(super) fn image(dice: &mut Dice) -> Value {
    let data = png(
        1 + dice.below(3_000) as u32,
        1 + dice.below(9_000) as u32 / 3,
    );
    let inline =
        |media: &str, data: &str| json!({"type": "base64", "media_type": media, "data": data});
    let source = match dice.below(12) {
        0 => inline("image/bmp", &data),
        1 => inline("image/png", "not base64!"),
        2 => json!({"type": "file", "file_id": "file_1"}),
        3 => json!({"type": "blob", "data": data}),
        4 => json!({"type": "url", "url": "https://example.test/a.png", "detail": "x"}),
        5 => inline("image/png", &png(10_000, 10)),
        6 => json!({"type": "base64", "data": data}),
        _ => inline("image/png", &data),
    };
    let block = json!({"type": "image", "source": source});
    stray(dice, block)
}

fn document(dice: &mut Dice) -> Value {
    let source = match dice.below(4) {
        0 => json!({"type": "text", "media_type": "text/plain", "data": "plain words"}),
        1 => json!({"type": "url", "url": "https://example.test/a.pdf"}),
        2 => json!({"type": "text", "data": "no media type"}),
        _ => json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}),
    };
    stray(
        dice,
        json!({"type": "document", "source": source, "title": "t"}),
    )
}

/// A block of a kind that needs care.
fn other(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => json!({"type": "widget", "body": {"a": [1, 2]}}),
        1 => {
            json!({"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "found"}]})
        }
        2 => json!({"type": "search_result", "source": "s"}),
        _ => json!({"type": "container_upload", "file_id": "file_2"}),
    }
}

/// A block that a user says.
pub(super) fn said(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 | 1 => image(dice),
        2 => document(dice),
        3 => other(dice),
        _ => text(dice),
    }
}

/// A block inside a result.
pub(super) fn inside(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => image(dice),
        1 => document(dice),
        2 => other(dice),
        _ => text(dice),
    }
}

/// Thinking, signed or not.
fn thinking(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => json!({"type": "thinking", "thinking": "unsigned", "signature": ""}),
        1 => {
            json!({"type": "thinking", "thinking": format!("half {}", super::words::WILD), "signature": "c2ln"})
        }
        2 => json!({"type": "redacted_thinking", "data": "b3BhcXVl"}),
        3 => json!({"type": "redacted_thinking", "data": ""}),
        4 => json!({"type": "thinking", "thinking": "", "signature": "c2ln"}),
        5 => json!({"type": "thinking", "thinking": "hm", "signature": "c2ln", "index": 0}),
        _ => json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
    }
}

/// A provider's own compaction, sound or not.
fn compaction(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => json!({"type": "compaction", "content": null}),
        1 => json!({"type": "compaction", "content": " "}),
        2 => {
            json!({"type": "compaction", "content": format!("half {}", super::words::WILD)})
        }
        3 => json!({"type": "compaction", "content": null, "encrypted_content": "b3BhcXVl"}),
        _ => json!({"type": "compaction", "content": words(dice), "signature": "c2ln"}),
    }
}

/// A call.
pub(super) fn call(dice: &mut Dice, fresh: usize) -> Value {
    let id = call_id(dice, fresh);
    let name = tool_name(dice);
    let mut call =
        json!({"type": "tool_use", "id": id, "name": name, "input": {"path": "a", "n": 1}});
    match dice.below(16) {
        0 => call["input"] = json!("not an object"),
        1 => call["input"] = json!({"text": words(dice)}),
        2 => call["caller"] = json!({"type": "direct"}),
        _ => {}
    }
    stray(dice, call)
}

/// A call that the provider answers, with or without its answer.
fn server(dice: &mut Dice, fresh: usize) -> Vec<Value> {
    let id = match dice.below(6) {
        0 => "odd".to_owned(),
        1 => "srvtoolu_same".to_owned(),
        _ => format!("srvtoolu_{fresh}"),
    };
    let call =
        json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "q"}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []});
    match dice.below(5) {
        0 => vec![call],
        1 => vec![result],
        2 => vec![result, call],
        _ => vec![call, result],
    }
}

/// The blocks of an answer.
pub(super) fn answer(dice: &mut Dice, fresh: usize) -> Vec<Value> {
    let mut blocks = Vec::new();
    if dice.percent(6) {
        if dice.percent(30) {
            blocks.push(text(dice));
        }
        blocks.push(compaction(dice));
    }
    if dice.percent(35) {
        blocks.push(thinking(dice));
    }
    if dice.percent(60) {
        blocks.push(text(dice));
    }
    if dice.percent(12) {
        blocks.extend(server(dice, fresh));
    }
    if dice.percent(4) {
        blocks.push(image(dice));
    }
    if dice.percent(4) {
        blocks.push(other(dice));
    }
    if dice.percent(10) {
        blocks.push(thinking(dice));
    }
    if dice.percent(2) {
        blocks.push(compaction(dice));
    }
    let calls = [0, 0, 1, 1, 1, 2, 3]
        .get(dice.below(7))
        .copied()
        .unwrap_or(0);
    blocks.extend((0..calls).map(|n| call(dice, fresh * 10 + n)));
    blocks
}

/// A part of a Chat message of the user.
pub(super) fn part(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => {
            json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", png(20, 20)), "detail": "low"}})
        }
        1 => json!({"type": "image_url", "image_url": {"url": "https://example.test/b.png"}}),
        2 => json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
        _ => json!({"type": "text", "text": words(dice)}),
    }
}

/// Items of `tool_calls`.
pub(super) fn chat_calls(dice: &mut Dice, fresh: usize) -> Vec<Value> {
    let arguments = ["{\"path\":\"a\"}", "{broken", "", "[1]", "\"s\""];
    (0..dice.below(3))
        .map(|n| {
            let arguments = dice.one(&arguments).copied().unwrap_or("");
            let id = call_id(dice, fresh * 10 + n);
            let name = tool_name(dice);
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect()
}
