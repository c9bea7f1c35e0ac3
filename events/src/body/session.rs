//! The session itself: its opening, its profile and policy, the request's header.

use crate::{Content, Digest, Seq, Text};
use alloc::vec::Vec;
use bincode::{Decode, Encode};

/// What a session is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum SessionKind {
    /// A conversation of its own.
    #[default]
    Main,
    /// A sub-agent's.
    Sub,
    /// A forked helper or a compaction call: runs no tier that changes the prompt.
    Side,
}

/// The session begins. Ledger.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Opened {
    /// The session's name, as the host gave it.
    pub session: Text,
    /// What it is for.
    pub kind: SessionKind,
    /// The session that started it (its name) and where.
    pub parent: Option<(Text, Seq)>,
    /// Directory of spilled results, shown exactly so.
    pub spill_root: Option<Text>,
    /// The host's name and version.
    pub host: Option<Text>,
}

/// The session ended cleanly. Ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Closed {}

/// The session continues another one. Ledger; the first event of a fork, at its origin + 1.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Forked {
    /// The fork's own name.
    pub session: Text,
    /// The parent's name.
    pub from: Text,
    /// The last inherited position.
    pub seq: Seq,
    /// The parent's record digest there.
    pub digest: Digest,
}

/// The dialect of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum Wire {
    /// Anthropic Messages.
    #[default]
    Anthropic,
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Gemini generateContent.
    Gemini,
}

/// Which earlier thinking a model keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Keeps {
    /// That of all turns.
    #[default]
    All,
    /// That of the last turn.
    Last,
    /// None.
    None,
}

/// How a model treats signed thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Thinking {
    /// Signatures are bound to the exact prefix.
    pub binds: bool,
    /// What is kept.
    pub keeps: Keeps,
}

/// For whom the prompt is projected. Timeline, undoable; the last one wins. Numbers are tokens unless said.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Profile {
    /// Who answers (`anthropic`, `openai` …): the issuer of opaque blocks.
    pub provider: Text,
    /// The model, as the request names it.
    pub model: Text,
    /// The request's dialect.
    pub wire: Wire,
    /// Context window.
    pub window: u64,
    /// Largest answer.
    pub max_output: u64,
    /// What the provider adds and the log does not hold.
    pub overhead_tokens: u64,
    /// Largest request body in bytes; 0: no limit.
    pub body_bytes: u64,
    /// Most pictures in a request; 0: no limit.
    pub images_count: u32,
    /// Most bytes of one picture, as it travels; 0: no limit.
    pub images_bytes: u64,
    /// Most pixels a side; 0: no limit.
    pub images_pixels: u32,
    /// The last message may be the assistant's.
    pub prefill: bool,
    /// How thinking is treated.
    pub thinking: Thinking,
    /// Messages of role system are allowed in mid-conversation.
    pub system_role: bool,
    /// Cache edits are supported.
    pub cache_edits: bool,
    /// Request parameters: a JSON object, its members passed through in order.
    pub params: Option<Text>,
    /// Request headers: a JSON object of strings.
    pub headers: Option<Text>,
}

/// A named set of tiers and constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Preset {
    /// Decides by arithmetic.
    #[default]
    Recount,
    /// Five tiers.
    ClaudeCode,
    /// Five layers.
    FiveLayer,
    /// Truncation of the middle.
    Cline,
    /// No tier proposes.
    None,
}

/// How the session is kept small. Timeline, undoable; the last one wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Policy {
    /// The set of tiers.
    pub preset: Preset,
    /// Proactive tiers run.
    pub auto: bool,
    /// Reactive compaction runs even when `auto` is off.
    pub reactive: bool,
    /// Constants that differ from the preset's: a JSON object.
    pub params: Option<Text>,
}

/// The version of fold, repair and render in force from here on. Timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Rendering {
    /// The version.
    pub version: u32,
}

/// The system prompt. Timeline, undoable; the last one wins.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct System {
    /// What it says.
    pub content: Content,
}

/// The tools of the request. Timeline, undoable; the last one wins. Shown ordered by name, bytewise.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Tools {
    /// The raw JSON of each tool, in the order in which the host gave them.
    pub tools: Vec<Text>,
}
