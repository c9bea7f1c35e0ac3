//! Erasure: what is gone is gone at every past cut.

use super::log::At;
use super::{Applied, State};
use crate::Ledger;
use recount_events::{Erased, Event, Held, Seq};

impl State {
    /// Takes the contents of erased events out of memory. The fold is made again, since every stored timeline holds them.
    pub(super) fn erase(&mut self, erased: &Erased, applied: Applied) -> Applied {
        let runs = erased.events.iter().copied();
        if !runs
            .clone()
            .any(|(first, last)| self.holds_any(first, last))
        {
            return applied;
        }
        let gone = |seq: Seq| {
            runs.clone()
                .any(|(first, last)| first <= seq && seq <= last)
        };
        let old = core::mem::take(self);
        let end = old.next;
        let mut seq = Seq(0);
        while seq < end {
            self.take_again(&old, seq, gone(seq));
            if old.origin == Some(seq) {
                self.ledger = Ledger::default();
            }
            seq = seq.next();
        }
        self.origin = old.origin;
        self.whole.odd |= old.whole.odd;
        Applied {
            touched: self.now.shown.keys().next().copied(),
            header: true,
            ..applied
        }
    }

    fn holds_any(&self, first: Seq, last: Seq) -> bool {
        let mut seq = first;
        while seq <= last && seq < self.next {
            if self.event(seq).is_some_and(|logged| holds(&logged.event)) {
                return true;
            }
            seq = seq.next();
        }
        false
    }

    fn take_again(&mut self, old: &Self, seq: Seq, gone: bool) {
        let Some(At::Warm(step)) = old.at(seq) else {
            return;
        };
        let Some(logged) = &step.logged else {
            self.gap();
            return;
        };
        let mut event = logged.event.clone();
        if gone {
            event
                .texts_mut()
                .into_iter()
                .for_each(|text| text.held = Held::Erased);
        }
        match (step.skip, &step.report) {
            (true, Some(report)) => {
                self.skip(event, (**report).clone());
            }
            _ => match self.readmit(event.clone()) {
                Ok(admitted) => {
                    self.whole.odd |= *admitted.event() != event;
                    self.settle(admitted);
                }
                Err(misfit) => {
                    self.skip(event, misfit);
                }
            },
        }
    }
}

fn holds(event: &Event) -> bool {
    event
        .texts()
        .into_iter()
        .any(|text| matches!(text.held, Held::Here(_)))
}
