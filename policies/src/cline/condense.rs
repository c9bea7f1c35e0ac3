//! Summaries: what a person asked to be condensed, and what a model sums up by itself.
//!
//! - The summary is a fold: it stands where the range begins, behind the first pair. Cline shows it in the newest message.
//! - A model is asked beside the conversation, by the request of a plan; Cline asks within it, and hides question and answer afterwards.

use super::previous::due;
use super::reads::Run;
use super::steps::{Steps, replacement, with};
use super::{View, condenses, limit, notices, range};
use crate::compact::atoms::Atom;
use crate::compact::range::Span;
use crate::compact::{Ask, breakers, held};
use crate::constants::Leaves;
use crate::{Proposal, Proposed, Situation};
use alloc::vec::Vec;
use recount_cline::{Keep, Range, Role};
use recount_events::{Seq, SessionKind, Trigger};

/// What the tier of summaries proposes: for a model that makes its own, a plan when the previous request was too full and replacing reads
/// saves too little.
#[must_use]
pub fn propose(at: &Situation<'_>) -> Proposal {
    if !at.auto || at.kind != SessionKind::Main || !condenses(at) {
        return Proposal::default();
    }
    let released = breakers::releases(at);
    if at.timeline().work.waiting().is_some() || due(at, limit(at.profile)).is_none() {
        return held(released, "");
    }
    let view = View::of(at.timeline());
    // What is said now is no part of it yet.
    let said = said(&view);
    if !at.timeline().masked.is_empty() && said.saturating_sub(2) <= 2 {
        return held(
            released,
            "held back: what is left is hardly more than a summary",
        );
    }
    let run = Run::over(&view, said);
    let mut steps = Steps::new(at);
    run.propose(&mut steps);
    let replaced = steps.finish();
    if !run.needs_truncation() {
        return Proposal {
            events: replaced.events.into_iter().chain(released).collect(),
            ..replaced
        };
    }
    let mut proposal = crate::compact::due(at, released);
    proposal.events.extend(replaced.events);
    proposal
}

/// Messages without what is said now.
fn said(view: &View) -> usize {
    let last = view.messages.last().map(recount_cline::Message::role);
    let now = usize::from(last == Some(Role::User));
    view.messages.len().saturating_sub(now)
}

/// A fold of this ask leaves the first pair, by Cline's rules.
pub(crate) fn applies(at: &Situation<'_>, (trigger, level): (Trigger, u8)) -> bool {
    at.constants.compact.leaves == Leaves::FirstPair && level == 0 && trigger != Trigger::Overflow
}

/// What an ask folds: all behind the first pair, but the last two where a person asks behind an answer. Of several rows the largest.
pub(crate) fn span(at: &Situation<'_>, atoms: &[Atom], ask: &Ask<'_>) -> Option<Span> {
    let view = View::of(at.timeline());
    let answered = view.messages.last().map(recount_cline::Message::role) == Some(Role::Assistant);
    let keep = if ask.trigger == Trigger::Manual && answered {
        Keep::LastTwo
    } else {
        Keep::None
    };
    let range = Range::next(&view.messages, None, keep);
    let rows = range::rows(at, atoms, &view, range).into_iter();
    let worth = |row: &Span| {
        row.of(atoms)
            .iter()
            .any(|atom| atom.shown > 0 && !atom.boundary)
    };
    rows.filter(worth).max_by_key(|row| row.tokens(atoms))
}

/// The notices that come and go with a fold.
pub(crate) fn notices_of(
    at: &Situation<'_>,
    (first, last): (Seq, Seq),
    commit: Seq,
) -> Vec<Proposed> {
    let view = View::of(at.timeline());
    let all = notices::both(&view).into_iter();
    let stays = all.filter(|(block, _)| block.seq < first || last < block.seq);
    stays
        .filter_map(|(block, words)| {
            Some(Proposed {
                body: replacement(block, with(at, block, &words)?, notices::WORDS),
                because: Some(commit),
            })
        })
        .collect()
}
