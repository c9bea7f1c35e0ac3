//! ④ Staged spans, committed when the window fills; repetitive exchanges, collapsed without a model.
//!
//! - Stages are committed in the order of staging, each by a commit that names it; one that no longer fits, or would not make the prompt
//!   smaller, is passed over and stays.
//! - What was undone is not done again, except where a prompt was refused for its size.
//! - Committing starts at one line (per cent of effective) and stops below it; from the blocking line on all are committed.

mod repeats;
mod staged;

use crate::{Proposal, Situation};
use alloc::vec::Vec;
use recount_events::{Body, CollapseCommit, Range, Seq, SessionKind, Text};

/// Collapses that were undone.
#[derive(Default)]
struct TakenBack(Vec<CollapseCommit>);

impl TakenBack {
    fn of(at: &Situation<'_>) -> Self {
        let fallen = at.timeline().line.fallen.keys();
        let commits = fallen.filter_map(|seq| match &at.state.event(*seq)?.event.body {
            Body::CollapseCommit(commit) => Some(commit.clone()),
            _ => None,
        });
        Self(commits.collect())
    }

    fn names(&self, id: &Text) -> bool {
        let name = id.bytes();
        name.is_some() && self.0.iter().any(|commit| commit.id.bytes() == name)
    }

    fn meets(&self, first: Seq, last: Seq) -> bool {
        self.0.iter().any(|commit| {
            matches!(commit.range, Some(Range::Closed { first: from, last: to }) if from <= last && first <= to)
        })
    }
}

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
    let back = TakenBack::of(at);
    let staged = staged::commit(at, under, &back);
    if staged.is_empty() && collapse.repeats > 0 {
        return repeats::collapse(at, &back);
    }
    staged
}

/// Commits all staged spans that fit, whatever the lines: a prompt was refused for its size.
#[must_use]
pub fn drain(at: &Situation<'_>) -> Proposal {
    staged::commit(at, None, &TakenBack::default())
}

/// A staged span that fits is left, and the window is not so full yet that nobody may wait for it: ⑤ is held back.
pub(crate) fn helps(at: &Situation<'_>) -> bool {
    let collapse = &at.constants.collapse;
    collapse.on
        && !at.timeline().work.stages.is_empty()
        && !reaches(at, at.weighed(), collapse.block_percent)
        && !staged::commit(at, None, &TakenBack::of(at)).is_empty()
}

/// So many per cent of effective are reached.
fn reaches(at: &Situation<'_>, tokens: u64, percent: u64) -> bool {
    let line = at.lines.effective.saturating_mul(percent);
    tokens.saturating_mul(100) >= line
}
