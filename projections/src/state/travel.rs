//! Where to: rollbacks and the targets they name.
//!
//! - Any position from 0 to the head is a legal target, on whatever branch; the future is not.

use super::{Resolved, State};
use crate::admit::Mode;
use crate::{Misfit, Problem, Suggest, Timeline};
use recount_events::{Body, Checkpoint, Millis, Rollback, Seq, Target, Text};

impl State {
    /// The position that a target means: for a rollback, a projection or a fork.
    ///
    /// # Errors
    /// Nothing is there: the future, no such checkpoint, no event that old, fewer turns.
    pub fn resolve(&self, target: &Target) -> Result<Resolved, Misfit> {
        match target {
            Target::Seq(seq) => self.resolved(*seq),
            Target::Time(time) => self.resolve_time(*time),
            Target::Checkpoint(label) => self.resolve_checkpoint(label),
            Target::Turns(turns) => self.resolve_turns(*turns),
        }
    }

    fn resolved(&self, to: Seq) -> Result<Resolved, Misfit> {
        if to >= self.next {
            return Err(Misfit::rejected(Problem::Future(to)));
        }
        let at = self
            .event(to)
            .map(|logged| logged.event.at)
            .unwrap_or_default();
        Ok(Resolved { to, at, skipped: 0 })
    }

    /// The last event of the timeline that is not later, and how many before it are.
    fn resolve_time(&self, time: Millis) -> Result<Resolved, Misfit> {
        let to = self
            .now
            .line
            .at_time(time)
            .ok_or(Misfit::not_found(Problem::NothingThatOld(time.0)))?;
        let skipped = if self.now.line.latest <= time {
            0
        } else {
            self.later_before(to, time)?
        };
        Ok(Resolved {
            skipped,
            ..self.resolved(to)?
        })
    }

    fn later_before(&self, to: Seq, time: Millis) -> Result<u64, Misfit> {
        if !self.is_whole() {
            return Err(self.log.cold_misfit());
        }
        let line = self.positions_from(Seq(0), Some(to)).into_iter();
        let counted = line.filter_map(|seq| self.counts(seq));
        let later = counted.filter(|logged| {
            logged.event.at > time && !matches!(logged.event.body, Body::Rollback(_))
        });
        Ok(later.count() as u64)
    }

    /// The newest checkpoint of the label on the timeline; one on another branch only is suggested.
    fn resolve_checkpoint(&self, label: &Text) -> Result<Resolved, Misfit> {
        let here = self
            .now
            .checkpoints
            .iter()
            .rev()
            .find(|(_, logged)| is_checkpoint(&logged.event.body, label));
        if let Some((seq, _)) = here {
            return self.resolved(*seq);
        }
        let elsewhere = self.last_checkpoint_ever(label)?.map(Suggest::Seq);
        Err(Misfit::not_found(Problem::NoCheckpoint).suggest(elsewhere))
    }

    fn last_checkpoint_ever(&self, label: &Text) -> Result<Option<Seq>, Misfit> {
        let mut at = self.head();
        while let Some((seq, there)) = at.and_then(|seq| Some((seq, self.at(seq)?))) {
            if there.is_cold() {
                return Err(self.log.cold_misfit());
            }
            if self
                .counts(seq)
                .is_some_and(|logged| is_checkpoint(&logged.event.body, label))
            {
                return Ok(Some(seq));
            }
            at = seq.prev();
        }
        Ok(None)
    }

    /// Just before the n-th last authored message.
    fn resolve_turns(&self, turns: u64) -> Result<Resolved, Misfit> {
        let back = turns
            .checked_sub(1)
            .ok_or(Misfit::invalid(Problem::NoTurns))?;
        let there = self.now.turns.size() as u64;
        let turn = usize::try_from(back)
            .ok()
            .and_then(|back| self.now.turns.keys().rev().nth(back));
        let turn = turn.ok_or(Misfit::not_found(Problem::FewerTurns { there }))?;
        self.resolved(turn.prev().ok_or(Misfit::not_found(Problem::BeforeStart))?)
    }

    /// The timeline to which a rollback goes; its target is resolved now, or was when it was logged.
    pub(super) fn travel(&self, rollback: &mut Rollback, mode: Mode) -> Result<Timeline, Misfit> {
        let kept = rollback.to.filter(|_| mode != Mode::Live);
        let to = match kept {
            Some(to) => to,
            None => self.resolve(&rollback.asked)?.to,
        };
        rollback.to = Some(to);
        self.timeline_at(to)
    }

    /// The positions of the line that ends at a position, from `from` on, in order.
    pub(super) fn positions_from(&self, from: Seq, end: Option<Seq>) -> alloc::vec::Vec<Seq> {
        let mut line = alloc::vec::Vec::new();
        let mut at = end;
        while let Some((seq, there)) = at
            .filter(|seq| *seq >= from)
            .and_then(|seq| Some((seq, self.at(seq)?)))
        {
            line.push(seq);
            at = there.prev();
        }
        line.reverse();
        line
    }

    /// The lowest key of `shown` that differs between the head's timeline and another one, by what happened since they parted.
    pub(super) fn lowest_between(&self, other: &Timeline) -> Option<Seq> {
        let there = self.lowest_since(self.head(), other);
        let back = self.lowest_since(other.head, &self.now);
        there.into_iter().chain(back).min()
    }

    fn lowest_since(&self, end: Option<Seq>, common: &Timeline) -> Option<Seq> {
        let mut lowest: Option<Seq> = None;
        let mut at = end;
        while let Some((seq, there)) = at.and_then(|seq| Some((seq, self.at(seq)?))) {
            if common.line.contains(seq) {
                break;
            }
            lowest = lowest.into_iter().chain(there.moved()).min();
            at = there.prev();
        }
        lowest
    }
}

fn is_checkpoint(body: &Body, label: &Text) -> bool {
    let Body::Checkpoint(Checkpoint { label: there, .. }) = body else {
        return false;
    };
    label.bytes().is_some() && there.bytes() == label.bytes()
}
