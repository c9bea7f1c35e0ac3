//! What is kept apart from the timeline: every position ever, on whatever branch.
//!
//! - A position is taken in once and never changes, except that erased contents leave it.
//! - At least every 32nd position of a line keeps its timeline; every rollback and every undo does.
//! - In a fork the list may be longer than the log: what the parent wrote after the origin is written over.
//! - Early positions may be *cold*: 16 bytes each say how they hang together, the event is read again where it is asked for. A cold
//!   position is never taken for a gap: what needs more than its event answers [`crate::Problem::Cold`].

use crate::{List, Logged, Map, Misfit, Timeline};
use alloc::{sync::Arc, vec::Vec};
use core::fmt::Debug;
use recount_events::{BlockId, Class, Seq};

/// Positions between stored timelines of a line.
pub(crate) const STRIDE: u8 = 32;

/// Short digests of call ids. Of the ids no text is kept, since their events may be erased.
pub(crate) type Ids = Map<[u8; 16], ()>;

/// One position of the log.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What stands there, if it was found.
    pub(crate) logged: Option<Arc<Logged>>,
    /// The position before it on its line.
    pub(crate) prev: Option<Seq>,
    /// The lowest key of `shown` that differs from that of the position before it on its line.
    pub(crate) moved: Option<Seq>,
    /// It does not count: a gap, or something that did not fit.
    pub(crate) skip: bool,
    /// What to report of it.
    pub(crate) report: Option<Arc<Misfit>>,
    /// The state of things here.
    pub(crate) stored: Option<Arc<Stored>>,
}

/// Where a state reads again what it does not hold. It answers what the log holds, resolved fields filled: the same for ever.
pub trait Source: Send + Sync + Debug {
    /// The event at a cold position; `None` when it cannot be read.
    fn event(&self, seq: Seq) -> Option<Arc<Logged>>;

    /// Something needed more of a cold position than its event: the answer was [`crate::Problem::Cold`].
    fn missed(&self) {}
}

/// What is kept of a cold position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bone {
    /// The position before it on its line; [`NONE`]: none.
    prev: u64,
    /// The lowest key that moved, or [`NONE`]; above it the flags.
    moved: u64,
}

/// No position. A log never gets there.
const NONE: u64 = (1 << 60) - 1;
/// It does not count.
const SKIP: u64 = 1 << 60;
/// Its event is of the ledger.
const LEDGER: u64 = 1 << 61;

impl Bone {
    /// Of a position that is given up.
    fn of(step: &Step) -> Self {
        Self::new(step.prev, step.moved, step.skip, step.is_ledger())
    }

    /// From what is known of a position.
    pub(crate) fn new(prev: Option<Seq>, moved: Option<Seq>, skip: bool, ledger: bool) -> Self {
        let number = |seq: Option<Seq>| seq.map_or(NONE, |seq| seq.0 & NONE);
        let flags = if skip { SKIP } else { 0 } | if ledger { LEDGER } else { 0 };
        Self {
            prev: number(prev),
            moved: number(moved) | flags,
        }
    }
}

impl Step {
    /// A fact of the ledger stands there.
    fn is_ledger(&self) -> bool {
        let is_ledger = |logged: &Arc<Logged>| logged.event.body.class() == Class::Ledger;
        self.logged.as_ref().is_some_and(is_ledger)
    }
}

fn position(number: u64) -> Option<Seq> {
    (number & NONE != NONE).then_some(Seq(number & NONE))
}

/// How a position hangs together with others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
    /// Its event is at hand.
    Warm(&'a Step),
    /// Its event is not; the last cold one has its timeline.
    Cold(Bone, Option<&'a Arc<Stored>>),
}

impl<'a> At<'a> {
    /// The position before it on its line.
    pub(crate) fn prev(self) -> Option<Seq> {
        match self {
            Self::Warm(step) => step.prev,
            Self::Cold(bone, _) => position(bone.prev),
        }
    }

    /// The lowest key of `shown` that differs from that of the position before it on its line.
    pub(crate) fn moved(self) -> Option<Seq> {
        match self {
            Self::Warm(step) => step.moved,
            Self::Cold(bone, _) => position(bone.moved),
        }
    }

    /// It does not count.
    pub(crate) fn skip(self) -> bool {
        match self {
            Self::Warm(step) => step.skip,
            Self::Cold(bone, _) => bone.moved & SKIP != 0,
        }
    }

    /// A fact of the ledger stands there.
    pub(crate) fn is_ledger(self) -> bool {
        match self {
            Self::Warm(step) => step.is_ledger(),
            Self::Cold(bone, _) => bone.moved & LEDGER != 0,
        }
    }

    /// The state of things there, if it was kept.
    pub(crate) fn stored(self) -> Option<&'a Arc<Stored>> {
        match self {
            Self::Warm(step) => step.stored.as_ref(),
            Self::Cold(_, stored) => stored,
        }
    }

    /// Its event is not at hand.
    pub(crate) fn is_cold(self) -> bool {
        matches!(self, Self::Cold(..))
    }
}

/// All positions ever.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// The cold ones, from 0 on.
    cold: Arc<[Bone]>,
    /// The state of things at the last cold one.
    base: Option<Arc<Stored>>,
    /// The others.
    warm: List<Step>,
    /// Where cold events are read again.
    source: Option<Arc<dyn Source>>,
}

impl Log {
    /// A log of cold positions only.
    pub(crate) fn cold(bones: Vec<Bone>, base: Stored, source: Arc<dyn Source>) -> Self {
        Self {
            cold: Arc::from(bones),
            base: Some(Arc::new(base)),
            warm: List::default(),
            source: Some(source),
        }
    }

    /// Cold events are read from there.
    pub(crate) fn reads_from(&mut self, source: Arc<dyn Source>) {
        self.source = Some(source);
    }

    /// Every event is at hand.
    pub(crate) fn is_whole(&self) -> bool {
        self.cold.is_empty()
    }

    /// How many positions are cold.
    pub(crate) fn cold_len(&self) -> usize {
        self.cold.len()
    }

    /// The first positions as they are kept when they are cold.
    pub(crate) fn bones(&self, end: Seq) -> Vec<Bone> {
        let warm = index_of(end).unwrap_or(usize::MAX);
        let warm = self
            .warm
            .iter()
            .take(warm.saturating_sub(self.cold.len()))
            .map(Bone::of);
        self.cold.iter().copied().chain(warm).collect()
    }

    /// A position.
    pub(crate) fn at(&self, seq: Seq) -> Option<At<'_>> {
        let index = index_of(seq)?;
        if let Some(bone) = self.cold.get(index) {
            let last = index.checked_add(1) == Some(self.cold.len());
            return Some(At::Cold(*bone, self.base.as_ref().filter(|_| last)));
        }
        Some(At::Warm(
            self.warm.get(index.checked_sub(self.cold.len())?)?,
        ))
    }

    /// What stands at a position, if it was found; a cold one is read again.
    pub(crate) fn event(&self, seq: Seq) -> Option<Arc<Logged>> {
        match self.at(seq)? {
            At::Warm(step) => step.logged.clone(),
            At::Cold(..) => self.source.as_ref()?.event(seq),
        }
    }

    /// Puts a position in its place.
    pub(crate) fn put(&mut self, seq: Seq, step: Step) {
        let index = index_of(seq).unwrap_or(usize::MAX);
        let index = index.saturating_sub(self.cold.len());
        if index < self.warm.len() {
            self.warm.set_mut(index, step);
        } else {
            self.warm.push_back_mut(step);
        }
    }

    /// More is needed than the events of cold positions.
    pub(crate) fn cold_misfit(&self) -> Misfit {
        if let Some(source) = &self.source {
            source.missed();
        }
        Misfit::cold()
    }
}

/// A timeline and what else a fork inherits.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) timeline: Timeline,
    pub(crate) whole: Whole,
}

/// What is true of the whole log, whatever the timeline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    /// Ids of all calls.
    pub(crate) ids: Ids,
    /// Rollbacks (and undos that are rollbacks), each with the runs of the line that it left.
    pub(crate) jumps: Map<Seq, Map<Seq, Seq>>,
    /// Reports.
    pub(crate) reports: Map<Seq, Arc<Misfit>>,
    /// An event is missing, or was taken in otherwise than it stands in the log: reading it again would give another one.
    pub(crate) odd: bool,
}

impl Whole {
    /// Takes in what the log knows of a position beyond the timeline.
    pub(crate) fn note(&mut self, seq: Seq, step: &Step) {
        if let Some(report) = &step.report {
            self.reports.insert_mut(seq, Arc::clone(report));
        }
        let message = step.logged.as_ref().and_then(|logged| logged.message());
        let Some(message) = message.filter(|_| !step.skip) else {
            return;
        };
        for mark in &message.calls {
            if let Some(id) = crate::admit::call_id(message, mark.index) {
                self.ids.insert_mut(id_print(&id), ());
            }
        }
    }
}

/// A short digest of a call's id.
pub(crate) fn id_print(id: &str) -> [u8; 16] {
    let digest = blake3::hash(id.as_bytes());
    let mut print = [0; 16];
    print
        .iter_mut()
        .zip(digest.as_bytes())
        .for_each(|(to, from)| *to = *from);
    print
}

/// The position of a list's entry.
pub(crate) fn index_of(seq: Seq) -> Option<usize> {
    usize::try_from(seq.0).ok()
}

/// The orphans among an event's results.
pub(crate) fn orphan_of(logged: &Logged) -> Option<BlockId> {
    use recount_events::{Body, Bound};
    let seq = logged.seq;
    match &logged.event.body {
        Body::ToolResult(result) if result.bound == Some(Bound::Orphan) => {
            Some(BlockId { seq, index: 0 })
        }
        Body::Message(message) => {
            let mark = message
                .results
                .iter()
                .find(|mark| mark.bound == Bound::Orphan)?;
            Some(BlockId {
                seq,
                index: mark.index,
            })
        }
        _ => None,
    }
}
