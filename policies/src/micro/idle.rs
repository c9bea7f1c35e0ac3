//! By time: the cache is cold.

use super::{CLEARED, live};
use crate::reading::{self, brought, taken_back};
use crate::{Proposal, Proposed, Situation};
use alloc::collections::BTreeMap;
use alloc::format;
use recount_events::{BlockId, Body, CacheReset, Content, Millis, Replace, Text, escape};
use recount_projections::Answer;

/// Milliseconds of a minute.
const MINUTE: u64 = 60_000;

/// What is cleared after so many minutes; `None`: nothing is left to clear or to reset.
pub(super) fn propose(at: &Situation<'_>, minutes: u64) -> Option<Proposal> {
    let cleared = old(at);
    let resets = !at.timeline().cache_edits.is_empty();
    if cleared.is_empty() && !resets {
        return None;
    }
    let cause = format!("the last answer was {minutes} minutes ago: the cache is cold");
    let mut proposal = Proposal {
        did: format!("{cause}; {} old results cleared", cleared.len()),
        freed: at.scaled(reading::freed(at, &cleared)),
        ..Proposal::default()
    };
    if !cleared.is_empty() {
        proposal.events.push(Proposed::from(Body::Replace(Replace {
            blocks: cleared.keys().copied().collect(),
            with: Content::string(&escape(CLEARED)),
            cause: Some(Text::plain(&cause)),
        })));
    }
    if resets {
        proposal
            .events
            .push(Proposed::from(Body::CacheReset(CacheReset {
                reason: Text::plain(&cause),
            })));
    }
    Some(proposal)
}

/// Whole minutes since the last answer, when they are enough for the cache to be cold. A clock that runs backwards says nothing.
pub(super) fn minutes(at: &Situation<'_>) -> Option<u64> {
    let enough = at.constants.micro.idle_minutes;
    let Millis(since) = last_answer(at)?;
    let idle = at.now.0.checked_sub(since)?;
    (enough > 0 && idle >= enough.saturating_mul(MINUTE)).then_some(idle / MINUTE)
}

/// When the model spoke last.
fn last_answer(at: &Situation<'_>) -> Option<Millis> {
    let (_, unit) = reading::units(at.timeline()).next()?;
    unit.parts.last().map(|part| part.logged.event.at)
}

/// The results that give way, oldest first, and how much smaller each gets: all but the newest, of which at least one stays.
fn old(at: &Situation<'_>) -> BTreeMap<BlockId, u64> {
    let keep = usize::try_from(at.constants.micro.keep.max(1)).unwrap_or(usize::MAX);
    let mut old: BTreeMap<BlockId, u64> = live::results(at)
        .skip(keep)
        .filter(|live| live.read)
        .filter_map(|live| Some((live.answer.block, saved(live.answer)?)))
        .collect();
    if !old.is_empty() {
        let back = taken_back(at.state);
        old.retain(|block, _| !back.blocks.contains(block));
    }
    old
}

/// Bytes by which it is larger than what would stand for it.
fn saved(answer: &Answer) -> Option<u64> {
    let bytes = brought(answer)?.file.len();
    let saved = bytes.checked_sub(CLEARED.len())?;
    (saved > 0).then_some(saved as u64)
}
