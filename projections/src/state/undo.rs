//! Undo: one event's effect is taken out, what came later stays.
//!
//! - Legal iff the active events without the target, folded again with their logged positions, are all still admissible.
//! - The undo of a rollback is a rollback to just before it, while nothing but ledger events followed.

use super::log::At;
use super::{Chosen, State};
use crate::admit::{Door, Mode};
use crate::timeline::is_travel;
use crate::{Logged, Map, Misfit, Problem, Shown, Suggest, Timeline, Unit};
use alloc::{sync::Arc, vec::Vec};
use recount_events::{BlockId, Body, Seq, Undo};

impl State {
    /// The timeline without an event.
    pub(super) fn undo(&self, undo: &mut Undo, mode: Mode) -> Result<Chosen, Misfit> {
        let target = undo.event;
        let logged = self.undo_target(target, mode)?;
        let travels = logged
            .as_ref()
            .filter(|logged| is_travel(&logged.event.body));
        undo.to = travels.and_then(|logged| logged.seq.prev());
        if let Some(before) = undo.to {
            return Ok(self.undo_travel(target, before)?.into());
        }
        let unmasked = logged.map(|logged| self.unmask(&logged)).transpose()?;
        match unmasked.flatten() {
            Some((timeline, touched)) => Ok(Chosen {
                timeline,
                touched: Some(touched),
            }),
            None => Ok(self.undo_event(target, mode)?.into()),
        }
    }

    /// What an undo names must be on the timeline, undoable, and not undone. `None`: damage took it away.
    fn undo_target(&self, target: Seq, mode: Mode) -> Result<Option<Arc<Logged>>, Misfit> {
        self.at(target)
            .ok_or(Misfit::rejected(Problem::Future(target)))?;
        let line = &self.now.line;
        if !line.contains(target) {
            return Err(Misfit::rejected(Problem::OffTimeline(target)));
        }
        if let Some(by) = line.fallen.get(&target) {
            return Err(Misfit::rejected(Problem::Undone {
                event: target,
                by: *by,
            }));
        }
        match self.counts(target) {
            None if mode == Mode::Logged => Ok(None),
            None => Err(Misfit::rejected(Problem::Unreadable(target))),
            Some(logged) if can_undo(&logged.event.body) => Ok(Some(logged)),
            Some(_) => Err(Misfit::rejected(Problem::NotUndoable(target))),
        }
    }

    fn undo_travel(&self, rollback: Seq, before: Seq) -> Result<Timeline, Misfit> {
        if self.now.line.arrived == Some(rollback) {
            return self.timeline_at(before);
        }
        Err(Misfit::rejected(Problem::WentOn(rollback)).suggest(Suggest::Rollback(before)))
    }

    fn undo_event(&self, target: Seq, mode: Mode) -> Result<Timeline, Misfit> {
        let fallen = self.now.line.fallen_with(self.next, target);
        let from = self.now.line.refold_from(&fallen, target);
        let (mut timeline, misfits) = self.fold_again(from, fallen)?;
        match misfits.first() {
            Some(by) if mode != Mode::Logged => Err(Misfit::rejected(Problem::RestsOn {
                event: target,
                by: *by,
            })
            .suggest(self.undo_first(&misfits))),
            // A log that nobody here wrote may undo what others rest on: they fall with it, by the same cause.
            _ => {
                for misfit in misfits {
                    timeline.line.fallen.insert_mut(misfit, self.next);
                }
                Ok(timeline)
            }
        }
    }

    /// What to undo first, newest first; nothing, when something that cannot be undone rests on the target.
    fn undo_first(&self, misfits: &[Seq]) -> Option<Suggest> {
        let undoable = |seq: &Seq| {
            self.event(*seq)
                .is_some_and(|logged| can_undo(&logged.event.body))
        };
        misfits
            .iter()
            .all(undoable)
            .then(|| Suggest::Undos(misfits.iter().rev().copied().collect()))
    }

    /// Folds the active events of the line again; names those that do not fit any more.
    fn fold_again(&self, from: Seq, fallen: Map<Seq, Seq>) -> Result<(Timeline, Vec<Seq>), Misfit> {
        let first = self.at(from);
        if first.is_some_and(At::is_cold) {
            return Err(self.log.cold_misfit());
        }
        let mut timeline = self.fold_to(first.and_then(At::prev))?;
        timeline.line.fallen = fallen;
        let mut misfits = Vec::new();
        for seq in self.positions_from(from, self.head()) {
            let logged = self.counts(seq);
            let logged = logged.as_ref();
            let active = logged.filter(|_| !timeline.line.fallen.contains_key(&seq));
            match active {
                Some(active) if self.fits(&timeline, active)? => {
                    timeline.advance(seq, Some(active));
                }
                active => {
                    misfits.extend(active.map(|_| seq));
                    timeline.pass(seq, logged);
                }
            }
        }
        Ok((timeline, misfits))
    }

    fn fits(&self, timeline: &Timeline, logged: &Arc<Logged>) -> Result<bool, Misfit> {
        let door = Door {
            timeline,
            log: &self.log,
            ids: &self.whole.ids,
            seq: logged.seq,
            mode: Mode::Again,
        };
        match &logged.event.body {
            Body::Rollback(_) | Body::Undo(_) => Ok(true),
            // It has ended, and shows nothing: only its name counts. What was committed of it is judged by itself.
            Body::CompactPlan(plan) if !self.waits(logged.seq) => Ok(door.is_new(&plan.id)),
            _ => match door.check(&mut logged.event.clone()) {
                Err(misfit) if misfit.is_cold() => Err(misfit),
                judged => Ok(judged.is_ok()),
            },
        }
    }
}

impl State {
    /// Summaries are still to come for a plan.
    fn waits(&self, plan: Seq) -> bool {
        let waiting = self.now.work.waiting();
        waiting.is_some_and(|waiting| waiting.logged.seq == plan)
    }
}

impl From<Timeline> for Chosen {
    fn from(timeline: Timeline) -> Self {
        Self {
            timeline,
            touched: None,
        }
    }
}

fn can_undo(body: &Body) -> bool {
    body.undoable() || matches!(body, Body::Rollback(_))
}

impl Timeline {
    /// The lowest key of `shown` whose entry differs in another timeline.
    pub(super) fn first_change(&self, other: &Self) -> Option<Seq> {
        let shown = first_difference(self.shown.iter(), other.shown.iter(), same_shown);
        let same = |a: &Arc<Logged>, b: &Arc<Logged>| a.seq == b.seq;
        let replaced = all_differences(&self.replaced, &other.replaced, same).into_iter();
        let replaced = replaced.filter_map(|block| {
            self.key_of(block.seq)
                .into_iter()
                .chain(other.key_of(block.seq))
                .min()
        });
        replaced.chain(shown).min()
    }
}

/// The same events make up the entry.
fn same_shown(a: &Shown, b: &Shown) -> bool {
    match (a, b) {
        (Shown::Unit(a), Shown::Unit(b)) => Arc::ptr_eq(a, b) || same_unit(a, b),
        (Shown::Said(a), Shown::Said(b)) => a.logged.seq == b.logged.seq,
        (Shown::Inject(a), Shown::Inject(b)) => a.seq == b.seq,
        (Shown::Summary(a), Shown::Summary(b)) => a.seq == b.seq,
        _ => false,
    }
}

fn same_unit(a: &Unit, b: &Unit) -> bool {
    let parts = |unit: &Unit| unit.parts.iter().map(|part| part.seq).collect::<Vec<_>>();
    let calls = |unit: &Unit| {
        unit.calls
            .iter()
            .map(|call| (call.block, answer_of(call)))
            .collect::<Vec<_>>()
    };
    parts(a) == parts(b) && calls(a) == calls(b)
}

fn answer_of(call: &crate::Call) -> Option<BlockId> {
    call.answer.as_ref().map(|answer| answer.block)
}

/// The first key that only one of two ordered maps has, or has with another value.
fn first_difference<'a, K: Ord + Copy + 'a, V: 'a>(
    a: impl Iterator<Item = (&'a K, &'a V)>,
    b: impl Iterator<Item = (&'a K, &'a V)>,
    same: impl Fn(&V, &V) -> bool,
) -> Option<K> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    loop {
        match (a.peek(), b.peek()) {
            (Some((x, v)), Some((y, w))) if x == y && same(v, w) => {}
            (Some((x, _)), Some((y, _))) => return Some(**x.min(y)),
            (Some((x, _)), None) | (None, Some((x, _))) => return Some(**x),
            (None, None) => return None,
        }
        a.next();
        b.next();
    }
}

/// Every key that only one of two maps has, or has with another value.
fn all_differences<K: Ord + Copy, V>(
    a: &Map<K, V>,
    b: &Map<K, V>,
    same: impl Fn(&V, &V) -> bool,
) -> Vec<K> {
    let differs = |(key, value): (&K, &V), other: &Map<K, V>| {
        other
            .get(key)
            .is_none_or(|there| !same(value, there))
            .then_some(*key)
    };
    let left = a.iter().filter_map(|entry| differs(entry, b));
    let right = b.keys().filter(|key| !a.contains_key(key)).copied();
    left.chain(right).collect()
}
