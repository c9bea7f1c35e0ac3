//! Pieces: the smallest parts of a prompt that have a source.
//!
//! - A piece's bytes are canonical: its JSON value on the wire, without separators, closers and cache markers.
//! - Pieces are immutable; what stands before one is summed up in it.

use alloc::sync::Arc;
use recount_events::{BlockId, Digest, Seq};

/// Whose a piece is. The number goes into its digest and never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PieceRole {
    /// A tool of the header.
    Tool = 0,
    /// A block of the system prompt.
    Header = 1,
    /// The user's.
    User = 2,
    /// The assistant's.
    Assistant = 3,
    /// A system message in mid-conversation, on wires that have one.
    System = 4,
    /// The result of a call.
    Result = 5,
}

/// What a piece's tokens are counted under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Tools.
    Tools,
    /// The system prompt.
    System,
    /// Messages.
    Messages,
    /// Results of calls.
    Results,
    /// What stands for folds.
    Summaries,
    /// Injected text.
    Injections,
}

/// Why a piece looks as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// As it was written.
    AsWritten,
    /// It shows what this `replace` event puts in its place.
    Replaced(Seq),
    /// It stands for the fold of this commit.
    Summary(Seq),
    /// It stands for something that is not there.
    Placeholder(RepairKind),
    /// It was changed so that the provider accepts it.
    Repaired(RepairKind),
}

/// One piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Whose it is.
    pub role: PieceRole,
    /// What its tokens are counted under.
    pub category: Category,
    /// The block that put it there; of a replaced block the replaced one, of a made-up result the call.
    pub source: BlockId,
    /// The block under which its tokens are counted: the source, or the block of a `replace` event; `None`: words of the engine.
    pub counted: Option<BlockId>,
    /// Why it looks as it does.
    pub why: Why,
    /// The canonical bytes.
    pub bytes: Arc<[u8]>,
    /// Digest of role, salts of the texts that it shows, and bytes.
    pub digest: Digest,
    /// Running root up to and including this piece.
    pub root: Digest,
    /// Its tokens, as counted.
    pub tokens: u64,
    /// Tokens of all pieces before it.
    pub tokens_before: u64,
    /// Bytes of all pieces before it, separators and closers of their messages included.
    pub bytes_before: u64,
    /// On Chat: an item of `tool_calls`.
    pub(crate) call: bool,
}

/// What was mended so that the provider accepts the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RepairKind {
    /// A later tool of the same name counts.
    DuplicateTool,
    /// A tool that the wire cannot carry.
    BadTool,
    /// A fixed user text stands before the assistant's first words.
    StartsWithAssistant,
    /// Members that the wire does not have.
    Keys,
    /// The host's cache marker.
    CacheControl,
    /// Characters that no provider accepts.
    Unicode,
    /// A text without words.
    Blank,
    /// A tool's name with characters that the wire refuses.
    ToolName,
    /// Arguments that are no object.
    Input,
    /// A result without content.
    EmptyResult,
    /// A call without a result.
    OpenCall,
    /// A block that has another kind on this wire or in this place.
    Kind,
    /// A picture beyond the profile's limits.
    Image,
    /// A provider's own call that cannot stand as it is.
    ServerTool,
    /// Thinking is turned off in the request.
    ThinkingOff,
    /// The bytes are not at hand.
    Lost,
    /// The bytes were erased.
    Erased,
}

impl RepairKind {
    /// Its name in answers and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DuplicateTool => "duplicate tool",
            Self::BadTool => "bad tool",
            Self::StartsWithAssistant => "starts with assistant",
            Self::Keys => "keys",
            Self::CacheControl => "cache_control",
            Self::Unicode => "unicode",
            Self::Blank => "blank",
            Self::ToolName => "tool name",
            Self::Input => "input",
            Self::EmptyResult => "empty result",
            Self::OpenCall => "open call",
            Self::Kind => "kind",
            Self::Image => "image",
            Self::ServerTool => "server tool",
            Self::ThinkingOff => "thinking turned off",
            Self::Lost => "lost",
            Self::Erased => "erased",
        }
    }
}

/// One repair and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repair {
    /// What was mended.
    pub kind: RepairKind,
    /// The event.
    pub event: Seq,
    /// The block, where it is about one.
    pub block: Option<BlockId>,
}

/// Why a block is left out: thinking, a provider's compaction, or what that stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The request does not ask for thinking, or thinking had to be turned off.
    ThinkingOff,
    /// Another provider or model issued it.
    Issuer,
    /// It has no signature.
    Unsigned,
    /// The profile does not keep it.
    Kept,
    /// The prompt before it is not the one that it answers.
    Prefix,
    /// Its bytes hold what no provider accepts, and it may not be mended.
    Unicode,
    /// Its bytes are not at hand.
    Lost,
    /// Its bytes were erased.
    Erased,
    /// It stands before the provider's own compaction, which stands for it.
    Compaction,
}

impl Reason {
    /// Its name in answers and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ThinkingOff => "thinking off",
            Self::Issuer => "issuer",
            Self::Unsigned => "unsigned",
            Self::Kept => "kept",
            Self::Prefix => "prefix",
            Self::Unicode => "unicode",
            Self::Lost => "lost",
            Self::Erased => "erased",
            Self::Compaction => "compaction",
        }
    }
}

/// A block that is visible but has no piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeftOut {
    /// The block.
    pub block: BlockId,
    /// Why.
    pub reason: Reason,
}
