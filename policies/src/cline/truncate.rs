//! The middle is left out: when the previous request was too full, and when a prompt was refused.

use super::previous::{Previous, due, is_decided};
use super::reads::Run;
use super::steps::Steps;
use super::{View, condenses, helper, limit, notices, window};
use crate::{Proposal, Situation};
use recount_cline::Keep;
use recount_events::SessionKind;

/// What this tier proposes.
#[must_use]
pub fn propose(at: &Situation<'_>) -> Proposal {
    match at.kind {
        _ if !at.auto => Proposal::default(),
        SessionKind::Side => Proposal::default(),
        SessionKind::Sub => helper::propose(at),
        // Models that sum up themselves are not truncated.
        SessionKind::Main if condenses(at) => Proposal::default(),
        SessionKind::Main => make_room(at),
    }
}

/// Reads are replaced; where that saves too little, half is left out, or all but a quarter.
fn make_room(at: &Situation<'_>) -> Proposal {
    let Some(previous) = due(at, limit(at.profile)) else {
        return Proposal::default();
    };
    let view = View::of(at.timeline());
    let run = Run::over(&view, view.messages.len());
    let mut steps = Steps::new(at);
    run.propose(&mut steps);
    if run.needs_truncation()
        && let Some(cause) = steps.leave_out(&view, keep(at, previous))
    {
        steps.replace(&notices::truncation(&view), notices::WORDS, Some(cause));
    }
    steps.finish()
}

/// A quarter is kept where half of what was used would still be too much.
fn keep(at: &Situation<'_>, previous: Previous) -> Keep {
    #[expect(clippy::cast_precision_loss, reason = "tokens of a request fit")]
    let tokens = previous.tokens as f64;
    if tokens / 2.0 > window(at.profile).allowed {
        Keep::Quarter
    } else {
        Keep::Half
    }
}

/// What helps against a refusal: a quarter is kept, at once, and once more for each retry that Cline makes; once for each refusal.
#[must_use]
pub fn overflowed(at: &Situation<'_>, refusals: u32) -> Proposal {
    let newest = at.state.ledger().overflows.keys().next_back();
    let most = match at.kind {
        SessionKind::Side => 0,
        SessionKind::Sub => helper::RETRIES,
        SessionKind::Main => at.constants.cline.retries.saturating_add(1),
    };
    let over = u64::from(refusals) > most;
    if over || newest.is_none_or(|refusal| is_decided(at, *refusal)) {
        return Proposal::default();
    }
    if at.kind == SessionKind::Sub {
        return helper::compact(at);
    }
    let view = View::of(at.timeline());
    let mut steps = Steps::new(at);
    if let Some(cause) = steps.leave_out(&view, Keep::Quarter) {
        steps.replace(&notices::both(&view), notices::WORDS, Some(cause));
    }
    steps.finish()
}
