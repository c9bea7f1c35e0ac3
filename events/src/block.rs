//! A block: one piece of content, its raw JSON and what the engine needs to know about it.

use crate::Text;
use bincode::{Decode, Encode};

/// What a block is, whatever its dialect calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum BlockKind {
    /// Words (`text`, `input_text`, `output_text`, a plain string).
    Text,
    /// A picture.
    Image,
    /// A document (`document`, `file`).
    Document,
    /// A tool call that the host answers (`tool_use`, an item of `tool_calls`, `function_call`, `functionCall`).
    Call,
    /// The answer to a call (`tool_result`, `function_call_output`, `functionResponse`).
    Result,
    /// Signed or opaque reasoning (`thinking`, `redacted_thinking`, `reasoning`): verbatim or absent.
    Thinking,
    /// A call that the provider answers itself (`server_tool_use`).
    ServerCall,
    /// The provider's answer to its own call (`web_search_tool_result` …).
    ServerResult,
    /// A provider's own compaction item: opaque, for its issuer only.
    Compaction,
    /// A kind that this version does not know: kept, shown to its issuer, else as text.
    Other,
}

/// What budgets need to know of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ImageFacts {
    /// Pixels, 0 when unknown.
    pub width: u32,
    /// Pixels, 0 when unknown.
    pub height: u32,
    /// Bytes as they travel (base64 characters where the wire uses them).
    pub bytes: u64,
}

/// One piece of content.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its JSON, byte for byte as it came (or raw bytes, see [`crate::Shape::Bytes`]).
    pub raw: Text,
    /// Size of a picture.
    pub image: Option<ImageFacts>,
}
