//! Results that could be cleared.

use crate::constants::CachedForm;
use crate::reading;
use crate::{Constants, Situation};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Profile, Seq};
use recount_projections::render::PieceRole;
use recount_projections::{Answer, Call, List, Piece, Timeline, Unit};

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
    of_tools(at.state.timeline(), &at.constants.micro.tools)
}

fn of_tools<'a>(timeline: &'a Timeline, tools: &'a [String]) -> impl Iterator<Item = Live<'a>> {
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

/// The pieces whose results edits of this request or a later one may name, where the policy and the model edit the cache: they carry a
/// reference from the first time they are sent.
#[must_use]
pub fn references(
    pieces: &List<Piece>,
    timeline: &Timeline,
    constants: &Constants,
    profile: &Profile,
) -> Vec<usize> {
    let micro = &constants.micro;
    if micro.cached != CachedForm::CacheEdits || !profile.cache_edits {
        return Vec::new();
    }
    let results: BTreeSet<BlockId> = of_tools(timeline, &micro.tools)
        .map(|live| live.answer.block)
        .collect();
    let carries =
        |piece: &Piece| piece.role == PieceRole::Result && results.contains(&piece.source);
    (0..)
        .zip(pieces)
        .filter(|(_, piece)| carries(piece))
        .map(|(index, _)| index)
        .collect()
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
