//! State checkpoints: what an open session need not fold again, and what it need not hold.
//!
//! - Derived: any of them may be missing, old, damaged or from elsewhere; then the log is folded, with the same outcome.
//! - Never ahead of the durable head. A checkpoint that cannot be written is not written.
//! - A session is cooled up to a position some way back, so that what is near stays at hand; what looks further back folds the log
//!   once and asks again.

#[cfg(test)]
mod example;
mod file;
mod mark;
mod read;
mod shelf;
mod writer;

pub(super) use file::{Place, Stored};
pub(super) use mark::{Kept, Mark};
pub(super) use shelf::Shelf;
pub(super) use writer::Writer;

use super::directory::{Directory, Held};
use super::live::Live;
use crate::Error;
use recount_wal::StreamId;
use std::sync::Arc;

/// Events after which a session's state is written and cooled.
const EVERY: u64 = 2_048;
/// A session with fewer new events is as quickly folded as read.
const WORTH: u64 = 512;

impl Directory {
    /// Events after which a session's state is written and cooled.
    pub(super) fn every(&self) -> u64 {
        self.options.checkpoint_every.unwrap_or(EVERY).max(2)
    }

    /// Asks a session something that changes nothing. Where too little of it is in memory, its log is folded and it is asked again.
    pub(crate) fn ask<T>(
        &self,
        held: &mut Held<'_>,
        mut question: impl FnMut(&mut Live) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let salts = self.salts_drawn();
        let live = self.live(held)?;
        let answer = question(live);
        if !live.missed() {
            return answer;
        }
        self.draw_again(salts);
        question(self.whole(held)?)
    }

    /// The session with every event in memory.
    pub(crate) fn whole<'a>(&self, held: &'a mut Held<'_>) -> Result<&'a mut Live, Error> {
        let live = self.live(held)?;
        if !live.core.state.is_whole() {
            self.warm(held)?;
        }
        self.live(held)
    }

    /// Remembers where the session stands; after enough events its state is written and cooled.
    pub(super) fn note(&self, held: &mut Held<'_>) {
        let stream = held.slot.stream;
        let every = self.every();
        let Some(live) = held.live() else { return };
        live.mark(every);
        if live.since_kept() >= every {
            self.keep(stream, live);
        }
    }

    /// Writes a session's state and cools it.
    pub(super) fn keep(&self, stream: StreamId, live: &mut Live) {
        live.kept.tried = live.core.next().0;
        let Some(mark) = live.kept.older.clone() else {
            return;
        };
        let Ok(shelf) = self.shelf(stream) else {
            return;
        };
        if let Ok(cooled) = live
            .core
            .state
            .cooled_to(&mark.state, Arc::clone(&shelf) as _)
        {
            live.core.state = cooled;
            live.kept.shelf = Some(shelf);
        }
        if let Some(stored) = live.stored(stream, &mark) {
            self.states.write(stored, self.options.disk.is_some());
        }
    }

    /// What leaves memory is written before, where that is worth it.
    pub(super) fn leave(&self, stream: StreamId, live: &Live, now: bool) {
        let worth = WORTH.min(self.every());
        if live.since_stored() < worth {
            return;
        }
        if let Some(stored) = live
            .kept
            .older
            .as_ref()
            .and_then(|mark| live.stored(stream, mark))
        {
            self.states.write(stored, now);
        }
    }
}
