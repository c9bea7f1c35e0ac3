//! Which results were not examined yet.

use crate::reading;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Seq};
use recount_projections::{Answer, Call, Shown, State, Timeline, Unit};

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
pub(super) fn results(state: &State) -> Vec<Fresh<'_>> {
    let timeline = state.timeline();
    let sent = sent_under_this_policy(state);
    let mut found = Vec::new();
    for (seq, place) in timeline.content.iter().rev() {
        if sent.is_some_and(|cut| *seq <= cut) {
            break;
        }
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

/// What the newest prompt showed, if it left while this policy was in force: it was examined then, and the provider has it.
fn sent_under_this_policy(state: &State) -> Option<Seq> {
    let timeline = state.timeline();
    let (issued, policy) = (timeline.issued?, timeline.header.policy.as_ref()?);
    match &state
        .event(issued)
        .filter(|_| policy.seq < issued)?
        .event
        .body
    {
        Body::Issued(issued) => Some(issued.cut),
        _ => None,
    }
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
