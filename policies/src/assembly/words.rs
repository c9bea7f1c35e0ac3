//! Words of injections and blocks: reading them, making them.

use alloc::borrow::Cow;
use alloc::string::String;
use recount_events::raw::{member_words, words};
use recount_events::{Block, BlockKind, Content, Inject, Lifetime, Shape, Text, escape};

/// The words of a text block, if it is one.
pub(super) fn of_block(block: &Block) -> Option<Cow<'_, str>> {
    if block.kind != BlockKind::Text {
        return None;
    }
    let raw = block.raw.as_str()?;
    if raw.starts_with('{') {
        member_words(raw, "text")
    } else {
        words(raw)
    }
}

/// The words of a content that is one text.
pub(super) fn of(content: &Content) -> Option<Cow<'_, str>> {
    match content.blocks.as_slice() {
        [block] => of_block(block),
        [] => Some(Cow::Borrowed("")),
        _ => None,
    }
}

/// A block that says something.
pub(super) fn block(text: &str) -> Block {
    let mut raw = String::from("{\"type\":\"text\",\"text\":");
    raw.push_str(&escape(text));
    raw.push('}');
    Block {
        kind: BlockKind::Text,
        raw: Text::json(&raw),
        image: None,
    }
}

/// A content of blocks.
pub(super) fn blocks(blocks: alloc::vec::Vec<Block>) -> Content {
    Content {
        format: recount_events::Format::Anthropic,
        shape: Shape::Blocks,
        blocks,
    }
}

/// An injection of one text.
pub(super) fn inject(slot: &Text, text: &str, lifetime: Lifetime) -> Inject {
    Inject {
        slot: slot.clone(),
        content: Content::string(&escape(text)),
        lifetime,
        supersede: false,
    }
}

/// A value inside the quotes of an attribute.
pub(super) fn attribute(value: &str) -> String {
    let mut safe = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\r' => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}
