//! Which results were not examined yet.

use crate::reading;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, Seq};
use recount_projections::{Answer, Call, Shown, Timeline, Unit};

/// A shown, closing result that was not examined yet.
pub(super) struct Fresh<'a> {
    /// Its response.
    pub(super) key: Seq,
    pub(super) unit: &'a Unit,
    pub(super) call: &'a Call,
    pub(super) answer: &'a Answer,
}

impl Fresh<'_> {
    pub(super) fn block(&self) -> BlockId {
        self.answer.block
    }

    pub(super) fn tool(&self) -> String {
        reading::tool(self.unit, self.call)
    }
}

/// All of them, in the order in which they came.
pub(super) fn results(timeline: &Timeline) -> Vec<Fresh<'_>> {
    let mut found = Vec::new();
    for (seq, place) in timeline.content.iter().rev() {
        if place.units.is_empty() {
            continue;
        }
        if was_examined(timeline, *seq) {
            break;
        }
        for key in &place.units {
            let Some(Shown::Unit(unit)) = timeline.shown.get(key) else {
                continue;
            };
            let here = unit.calls.iter().rev().filter_map(|call| {
                let answer = reading::closing(call).filter(|answer| answer.block.seq == *seq)?;
                let free = !timeline.replaced.contains_key(&answer.block);
                free.then_some(Fresh {
                    key: *key,
                    unit,
                    call,
                    answer,
                })
            });
            found.extend(here);
        }
    }
    found.reverse();
    found
}

/// A result at this position was examined.
fn was_examined(timeline: &Timeline, seq: Seq) -> bool {
    let block = |index| BlockId { seq, index };
    timeline
        .judged
        .range(block(0)..=block(u32::MAX))
        .next()
        .is_some()
}
