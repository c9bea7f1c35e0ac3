//! ④ Staged spans, committed when the window fills; repetitive exchanges, collapsed without a model.
//!
//! - Stages are committed in the order of staging, each by a commit that names it; one that no longer fits, or would not make the prompt
//!   smaller, is passed over and stays.
//! - Committing starts at one line (per cent of effective) and stops below it; from the blocking line on all are committed.

mod repeats;
mod staged;

use crate::{Proposal, Situation};
use recount_events::SessionKind;

/// What this tier proposes.
#[must_use]
pub fn propose(at: &Situation<'_>) -> Proposal {
    let collapse = &at.constants.collapse;
    if at.kind == SessionKind::Side || !at.auto || !collapse.on {
        return Proposal::default();
    }
    if !reaches(at, at.weighed(), collapse.commit_percent) {
        return Proposal::default();
    }
    let all = reaches(at, at.weighed(), collapse.block_percent);
    let under = (!all).then_some(collapse.commit_percent);
    let staged = staged::commit(at, under);
    if staged.is_empty() && collapse.repeats > 0 {
        return repeats::collapse(at);
    }
    staged
}

/// Commits all staged spans that fit, whatever the lines: a prompt was refused for its size.
#[must_use]
pub fn drain(at: &Situation<'_>) -> Proposal {
    staged::commit(at, None)
}

/// A staged span that fits is left, and the window is not so full yet that nobody may wait for it: ⑤ is held back.
pub(crate) fn helps(at: &Situation<'_>) -> bool {
    let collapse = &at.constants.collapse;
    collapse.on
        && !at.timeline().work.stages.is_empty()
        && !reaches(at, at.weighed(), collapse.block_percent)
        && !staged::commit(at, None).is_empty()
}

/// So many per cent of effective are reached.
fn reaches(at: &Situation<'_>, tokens: u64, percent: u64) -> bool {
    let line = at.lines.effective.saturating_mul(percent);
    tokens.saturating_mul(100) >= line
}
