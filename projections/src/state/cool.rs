//! Cooling: what no prompt and no decision at the head needs leaves memory.
//!
//! - A cooled state answers what it answered before, or [`crate::Problem::Cold`]: then the whole log has to be folded.
//! - Held are: what is shown, the request's header, calls that are open, notes, work in progress; of each cold position 16 bytes.
//! - A state that damage touched is never cooled: its events would be read again otherwise than they were taken in.

use super::log::{At, Log, Source, Stored};
use super::{Applied, State};
use crate::{Hull, Logged, Misfit, Shown, Timeline};
use alloc::{sync::Arc, vec::Vec};
use recount_events::Seq;

impl State {
    /// Every event is in memory.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.log.is_whole()
    }

    /// How many positions are cold.
    #[must_use]
    pub fn cold(&self) -> u64 {
        self.log.cold_len() as u64
    }

    /// Reading its events again gives the events that it was folded from.
    #[must_use]
    pub fn can_cool(&self) -> bool {
        !self.whole.odd && self.next > Seq(0)
    }

    /// Lets go of what can be read again from `source`. False: it stays as it is, because damage touched it.
    pub fn cool(&mut self, source: Arc<dyn Source>) -> bool {
        if !self.can_cool() {
            return false;
        }
        self.now.cool();
        self.now.line.since = 0;
        let base = Stored {
            timeline: self.now.clone(),
            whole: self.whole.clone(),
        };
        self.log = Log::cold(self.log.bones(self.next), base, source);
        true
    }

    /// Bytes of the texts of events at hand from a position on, and of everything that is shown where positions before it are cold.
    #[must_use]
    pub fn bytes_at_hand(&self, from: Seq) -> u64 {
        let first = Seq(self.cold()).max(from);
        let warm = (first.0..self.next.0).filter_map(|seq| match self.at(Seq(seq)) {
            Some(At::Warm(step)) => step.logged.as_ref(),
            _ => None,
        });
        let warm = warm
            .map(|logged| bytes(logged))
            .fold(0, u64::saturating_add);
        if from.0 >= self.cold() {
            return warm;
        }
        let shown = self.now.shown.values().map(shown_bytes);
        shown.fold(warm, u64::saturating_add)
    }

    /// From now on cold events are read from there.
    pub fn reads_from(&mut self, source: Arc<dyn Source>) {
        self.log.reads_from(source);
    }

    /// This state, with all that an earlier one (of the same log) knows cooled, and what came since at hand.
    ///
    /// # Errors
    /// What came since looks further back, the earlier one is a parent's, or one of the two cannot be cooled.
    pub fn cooled_to(&self, earlier: &Self, source: Arc<dyn Source>) -> Result<Self, Misfit> {
        let mut cooled = earlier.clone();
        if cooled.origin != self.origin || !self.can_cool() || !cooled.cool(source) {
            return Err(Misfit::cold());
        }
        while cooled.next < self.next {
            self.take_over(&mut cooled)?;
        }
        Ok(cooled)
    }

    /// Takes the next position over as it stands here.
    fn take_over(&self, cooled: &mut Self) -> Result<Applied, Misfit> {
        let Some(At::Warm(step)) = self.at(cooled.next) else {
            return Err(Misfit::cold());
        };
        let logged = step.logged.as_ref().ok_or(Misfit::cold())?;
        if let (true, Some(report)) = (step.skip, &step.report) {
            let seq = cooled.skip(logged.event.clone(), (**report).clone());
            return Ok(Applied {
                seq,
                touched: None,
                header: false,
            });
        }
        let admitted = cooled.readmit(logged.event.clone())?;
        Ok(cooled.settle(admitted))
    }
}

/// Bytes of an event's texts.
fn bytes(logged: &Logged) -> u64 {
    let texts = logged.event.texts().into_iter();
    let sizes = texts.filter_map(|text| Some(text.bytes()?.len() as u64));
    sizes.fold(0, u64::saturating_add)
}

fn shown_bytes(shown: &Shown) -> u64 {
    match shown {
        Shown::Unit(unit) => {
            let parts = unit.parts.iter().map(|part| bytes(&part.logged));
            let answers = unit.calls.iter().filter_map(|call| call.answer.as_ref());
            let answers = answers.map(|answer| bytes(&answer.logged));
            parts.chain(answers).fold(0, u64::saturating_add)
        }
        Shown::Said(said) => bytes(&said.logged),
        Shown::Inject(logged) => bytes(logged),
        Shown::Summary(summary) => summary.text.bytes().map_or(0, |text| text.len() as u64),
    }
}

impl Timeline {
    /// Units that are hidden and whose calls are closed are let go.
    fn cool(&mut self) {
        let held = self.units.iter().filter(|(_, hull)| hull.unit.is_some());
        let gone: Vec<(Seq, Seq)> = held
            .filter(|(key, _)| !self.holds_unit(**key))
            .map(|(key, hull)| (*key, hull.last))
            .collect();
        for (key, last) in gone {
            self.units.insert_mut(key, Hull { unit: None, last });
        }
    }

    /// A unit stays in memory: it is shown, or a call of it is open.
    pub(crate) fn holds_unit(&self, key: Seq) -> bool {
        let open = || {
            let hull = self.units.get(&key);
            let calls = hull
                .and_then(|hull| hull.unit.as_ref())
                .map(|unit| &unit.calls);
            calls
                .into_iter()
                .flatten()
                .any(|call| self.open.contains_key(&call.block))
        };
        self.shows_unit(key) || open()
    }
}
