//! All results that answer one response share a limit: the largest leave until the rest is under it.
//!
//! - Results that were examined before count, but stay. What stands for a result counts as it stands. Results of tools without a limit and
//!   those with pictures do not count.

use super::fresh::Fresh;
use super::{limit_of, plan::Plan};
use crate::reading::{self, Brought, brought};
use crate::{cut, reading::closing};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::cmp::Reverse;
use recount_events::{BlockId, Body, Seq};
use recount_projections::{Call, Timeline, Unit};

/// Looks at each response that has a new result.
pub(super) fn share(plan: &mut Plan<'_>, fresh: &[Fresh<'_>]) {
    let limit = plan.at.constants.budget.response_limit;
    if limit == 0 {
        return;
    }
    let mut responses: BTreeMap<Seq, Vec<&Fresh<'_>>> = BTreeMap::new();
    for result in fresh {
        responses.entry(result.key).or_default().push(result);
    }
    for results in responses.values() {
        if let Some(first) = results.first() {
            relieve(plan, first.unit, results, limit);
        }
    }
}

fn relieve(plan: &mut Plan<'_>, unit: &Unit, results: &[&Fresh<'_>], limit: u64) {
    let sizes = unit.calls.iter().filter_map(|call| size(plan, unit, call));
    let mut sum = sizes.fold(0, u64::saturating_add);
    if sum <= limit {
        return;
    }
    let cause = format!(
        "the results of one response have {} characters, more than {}",
        cut::grouped(sum),
        cut::grouped(limit)
    );
    for (block, brought) in largest_first(plan, results) {
        if sum <= limit {
            return;
        }
        let ends = plan.at.constants.budget.preview_bytes;
        if plan.spill(block, &brought, ends, &cause) {
            let now = plan.stand_in(block).unwrap_or(0);
            sum = sum.saturating_sub(brought.units).saturating_add(now);
        }
    }
}

/// What may leave; of equal ones the first comes first.
fn largest_first<'r>(plan: &Plan<'_>, results: &[&'r Fresh<'_>]) -> Vec<(BlockId, Brought<'r>)> {
    let budget = &plan.at.constants.budget;
    let may_go = results.iter().filter(|result| {
        plan.stand_in(result.block()).is_none() && limit_of(budget, &result.tool()).is_some()
    });
    let mut found: Vec<(BlockId, Brought<'_>)> = may_go
        .filter_map(|result| Some((result.block(), brought(result.answer)?)))
        .filter(|(_, brought)| !brought.seen)
        .collect();
    found.sort_by_key(|(block, brought)| (Reverse(brought.units), *block));
    found
}

/// What a call's result counts.
fn size(plan: &Plan<'_>, unit: &Unit, call: &Call) -> Option<u64> {
    let answer = closing(call)?;
    limit_of(&plan.at.constants.budget, &reading::tool(unit, call))?;
    let stands = plan
        .stand_in(answer.block)
        .or_else(|| replaced(plan.at.timeline(), answer.block));
    stands.or_else(|| {
        brought(answer)
            .filter(|brought| !brought.seen)
            .map(|brought| brought.units)
    })
}

/// What an earlier replacement shows.
fn replaced(timeline: &Timeline, block: BlockId) -> Option<u64> {
    match &timeline.replaced.get(&block)?.event.body {
        Body::Replace(replace) => {
            let words = replace.with.blocks.iter().filter_map(|block| block.words());
            Some(words.map(|words| cut::units(&words)).sum())
        }
        _ => None,
    }
}
