//! A crash inside the recovery from a crash, and while it is gone on from there: what must be kept then.
//!
//! - Once a recovery has shown something, that is a promise like any other, and so is each append behind it.

use std::sync::Arc;

use recount_wal::disk::{Crash, Journal};
use recount_wal::{Options, Wal};

use crate::run::{Facts, IssuedBatch, Shown};
use crate::verdict::{go_on, read_all};

/// What a recovery asked of the disk, and what must be kept from which of its moments on.
pub(crate) struct Inside {
    pub(crate) journal: Journal,
    promises: Vec<(usize, Facts)>,
}

impl Inside {
    /// Recovers from a crash and goes on; none when what is found is wrong, which is judged elsewhere.
    pub(crate) fn of(outer: &Crash, facts: &Facts, options: Options) -> Option<Inside> {
        let disk = outer.disk();
        disk.record();
        let (wal, _) = Wal::open_on(Arc::new(disk.clone()), options).ok()?;
        let opened = disk.moment();
        let promises = if facts.forgotten.is_empty() {
            let shown = read_all(&wal).ok()?;
            let mut later = Vec::new();
            go_on(&wal, &shown, &mut |batch| {
                later.push((disk.moment(), batch))
            })
            .ok()?;
            promises(facts, outer.moment, &shown, opened, later)
        } else {
            // What is being forgotten may be there or not until that is finished: no more is promised than before.
            vec![(0, facts.clone())]
        };
        let journal = disk.journal()?;
        disk.halt_at(0);
        Some(Inside { journal, promises })
    }

    /// What must be kept in a crash at a moment of the recovery.
    pub(crate) fn facts(&self, moment: usize) -> &Facts {
        let since = self.promises.partition_point(|(since, _)| *since <= moment);
        &self.promises[since - 1].1
    }
}

fn promises(
    facts: &Facts,
    outer: usize,
    shown: &Shown,
    opened: usize,
    later: Vec<(usize, IssuedBatch)>,
) -> Vec<(usize, Facts)> {
    // Before it has shown anything, a torn group may still be there in part, or whole, or not.
    let mut promises = vec![(0, facts.clone())];
    let mut model = facts.clone();
    // From then on nothing else can appear: what the first crash took is not issued again.
    model.batches.retain(|batch| is_shown(batch, shown));
    model
        .batches
        .iter_mut()
        .for_each(|batch| batch.refused = None);
    model.durable.retain(|(since, _, _)| *since <= outer);
    model
        .batches
        .extend(later.iter().map(|(_, batch)| batch.clone()));
    let heads = shown
        .iter()
        .filter_map(|(id, records)| Some((0, *id, records.last()?.seq)));
    model.durable.extend(heads);
    promises.push((opened, model.clone()));
    for (moment, batch) in later {
        model.durable.push((0, batch.stream, batch.first));
        promises.push((moment, model.clone()));
    }
    promises
}

fn is_shown(batch: &IssuedBatch, shown: &Shown) -> bool {
    let records = shown.get(&batch.stream);
    let found = records.and_then(|records| records.iter().find(|record| record.seq == batch.first));
    found.is_some_and(|record| record.body == batch.records[0].body)
}
