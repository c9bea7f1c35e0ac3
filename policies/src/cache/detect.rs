//! Falls of the provider's cache: a call read much less from it than the call before, and nothing in the log announced that.
//!
//! - What changes the beginning of a prompt on purpose is announced by its own event: masks, replacements, cache edits and resets, undo,
//!   rollback, another profile. What happens by the way is not: another system prompt or other tools, a result that took a placeholder's
//!   place, other request parameters.
//! - The prompts are rendered again to find the first byte that differs; only where a fall was seen.

use super::Rules;
use crate::assembly::stable;
use alloc::sync::Arc;
use alloc::vec::Vec;
use recount_events::raw::member;
use recount_events::{Body, CacheBreak, CacheCause, Issued, Millis, Profile, Seq, Text, Usage};
use recount_projections::render::{ByBytes, Why};
use recount_projections::{
    Budget, Cause, List, Logged, Piece, Request, State, Timeline, Totals, project,
};

/// A fall has to be larger than so many tokens, and than a twentieth of what was read before.
pub const LEAST_FALL: u64 = 2_000;

/// How many positions between two calls are looked at for what announces a fall.
const LOOKED_AT: usize = 4_096;

/// Members of a request that are part of the cache's key, beside the pieces.
const KEYS: &[&str] = &[
    "thinking",
    "tool_choice",
    "output_config",
    "speed",
    "mcp_servers",
    "reasoning_effort",
];

/// A call and what it read from the cache.
struct Call {
    /// Its first usage.
    seq: Seq,
    totals: Totals,
    /// When it began, as far as the log says.
    at: Millis,
    issue: Option<Arc<Logged>>,
}

/// The newest call read much less from the cache than the one before, and no prompt left since. Cheap: looks at two usages.
#[must_use]
pub fn fell(state: &State) -> bool {
    falls(state).is_some()
}

/// The fall at the newest call, with its cause; nothing where something announced it, or where it is logged already.
#[must_use]
pub fn detect(state: &State) -> Option<CacheBreak> {
    let (before, after) = falls(state)?;
    let fall = CacheBreak {
        usage: after.seq,
        before: before.totals.cache_read,
        after: after.totals.cache_read,
        byte: None,
        piece: None,
        event: None,
        cause: CacheCause::Unexplained,
    };
    let prompts = Sent::of(state, &before).zip(Sent::of(state, &after));
    let between = between(state, &before, &after);
    if between
        .iter()
        .any(|logged| announces_alone(&logged.event.body))
    {
        return None;
    }
    let Some((old, new)) = prompts else {
        let announced = between.iter().any(|logged| announces(&logged.event.body));
        return (!announced).then_some(CacheBreak {
            cause: by_time(state, &before, &after),
            ..fall
        });
    };
    if old.profile.model != new.profile.model || old.profile.provider != new.profile.provider {
        return None;
    }
    let Some(change) = old.change(state, &new) else {
        let other = KEYS
            .iter()
            .any(|key| param(&old.params, key) != param(&new.params, key));
        let cause = if other {
            CacheCause::Changed
        } else {
            by_time(state, &before, &after)
        };
        return Some(CacheBreak { cause, ..fall });
    };
    let announced = change
        .event
        .and_then(|seq| state.event(seq))
        .is_some_and(|logged| announces(&logged.event.body));
    (!announced).then_some(CacheBreak {
        byte: Some(change.byte),
        piece: change.piece.map(|piece| piece.source),
        event: change.event,
        cause: CacheCause::Changed,
        ..fall
    })
}

/// The two newest calls, where the second read much less and was not judged yet.
fn falls(state: &State) -> Option<(Call, Call)> {
    let ledger = state.ledger();
    let mut own = ledger
        .usages
        .iter()
        .rev()
        .filter(|(seq, _)| !ledger.compaction_usages.contains_key(*seq));
    let (after, now) = own.next()?;
    let (before, then) = own.next()?;
    let less = then.cache_read.saturating_sub(now.cache_read);
    if less <= LEAST_FALL || less.saturating_mul(20) <= then.cache_read {
        return None;
    }
    let judged = ledger
        .issues
        .keys()
        .next_back()
        .is_some_and(|last| last > after)
        || ledger.cache_breaks.values().rev().any(
            |logged| matches!(&logged.event.body, Body::CacheBreak(fall) if fall.usage == *after),
        );
    if judged {
        return None;
    }
    Some((call(state, *before, *then)?, call(state, *after, *now)?))
}

fn call(state: &State, seq: Seq, totals: Totals) -> Option<Call> {
    let logged = state.event(seq)?;
    let Body::Usage(Usage { issued, .. }) = &logged.event.body else {
        return None;
    };
    let issue = issued
        .and_then(|digest| state.ledger().issued.get(&digest).copied())
        .and_then(|seq| state.event(seq));
    let at = issue
        .as_ref()
        .map_or(logged.event.at, |issue| issue.event.at);
    Some(Call {
        seq,
        totals,
        at,
        issue,
    })
}

/// What was logged between two calls.
fn between(state: &State, before: &Call, after: &Call) -> Vec<Arc<Logged>> {
    let begins = |call: &Call| call.issue.as_ref().map_or(call.seq, |issue| issue.seq);
    let (first, last) = (begins(before).0.saturating_add(1), begins(after).0);
    (first..last)
        .rev()
        .take(LOOKED_AT)
        .filter_map(|seq| state.event(Seq(seq)))
        .collect()
}

/// Nothing differs that the log knows of: either its time was over, or nobody knows.
fn by_time(state: &State, before: &Call, after: &Call) -> CacheCause {
    let profile = state.timeline().header.profile.as_ref();
    let rules = profile.and_then(|logged| match &logged.event.body {
        Body::Profile(profile) => Some(Rules::of(profile)),
        _ => None,
    });
    let long = before.totals.cache_write_1h > 0 && before.totals.cache_write_5m == 0;
    let lives = rules.map_or(0, |rules| if long { rules.longest } else { rules.lifetime });
    if after.at.0.saturating_sub(before.at.0) > lives {
        CacheCause::Expired
    } else {
        CacheCause::Unexplained
    }
}

/// The event says itself that the prompt changes.
fn announces(body: &Body) -> bool {
    announces_alone(body)
        || matches!(
            body,
            Body::Replace(_)
                | Body::DeleteRange(_)
                | Body::Snip(_)
                | Body::CollapseCommit(_)
                | Body::CompactCommit(_)
                | Body::Undo(_)
                | Body::Rollback(_)
                | Body::Profile(_)
                | Body::Rendering(_)
                | Body::Erased(_)
        )
}

/// The event changes what the provider keeps, and not one byte of the prompt.
const fn announces_alone(body: &Body) -> bool {
    matches!(body, Body::CacheEdit(_) | Body::CacheReset(_))
}

/// A prompt as it was sent.
struct Sent {
    pieces: List<Piece>,
    timeline: Timeline,
    profile: Profile,
    params: Option<Text>,
}

/// Where a prompt no longer begins as the one before.
struct Change<'a> {
    byte: u64,
    piece: Option<&'a Piece>,
    event: Option<Seq>,
}

impl Sent {
    fn of(state: &State, call: &Call) -> Option<Self> {
        let Body::Issued(issued) = &call.issue.as_ref()?.event.body else {
            return None;
        };
        let logged = state.event(issued.profile?)?;
        let Body::Profile(profile) = &logged.event.body else {
            return None;
        };
        Self::again(state, issued, profile)
    }

    fn again(state: &State, issued: &Issued, profile: &Profile) -> Option<Self> {
        let timeline = state.timeline_at(issued.cut).ok()?;
        let profile = Profile {
            params: issued.params.clone().or_else(|| profile.params.clone()),
            ..profile.clone()
        };
        let projection = project(&Request {
            timeline: &timeline,
            profile: &profile,
            wire: issued.wire,
            heal: issued.healed,
            counts: &ByBytes,
            budget: Budget::default(),
        });
        Some(Self {
            pieces: projection.pieces,
            params: issued.params.clone(),
            timeline,
            profile,
        })
    }

    /// The first piece that a later prompt does not begin with, of those that were meant to stay.
    fn change<'a>(&'a self, state: &State, later: &'a Self) -> Option<Change<'a>> {
        let stays = stable(&self.pieces, &self.timeline);
        let place = (0..stays).find(|place| {
            let pair = self.pieces.get(*place).zip(later.pieces.get(*place));
            !pair.is_some_and(|(old, new)| alike(old, new))
        })?;
        let (old, new) = (self.pieces.get(place), later.pieces.get(place));
        Some(Change {
            byte: first_byte(old, new),
            piece: new.or(old),
            event: behind(state, (old, &self.timeline), (new, &later.timeline)),
        })
    }
}

/// The same bytes for the same role.
fn alike(one: &Piece, other: &Piece) -> bool {
    one.digest == other.digest || (one.role == other.role && one.bytes == other.bytes)
}

/// The first byte of the body, without cache markers, at which the same place of two prompts differs.
#[must_use]
pub fn first_byte(old: Option<&Piece>, new: Option<&Piece>) -> u64 {
    let (Some(old), Some(new)) = (old, new) else {
        return new.or(old).map_or(0, |piece| piece.bytes_before);
    };
    if old.bytes_before != new.bytes_before {
        return old.bytes_before.min(new.bytes_before);
    }
    let same = old
        .bytes
        .iter()
        .zip(new.bytes.iter())
        .take_while(|(one, other)| one == other)
        .count();
    new.bytes_before.saturating_add(same as u64)
}

/// The event behind a difference between the same place of two prompts, each with what it was rendered from.
#[must_use]
pub fn behind(
    state: &State,
    (old, then): (Option<&Piece>, &Timeline),
    (new, now): (Option<&Piece>, &Timeline),
) -> Option<Seq> {
    let replaced = |piece: Option<&Piece>| match piece?.why {
        Why::Replaced(event) => Some(event),
        _ => None,
    };
    let same = old
        .zip(new)
        .is_some_and(|(old, new)| old.source == new.source);
    if same && replaced(old) != replaced(new) {
        return replaced(new).or_else(|| {
            // It is shown again: by what took the replacement out, where that is known.
            let by = replaced(old)?;
            let cause = state.hidden_by(now, by).and_then(event_of);
            Some(cause.unwrap_or(by))
        });
    }
    let hides = |piece: Option<&Piece>, timeline: &Timeline| {
        let seq = piece?.source.seq;
        state.hidden_by(timeline, seq).and_then(event_of)
    };
    hides(old, now)
        .or_else(|| hides(new, then))
        .or_else(|| Some(new.or(old)?.source.seq))
}

/// The event behind a cause.
const fn event_of(cause: Cause) -> Option<Seq> {
    match cause {
        Cause::Later | Cause::Skipped => None,
        Cause::Rollback(seq)
        | Cause::Undo(seq)
        | Cause::Mask(seq)
        | Cause::Superseded(seq)
        | Cause::Replaced(seq) => Some(seq),
    }
}

fn param<'a>(params: &'a Option<Text>, key: &str) -> Option<&'a str> {
    member(params.as_ref()?.as_str()?, key)
}
