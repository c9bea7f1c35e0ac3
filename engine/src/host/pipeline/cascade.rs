//! What was tried against a refusal for size since the model last answered: read from the log, so that a restart goes on where it was.

use super::shorter::answer_in;
use crate::core::Core;
use recount_events::{Body, BreakerState, Excess, Maker, Seq, Trigger};
use recount_policies::compact::breakers::LEVEL;
use recount_projections::Logged;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was tried since the last answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tried {
    /// Refusals for size.
    pub(super) refusals: u32,
    /// The same prompt was sent again with a shorter answer.
    pub(super) shorter: bool,
    /// Results were taken out for their bytes.
    pub(super) budget: bool,
    /// Staged spans were committed.
    pub(super) drained: bool,
    /// A model was asked for a summary.
    pub(super) planned: bool,
    /// A summary was made without a model.
    pub(super) by_rule: bool,
    /// The highest level without a model.
    pub(super) level: u8,
}

impl Tried {
    /// Reads the log behind the last answer.
    pub(super) fn of(core: &Core) -> Self {
        let timeline = core.state.timeline();
        let mut tried = Self::default();
        let mut answers = BTreeMap::new();
        let mut refused = None;
        for logged in since_answer(core) {
            let body = &logged.event.body;
            if let Body::Overflow(_) = body {
                tried.refusals = tried.refusals.saturating_add(1);
            }
            match body {
                Body::Overflow(overflow) if overflow.kind == Excess::Tokens => {
                    refused = overflow.issued;
                }
                Body::Issued(issued) => {
                    let answer = answer_in(issued);
                    let before = answers.insert(issued.digest, answer).flatten();
                    let less = before.zip(answer).is_some_and(|(long, short)| short < long);
                    tried.shorter |= less && refused == Some(issued.digest);
                }
                _ => {}
            }
            if tried.refusals == 0 {
                continue;
            }
            if let Body::Breaker(breaker) = body
                && breaker.name == LEVEL
                && breaker.state == BreakerState::Counts
            {
                let level = u8::try_from(breaker.value).unwrap_or(u8::MAX);
                tried.level = tried.level.max(level);
            }
            tried.note(body);
        }
        // A summary that was asked for before the first refusal is as good as one that is asked for now, once. A refusal that was answered
        // with a shorter answer did not ask for it yet.
        let unasked = 1 + u32::from(tried.shorter);
        tried.planned |= tried.refusals > unasked && timeline.work.waiting().is_some();
        tried
    }

    fn note(&mut self, body: &Body) {
        match body {
            Body::Replace(_) => self.budget = true,
            Body::CollapseCommit(_) => self.drained = true,
            Body::CompactPlan(plan) => self.planned |= plan.trigger == Trigger::Overflow,
            Body::CompactCommit(commit) => {
                let boundary = commit.boundary.as_ref();
                self.by_rule |= boundary.is_some_and(|boundary| {
                    boundary.by == Maker::Rule && boundary.trigger == Trigger::Overflow
                });
            }
            _ => {}
        }
    }
}

/// The events of the line behind the last answer of the model, oldest first: what was tried in a turn that was rolled away was tried for
/// another prompt.
fn since_answer(core: &Core) -> impl Iterator<Item = Arc<Logged>> + '_ {
    let from = answered(core).map_or(Seq(0), Seq::next);
    let line = &core.state.timeline().line;
    line.from(from).filter_map(|seq| core.event(seq))
}

/// The newest word of the model for the session itself: a response of the timeline, or a usage on its line that is not a compaction's own.
fn answered(core: &Core) -> Option<Seq> {
    let timeline = core.state.timeline();
    let response = timeline.units.iter().next_back().map(|(key, _)| *key);
    let usages = core.state.ledger().usages.iter().rev();
    let spent = usages
        .map(|(seq, _)| *seq)
        .take_while(|seq| response.is_none_or(|response| *seq > response))
        .filter(|seq| timeline.line.contains(*seq))
        .find(|seq| {
            core.event(*seq)
                .is_some_and(|logged| is_an_answer(&logged.event.body))
        });
    response.max(spent)
}

fn is_an_answer(body: &Body) -> bool {
    matches!(body, Body::Usage(usage) if usage.compaction.is_none())
}

/// The refusal that nothing was done about: it is the last thing that happened to a prompt.
pub(super) fn surfaced(core: &Core) -> Option<Arc<Logged>> {
    let mut last = None;
    for logged in since_answer(core) {
        match &logged.event.body {
            Body::Overflow(_) => last = Some(logged),
            Body::Issued(_)
            | Body::CompactPlan(_)
            | Body::CompactCommit(_)
            | Body::CollapseCommit(_) => last = None,
            _ => {}
        }
    }
    last
}

/// The name of what was too much.
pub(super) const fn excess_name(excess: Excess) -> &'static str {
    match excess {
        Excess::Tokens => "tokens",
        Excess::Bytes => "bytes",
        Excess::Images => "images",
    }
}
