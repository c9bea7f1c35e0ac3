//! Commits of staged spans.

use super::TakenBack;
use crate::compact::trial::Trial;
use crate::{Proposal, Proposed, Situation};
use alloc::format;
use alloc::vec::Vec;
use recount_events::{Body, CollapseCommit, Covered};

/// Commits staged spans in the order of staging, except those taken back; until the prompt is under so many per cent of effective, where
/// that is said.
pub(super) fn commit(at: &Situation<'_>, under: Option<u64>, back: &TakenBack) -> Proposal {
    if at.timeline().work.stages.is_empty() {
        return Proposal::default();
    }
    let mut trial = Trial::new(at);
    let mut tokens = trial.before;
    let mut events: Vec<Proposed> = Vec::new();
    for logged in at.timeline().work.stages.values() {
        let saved = at.scaled(trial.before.saturating_sub(tokens));
        let left = at.weighed().saturating_sub(saved);
        if under.is_some_and(|percent| !super::reaches(at, left, percent)) {
            break;
        }
        let Body::CollapseStage(stage) = &logged.event.body else {
            continue;
        };
        if back.names(&stage.id) {
            continue;
        }
        let proposed = Proposed::from(Body::CollapseCommit(CollapseCommit {
            id: stage.id.clone(),
            range: None,
            summary: None,
            covered: Covered::default(),
        }));
        let mut again = trial.again();
        if again.take(&proposed).is_err() {
            continue;
        }
        let after = again.tokens();
        if after < tokens {
            (trial, tokens) = (again, after);
            events.push(proposed);
        }
    }
    if events.is_empty() {
        return Proposal::default();
    }
    Proposal {
        did: format!("{} staged spans gave way to their summaries", events.len()),
        freed: at.scaled(trial.before.saturating_sub(tokens)),
        events,
        spills: Vec::new(),
    }
}
