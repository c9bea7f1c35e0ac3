//! The texts of a log line that are not at hand: where they stood, why they are gone, what is still known of them.
//!
//! - `missing` is an object from places (`label`, `tools/1`, `content/0`) to `{as, form, len}`, with `kind` and `image` for blocks.
//! - A content of which nothing is at hand has also its own place (`content`) with its `shape`.

use super::value::Value;
use crate::raw::{member, member_words, members};
use crate::{Block, BlockKind, Form, Held, Shape, Text};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};

/// What a log line says of texts that are not at hand.
#[derive(Default)]
pub(super) struct Missing {
    texts: BTreeMap<String, Block>,
    shapes: BTreeMap<String, Shape>,
}

impl Missing {
    pub(super) fn read(raw: &str) -> Option<Self> {
        let mut missing = Self::default();
        for one in members(raw)? {
            let key = one.key().to_string();
            match member(one.value, "shape").and_then(Shape::read) {
                Some(shape) => drop(missing.shapes.insert(key, shape)),
                None => drop(missing.texts.insert(key, block(one.value)?)),
            }
        }
        Some(missing)
    }

    pub(super) fn text(&mut self, place: &str) -> Option<Text> {
        self.block(place).map(|block| block.raw)
    }

    pub(super) fn block(&mut self, place: &str) -> Option<Block> {
        self.texts.remove(place)
    }

    pub(super) fn element(&mut self, place: &str, index: usize) -> Option<Block> {
        self.block(&format!("{place}/{index}"))
    }

    pub(super) fn shape(&mut self, place: &str) -> Option<Shape> {
        self.shapes.remove(place)
    }
}

fn block(raw: &str) -> Option<Block> {
    let held = match &*member_words(raw, "as")? {
        "lost" => Held::Lost,
        "erased" => Held::Erased,
        _ => return None,
    };
    let form = Form::read(member(raw, "form")?)?;
    let len = u64::read(member(raw, "len")?)?;
    let kind = member(raw, "kind").map_or(Some(BlockKind::Other), BlockKind::read)?;
    let image = member(raw, "image").and_then(Value::read);
    Some(Block {
        kind,
        raw: Text {
            form,
            len,
            seal: None,
            held,
        },
        image,
    })
}

/// What is still known of a text.
pub(super) fn describe(text: &Text) -> String {
    let gone = if text.held == Held::Erased {
        "erased"
    } else {
        "lost"
    };
    format!(
        "{{\"as\":\"{gone}\",\"form\":\"{}\",\"len\":{}}}",
        text.form.word(),
        text.len
    )
}

/// What is still known of a block.
pub(super) fn describe_block(block: &Block) -> String {
    let mut out = describe(&block.raw);
    out.pop();
    out.push_str(&format!(",\"kind\":\"{}\"", block.kind.word()));
    if let Some(image) = &block.image {
        out.push_str(",\"image\":");
        image.write(&mut out);
    }
    out.push('}');
    out
}
