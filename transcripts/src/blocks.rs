//! Content out of raw JSON: a string, a list of blocks, or nothing.

use crate::json::{self, Members};
use recount_events::{Block, BlockKind, Content, Format, Shape, Text};

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
    let blocks = items.iter().map(|raw| block(raw, format)).collect();
    Content {
        format,
        shape: Shape::Blocks,
        blocks,
    }
}

/// One block.
pub(crate) fn block(raw: &str, format: Format) -> Block {
    let kind = Members::parse(raw).map_or(BlockKind::Other, |members| kind(&members, format));
    Block {
        kind,
        raw: Text::json(raw),
        image: None,
    }
}

fn kind(members: &Members<'_>, format: Format) -> BlockKind {
    let name = members.text("type").unwrap_or_default();
    match (format, name.as_str()) {
        (Format::OpenaiChat, "function" | "custom") => BlockKind::Call,
        (Format::OpenaiChat, _) => openai(&name),
        _ => anthropic(&name),
    }
}

fn openai(name: &str) -> BlockKind {
    match name {
        "text" | "refusal" => BlockKind::Text,
        "image_url" => BlockKind::Image,
        "file" => BlockKind::Document,
        other => anthropic(other),
    }
}

fn anthropic(name: &str) -> BlockKind {
    match name {
        "text" => BlockKind::Text,
        "image" => BlockKind::Image,
        "document" => BlockKind::Document,
        "tool_use" => BlockKind::Call,
        "tool_result" => BlockKind::Result,
        "thinking" | "redacted_thinking" => BlockKind::Thinking,
        "server_tool_use" => BlockKind::ServerCall,
        "compaction" => BlockKind::Compaction,
        other if other.ends_with("_tool_result") => BlockKind::ServerResult,
        _ => BlockKind::Other,
    }
}
