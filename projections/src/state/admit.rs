//! The door: live and logged events are judged by the same rules.

use super::{Admitted, State};
use crate::admit::{Door, Mode};
use crate::{Logged, Misfit};
use alloc::sync::Arc;
use recount_events::{BlockId, Body, Bound, Covered, Event, Seq};

impl State {
    /// Checks a new event for the position after the head and resolves what the log keeps.
    ///
    /// # Errors
    /// It does not fit; nothing changed.
    pub fn admit(&self, event: Event) -> Result<Admitted, Misfit> {
        self.judge(event, Mode::Live)
    }

    /// Checks an event of a log that exists already, for the position after the head. What was resolved is kept; what was not
    /// (an imported log) is resolved now, and a result without a call becomes an orphan. What damage took away is forgiven.
    ///
    /// # Errors
    /// It does not fit; nothing changed.
    pub fn readmit(&self, event: Event) -> Result<Admitted, Misfit> {
        self.judge(event, Mode::Logged)
    }

    fn judge(&self, mut event: Event, mode: Mode) -> Result<Admitted, Misfit> {
        let door = self.door(mode);
        door.because(&event)?;
        let chosen = match &mut event.body {
            Body::Rollback(rollback) => Some(self.travel(rollback, mode)?.into()),
            Body::Undo(undo) => Some(self.undo(undo, mode)?),
            Body::Usage(usage) => {
                usage.repeats = self.ledger.repeated(usage);
                None
            }
            // What is erased leaves every past timeline.
            Body::Erased(_) if !self.is_whole() => return Err(self.log.cold_misfit()),
            _ => {
                door.check(&mut event)?;
                None
            }
        };
        Ok(Admitted {
            logged: Arc::new(Logged {
                seq: self.next,
                event,
            }),
            chosen,
        })
    }

    fn door(&self, mode: Mode) -> Door<'_> {
        Door {
            timeline: &self.now,
            log: &self.log,
            ids: &self.whole.ids,
            seq: self.next,
            mode,
        }
    }
}

impl Admitted {
    /// The event, resolved.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.logged.event
    }

    /// The event, resolved, at its position.
    #[must_use]
    pub fn logged(&self) -> &Arc<Logged> {
        &self.logged
    }

    /// Its position.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.logged.seq
    }

    /// What a mask hides. That a summary is smaller than what it stands for is for the engine to check: only a render knows sizes.
    #[must_use]
    pub fn covered(&self) -> Option<&Covered> {
        match &self.logged.event.body {
            Body::DeleteRange(delete) => Some(&delete.covered),
            Body::Snip(snip) => Some(&snip.covered),
            Body::CollapseCommit(commit) => Some(&commit.covered),
            Body::CompactCommit(commit) => Some(&commit.covered),
            _ => None,
        }
    }

    /// The call whose result this event says again: it may be acknowledged without being logged.
    #[must_use]
    pub fn repeats(&self) -> Option<BlockId> {
        match &self.logged.event.body {
            Body::ToolResult(result) => match result.bound {
                Some(Bound::Repeats(block)) => Some(block),
                _ => None,
            },
            _ => None,
        }
    }
}
