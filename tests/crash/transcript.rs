//! A transcript to import: turns of a person and a model, one record a line, as Claude Code writes them.

use serde_json::{Value, json};

/// So many turns, each with about so many bytes of text. A longer one begins like a shorter one.
pub(crate) fn turns(count: u64, bytes: usize) -> String {
    let mut text = String::new();
    let mut parent = Value::Null;
    for turn in 0..count {
        for role in ["user", "assistant"] {
            let id = format!("{role}-{turn}");
            let line = json!({
                "parentUuid": parent, "uuid": id, "sessionId": "crash", "type": role, "version": "2.0.0", "cwd": "/w", "isSidechain": false,
                "timestamp": format!("2026-01-01T00:{:02}:{:02}.000Z", turn % 60, u8::from(role != "user")),
                "message": message(role, turn, bytes),
            });
            text.push_str(&line.to_string());
            text.push('\n');
            parent = json!(id);
        }
    }
    text
}

fn message(role: &str, turn: u64, bytes: usize) -> Value {
    let words = format!("{role} of turn {turn} {}", "w".repeat(bytes));
    if role == "user" {
        return json!({"role": role, "content": words});
    }
    json!({
        "id": format!("msg_{turn}"), "type": "message", "role": role, "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": words}], "usage": {"input_tokens": 10 + turn, "output_tokens": 5},
    })
}
