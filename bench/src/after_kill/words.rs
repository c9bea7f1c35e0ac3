//! Words for sessions that are too large for repeated ones: always the same, and no more alike than prose is.

use serde_json::json;

const WORDS: [&str; 32] = [
    "append", "batch", "cursor", "durable", "event", "fold", "group", "header", "index", "journal",
    "kernel", "ledger", "mask", "nested", "offset", "prompt", "queue", "replay", "segment",
    "timeline", "unit", "value", "window", "yield", "after", "between", "every", "the", "of",
    "and", "returns", "because",
];

/// A source of words.
pub(crate) struct Words(pub(crate) u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            let draw = self.next();
            text.push_str(WORDS[(draw % 32) as usize]);
            if draw & 0xf00 == 0 {
                text.push_str(&format!("_{:x}", draw >> 40));
            }
            text.push(if draw & 0xf000 == 0 { '\n' } else { ' ' });
        }
        text
    }

    /// A turn of a session: what the person says, a call, its result, an answer.
    pub(crate) fn turn(&mut self, batch: u64, turn: usize) -> [String; 4] {
        let number = format!("{batch}_{turn}");
        let result = 2_000 + (self.next() % 24_000) as usize;
        [
            json!({"type": "message", "role": "user", "content": self.text(300)}),
            json!({"type": "message", "role": "assistant", "content": [
                {"type": "text", "text": self.text(400)},
                {"type": "tool_use", "id": format!("toolu_{number}"), "name": "read_file", "input": {"path": format!("src/{number}.rs")}}]}),
            json!({"type": "tool_result", "call": format!("toolu_{number}"), "content": self.text(result)}),
            json!({"type": "message", "role": "assistant", "content": self.text(900)}),
        ]
        .map(|event| event.to_string())
    }
}
