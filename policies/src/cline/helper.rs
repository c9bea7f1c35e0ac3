//! A sub-agent: reads are replaced over all that is shown, then all but a quarter is left out; no notices.

use super::previous::due;
use super::reads::Run;
use super::steps::Steps;
use super::{View, condenses, up, window};
use crate::{Proposal, Situation};
use recount_cline::Keep;

/// A sub-agent's request is sent again so many times after a refusal (Cline 4.0.12, `SubagentRunner.ts`: three attempts in all).
pub(super) const RETRIES: u64 = 2;

/// What the tier proposes for a sub-agent.
pub(super) fn propose(at: &Situation<'_>) -> Proposal {
    let threshold = window(at.profile).helper_threshold(condenses(at));
    match due(at, up(threshold)) {
        Some(_) => compact(at),
        None => Proposal::default(),
    }
}

/// Makes room.
pub(super) fn compact(at: &Situation<'_>) -> Proposal {
    let view = View::of(at.timeline());
    let run = Run::over(&view, view.messages.len());
    let mut steps = Steps::new(at);
    run.propose(&mut steps);
    if run.needs_truncation() {
        steps.leave_out(&view, Keep::Quarter);
    }
    steps.finish()
}
