//! What is said: messages, results, injections, and content that stands in for other content.
//!
//! - Results stand in the unit of their call, in call order, whenever they came.
//! - A result for a hidden unit is hidden with it, by the same mask.

use crate::timeline::{name_of, paint};
use crate::{Answer, Call, Hull, Logged, Part, Place, Said, Shown, Timeline, Unit};
use alloc::{sync::Arc, vec::Vec};
use recount_events::{
    BlockId, BlockKind, Bound, Inject, Lifetime, Message, Replace, Role, Seq, Shape, Status,
    ToolResult,
};

impl Timeline {
    pub(super) fn message(&mut self, logged: &Arc<Logged>, message: &Message) -> Option<Seq> {
        match message.role {
            Role::Assistant => self.response(logged, message),
            Role::User | Role::System => self.said(logged, message),
        }
    }

    /// A message of the model: a unit of its own, or one more part of the last.
    fn response(&mut self, logged: &Arc<Logged>, message: &Message) -> Option<Seq> {
        let seq = logged.seq;
        let joined = message.joins.filter(|key| self.units.contains_key(key));
        let key = joined.unwrap_or(seq);
        let mut unit = joined
            .and_then(|key| self.units.get(&key)?.unit.as_deref())
            .cloned()
            .unwrap_or_default();
        unit.parts.push(Part {
            seq,
            logged: Arc::clone(logged),
        });
        for mark in &message.calls {
            let block = BlockId {
                seq,
                index: mark.index,
            };
            unit.calls.push(Call {
                block,
                as_given: mark.as_given,
                answer: None,
            });
            self.open.insert_mut(block, key);
        }
        self.content.insert_mut(
            seq,
            Place {
                own: false,
                units: Vec::from([key]),
            },
        );
        let shows = joined.is_none() || self.shows_unit(key);
        self.put_unit(key, unit, seq, shows);
        self.tip = Some(key);
        shows.then_some(key)
    }

    fn put_unit(&mut self, key: Seq, unit: Unit, last: Seq, shows: bool) {
        let unit = Arc::new(unit);
        if shows {
            self.shown.insert_mut(key, Shown::Unit(Arc::clone(&unit)));
        }
        let unit = Some(unit);
        self.units.insert_mut(key, Hull { unit, last });
    }

    /// A user's or system message: its results go to their calls, the rest stays at its own place.
    fn said(&mut self, logged: &Arc<Logged>, message: &Message) -> Option<Seq> {
        let seq = logged.seq;
        let words = message
            .content
            .blocks
            .iter()
            .any(|block| block.kind != BlockKind::Result);
        let mut place = Place {
            own: words,
            units: Vec::new(),
        };
        let mut touched = words.then_some(seq);
        for mark in &message.results {
            let block = BlockId {
                seq,
                index: mark.index,
            };
            let status = result_status(message, mark.index);
            let changed = self.bind(
                &mut place,
                mark.bound,
                Answer {
                    logged: Arc::clone(logged),
                    block,
                    status,
                },
            );
            touched = touched.into_iter().chain(changed).min();
        }
        if message.authored == Some(true) {
            self.turns.insert_mut(seq, ());
        }
        if words {
            self.shown.insert_mut(
                seq,
                Shown::Said(Arc::new(Said {
                    logged: Arc::clone(logged),
                })),
            );
            self.authored_last = if message.authored == Some(true) {
                Some(seq)
            } else {
                self.authored_last
            };
        }
        self.settle(seq, place);
        touched
    }

    pub(super) fn tool_result(&mut self, logged: &Arc<Logged>, result: &ToolResult) -> Option<Seq> {
        let seq = logged.seq;
        let mut place = Place::default();
        let answer = Answer {
            logged: Arc::clone(logged),
            block: BlockId { seq, index: 0 },
            status: result.status,
        };
        let changed = self.bind(&mut place, result.bound.unwrap_or(Bound::Orphan), answer);
        self.settle(seq, place);
        changed
    }

    /// Gives a result to its call.
    fn bind(&mut self, place: &mut Place, bound: Bound, answer: Answer) -> Option<Seq> {
        let (Bound::To(block) | Bound::Repeats(block)) = bound else {
            return None;
        };
        let key = *self.content.get(&block.seq)?.units.first()?;
        let hull = self.units.get(&key)?;
        let shows = self.shows_unit(key);
        let seq = answer.logged.seq;
        self.relied = if shows { self.relied } else { Some(seq) };
        if !place.own || shows {
            join(place, key);
        }
        let last = if !place.own || shows {
            hull.last.max(seq)
        } else {
            hull.last
        };
        if !matches!(bound, Bound::To(_)) {
            self.units.insert_mut(
                key,
                Hull {
                    unit: hull.unit.clone(),
                    last,
                },
            );
            return None;
        }
        // A unit with an open call is always held.
        let mut unit = hull.unit.as_deref()?.clone();
        let call = unit.calls.iter_mut().find(|call| call.block == block)?;
        if answer.status.closes() {
            self.open.remove_mut(&block);
        }
        call.answer = Some(answer);
        self.put_unit(key, unit, last, shows);
        shows.then_some(key)
    }

    /// Notes where content belongs, and whether the next part of a response may still join.
    fn settle(&mut self, seq: Seq, place: Place) {
        let hidden = !place.own
            && !place.units.is_empty()
            && !place.units.iter().any(|key| self.shows_unit(*key));
        if let (true, Some(mask)) = (
            hidden,
            place.units.first().and_then(|key| self.mask_over(*key)),
        ) {
            paint(&mut self.masked, seq, seq, mask);
        }
        if place.own
            || place.units.iter().any(|key| Some(*key) != self.tip)
            || place.units.is_empty()
        {
            self.tip = None;
        }
        self.content.insert_mut(seq, place);
    }

    pub(super) fn inject(&mut self, logged: &Arc<Logged>, inject: &Inject) -> Option<Seq> {
        match inject.lifetime {
            Lifetime::Tail => self.inject_tail(logged, inject),
            Lifetime::Once | Lifetime::Session => self.inject_here(logged, inject),
        }
    }

    fn inject_tail(&mut self, logged: &Arc<Logged>, inject: &Inject) -> Option<Seq> {
        let older = self.tails.iter().find(|(_, old)| same_slot(old, inject));
        if let Some(older) = older.map(|(seq, _)| *seq) {
            self.tails.remove_mut(&older);
        }
        if !is_empty(inject) {
            self.tails.insert_mut(logged.seq, Arc::clone(logged));
        }
        self.supersede(logged.seq, inject)
    }

    fn inject_here(&mut self, logged: &Arc<Logged>, inject: &Inject) -> Option<Seq> {
        let seq = logged.seq;
        let touched = self.supersede(seq, inject);
        if let Some(slot) = name_of(&inject.slot) {
            let earlier = self.slots.get(&slot).cloned().unwrap_or_default();
            self.slots.insert_mut(slot, earlier.push_back(seq));
        }
        let place = Place {
            own: true,
            units: Vec::new(),
        };
        self.settle(seq, place);
        self.shown
            .insert_mut(seq, Shown::Inject(Arc::clone(logged)));
        touched.or(Some(seq))
    }

    /// Takes the place of the slot's earlier injections, where the host says so.
    fn supersede(&mut self, by: Seq, inject: &Inject) -> Option<Seq> {
        let slot = name_of(&inject.slot).filter(|_| inject.supersede)?;
        let mut touched = None;
        for old in self.slots.get(&slot)?.clone().iter() {
            self.superseded.insert_mut(*old, by);
            if matches!(self.shown.get(old), Some(Shown::Inject(_))) {
                self.shown.remove_mut(old);
                touched = touched.or(Some(*old));
            }
        }
        touched
    }

    pub(super) fn replace(&mut self, logged: &Arc<Logged>, replace: &Replace) -> Option<Seq> {
        let mut touched = None;
        for block in &replace.blocks {
            self.replaced.insert_mut(*block, Arc::clone(logged));
            touched = touched.into_iter().chain(self.key_of(block.seq)).min();
        }
        touched
    }
}

fn join(place: &mut Place, key: Seq) {
    if !place.units.contains(&key) {
        place.units.push(key);
    }
}

/// A result among a message's blocks says at most that it failed.
fn result_status(message: &Message, index: u32) -> Status {
    let block = usize::try_from(index)
        .ok()
        .and_then(|index| message.content.blocks.get(index));
    let facts = block.and_then(|block| block.result(message.content.format));
    match facts.and_then(|facts| facts.is_error) {
        Some(true) => Status::Error,
        _ => Status::Ok,
    }
}

fn same_slot(old: &Logged, inject: &Inject) -> bool {
    match &old.event.body {
        recount_events::Body::Inject(old) => {
            old.slot.bytes().is_some() && old.slot.bytes() == inject.slot.bytes()
        }
        _ => false,
    }
}

/// Empty content ends a tail.
fn is_empty(inject: &Inject) -> bool {
    let content = &inject.content;
    content.blocks.is_empty()
        || (content.shape == Shape::String
            && content
                .blocks
                .iter()
                .all(|block| block.raw.bytes() == Some(b"\"\"")))
}
