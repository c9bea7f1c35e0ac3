//! Why something is not shown: one cause, and the way back.
//!
//! - Named in this order: the rollback after which it was last missing; the undo; the last active mask over it; superseded by;
//!   replaced by.

use super::{Cause, State};
use crate::timeline::on;
use crate::{Logged, Shown, Timeline};
use alloc::sync::Arc;
use recount_events::{BlockId, Body, Bound, Lifetime, Seq};

impl State {
    /// Why an event is not shown on a timeline: one cause; `None` when it is shown, or is of a kind that never is.
    #[must_use]
    pub fn hidden_by(&self, timeline: &Timeline, seq: Seq) -> Option<Cause> {
        if timeline.head.is_none_or(|head| seq > head) {
            return Some(Cause::Later);
        }
        self.at(seq)?;
        let Some(logged) = self.counts(seq) else {
            return Some(Cause::Skipped);
        };
        let logged = &*logged;
        if logged.event.body.class() == recount_events::Class::Ledger {
            return None;
        }
        self.rolled_away(timeline, seq)
            .or_else(|| timeline.line.fallen.get(&seq).copied().map(Cause::Undo))
            .or_else(|| timeline.masked_by(logged).map(Cause::Mask))
            .or_else(|| self.superseded_by(timeline, logged).map(Cause::Superseded))
            .or_else(|| timeline.replaced_by(logged).map(Cause::Replaced))
    }

    /// The last rollback before which the event was there.
    fn rolled_away(&self, timeline: &Timeline, seq: Seq) -> Option<Cause> {
        if timeline.line.contains(seq) {
            return None;
        }
        let head = timeline.head?;
        let mut jumps = self.whole.jumps.range(..=head).rev();
        jumps
            .find(|(_, left)| on(left, seq))
            .map(|(jump, _)| Cause::Rollback(*jump))
    }

    fn superseded_by(&self, timeline: &Timeline, logged: &Logged) -> Option<Seq> {
        let newer = |there: &Option<Arc<Logged>>| {
            there
                .as_ref()
                .map(|there| there.seq)
                .filter(|seq| *seq != logged.seq)
        };
        match &logged.event.body {
            Body::Profile(_) => newer(&timeline.header.profile),
            Body::Policy(_) => newer(&timeline.header.policy),
            Body::System(_) => newer(&timeline.header.system),
            Body::Tools(_) => newer(&timeline.header.tools),
            Body::Todo(_) => newer(&timeline.todo),
            Body::Inject(inject) if inject.lifetime == Lifetime::Tail => {
                self.newer_tail(timeline, logged)
            }
            Body::Inject(_) => timeline.superseded.get(&logged.seq).copied(),
            Body::ToolResult(result) => timeline.newer_result(logged, result.bound?),
            _ => None,
        }
    }

    /// The next tail of the slot that is active; it may be empty, and then nothing is shown.
    fn newer_tail(&self, timeline: &Timeline, logged: &Logged) -> Option<Seq> {
        if timeline.tails.contains_key(&logged.seq) {
            return None;
        }
        let slot = tail_slot(logged)?;
        let later = self
            .positions_from(logged.seq.next(), timeline.head)
            .into_iter()
            .rev();
        let active = later.filter(|seq| !timeline.line.fallen.contains_key(seq));
        let mut tails = active.filter_map(|seq| self.counts(seq));
        tails
            .find(|tail| tail_slot(tail) == Some(slot))
            .map(|tail| tail.seq)
    }
}

fn tail_slot(logged: &Logged) -> Option<&[u8]> {
    match &logged.event.body {
        Body::Inject(inject) if inject.lifetime == Lifetime::Tail => inject.slot.bytes(),
        _ => None,
    }
}

impl Timeline {
    /// The last mask over content, or over the range of a fold.
    fn masked_by(&self, logged: &Logged) -> Option<Seq> {
        let seq = logged.seq;
        if let Some((first, _)) = self.folds.get(&seq) {
            return if self.shows_fold(seq) {
                None
            } else {
                self.mask_over(*first)
            };
        }
        let place = self.content.get(&seq)?;
        // A unit is hidden as a whole, also by a foreign log's mask that names a part of it only.
        let whole = || {
            let hidden = |key: &&Seq| !self.shows_unit(**key);
            let key = place.units.iter().find(hidden)?;
            self.mask_over(*key).filter(|_| !self.visible(seq))
        };
        self.mask_over(seq).or_else(whole)
    }

    /// The result that took the place of an earlier one.
    fn newer_result(&self, logged: &Logged, bound: Bound) -> Option<Seq> {
        let (Bound::To(block) | Bound::Repeats(block)) = bound else {
            return None;
        };
        let shown = self.call(block)?.answer.as_ref()?.logged.seq;
        (shown != logged.seq).then_some(shown)
    }

    /// The newest replacement, when all that could be shown of the event is replaced.
    fn replaced_by(&self, logged: &Logged) -> Option<Seq> {
        let blocks = match &logged.event.body {
            Body::Message(message) => message.content.blocks.len(),
            Body::Inject(inject) => inject.content.blocks.len(),
            Body::ToolResult(_) => 1,
            _ => 0,
        };
        let whole = (0..u32::try_from(blocks).ok()?).map(|index| BlockId {
            seq: logged.seq,
            index,
        });
        let mut newest = None;
        for block in whole {
            newest = newest.max(Some(self.replaced.get(&block)?.seq));
        }
        newest
    }

    /// An entry of the prompt, by key.
    #[must_use]
    pub fn entry(&self, key: Seq) -> Option<&Shown> {
        self.shown.get(&key)
    }
}
