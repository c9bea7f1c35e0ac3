//! Snips: single messages, whole units only.

use super::Door;
use super::range::runs;
use crate::{Map, Misfit, Problem, Suggest};
use alloc::vec::Vec;
use recount_events::{Seq, Snip};

impl Door<'_> {
    pub(super) fn snip(&self, snip: &mut Snip) -> Result<(), Misfit> {
        let listed = listed(&snip.messages)?;
        for seq in &snip.messages {
            self.written(*seq)?;
            if !self.timeline.visible(*seq) {
                return Err(Misfit::rejected(Problem::NotShown(*seq)));
            }
        }
        self.snip_closed(&listed)?;
        self.snip_whole(&listed)?;
        snip.covered = self.covered(&snip.covered, runs(listed.keys().copied()));
        Ok(())
    }

    fn units_in(&self, listed: &Map<Seq, ()>) -> impl Iterator<Item = Seq> {
        let places = listed
            .keys()
            .filter_map(|seq| self.timeline.content.get(seq));
        places.flat_map(|place| place.units.iter().copied())
    }

    fn snip_closed(&self, listed: &Map<Seq, ()>) -> Result<(), Misfit> {
        let units: Vec<Seq> = self.units_in(listed).collect();
        match self
            .timeline
            .open
            .iter()
            .find(|(_, key)| units.contains(key))
        {
            Some((block, _)) if self.mode != super::Mode::Logged => {
                Err(Misfit::rejected(Problem::OpenCall(*block)))
            }
            _ => Ok(()),
        }
    }

    fn snip_whole(&self, listed: &Map<Seq, ()>) -> Result<(), Misfit> {
        let whole = self.completed(listed);
        let split = self.units_in(listed).find(|key| {
            self.timeline
                .positions_of(*key)
                .iter()
                .any(|seq| !listed.contains_key(seq))
        });
        match split {
            None => Ok(()),
            Some(unit) => {
                let messages = whole.keys().copied().collect();
                Err(Misfit::rejected(Problem::SplitsUnit(unit))
                    .suggest(Suggest::Messages(messages)))
            }
        }
    }

    /// All positions of all units that the list touches, and of those that these touch.
    fn completed(&self, listed: &Map<Seq, ()>) -> Map<Seq, ()> {
        let mut whole = listed.clone();
        let mut rest: Vec<Seq> = listed.keys().copied().collect();
        while let Some(seq) = rest.pop() {
            let units = self
                .timeline
                .content
                .get(&seq)
                .map(|place| place.units.clone())
                .unwrap_or_default();
            for position in units
                .into_iter()
                .flat_map(|key| self.timeline.positions_of(key))
            {
                if !whole.contains_key(&position) {
                    whole.insert_mut(position, ());
                    rest.push(position);
                }
            }
        }
        whole
    }
}

/// A list of positions without repetition.
fn listed(messages: &[Seq]) -> Result<Map<Seq, ()>, Misfit> {
    let mut listed = Map::default();
    for seq in messages {
        if listed.contains_key(seq) {
            return Err(Misfit::invalid(Problem::Repeated(*seq)));
        }
        listed.insert_mut(*seq, ());
    }
    if messages.is_empty() {
        Err(Misfit::invalid(Problem::Empty))
    } else {
        Ok(listed)
    }
}
