//! Why an event does not fit, what the caller should do, and what would fit instead.
//!
//! - [`Kind`] is what to branch on; [`Problem`] has one variant for each rule; [`Suggest`] has the fields of the refused event.

use alloc::vec::Vec;
use bincode::{Decode, Encode};
use recount_events::{BlockId, Seq};

/// What the caller should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum MisfitKind {
    /// Nothing changed; the event does not fit this timeline. Look at the suggestion.
    Rejected,
    /// Nothing changed; what was named is not there.
    NotFound,
    /// Nothing changed; the event is ill-formed whatever the timeline.
    Invalid,
    /// Nothing changed; something else stands under that name already.
    Conflict,
    /// Nothing changed; the state does not hold enough to decide. Fold the whole log and ask again.
    Cold,
}

/// The fields of an event that would fit.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Suggest {
    /// `first` and `last`: the smallest legal range around the refused one, else the largest inside.
    Range {
        /// The first position.
        first: Seq,
        /// The last position.
        last: Seq,
    },
    /// `keep_from`: the start of the first unit that cannot go.
    KeepFrom(Seq),
    /// `undos`: what to undo first, newest first.
    Undos(Vec<Seq>),
    /// `rollback: {seq}`: a rollback that does what was asked.
    Rollback(Seq),
    /// `seq`: the position that was meant, on another branch.
    Seq(Seq),
    /// `messages`: the completed list.
    Messages(Vec<Seq>),
}

/// Which rule an event breaks. Facts stand last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode, thiserror::Error)]
pub enum Problem {
    /// A position that is not written yet.
    #[error("the position is in the future: seq={0}")]
    Future(Seq),
    /// No event before the named one.
    #[error("there is no position before the first event")]
    BeforeStart,
    /// The position holds nothing that this version could read.
    #[error("nothing readable stands there: seq={0}")]
    Unreadable(Seq),
    /// The event named is not on the current timeline.
    #[error("the event is not on the current timeline: seq={0}")]
    OffTimeline(Seq),
    /// The event named has no effect any more.
    #[error("the event is undone already: seq={event} by={by}")]
    Undone {
        /// The event named.
        event: Seq,
        /// The undo that took it out.
        by: Seq,
    },
    /// Events of this kind cannot be undone.
    #[error("an event of this kind cannot be undone: seq={0}")]
    NotUndoable(Seq),
    /// Later events rest on the undo's target.
    #[error("later events rest on it: seq={event} first={by}")]
    RestsOn {
        /// The undo's target.
        event: Seq,
        /// The first event that would not fit without it.
        by: Seq,
    },
    /// Something happened since the rollback.
    #[error("the timeline went on since the rollback: seq={0}")]
    WentOn(Seq),
    /// Nothing on the timeline is that old.
    #[error("no event of the timeline is that old: time={0}")]
    NothingThatOld(u64),
    /// Fewer turns than asked for.
    #[error("the timeline has fewer turns: turns={there}")]
    FewerTurns {
        /// How many there are.
        there: u64,
    },
    /// Zero turns.
    #[error("the number of turns must be at least 1")]
    NoTurns,
    /// No such checkpoint on the timeline.
    #[error("no checkpoint of that label is on the timeline")]
    NoCheckpoint,
    /// The cause named cannot be one.
    #[error("the cause is not active on the timeline: because={0}")]
    NoCause(Seq),
    /// Neither `call` nor `block`.
    #[error("a result needs `call` or `block`")]
    CallMissing,
    /// No call of that id.
    #[error("no call of that id is on the timeline")]
    NoCall,
    /// That block is no call.
    #[error("the block is no call of the timeline: block={}/{}", .0.seq, .0.index)]
    NotACall(BlockId),
    /// The call was rolled away.
    #[error("its call is on another branch")]
    CallElsewhere,
    /// The call has a result with other content.
    #[error("the call is closed by another result; replace that one: block={}/{}", .0.seq, .0.index)]
    CallClosed(BlockId),
    /// Fields that the log resolved contradict the content or the timeline.
    #[error("what was resolved does not fit the content")]
    Resolved,
    /// Neither `first`/`last` nor `keep_from`.
    #[error("a range is needed: `first` and `last`, or `keep_from`")]
    RangeMissing,
    /// A marker where a range is needed.
    #[error("an event of this kind needs a range")]
    MarkerForbidden,
    /// The first position is behind the last.
    #[error("the range ends before it begins: first={first} last={last}")]
    RangeReversed {
        /// Its first position.
        first: Seq,
        /// Its last position.
        last: Seq,
    },
    /// Nothing visible is in it.
    #[error("nothing visible is in the range")]
    NothingVisible,
    /// An end of the range is neither visible content nor in a fold inside it.
    #[error("the range begins or ends at what is not shown: seq={0}")]
    EndNotShown(Seq),
    /// It cuts through a fold.
    #[error("the range cuts through a fold: fold={0}")]
    CutsFold(Seq),
    /// It splits a response from its results.
    #[error("the range splits a response from its results: unit={0}")]
    SplitsUnit(Seq),
    /// It holds an open call.
    #[error("a call in it is open: block={}/{}", .0.seq, .0.index)]
    OpenCall(BlockId),
    /// No summary.
    #[error("a summary is needed")]
    SummaryMissing,
    /// An empty list.
    #[error("the list is empty")]
    Empty,
    /// An entry stands twice.
    #[error("the list names a position twice: seq={0}")]
    Repeated(Seq),
    /// Not visible content.
    #[error("that is not visible content: seq={0}")]
    NotShown(Seq),
    /// A name that was used for this before.
    #[error("the name was used before: seq={0}")]
    NameUsed(Seq),
    /// No stage or plan of that name waits.
    #[error("nothing of that name is pending")]
    NothingPending,
    /// Another plan is pending.
    #[error("another compaction is pending: plan={0}")]
    PlanPending(Seq),
    /// It is committed already.
    #[error("it is committed already; undo the commit: seq={0}")]
    Committed(Seq),
    /// The commit's range differs from the plan's or the stage's.
    #[error("the range differs from the planned one: first={first} last={last}")]
    RangeDiffers {
        /// The planned first position.
        first: Seq,
        /// The planned last position.
        last: Seq,
    },
    /// The plan has no such chunk, or has its text.
    #[error("the plan waits for no such chunk: chunk={0}")]
    NoChunk(u32),
    /// No block of that name is on the timeline.
    #[error("no such block is on the timeline: block={}/{}", .0.seq, .0.index)]
    NoBlock(BlockId),
    /// Blocks of that kind cannot be replaced.
    #[error("a block of this kind cannot be replaced: block={}/{}", .0.seq, .0.index)]
    NotReplaceable(BlockId),
    /// Calls or results in the replacement.
    #[error("a replacement holds no calls and no results")]
    BadReplacement,
    /// No cache edit of that name.
    #[error("no cache edit of that name is on the timeline")]
    NoCacheEdit,
    /// A fork event that is not the first event of a fork.
    #[error("a fork event stands only at the beginning of a fork: seq={0}")]
    ForkMisplaced(Seq),
    /// The position's bytes were damaged or are missing.
    #[error("the event was not found in the log")]
    Gap,
    /// What is needed is not in memory.
    #[error("the session is not wholly in memory")]
    Cold,
}

/// An event does not fit. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, thiserror::Error)]
#[error("{problem}")]
pub struct Misfit {
    /// What the caller should do.
    pub kind: MisfitKind,
    /// Which rule.
    pub problem: Problem,
    /// What would fit.
    pub suggest: Option<Suggest>,
}

impl Misfit {
    /// The state does not hold enough to decide; the whole log does.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        self.problem == Problem::Cold
    }

    pub(crate) const fn rejected(problem: Problem) -> Self {
        Self {
            kind: MisfitKind::Rejected,
            problem,
            suggest: None,
        }
    }

    pub(crate) const fn cold() -> Self {
        Self {
            kind: MisfitKind::Cold,
            problem: Problem::Cold,
            suggest: None,
        }
    }

    pub(crate) const fn not_found(problem: Problem) -> Self {
        Self {
            kind: MisfitKind::NotFound,
            problem,
            suggest: None,
        }
    }

    pub(crate) const fn invalid(problem: Problem) -> Self {
        Self {
            kind: MisfitKind::Invalid,
            problem,
            suggest: None,
        }
    }

    pub(crate) fn suggest(self, suggest: impl Into<Option<Suggest>>) -> Self {
        Self {
            suggest: suggest.into(),
            ..self
        }
    }
}
