//! What hides: deleted ranges, snips, collapses, compactions.

use crate::{Seq, Text};
use alloc::vec::Vec;
use bincode::{Decode, Encode};

/// A range of positions, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Range {
    /// From the first to the last.
    Closed {
        /// The first position.
        first: Seq,
        /// The last position.
        last: Seq,
    },
    /// Everything visible before this position. Admission turns it into `Closed`.
    KeepFrom(Seq),
    /// No range: a marker, which covers nothing and shows nothing.
    Marker,
}

/// What a mask hides: content positions, as inclusive runs in ascending order. Resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Covered(pub Vec<(Seq, Seq)>);

/// Content hidden without a summary. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct DeleteRange {
    /// The range; never a marker.
    pub range: Range,
    /// Why.
    pub cause: Option<Text>,
    /// What it hides. Resolved.
    pub covered: Covered,
}

/// Single messages hidden, whole units only. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Snip {
    /// What is hidden.
    pub messages: Vec<Seq>,
    /// Why.
    pub cause: Option<Text>,
    /// What it hides. Resolved.
    pub covered: Covered,
}

/// A span and its summary, held ready. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CollapseStage {
    /// Its name.
    pub id: Text,
    /// The span.
    pub range: Range,
    /// What will stand for it.
    pub summary: Text,
}

/// A span gives way to its summary. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CollapseCommit {
    /// Its name; that of a stage, or a new one with all other fields.
    pub id: Text,
    /// The span. Resolved from the stage.
    pub range: Option<Range>,
    /// What stands for it. Resolved from the stage.
    pub summary: Option<Text>,
    /// What it hides. Resolved.
    pub covered: Covered,
}

/// A staged span is given up. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CollapseDiscard {
    /// Its name.
    pub id: Text,
}

/// What asked for a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Trigger {
    /// A person or the host.
    #[default]
    Manual,
    /// A threshold.
    Auto,
    /// The provider's refusal.
    Overflow,
}

/// A compaction is planned. Timeline.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CompactPlan {
    /// Its name.
    pub id: Text,
    /// What it will cover.
    pub range: Range,
    /// What asked for it.
    pub trigger: Trigger,
    /// How hard it cuts: 0, then 1 to 3.
    pub level: u8,
    /// The pieces that are summarised one by one, as inclusive ranges.
    pub chunks: Vec<(Seq, Seq)>,
    /// The last words of the request to the model, in full, so that it can be written again; none: no model is asked.
    pub instruction: Option<Text>,
}

/// One piece of a planned compaction is summarised. Timeline.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CompactChunk {
    /// The compaction.
    pub id: Text,
    /// Which piece.
    pub chunk: u32,
    /// Its summary.
    pub text: Text,
}

/// Who made a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Maker {
    /// A model that was asked.
    Model,
    /// The session's memories.
    Memory,
    /// A rule without a model.
    Rule,
    /// The host, unasked.
    Host,
}

/// How a compaction came about and what it cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Boundary {
    /// What asked for it.
    pub trigger: Trigger,
    /// How hard it cut: 0, then 1 to 3.
    pub level: u8,
    /// Who made the summary.
    pub by: Maker,
    /// Messages that it stands for.
    pub messages: u64,
    /// From the plan to the commit, in milliseconds.
    pub millis: u64,
    /// What stayed as it was behind the summary: the first and the last position.
    pub kept: Option<(Seq, Seq)>,
}

/// A range gives way to its summary. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CompactCommit {
    /// The compaction; that of a plan or a new name; none for a host's unnamed one.
    pub id: Option<Text>,
    /// What it covers.
    pub range: Range,
    /// What stands for it; none for a marker.
    pub summary: Option<Text>,
    /// Tokens before, by estimate.
    pub before: Option<u64>,
    /// Tokens after, by estimate.
    pub after: Option<u64>,
    /// What it hides. Resolved.
    pub covered: Covered,
    /// How it came about; none where nobody said.
    pub boundary: Option<Boundary>,
}

/// A compaction is given up. Timeline.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CompactAbandon {
    /// The compaction.
    pub id: Text,
    /// Why.
    pub reason: Text,
}
