//! Content out of raw JSON: a string, a list of blocks, or nothing.

use crate::json;
use recount_events::{Block, Content, Format, Shape};

/// The content of a raw value; `None` when it is neither a string nor a list nor null.
pub(crate) fn content(raw: Option<&str>, format: Format) -> Option<Content> {
    let raw = raw.unwrap_or("null");
    match raw.as_bytes().first()? {
        b'"' => Some(Content {
            format,
            ..Content::string(raw)
        }),
        b'[' => Some(list(&json::items(raw)?, format)),
        b'n' => Some(absent(format)),
        _ => None,
    }
}

/// No content.
pub(crate) fn absent(format: Format) -> Content {
    Content {
        format,
        shape: Shape::Absent,
        blocks: Vec::new(),
    }
}

/// A list of blocks.
pub(crate) fn list(items: &[&str], format: Format) -> Content {
    let blocks = items
        .iter()
        .map(|raw| Block::from_raw(format, raw))
        .collect();
    Content {
        format,
        shape: Shape::Blocks,
        blocks,
    }
}
