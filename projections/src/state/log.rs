//! What is kept apart from the timeline: every position ever, on whatever branch.
//!
//! - A position is taken in once and never changes, except that erased contents leave it.
//! - At least every 32nd position of a line keeps its timeline; every rollback and every undo does.
//! - In a fork the list may be longer than the log: what the parent wrote after the origin is written over.

use crate::{Logged, Map, Misfit, Timeline};
use alloc::sync::Arc;
use recount_events::{BlockId, Seq};

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

impl Step {
    /// What stands there, if it counts.
    pub(crate) fn counts(&self) -> Option<&Arc<Logged>> {
        self.logged.as_ref().filter(|_| !self.skip)
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
