//! By count: the provider deletes results in its cache.

use super::live::{self, Live};
use crate::constants::CachedForm;
use crate::{Proposal, Proposed, Situation};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use recount_events::{BlockId, Body, CacheAck, CacheEdit, Text, Usage};
use recount_projections::{Logged, State, Timeline};

/// The edit that is due; `None`: too few results, an edit whose effect is not known yet, or not this form.
pub(super) fn propose(at: &Situation<'_>) -> Option<Proposal> {
    let micro = &at.constants.micro;
    let form = micro.cached == CachedForm::CacheEdits && at.profile.cache_edits;
    if !form || is_pending(at.state) {
        return None;
    }
    let named = live::named(at.timeline());
    let live = live_since(at, &named);
    if live.len() as u64 <= micro.cached_trigger {
        return None;
    }
    let keep = usize::try_from(micro.cached_keep.max(1)).unwrap_or(usize::MAX);
    let mut calls: Vec<BlockId> = live
        .iter()
        .skip(keep)
        .filter(|live| live.read)
        .map(|live| live.call.block)
        .collect();
    calls.reverse();
    if calls.is_empty() {
        return None;
    }
    let did = format!(
        "{} old results are deleted in the provider's cache; the next answer tells what that frees",
        calls.len()
    );
    let edit = CacheEdit {
        id: Text::plain(&format!("e{}", at.next())),
        calls,
        baseline: deleted_so_far(at.state),
    };
    Some(Proposal {
        did,
        events: Vec::from([Proposed::from(Body::CacheEdit(edit))]),
        ..Proposal::default()
    })
}

/// Results that are shown in full on both sides, newest first, back to the response of the newest that an edit names: what is older was
/// named or kept then, and what an undo brought back since stays.
fn live_since<'a>(at: &Situation<'a>, named: &BTreeSet<BlockId>) -> Vec<Live<'a>> {
    let newest_named = live::results(at)
        .find(|live| named.contains(&live.call.block))
        .map(|live| live.key);
    live::results(at)
        .take_while(|live| newest_named.is_none_or(|key| live.key >= key))
        .filter(|live| !named.contains(&live.call.block))
        .collect()
}

/// The newest edit has no acknowledgement, and no answer since told how much was deleted.
fn is_pending(state: &State) -> bool {
    let timeline = state.timeline();
    let Some((seq, _)) = newest_pending(timeline) else {
        return false;
    };
    let told = newest_usage(state).filter(|usage| usage.seq > *seq);
    told.and_then(|usage| deleted(&usage)).is_none()
}

/// The newest edit, where no acknowledgement names it.
fn newest_pending(timeline: &Timeline) -> Option<(&recount_events::Seq, &CacheEdit)> {
    let (seq, logged) = timeline.cache_edits.last()?;
    let Body::CacheEdit(edit) = &logged.event.body else {
        return None;
    };
    let acked = timeline
        .cache_acks
        .values()
        .any(|ack| match &ack.event.body {
            Body::CacheAck(ack) => ack.id.bytes() == edit.id.bytes(),
            _ => false,
        });
    (!acked).then_some((seq, edit))
}

fn newest_usage(state: &State) -> Option<Arc<Logged>> {
    state.event(state.timeline().usage?)
}

fn deleted(usage: &Logged) -> Option<u64> {
    match &usage.event.body {
        Body::Usage(usage) => usage.cache_deleted,
        _ => None,
    }
}

/// The provider's cumulative count of deleted tokens, as it was told last.
fn deleted_so_far(state: &State) -> u64 {
    let told = newest_usage(state).and_then(|usage| deleted(&usage));
    told.unwrap_or_else(|| by_acknowledgements(state.timeline()))
}

/// Baseline and effect of the newest edit, where the newest usage does not tell.
fn by_acknowledgements(timeline: &Timeline) -> u64 {
    let Some(Body::CacheEdit(edit)) = timeline
        .cache_edits
        .last()
        .map(|(_, edit)| &edit.event.body)
    else {
        return 0;
    };
    let freed = timeline
        .cache_acks
        .values()
        .filter_map(|ack| match &ack.event.body {
            Body::CacheAck(ack) if ack.id.bytes() == edit.id.bytes() => Some(ack.deleted_tokens),
            _ => None,
        });
    edit.baseline.saturating_add(freed.max().unwrap_or(0))
}

/// What an answer tells about the newest edit that waits for it: the provider's count less the baseline. `None`: none waits, the answer
/// does not tell, or nothing was deleted.
#[must_use]
pub fn acknowledge(state: &State, usage: &Usage) -> Option<CacheAck> {
    let (_, edit) = newest_pending(state.timeline())?;
    let deleted_tokens = usage.cache_deleted?.checked_sub(edit.baseline)?;
    (deleted_tokens > 0).then(|| CacheAck {
        id: Text {
            seal: None,
            ..edit.id.clone()
        },
        deleted_tokens,
    })
}
