//! Words: blank ones, made ones, names, and the digests over pieces.

use super::{Making, Piece, Role};
use crate::model::blocks::Block;
use crate::validator::Wire;
use serde_json::{Value, json};

/// White space only, or nothing.
pub(super) fn blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// A text block or part.
pub(super) fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

/// The fixed words before a prompt that would begin with somebody else than the user.
pub(super) fn earlier() -> Piece {
    Piece {
        role: Role::User,
        value: text("[The earlier conversation is not shown.]"),
        source: None,
        entry: None,
    }
}

/// `&`, `<`, `>`, `"` as entities.
pub(super) fn entities(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The name of a tool as a wire takes it.
pub(super) fn name(given: &str, most: usize) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = given
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(most)
        .collect();
    if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    }
}

impl Making<'_, '_> {
    /// A text block as the wire has it.
    pub(super) fn text_of(&self, block: &Block, words: &str) -> Value {
        let mut made = text(words);
        if self.wire == Wire::Anthropic && !block.chat && block.value.is_object() {
            made = super::anthropic::members(&block.value, &["type", "text", "citations"]);
            made["text"] = words.into();
        }
        made
    }
}

/// The root over pieces.
pub(super) fn root(pieces: &[Piece]) -> [u8; 32] {
    let mut root = [0; 32];
    for piece in pieces {
        let mut digest = blake3::Hasher::new_derive_key("recount 2026 piece v1");
        digest.update(&[piece.role as u8]);
        // Logs of the laws are not sealed: no salts.
        digest.update(&0_u32.to_le_bytes());
        // What is mended within raw JSON is mended by an escape; what bytes did not say is the character.
        let bytes = piece.value.to_string();
        let bytes = bytes
            .replace('\u{fffd}', "\\ufffd")
            .replace('\u{fdd1}', "\u{fffd}");
        digest.update(bytes.as_bytes());
        let mut next = blake3::Hasher::new_derive_key("recount 2026 root v1");
        next.update(&root);
        next.update(digest.finalize().as_bytes());
        root = *next.finalize().as_bytes();
    }
    root
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: [u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
