//! Where a session stood lately: the places up to which its state may be written and cooled.

use super::{Shelf, Stored};
use crate::host::live::Live;
use recount_events::Seq;
use recount_projections::State;
use recount_wal::{RecordDigest, StreamId};
use std::sync::Arc;

/// A session's state at a position.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// The state.
    pub(crate) state: State,
    /// The digest of the newest record.
    pub(crate) digest: RecordDigest,
}

/// What is known of a session's checkpoints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// Positions before which were looked at for the last checkpoint.
    pub(crate) tried: u64,
    /// Positions that the checkpoint on disk holds.
    pub(crate) stored: u64,
    /// Some way back: what comes after it stays at hand.
    pub(crate) older: Option<Mark>,
    /// Not so far back: it takes the other one's place.
    pub(crate) newer: Option<Mark>,
    /// Where cold events are read.
    pub(crate) shelf: Option<Arc<Shelf>>,
}

impl Kept {
    /// Takes note of a state, when the last note is old enough.
    pub(crate) fn mark(&mut self, state: &State, digest: RecordDigest, every: u64) {
        let step = (every / 16).clamp(1, 128);
        let next = |mark: &Mark| mark.state.head().map_or(0, |head| head.0.saturating_add(1));
        let due = self
            .newer
            .as_ref()
            .is_none_or(|newer| next_of(state) >= next(newer).saturating_add(step));
        if due {
            let state = state.clone();
            let mark = Mark { state, digest };
            self.older = self.newer.replace(mark).or(self.older.take());
        }
    }
}

fn next_of(state: &State) -> u64 {
    state.head().map_or(0, |head| head.0.saturating_add(1))
}

impl Live {
    /// Takes note of where the session stands.
    pub(crate) fn mark(&mut self, every: u64) {
        let (state, digest) = (&self.core.state, self.digest);
        self.kept.mark(state, digest, every);
    }

    /// Events since a checkpoint was last thought of.
    pub(crate) fn since_kept(&self) -> u64 {
        let base = self.kept.tried.max(self.kept.stored);
        self.core.next().0.saturating_sub(base)
    }

    /// Events that the checkpoint on disk does not hold and a new one would.
    pub(crate) fn since_stored(&self) -> u64 {
        let older = self.kept.older.as_ref();
        older
            .map_or(0, |mark| next_of(&mark.state))
            .saturating_sub(self.kept.stored)
    }

    /// Something needed more than is in memory, or a cold event could not be read.
    pub(crate) fn missed(&self) -> bool {
        self.kept.shelf.as_ref().is_some_and(|shelf| shelf.missed())
    }

    /// What a checkpoint at a mark holds; none for a session that damage touched.
    pub(super) fn stored(&self, stream: StreamId, mark: &Mark) -> Option<Stored> {
        let head = mark.state.head()?;
        let within = |seq: &Seq| *seq <= head;
        if !self.recovered.damaged.is_empty() || !mark.state.can_cool() {
            return None;
        }
        let injects = self.core.session_injects.iter().copied();
        Some(Stored {
            stream,
            seq: head.0,
            digest: mark.digest,
            state: mark.state.clone(),
            injects: injects.filter(within).collect(),
            inherited: self.core.counting.inherited.clone(),
            keys: self.core.keys.upto(head),
            read_only: self.read_only,
        })
    }
}
