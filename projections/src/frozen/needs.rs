//! Which events a frozen state has to be given when it is thawed.

use super::Frozen;
use super::timeline::{FrozenShown, FrozenTimeline, FrozenUnit};
use alloc::{collections::BTreeSet, vec::Vec};
use recount_events::Seq;

impl Frozen {
    /// The positions of the events that have to be read, in order.
    #[must_use]
    pub fn needs(&self) -> Vec<Seq> {
        let mut needs = BTreeSet::new();
        self.timeline.needs(&mut needs);
        let ledger = &self.ledger;
        needs.extend(ledger.opened.iter().chain(&ledger.forked));
        needs.extend(ledger.tokenizer.iter());
        needs.extend(ledger.overflows.iter().chain(&ledger.erased));
        needs.extend(ledger.cache_breaks.iter().chain(&ledger.done));
        needs.extend(ledger.breaks.iter().filter_map(|breaker| breaker.named()));
        needs.into_iter().collect()
    }
}

impl FrozenTimeline {
    fn needs(&self, needs: &mut BTreeSet<Seq>) {
        needs.extend(self.header.iter().flatten());
        needs.extend(self.shown.iter().filter_map(|(key, shown)| match shown {
            FrozenShown::Unit => None,
            FrozenShown::Said | FrozenShown::Inject => Some(*key),
            FrozenShown::Summary { commit, .. } => Some(*commit),
        }));
        for unit in self.units.iter().filter_map(|(.., unit)| unit.as_ref()) {
            unit.needs(needs);
        }
        needs.extend(self.replaced.iter().map(|(_, by)| *by));
        let notes = [
            &self.tails,
            &self.checkpoints,
            &self.files,
            &self.memories,
            &self.cache_edits,
            &self.cache_acks,
            &self.work.stages,
        ];
        needs.extend(notes.into_iter().flatten());
        needs.extend(self.todo);
        if let Some((plan, chunks)) = &self.work.plan {
            needs.insert(*plan);
            needs.extend(chunks.iter().map(|(_, seq)| *seq));
        }
    }
}

impl FrozenUnit {
    fn needs(&self, needs: &mut BTreeSet<Seq>) {
        needs.extend(&self.parts);
        let answers = self.calls.iter().filter_map(|call| call.answer);
        needs.extend(answers.map(|(block, _)| block.seq));
    }
}
