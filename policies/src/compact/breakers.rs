//! What keeps ⑤ from running in a circle (A9): counters and latches, each change an event of the ledger.
//!
//! - `compaction` counts failures in a row; `refill` counts triggers that were reached right after a commit with hardly anything new, so
//!   that what stayed left no room to work; `floor` says that what no tier can take away is above the trigger; `level` remembers the
//!   level without a model that was reached since the last answer.
//! - A tripped one is released when its cause is gone: a new profile or policy came, a manual compaction succeeded, the floor fell.
//! - They stop what is proactive, never what was asked for.

use super::limits::percent;
use crate::{Proposed, Situation};
use alloc::string::ToString;
use alloc::vec::Vec;
use recount_events::{Body, Breaker, BreakerState, Maker, Seq, Trigger};
use recount_projections::render::Category;
use recount_projections::{BreakerView, Shown, SummaryKind, Timeline};

/// Counts failures in a row.
pub const COMPACTION: &str = "compaction";
/// Counts refills right after.
pub const REFILL: &str = "refill";
/// Latches a floor above the trigger.
pub const FLOOR: &str = "floor";
/// Remembers a level without a model.
pub const LEVEL: &str = "level";

/// A change of a breaker.
pub(crate) fn event(name: &str, state: BreakerState, value: u64) -> Proposed {
    Body::Breaker(Breaker {
        name: name.to_string(),
        state,
        value,
    })
    .into()
}

/// A breaker as its newest event left it, on whatever branch that was: breakers never go back.
fn view(at: &Situation<'_>, name: &str) -> Option<BreakerView> {
    at.state.ledger().breakers.get(name).copied()
}

fn trips(view: &BreakerView) -> bool {
    view.state == BreakerState::Trips
}

/// What a breaker has counted.
fn count(at: &Situation<'_>, name: &str) -> u64 {
    match view(at, name) {
        Some(view) if view.state == BreakerState::Counts => view.value,
        // A latch whose policy changed counts anew.
        _ => 0,
    }
}

/// A profile or policy came after a position.
fn changed_since(at: &Situation<'_>, seq: Seq) -> bool {
    let header = &at.timeline().header;
    let newest = [&header.profile, &header.policy];
    newest.into_iter().flatten().any(|logged| logged.seq > seq)
}

/// Breakers that are to be released now.
pub(crate) fn releases(at: &Situation<'_>) -> Vec<Proposed> {
    let tripped = [COMPACTION, REFILL, FLOOR]
        .into_iter()
        .filter_map(|name| view(at, name).filter(trips).map(|view| (name, view)));
    tripped
        .filter(|(name, view)| {
            changed_since(at, view.seq) || (*name == FLOOR && !floor_is_high(at))
        })
        .map(|(name, view)| event(name, BreakerState::Releases, view.value))
        .collect()
}

/// What a commit lets run again. After one that a person asked for: everything. After one that a model or the session's notes made:
/// failures are no longer in a row. A summary without a model says nothing about models.
pub(crate) fn succeeded(at: &Situation<'_>, trigger: Trigger, by: Maker) -> Vec<Proposed> {
    let manual = trigger == Trigger::Manual;
    let mut events = Vec::new();
    for name in [COMPACTION, REFILL, FLOOR] {
        let Some(view) = view(at, name) else { continue };
        let resets = manual || (name == COMPACTION && by != Maker::Rule);
        if manual && trips(&view) {
            events.push(event(name, BreakerState::Releases, view.value));
        } else if resets && view.state == BreakerState::Counts && view.value > 0 {
            events.push(event(name, BreakerState::Counts, 0));
        }
    }
    events
}

/// One more failure.
pub(crate) fn failure(at: &Situation<'_>) -> Vec<Proposed> {
    let most = at.constants.compact.failures;
    if most == 0 || view(at, COMPACTION).as_ref().is_some_and(trips) {
        return Vec::new();
    }
    let failures = count(at, COMPACTION).saturating_add(1);
    let state = if failures >= most {
        BreakerState::Trips
    } else {
        BreakerState::Counts
    };
    alloc::vec![event(COMPACTION, state, failures)]
}

/// The floor alone reaches the trigger.
pub(crate) fn floor_is_high(at: &Situation<'_>) -> bool {
    at.constants.compact.limit == 0 && at.fill.floor >= at.lines.trigger
}

/// Whether ⑤ may run, and what is to be logged of it.
pub(crate) enum Gate {
    /// It may; a refill or a longer stretch is to be counted.
    Open(Vec<Proposed>),
    /// It may not; why, and what trips now.
    Shut(&'static str, Vec<Proposed>),
}

/// Asks the breakers once the trigger is reached. `released`: those that are released in the same breath.
pub(crate) fn gate(at: &Situation<'_>) -> Gate {
    let tripped = |name| {
        view(at, name)
            .filter(trips)
            .is_some_and(|view| !changed_since(at, view.seq))
    };
    if floor_is_high(at) {
        if tripped(FLOOR) {
            return Gate::Shut(FLOOR_WORDS, Vec::new());
        }
        if !taken_back(at) {
            let trip = event(FLOOR, BreakerState::Trips, at.fill.floor);
            return Gate::Shut(FLOOR_WORDS, alloc::vec![trip]);
        }
    }
    if tripped(COMPACTION) {
        return Gate::Shut("compactions failed too often in a row", Vec::new());
    }
    if tripped(REFILL) {
        return Gate::Shut(REFILL_WORDS, Vec::new());
    }
    refill(at)
}

const FLOOR_WORDS: &str =
    "what no compaction can take away (system prompt, tools) is above the trigger by itself";
const REFILL_WORDS: &str = "what stayed after each of the last compactions left no room to work";

/// The latch of this floor was let go on purpose, under the same policy and profile: it is not diagnosed again.
fn taken_back(at: &Situation<'_>) -> bool {
    let released = view(at, FLOOR).filter(|view| view.state == BreakerState::Releases);
    released.is_some_and(|view| view.value >= at.fill.floor && !changed_since(at, view.seq))
}

/// Counts a trigger that was reached within a few responses after the last commit and with little that is new, once for each commit. A
/// fold that answered a refusal, or without which nothing could be sent, is none of this tier's: it keeps what is needed, trigger or not.
fn refill(at: &Situation<'_>) -> Gate {
    let compact = &at.constants.compact;
    let last = last_commit(at.timeline()).filter(|_| compact.refills > 0);
    let Some(commit) = last.filter(|commit| !is_reactive(at, *commit)) else {
        return Gate::Open(Vec::new());
    };
    let counted = view(at, REFILL);
    if counted.is_some_and(|view| view.seq > commit) {
        return Gate::Open(Vec::new());
    }
    let so_far = count(at, REFILL);
    let rounds = compact.refill_rounds;
    if responses_since(at.timeline(), commit, rounds) > rounds || is_work(at, commit) {
        let reset = (so_far > 0).then(|| event(REFILL, BreakerState::Counts, 0));
        return Gate::Open(reset.into_iter().collect());
    }
    let refills = so_far.saturating_add(1);
    if refills >= compact.refills {
        let trip = event(REFILL, BreakerState::Trips, refills);
        return Gate::Shut(REFILL_WORDS, alloc::vec![trip]);
    }
    Gate::Open(alloc::vec![event(REFILL, BreakerState::Counts, refills)])
}

/// The commit came because of a refusal, or of a prompt that could not be sent.
fn is_reactive(at: &Situation<'_>, commit: Seq) -> bool {
    let logged = at.state.event(commit);
    let body = logged.as_ref().map(|logged| &logged.event.body);
    let Some(Body::CompactCommit(commit)) = body else {
        return false;
    };
    let boundary = commit.boundary.as_ref();
    boundary.is_some_and(|boundary| boundary.trigger == Trigger::Overflow)
}

/// What came since a commit is so much of the prompt that the host worked. What a commit brought back is not new.
fn is_work(at: &Situation<'_>, commit: Seq) -> bool {
    let own_limit = at.constants.compact.limit > 0;
    let (mut new, mut all) = (0_u64, 0_u64);
    for piece in at.pieces {
        let header = matches!(piece.category, Category::Tools | Category::System);
        if header && own_limit {
            continue;
        }
        all = all.saturating_add(piece.tokens);
        let seq = piece.source.seq;
        let came = seq > commit && !header && !at.timeline().tails.contains_key(&seq);
        if came && !is_caused(at, seq) {
            new = new.saturating_add(piece.tokens);
        }
    }
    new >= percent(all, at.constants.compact.refill_percent)
}

/// It stands because of another event.
fn is_caused(at: &Situation<'_>, seq: Seq) -> bool {
    let logged = at.state.event(seq);
    logged.is_some_and(|logged| logged.event.because.is_some())
}

/// The newest compaction whose summary is shown.
fn last_commit(timeline: &Timeline) -> Option<Seq> {
    let shown = timeline
        .summaries
        .keys()
        .filter_map(|key| timeline.shown.get(key));
    let commits = shown.filter_map(|shown| match shown {
        Shown::Summary(summary) if summary.kind == SummaryKind::Compact => Some(summary.seq),
        _ => None,
    });
    commits.max()
}

/// Responses behind a position, as far as they matter.
fn responses_since(timeline: &Timeline, seq: Seq, most: u64) -> u64 {
    let behind = timeline.shown.range(seq..);
    let responses = behind.filter(|(_, shown)| matches!(shown, Shown::Unit(_)));
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    responses.take(most.saturating_add(1)).count() as u64
}

/// The level without a model that was reached since the last answer; 0: none. A rollback over it takes back what it did, and with that the
/// level; an answer that is hidden, by that level's own fold perhaps, is an answer.
pub(crate) fn level(at: &Situation<'_>) -> u8 {
    let timeline = at.timeline();
    let stands = |view: &BreakerView| {
        view.state == BreakerState::Counts
            && timeline.line.contains(view.seq)
            && timeline.units.range(view.seq..).next().is_none()
    };
    view(at, LEVEL)
        .filter(stands)
        .map_or(0, |view| u8::try_from(view.value).unwrap_or(u8::MAX))
}
