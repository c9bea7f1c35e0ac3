//! Work in progress: stages that wait to be drained, the plan that waits for its summaries, and the names that were used.

use crate::{List, Logged, Map, Timeline, ledger::print};
use alloc::sync::Arc;
use recount_events::{Body, Seq, Text};

/// A short digest of what a host called something: of the name itself no text is kept. Names that are not at hand are equal to
/// nothing.
pub type Name = [u8; 16];

/// What became of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// A span is held ready.
    Staged(Seq),
    /// A compaction waits for its summaries.
    Planned(Seq),
    /// It is done.
    Committed(Seq),
    /// The plan was given up.
    Abandoned(Seq),
    /// The stage was given up.
    Discarded(Seq),
}

/// A compaction that waits for its summaries.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The `compact_plan` event.
    pub logged: Arc<Logged>,
    /// The summaries so far, by chunk: `compact_chunk` events.
    pub chunks: Map<u32, Arc<Logged>>,
}

/// Work in progress.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Stages that wait, in order: `collapse_stage` events.
    pub stages: Map<Seq, Arc<Logged>>,
    /// The plan that is neither committed nor given up; [`Work::waiting`] when summaries are still to come.
    pub plan: Option<Plan>,
    /// Collapses by name.
    pub collapses: Map<Name, Life>,
    /// Compactions by name.
    pub compactions: Map<Name, Life>,
}

impl Plan {
    /// Every piece of it was answered, and it is not committed: its commit was undone. Nobody is asked for anything any more.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        let Body::CompactPlan(plan) = &self.logged.event.body else {
            return false;
        };
        !plan.chunks.is_empty() && self.chunks.size() >= plan.chunks.len()
    }
}

impl Work {
    /// The plan for which summaries are still to come.
    #[must_use]
    pub fn waiting(&self) -> Option<&Plan> {
        self.plan.as_ref().filter(|plan| !plan.is_spent())
    }
}

impl Life {
    /// The event that brought it here.
    #[must_use]
    pub const fn seq(self) -> Seq {
        match self {
            Self::Staged(seq)
            | Self::Planned(seq)
            | Self::Committed(seq)
            | Self::Abandoned(seq)
            | Self::Discarded(seq) => seq,
        }
    }
}

/// The name in a text, if at hand.
pub(crate) fn name_of(text: &Text) -> Option<Name> {
    text.bytes().map(print)
}

impl Timeline {
    /// Injections of lifetime once or session of a slot, oldest first, whatever hides them.
    #[must_use]
    pub fn in_slot(&self, slot: &Text) -> Option<&List<Seq>> {
        self.slots.get(&name_of(slot)?)
    }
}
