//! The state: the fold of a log.
//!
//! - Cloning is O(1). A batch is admitted on a clone, event by event; the clone is dropped at the first misfit.
//! - Everything that can go wrong happens in `admit`; `apply` cannot fail.
//! - Live and replayed events use the same door: `admit` resolves what the log keeps, `readmit` keeps what was resolved.

use crate::{Ledger, Logged, Misfit, Problem, Timeline};
use alloc::{sync::Arc, vec::Vec};
use recount_events::{BlockId, Covered, Event, Millis, Seq, Target, Text};

/// The fold of a log: a timeline, which a rollback restores, and a ledger, which nothing rolls back.
#[derive(Clone, Debug, Default)]
pub struct State {
    now: Timeline,
    ledger: Ledger,
}

/// An event that fits, with everything resolved, at its position.
#[derive(Clone, Debug)]
pub struct Admitted {
    logged: Arc<Logged>,
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
    /// The position is in the future.
    pub fn fork(&self, at: Seq) -> Result<Self, Misfit> {
        Ok(Self {
            now: self.timeline_at(at)?,
            ledger: Ledger::default(),
        })
    }

    /// The newest position.
    #[must_use]
    pub fn head(&self) -> Option<Seq> {
        self.now.head
    }

    /// The timeline at the head.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.now
    }

    /// The timeline as of and including a position, on whatever branch.
    ///
    /// # Errors
    /// The position is in the future.
    pub fn timeline_at(&self, seq: Seq) -> Result<Timeline, Misfit> {
        Err(Misfit::rejected(Problem::Future(seq)))
    }

    /// What really happened.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Any event ever, on whatever branch; `None` also where the log has a gap.
    #[must_use]
    pub fn event(&self, _seq: Seq) -> Option<&Arc<Logged>> {
        None
    }

    /// The position that a target means: for a rollback, a projection or a fork.
    ///
    /// # Errors
    /// Nothing is there (rules 17 to 20).
    pub fn resolve(&self, _target: &Target) -> Result<Resolved, Misfit> {
        Err(Misfit::not_found(Problem::NoCheckpoint))
    }

    /// Checks a new event for the position after the head and resolves what the log keeps.
    ///
    /// # Errors
    /// It does not fit; nothing changed.
    pub fn admit(&self, event: Event) -> Result<Admitted, Misfit> {
        Ok(Admitted {
            logged: Arc::new(Logged { seq: Seq(0), event }),
        })
    }

    /// Checks a logged event for the position after the head; keeps what was resolved.
    ///
    /// # Errors
    /// It does not fit; nothing changed.
    pub fn readmit(&self, event: Event) -> Result<Admitted, Misfit> {
        self.admit(event)
    }

    /// Takes an admitted event in. Cannot fail.
    pub fn apply(&mut self, admitted: Admitted) -> Applied {
        Applied {
            seq: admitted.logged.seq,
            touched: None,
            header: false,
        }
    }

    /// Takes in a logged event that does not fit: it takes its position, is reported, shows nothing.
    pub fn skip(&mut self, _event: Event, _misfit: Misfit) -> Seq {
        Seq(0)
    }

    /// Takes in a position whose event was not found.
    pub fn gap(&mut self) -> Seq {
        Seq(0)
    }

    /// The positions that show nothing because what stands there did not fit or was not found, in order.
    pub fn skipped(&self) -> impl Iterator<Item = Skipped> + '_ {
        core::iter::empty()
    }

    /// Why an event is not shown on a timeline: one cause; `None` when it is shown, or is of a kind that never is.
    #[must_use]
    pub fn hidden_by(&self, _timeline: &Timeline, _seq: Seq) -> Option<Cause> {
        None
    }

    /// Calls without a closing result, in order.
    #[must_use]
    pub fn open_calls(&self) -> Vec<OpenCall> {
        Vec::new()
    }

    /// Checkpoints of the timeline, in order.
    #[must_use]
    pub fn checkpoints(&self) -> Vec<CheckpointView> {
        Vec::new()
    }

    /// Turns of the timeline: what the person authored, hidden or not, in order.
    #[must_use]
    pub fn turns(&self) -> Vec<Seq> {
        Vec::new()
    }
}

impl Admitted {
    /// The event, resolved.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.logged.event
    }

    /// Its position.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.logged.seq
    }

    /// What a mask hides: for the check that a summary is smaller than what it stands for, which is the engine's.
    #[must_use]
    pub fn covered(&self) -> Option<&Covered> {
        None
    }

    /// The call whose result this says again.
    #[must_use]
    pub fn repeats(&self) -> Option<BlockId> {
        None
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

impl State {
    /// Takes in a logged event, or skips it when it does not fit.
    pub fn retake(&mut self, event: Event) -> Seq {
        match self.readmit(event.clone()) {
            Ok(admitted) => self.apply(admitted).seq,
            Err(misfit) => self.skip(event, misfit),
        }
    }
}
