//! ① Tool results: what one may cost, and all that answer one response together.
//!
//! - Each result is examined once, as soon as its call is closed and it is shown. What comes out is logged for ever: a `replace` where it
//!   leaves the prompt, and a `budget` event that names all that were examined. No change of limits or of the window touches it again.
//! - The search goes from the newest result backwards and ends at the first one that was examined, or at what the newest prompt under
//!   this policy showed: a round costs what is new. Results that come late stand at the end of the log, so they are found, whatever response
//!   they answer. One that was hidden when its neighbours were examined stays as it is.
//! - An interim result is not examined; the one that closes the call is.
//! - Pictures and documents are neither counted nor taken out with a result; only a body that comes near the provider's limit
//!   loses them (`body`). That is the one case in which a result that was left inline goes later: a body that is refused has no cache.
//! - What was undone stays undone: a result that was brought back is not taken out again.
//! - An empty result is left alone: the projection shows a placeholder for it.

mod body;
mod fresh;
mod plan;
mod response;
mod stand_in;

use crate::constants::Budget;
use crate::reading::{Brought, brought};
use crate::{Proposal, Situation, Spill, cut};
use alloc::sync::Arc;
use fresh::Fresh;
use plan::Plan;
use recount_events::{BlockId, Status};
use recount_projections::{Answer, Logged};

/// What this tier proposes.
#[must_use]
pub fn propose(at: &Situation<'_>) -> Proposal {
    let budget = &at.constants.budget;
    let mut plan = Plan::new(at);
    if budget.result_limit > 0 || budget.response_limit > 0 || budget.result_tokens > 0 {
        let fresh = fresh::results(at.state);
        for result in &fresh {
            single(&mut plan, result);
            plan.examined(result.block());
        }
        response::share(&mut plan, &fresh);
    }
    body::relieve(&mut plan);
    plan.finish()
}

/// The file in which the whole content of a spilled result stands; none for a block that is no result, or not at hand.
///
/// A pure function of the log, so that a file that is gone can be written again.
#[must_use]
pub fn file(result: &Arc<Logged>, block: BlockId) -> Option<Spill> {
    let answer = Answer {
        logged: Arc::clone(result),
        block,
        status: Status::Ok,
    };
    let brought = brought(&answer)?;
    Some(Spill {
        block,
        name: plan::name(block, &brought),
        bytes: brought.file.to_vec(),
    })
}

/// A result over a limit of its own leaves the prompt.
fn single(plan: &mut Plan<'_>, result: &Fresh<'_>) {
    let budget = &plan.at.constants.budget;
    let Some(limit) = limit_of(budget, &result.tool()) else {
        return;
    };
    let Some(brought) = brought(result.answer).filter(|brought| !brought.seen) else {
        return;
    };
    if limit > 0 && over(&brought, limit) {
        let cause = alloc::format!(
            "a result of {} characters is over its limit of {}",
            cut::grouped(brought.units),
            cut::grouped(limit)
        );
        plan.spill(result.block(), &brought, limit, &cause);
    } else if let Some(words) = stand_in::without_middle(plan.at, &brought) {
        let cause = alloc::format!(
            "a result of more than {} tokens loses its middle",
            cut::grouped(budget.result_tokens)
        );
        plan.replace(result.block(), &brought, words, &cause);
    }
}

/// The limit of a tool's results in UTF-16 units, 0: none by size; `None`: its results are never taken out.
fn limit_of(budget: &Budget, tool: &str) -> Option<u64> {
    match (budget.tool_limits.get(tool).copied(), budget.result_limit) {
        (Some(0), _) => None,
        (Some(own), 0) => Some(own),
        (Some(own), all) => Some(own.min(all)),
        (None, all) => Some(all),
    }
}

fn over(brought: &Brought<'_>, limit: u64) -> bool {
    brought.units > limit
}
