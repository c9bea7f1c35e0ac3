//! Sessions that the tests share.

use super::common::Host;
use recount_events::{Body, CompactCommit, CompactPlan, Maker, Range, Seq};
use recount_policies::compact::{self, Ask};
use recount_policies::{Proposal, Proposed};

/// A session with a window of so many tokens; nothing is reserved but a tenth of it for the answer.
pub(crate) fn window(tokens: u64, params: &str) -> Host {
    let mut host = Host::new("claude-code", params);
    host.profile(&format!(
        r#"{{"window":{tokens},"max_output":{}}}"#,
        tokens / 10
    ));
    host
}

/// Numbers that small windows show better: a small buffer, keep little, nothing restored.
pub(crate) const SMALL: &str = r#"{"compact":{"buffer":1000,"keep_tokens":300,"keep_texts":1,"keep_most":600,"restore_files":0},"collapse":{"on":false}}"#;

/// So many words: a token each, about.
pub(crate) fn words(tokens: usize) -> String {
    "abc ".repeat(tokens)
}

/// A turn: the person asks, the model calls a tool and answers; about so many tokens.
pub(crate) fn turn(host: &mut Host, number: usize, tokens: usize) -> u64 {
    let said = host.says(&format!("question {number} {}", words(tokens / 4)));
    let id = format!("call_{number}_{}", host.head());
    host.exchange(
        &id,
        "Grep",
        &format!(r#"{{"pattern":"p{number}"}}"#),
        &words(tokens / 2),
    );
    host.answers(&format!("answer {number} {}", words(tokens / 4)));
    said
}

/// Turns until the prompt weighs at least so much.
pub(crate) fn fill(host: &mut Host, to: u64, step: usize) {
    let mut number = 0;
    while host.view().at().weighed() < to {
        number += 1;
        turn(host, number, step);
    }
}

/// The plan in a proposal.
pub(crate) fn plan_in(proposal: &Proposal) -> Option<CompactPlan> {
    proposal
        .events
        .iter()
        .find_map(|proposed| match &proposed.body {
            Body::CompactPlan(plan) => Some(plan.clone()),
            _ => None,
        })
}

/// The commit in a proposal.
pub(crate) fn commit_in(proposal: &Proposal) -> Option<CompactCommit> {
    proposal
        .events
        .iter()
        .find_map(|proposed| match &proposed.body {
            Body::CompactCommit(commit) => Some(commit.clone()),
            _ => None,
        })
}

/// The breakers in a proposal: name, state, value.
pub(crate) fn breakers_in(events: &[Proposed]) -> Vec<(String, String, u64)> {
    let all = events.iter().filter_map(|proposed| match &proposed.body {
        Body::Breaker(breaker) => Some((
            breaker.name.clone(),
            format!("{:?}", breaker.state),
            breaker.value,
        )),
        _ => None,
    });
    all.collect()
}

/// The ends of a plan's range.
pub(crate) fn ends(range: Range) -> (u64, u64) {
    match range {
        Range::Closed { first, last } => (first.0, last.0),
        other => panic!("{other:?}"),
    }
}

/// Plans by hand.
pub(crate) fn plan(host: &Host, ask: &Ask<'_>) -> Result<CompactPlan, compact::Refusal> {
    compact::plan(&host.view().at(), ask)
}

/// What a commit of a plan would log.
pub(crate) fn committed(host: &Host, plan: &CompactPlan, summary: &str) -> Proposal {
    let texts: Vec<String> = plan.chunks.iter().map(|_| summary.to_owned()).collect();
    compact::commit(&host.view().at(), plan, &texts, Maker::Model, 1_234)
}

/// A whole compaction with a given summary; answers the position of the commit.
#[track_caller]
pub(crate) fn compacts(host: &mut Host, ask: &Ask<'_>, summary: &str) -> u64 {
    let plan = plan(host, ask).unwrap();
    host.put(Body::CompactPlan(plan.clone()));
    let proposal = committed(host, &plan, summary);
    assert!(!proposal.is_empty(), "{}", proposal.did);
    let commit = host.head() + 1;
    host.accept(&proposal);
    commit
}

/// An ask from a position on.
pub(crate) fn from(seq: u64) -> Ask<'static> {
    Ask {
        from: Some(Seq(seq)),
        ..Ask::default()
    }
}

/// An ask up to a position.
pub(crate) fn up_to(seq: u64) -> Ask<'static> {
    Ask {
        up_to: Some(Seq(seq)),
        ..Ask::default()
    }
}
