//! The conversation: messages, results, injections, and what stands in for them.

use crate::{BlockId, Content, Digest, Seq, Text};
use alloc::vec::Vec;
use bincode::{Decode, Encode};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Role {
    /// The person, or the host in their place.
    User,
    /// The model.
    Assistant,
    /// A system message in mid-conversation.
    System,
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Stop {
    /// It was done.
    EndTurn,
    /// It waits for tools.
    ToolUse,
    /// The answer's limit.
    MaxTokens,
    /// The provider paused; send again as is.
    PauseTurn,
    /// It refused.
    Refusal,
    /// The host or the person interrupted.
    Interrupted,
    /// The window was full.
    WindowExceeded,
}

/// A call in a message. Resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CallMark {
    /// The call's block.
    pub index: u32,
    /// The provider's id can travel as it is: 1 to 40 of `[a-zA-Z0-9_-]`, not of the shape of a made-up id, and no call before
    /// (visible or not) had it. Otherwise the wire shows `call_<seq>_<index>`.
    pub as_given: bool,
}

/// What a result answers. Resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Bound {
    /// It answers this call.
    To(BlockId),
    /// It says again what this call's result said already.
    Repeats(BlockId),
    /// No call is there for it (an imported log): skipped and reported.
    Orphan,
}

/// A result among a user message's blocks. Resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ResultMark {
    /// The result's block.
    pub index: u32,
    /// What it answers.
    pub bound: Bound,
}

/// Something said. Timeline.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
    /// The provider's message id; several messages of one id are parts of one response.
    pub response: Option<Text>,
    /// Digest of the prompt that this answers.
    pub issued: Option<Digest>,
    /// The model that answered.
    pub model: Option<Text>,
    /// Who issued opaque blocks (a provider's name).
    pub issuer: Option<Text>,
    /// Why the model stopped.
    pub stop: Option<Stop>,
    /// The person wrote it. Resolved from `role` and content where the host did not say.
    pub authored: Option<bool>,
    /// The first part of the response that this continues. Resolved.
    pub joins: Option<Seq>,
    /// Its calls. Resolved.
    pub calls: Vec<CallMark>,
    /// Its results. Resolved.
    pub results: Vec<ResultMark>,
}

impl Message {
    /// A message with nothing but who speaks and what is said.
    #[must_use]
    pub const fn of(role: Role, content: Content) -> Self {
        Self {
            role,
            content,
            response: None,
            issued: None,
            model: None,
            issuer: None,
            stop: None,
            authored: None,
            joins: None,
            calls: Vec::new(),
            results: Vec::new(),
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Status {
    /// Done.
    #[default]
    Ok,
    /// It failed.
    Error,
    /// The person refused it.
    Rejected,
    /// It was interrupted.
    Interrupted,
    /// Not the end: the call stays open.
    Interim,
    /// It was never started.
    NotStarted,
    /// Nobody knows whether it ran.
    Unknown,
}

impl Status {
    /// The call is closed by a result of this status.
    #[must_use]
    pub const fn closes(self) -> bool {
        !matches!(self, Self::Interim)
    }

    /// Shown to the model as an error.
    #[must_use]
    pub const fn is_error(self) -> bool {
        !matches!(self, Self::Ok | Self::Interim)
    }
}

/// The answer to a call. Timeline.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ToolResult {
    /// The provider's id of the call, as the host gave it.
    pub call: Option<Text>,
    /// The call's block, as the host gave it.
    pub block: Option<BlockId>,
    /// How the call ended.
    pub status: Status,
    /// What it brought.
    pub content: Content,
    /// The tool's name.
    pub tool: Option<Text>,
    /// The name of the session in which it ran.
    pub child: Option<Text>,
    /// What it answers. Resolved.
    pub bound: Option<Bound>,
}

/// How long an injection stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Lifetime {
    /// At its position; folded like a message.
    #[default]
    Once,
    /// At its position; injected again when a fold hid it.
    Session,
    /// After everything else, the newest of each slot.
    Tail,
}

/// Text that the host puts into the prompt. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Inject {
    /// What it is for.
    pub slot: Text,
    /// What it says; empty ends a tail slot.
    pub content: Content,
    /// How long it stays.
    pub lifetime: Lifetime,
    /// Takes the place of the slot's earlier ones.
    pub supersede: bool,
}

/// Other content for blocks. Timeline, undoable; the newest active one of a block is shown.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Replace {
    /// The blocks: text, image or result.
    pub blocks: Vec<BlockId>,
    /// What is shown instead.
    pub with: Content,
    /// Why.
    pub cause: Option<Text>,
}

/// Which results were examined and left inline: frozen. Timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Budget {
    /// The results.
    pub judged: Vec<BlockId>,
}
