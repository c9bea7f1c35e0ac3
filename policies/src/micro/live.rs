//! Results that could be cleared.

use crate::Situation;
use crate::reading;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use recount_events::{BlockId, Body, Seq};
use recount_projections::{Answer, Call, Timeline, Unit};

/// A shown result of a tool whose results may be cleared, as it was brought.
pub(super) struct Live<'a> {
    pub(super) call: &'a Call,
    pub(super) answer: &'a Answer,
    /// A response stands behind it: the model has read it.
    pub(super) read: bool,
    /// Its response.
    pub(super) key: Seq,
}

/// Those that nothing replaced, newest first.
pub(super) fn results<'a>(at: &Situation<'a>) -> impl Iterator<Item = Live<'a>> {
    let timeline = at.state.timeline();
    let tools = &at.constants.micro.tools;
    let newest = reading::units(timeline).next().map(|(key, _)| key);
    reading::units(timeline).flat_map(move |(key, unit)| {
        let unit: &Arc<Unit> = unit;
        unit.calls.iter().rev().filter_map(move |call| {
            let answer = reading::closing(call)?;
            let as_brought = !timeline.replaced.contains_key(&answer.block);
            let clears = as_brought && tools.contains(&reading::tool(unit, call));
            clears.then_some(Live {
                call,
                answer,
                read: newest.is_some_and(|newest| key < newest),
                key,
            })
        })
    })
}

/// The calls whose results cache edits name.
pub(crate) fn named(timeline: &Timeline) -> BTreeSet<BlockId> {
    let edits = timeline.cache_edits.values();
    edits
        .flat_map(|logged| match &logged.event.body {
            Body::CacheEdit(edit) => edit.calls.as_slice(),
            _ => &[],
        })
        .copied()
        .collect()
}
