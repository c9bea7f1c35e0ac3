//! The state: the fold of a log.
//!
//! - Cloning is O(1). A batch is admitted on a clone, event by event; the clone is dropped at the first misfit.
//! - Everything that can go wrong happens in `admit`; `apply` cannot fail.
//! - Live and replayed events use the same door: `admit` resolves what the log keeps, `readmit` keeps what was resolved.

mod admit;
mod apply;
mod cause;
mod cool;
mod erase;
mod list;
mod log;
mod travel;
mod undo;
mod unmask;

pub use log::Source;
pub(crate) use log::{At, Bone, Ids, Log, Stored, Whole, id_print};

use crate::{Ledger, Logged, Misfit, Problem, Timeline};
use alloc::sync::Arc;
use recount_events::{BlockId, Event, Millis, Seq, Text};

/// The fold of a log: a timeline, which a rollback restores, and a ledger, which nothing rolls back.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The timeline at the head.
    pub(crate) now: Timeline,
    pub(crate) ledger: Ledger,
    /// What is true of the whole log.
    pub(crate) whole: Whole,
    /// All positions; in a fork perhaps more, see [`log`].
    pub(crate) log: Log,
    /// The position after the head.
    pub(crate) next: Seq,
    /// In a fork, the last inherited position.
    pub(crate) origin: Option<Seq>,
}

/// An event that fits, with everything resolved, at its position.
#[derive(Clone, Debug)]
pub struct Admitted {
    logged: Arc<Logged>,
    /// The timeline that a rollback or an undo chose.
    chosen: Option<Chosen>,
}

/// A timeline that a rollback or an undo chose.
#[derive(Clone, Debug)]
struct Chosen {
    timeline: Timeline,
    /// The lowest key of `shown` that differs, where it is known already.
    touched: Option<Option<Seq>>,
}

/// What an applied event changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Its position.
    pub seq: Seq,
    /// The lowest key of `shown` whose entry changed; `None`: nothing that is shown. Tail injections are not in `shown`.
    pub touched: Option<Seq>,
    /// The request's header changed.
    pub header: bool,
}

/// A position that a target means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The position.
    pub to: Seq,
    /// Its time.
    pub at: Millis,
    /// For a target in time: later-stamped events before it.
    pub skipped: u64,
}

/// An event that could not be read back from the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap;

/// A position that shows nothing because what stands there did not fit or was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The position.
    pub seq: Seq,
    /// Why.
    pub misfit: Misfit,
}

/// Why something is not shown, and the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It comes after the timeline's head.
    Later,
    /// It could not be read, or did not fit.
    Skipped,
    /// A rollback took it away; a rollback to just before that one brings it back.
    Rollback(Seq),
    /// An undo took it out; undoing that brings it back.
    Undo(Seq),
    /// A mask covers it; undoing that shows it, or the mask below.
    Mask(Seq),
    /// A newer one took its place: a final result, a header, an injection.
    Superseded(Seq),
    /// All its blocks show other content; undoing the replacement brings it back.
    Replaced(Seq),
}

/// A call without a closing result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The call.
    pub block: BlockId,
    /// The response that it belongs to: its first part.
    pub unit: Seq,
    /// The newest interim result.
    pub interim: Option<Seq>,
}

/// A checkpoint of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointView {
    /// Its position.
    pub seq: Seq,
    /// Its time.
    pub at: Millis,
    /// Its label.
    pub label: Text,
    /// The host's reference to its workspace.
    pub workspace: Option<Text>,
}

impl State {
    /// Before the first event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A session that inherits the positions up to `at` as its timeline; its ledger is empty.
    ///
    /// # Errors
    /// The position is in the future; or too far back for what is in memory.
    pub fn fork(&self, at: Seq) -> Result<Self, Misfit> {
        Ok(Self {
            now: self.timeline_at(at)?,
            ledger: Ledger::default(),
            whole: self.whole_at(at)?,
            log: self.log.clone(),
            next: at.next(),
            origin: Some(at),
        })
    }

    /// The newest position.
    #[must_use]
    pub fn head(&self) -> Option<Seq> {
        self.next.prev()
    }

    /// The timeline at the head.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.now
    }

    /// What really happened.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// In a fork, the last inherited position.
    #[must_use]
    pub fn origin(&self) -> Option<Seq> {
        self.origin
    }

    /// Any event ever, on whatever branch; `None` also where the log has a gap.
    #[must_use]
    pub fn event(&self, seq: Seq) -> Option<Arc<Logged>> {
        self.at(seq)?;
        self.log.event(seq)
    }

    /// The timeline as of and including a position, on whatever branch.
    ///
    /// # Errors
    /// The position is in the future; or too far back for what is in memory.
    pub fn timeline_at(&self, seq: Seq) -> Result<Timeline, Misfit> {
        if seq >= self.next {
            return Err(Misfit::rejected(Problem::Future(seq)));
        }
        if self.head() == Some(seq) {
            return Ok(self.now.clone());
        }
        self.fold_to(Some(seq))
    }

    /// The nearest stored timeline on the line, and the few positions after it.
    fn fold_to(&self, seq: Option<Seq>) -> Result<Timeline, Misfit> {
        let mut rest = alloc::vec::Vec::new();
        let mut at = seq;
        let mut timeline = Timeline::default();
        while let Some((seq, there)) = at.and_then(|seq| Some((seq, self.at(seq)?))) {
            if let Some(stored) = there.stored() {
                timeline = stored.timeline.clone();
                break;
            }
            if there.is_cold() {
                return Err(self.log.cold_misfit());
            }
            rest.push(seq);
            at = there.prev();
        }
        for seq in rest.into_iter().rev() {
            timeline.advance(seq, self.counts(seq).as_ref());
        }
        Ok(timeline)
    }

    /// What was true of the whole log at a position.
    fn whole_at(&self, seq: Seq) -> Result<Whole, Misfit> {
        let mut rest = alloc::vec::Vec::new();
        let mut whole = Whole::default();
        let mut at = Some(seq);
        while let Some((seq, there)) = at.and_then(|seq| Some((seq, self.at(seq)?))) {
            if let Some(stored) = there.stored() {
                whole = stored.whole.clone();
                break;
            }
            let At::Warm(step) = there else {
                return Err(self.log.cold_misfit());
            };
            rest.push((seq, step));
            at = seq.prev();
        }
        rest.into_iter()
            .rev()
            .for_each(|(seq, step)| whole.note(seq, step));
        Ok(whole)
    }

    fn at(&self, seq: Seq) -> Option<At<'_>> {
        self.log.at(seq).filter(|_| seq < self.next)
    }

    /// What stands at a position, if it counts.
    fn counts(&self, seq: Seq) -> Option<Arc<Logged>> {
        self.log.event(seq).filter(|_| !self.skips(seq))
    }

    fn skips(&self, seq: Seq) -> bool {
        self.at(seq).is_none_or(At::skip)
    }
}

/// Folds a log: what does not fit is skipped and reported.
pub fn replay(events: impl Iterator<Item = Result<Event, Gap>>) -> State {
    let mut state = State::new();
    for event in events {
        match event {
            Ok(event) => state.retake(event),
            Err(Gap) => state.gap(),
        };
    }
    state
}
