//! The parts of a task's files, while they are put together.

use super::super::document::{joined, with_member};
use crate::json;
use recount_events::{Block, BlockKind, Content, Format, Shape};
use std::collections::BTreeMap;

/// A message while it is put together.
#[derive(Debug, Default)]
pub(super) struct Rebuilt {
    pub(super) around: Option<String>,
    /// A content that is no list.
    pub(super) whole: Option<String>,
    /// Blocks by their index.
    pub(super) blocks: BTreeMap<usize, String>,
    pub(super) verbatim: Option<String>,
    pub(super) hidden: bool,
    /// A range is about it.
    pub(super) own: bool,
    /// The model said it.
    pub(super) answer: bool,
}

/// An entry of the edits.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) message: String,
    pub(super) kind: String,
    pub(super) blocks: BTreeMap<usize, (String, BTreeMap<usize, String>)>,
    pub(super) whole: Option<String>,
}

impl Rebuilt {
    pub(super) fn json(&self) -> String {
        if let Some(raw) = &self.verbatim {
            return raw.clone();
        }
        let around = self
            .around
            .as_deref()
            .unwrap_or("{\"role\":\"user\",\"content\":null}");
        match &self.whole {
            // A content that was not there at all stays so.
            Some(whole) => with_member(around, "content", whole),
            None => with_member(
                around,
                "content",
                &joined(self.blocks.values().map(String::as_str)),
            ),
        }
    }
}

impl Entry {
    pub(super) fn json(&self) -> String {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let blocks: Vec<String> = self
            .blocks
            .values()
            .map(|(block, updates)| {
                format!("[{block},{}]", joined(updates.values().map(String::as_str)))
            })
            .collect();
        format!(
            "[{},[{},{}]]",
            self.message,
            self.kind,
            joined(blocks.iter().map(String::as_str))
        )
    }
}

pub(super) fn words_block(words: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", json::escape(words))
}

/// A content as it stood.
pub(super) fn content(content: &Content) -> String {
    match content.shape {
        Shape::Absent => "null".to_owned(),
        Shape::String => content
            .blocks
            .first()
            .and_then(Block::json)
            .unwrap_or("\"[lost]\"")
            .to_owned(),
        Shape::Bytes => {
            let bytes = content.blocks.first().and_then(|block| block.raw.bytes());
            json::escape(&String::from_utf8_lossy(bytes.unwrap_or_default()))
        }
        Shape::Blocks if content.format == Format::Anthropic => {
            joined(content.blocks.iter().map(|block| {
                block
                    .json()
                    .unwrap_or("{\"type\":\"text\",\"text\":\"[lost]\"}")
            }))
        }
        Shape::Blocks => {
            let (blocks, _) = plain_blocks(content);
            joined(blocks.iter().map(String::as_str))
        }
    }
}

/// Blocks as Cline writes them, and whether nothing of them is lost by that.
pub(super) fn plain_blocks(content: &Content) -> (Vec<String>, bool) {
    let mut sure = true;
    let blocks = content.blocks.iter().map(|block| match block.json() {
        Some(raw) if raw.starts_with('"') => format!("{{\"type\":\"text\",\"text\":{raw}}}"),
        Some(raw) if content.format == Format::Anthropic && block.kind != BlockKind::Other => {
            raw.to_owned()
        }
        Some(raw) => {
            sure = false;
            words_block(raw)
        }
        None => {
            sure = false;
            words_block("[lost]")
        }
    });
    let blocks = blocks.collect();
    (blocks, sure)
}
