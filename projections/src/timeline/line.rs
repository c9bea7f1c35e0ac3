//! A line: the positions that a timeline is made of, their times, and what was undone on it.
//!
//! - Every position on the line is in `spans`, whatever stands there, undone or not.
//! - A position is in `fallen` iff an active undo took it out, or took out its cause.

use crate::Map;
use alloc::vec::Vec;
use core::ops::Bound;
use recount_events::{Body, Class, Event, Millis, Seq};

/// An undo on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// What it takes out.
    pub event: Seq,
    /// The earliest position whose effect comes or goes with it: the event at the end of a chain of undos.
    pub base: Seq,
}

/// The positions of a timeline.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Runs of positions: first to last.
    pub spans: Map<Seq, Seq>,
    /// Positions that no later one undercuts in time, by time. Rollbacks do not count.
    pub times: Map<Millis, Seq>,
    /// The latest time on the line.
    pub latest: Millis,
    /// The rollback at the end, when nothing but ledger events came after it.
    pub arrived: Option<Seq>,
    /// Undos, active or not.
    pub undos: Map<Seq, Undone>,
    /// Pairs of a cause and an event that falls with it.
    pub caused: Map<(Seq, Seq), ()>,
    /// What is taken out, and the undo that did it.
    pub fallen: Map<Seq, Seq>,
    /// Positions since a timeline was stored.
    pub(crate) since: u8,
}

impl Line {
    /// A position is on the line.
    #[must_use]
    pub fn contains(&self, seq: Seq) -> bool {
        on(&self.spans, seq)
    }

    /// The positions of the line from one on, oldest first.
    pub fn from(&self, seq: Seq) -> impl Iterator<Item = Seq> + '_ {
        let within = self
            .spans
            .range(..=seq)
            .next_back()
            .map_or(seq, |(first, _)| *first);
        let runs = self.spans.range(within..);
        runs.flat_map(move |(first, last)| (first.0.max(seq.0)..=last.0).map(Seq))
    }

    /// Takes a position in, with what stands there.
    pub(crate) fn pass(&mut self, seq: Seq, event: Option<&Event>) {
        self.extend(seq);
        self.since = self.since.saturating_add(1);
        let Some(event) = event else { return };
        let travels = is_travel(&event.body);
        if travels {
            self.arrived = Some(seq);
        } else if event.body.class() != Class::Ledger {
            self.arrived = None;
        }
        if !matches!(event.body, Body::Rollback(_)) {
            self.time(seq, event.at);
        }
        if let Some(cause) = event.because {
            self.caused.insert_mut((cause, seq), ());
        }
        if let (Body::Undo(undo), false) = (&event.body, travels) {
            let base = self
                .undos
                .get(&undo.event)
                .map_or(undo.event, |below| below.base);
            self.undos.insert_mut(
                seq,
                Undone {
                    event: undo.event,
                    base,
                },
            );
        }
    }

    fn extend(&mut self, seq: Seq) {
        let first = match self.spans.last() {
            Some((first, last)) if last.next() == seq => *first,
            _ => seq,
        };
        self.spans.insert_mut(first, seq);
    }

    fn time(&mut self, seq: Seq, at: Millis) {
        while let Some((late, _)) = self.times.last() {
            if *late < at {
                break;
            }
            let late = *late;
            self.times.remove_mut(&late);
        }
        self.times.insert_mut(at, seq);
        self.latest = self.latest.max(at);
    }

    /// The last position whose time is not later.
    pub(crate) fn at_time(&self, time: Millis) -> Option<Seq> {
        self.times.range(..=time).next_back().map(|(_, seq)| *seq)
    }

    /// What falls when one more undo is made.
    pub(crate) fn fallen_with(&self, undo: Seq, event: Seq) -> Map<Seq, Seq> {
        let mut fallen = Map::default();
        self.fell(&mut fallen, event, undo);
        for (seq, undone) in self.undos.iter().rev() {
            if !fallen.contains_key(seq) {
                self.fell(&mut fallen, undone.event, *seq);
            }
        }
        fallen
    }

    /// Takes an event out with all that it caused.
    fn fell(&self, fallen: &mut Map<Seq, Seq>, event: Seq, undo: Seq) {
        let mut rest = Vec::from([event]);
        while let Some(next) = rest.pop() {
            if fallen.contains_key(&next) {
                continue;
            }
            fallen.insert_mut(next, undo);
            rest.extend(self.effects_of(next));
        }
    }

    /// Something falls with it.
    pub(crate) fn causes(&self, cause: Seq) -> bool {
        self.effects_of(cause).next().is_some()
    }

    fn effects_of(&self, cause: Seq) -> impl Iterator<Item = Seq> + '_ {
        let from = (
            Bound::Included((cause, Seq(0))),
            Bound::Included((cause, Seq(u64::MAX))),
        );
        self.caused.range(from).map(|((_, effect), ())| *effect)
    }

    /// The earliest position from which the timeline must be folded again when these fall.
    pub(crate) fn refold_from(&self, fallen: &Map<Seq, Seq>, target: Seq) -> Seq {
        let mut from = first_difference(&self.fallen, fallen)
            .unwrap_or(target)
            .min(target);
        for (seq, undone) in self.undos.iter().rev() {
            if *seq < from {
                break;
            }
            from = from.min(undone.base);
        }
        from
    }
}

/// A rollback, or the undo of one, which is one.
pub(crate) fn is_travel(body: &Body) -> bool {
    match body {
        Body::Rollback(_) => true,
        Body::Undo(undo) => undo.to.is_some(),
        _ => false,
    }
}

/// A position is in one of the runs.
pub(crate) fn on(spans: &Map<Seq, Seq>, seq: Seq) -> bool {
    spans
        .range(..=seq)
        .next_back()
        .is_some_and(|(_, last)| seq <= *last)
}

/// The lowest key that is in one of the two only.
fn first_difference(a: &Map<Seq, Seq>, b: &Map<Seq, Seq>) -> Option<Seq> {
    let (mut left, mut right) = (a.keys().peekable(), b.keys().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(x), Some(y)) if x == y => {
                left.next();
                right.next();
            }
            (Some(x), Some(y)) => return Some(**x.min(y)),
            (Some(x), None) => return Some(**x),
            (None, Some(y)) => return Some(**y),
            (None, None) => return None,
        }
    }
}
