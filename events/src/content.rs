//! Content: what a message or a result says, block by block, exactly as the host gave it.

use crate::{Block, Text};
use alloc::vec::Vec;
use bincode::{Decode, Encode};

/// The dialect in which blocks are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Format {
    /// Anthropic Messages blocks.
    #[default]
    Anthropic,
    /// OpenAI Chat content parts; items of `tool_calls` are call blocks.
    OpenaiChat,
    /// OpenAI Responses items.
    OpenaiResponses,
    /// Gemini parts.
    Gemini,
}

/// How the content stood in the host's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Shape {
    /// A JSON string: one block (index 0) whose raw text is the string token, quotes and escapes included.
    String,
    /// A list of blocks.
    Blocks,
    /// Raw bytes of a tool (`bytes`, base64 in JSON): one block (index 0) of form [`crate::Form::Bytes`].
    Bytes,
    /// Nothing: the field was absent or null. The calls that OpenAI's chat dialect puts beside a message's content are blocks all the
    /// same, here as behind a string or a list.
    Absent,
}

/// The content of a message, a result, an injection or a replacement.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Content {
    /// The dialect of the blocks.
    pub format: Format,
    /// How it stood in the host's event.
    pub shape: Shape,
    /// The blocks, in order.
    pub blocks: Vec<Block>,
}

impl Content {
    /// A content of one string; `token` is the JSON string token.
    pub fn string(token: &str) -> Self {
        let block = Block {
            kind: crate::BlockKind::Text,
            raw: Text::json(token),
            image: None,
        };
        Self {
            format: Format::Anthropic,
            shape: Shape::String,
            blocks: alloc::vec![block],
        }
    }
}
