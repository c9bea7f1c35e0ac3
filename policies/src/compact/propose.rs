//! What this tier proposes of its own accord.

use super::breakers::{self, Gate};
use super::commit::{self, Wanted};
use super::{Ask, UNDONE, atoms, limits, memory, nothing, plan, range};
use crate::{Proposal, Proposed, Situation, collapse};
use alloc::string::ToString;
use alloc::vec::Vec;
use recount_events::{Body, Maker, Seq, SessionKind, Trigger};
use recount_projections::{Life, Shown, Timeline};

/// What this tier proposes: a plan when the trigger is reached, a commit at once where the session's notes cover the range; changes of
/// its breakers.
#[must_use]
pub fn propose(at: &Situation<'_>) -> Proposal {
    if at.kind == SessionKind::Side || !at.auto || !at.constants.compact.on {
        return Proposal::default();
    }
    let released = breakers::releases(at);
    if at.weighed() < at.lines.trigger || at.timeline().work.waiting().is_some() {
        return held(released, "");
    }
    due(at, released)
}

/// The same once the trigger is reached and nobody is asked for a summary yet. `released`: breakers that are let go in the same breath.
pub(crate) fn due(at: &Situation<'_>, released: Vec<Proposed>) -> Proposal {
    if collapse::helps(at) {
        return held(
            released,
            "held back: staged spans are still to be committed",
        );
    }
    if let Some(why) = waits(at) {
        return held(released, why);
    }
    match breakers::gate(at) {
        Gate::Shut(why, mut tripped) => {
            tripped.extend(released);
            held(tripped, why)
        }
        Gate::Open(counted) => {
            let mut proposal = from_memory(at).unwrap_or_else(|| planned(at));
            if proposal.is_empty() {
                return with(proposal, released);
            }
            proposal.events.extend(counted);
            with(proposal, released)
        }
    }
}

/// Nothing but what breakers do, and why.
pub(crate) fn held(events: Vec<Proposed>, why: &str) -> Proposal {
    Proposal {
        did: why.to_string(),
        events,
        ..Proposal::default()
    }
}

fn with(mut proposal: Proposal, events: Vec<Proposed>) -> Proposal {
    proposal.events.extend(events);
    proposal
}

fn planned(at: &Situation<'_>) -> Proposal {
    let ask = Ask {
        trigger: Trigger::Auto,
        ..Ask::default()
    };
    let plan = match plan(at, &ask) {
        Ok(plan) => plan,
        Err(refusal) => return nothing(refusal),
    };
    let said = super::unasked(at, &plan);
    if said.len() == plan.chunks.len() {
        // No request would hold any of it.
        return super::by_rule(at, &ask).unwrap_or_else(nothing);
    }
    // Whatever plan is not ended here waits for nobody.
    let mut events = commit::give_way(at, None, UNDONE);
    events.push(Body::CompactPlan(plan).into());
    let said = said
        .into_iter()
        .map(|chunk| Body::CompactChunk(chunk).into());
    events.extend(said);
    Proposal {
        did: "the trigger is reached: a summary is asked for".to_string(),
        freed: 0,
        events,
        spills: Vec::new(),
    }
}

/// The session's notes, where they cover enough to get under the trigger.
fn from_memory(at: &Situation<'_>) -> Option<Proposal> {
    if !at.constants.compact.memory || at.timeline().memories.is_empty() {
        return None;
    }
    let ask = Ask {
        trigger: Trigger::Auto,
        ..Ask::default()
    };
    let atoms = atoms::atoms(at);
    let span = range::resolve(at, &atoms, &ask).ok()?;
    let (covered, summary) = memory::covered(at, &atoms, span)?;
    let wanted = Wanted {
        id: None,
        range: covered.ends(&atoms)?,
        summary: &summary,
        trigger: Trigger::Auto,
        level: 0,
        by: Maker::Memory,
        millis: 0,
    };
    let proposal = commit::propose(at, &wanted, commit::give_way(at, None, UNDONE)).ok()?;
    let left = at.weighed().saturating_sub(proposal.freed);
    (left < at.lines.trigger && proposal.freed >= limits::percent(at.weighed(), LEAST))
        .then_some(proposal)
}

/// Per cent of what is weighed that notes have to free to be taken.
const LEAST: u64 = 10;

/// A compaction was given up or taken back, and neither the person nor the model said anything since.
fn waits(at: &Situation<'_>) -> Option<&'static str> {
    let timeline = at.timeline();
    let lives = timeline.work.compactions.values();
    let given_up = lives.filter_map(|life| match life {
        Life::Abandoned(seq) => Some(*seq),
        _ => None,
    });
    if given_up.max().is_some_and(|seq| !went_on(timeline, seq)) {
        return Some("held back: the last compaction was given up, and nothing came since");
    }
    let undo = timeline.line.undos.last();
    let taken_back = undo.filter(|(seq, undone)| {
        let target = at.state.event(undone.event);
        let is_commit = target.is_some_and(|logged| is_compaction(&logged.event.body));
        is_commit && !went_on(timeline, **seq)
    });
    taken_back.map(|_| "held back: the last compaction was undone, and nothing came since")
}

const fn is_compaction(body: &Body) -> bool {
    matches!(body, Body::CompactCommit(_))
}

fn went_on(timeline: &Timeline, since: Seq) -> bool {
    let mut behind = timeline.shown.range(since..);
    behind.any(|(_, shown)| match shown {
        Shown::Unit(_) => true,
        Shown::Said(said) => said.logged.message().is_some_and(atoms::is_authored),
        Shown::Inject(_) | Shown::Summary(_) => false,
    })
}
