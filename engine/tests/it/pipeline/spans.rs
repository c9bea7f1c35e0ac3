//! C1 to C4 through the engine: staged spans are committed when the window fills or a provider refuses, and come back.

use super::desk::{Desk, NONE, SMALL};
use crate::common::digest;
use recount::api;
use serde_json::json;

const TOO_LONG: &str = "This model's maximum context length is 20000 tokens. However, your messages resulted in 24000 tokens.";

/// A long talk whose first two turns are staged, each with a summary.
fn staged(policy: &str) -> (Desk, Vec<u64>) {
    let desk = Desk::new(SMALL, policy);
    desk.talks(6, 300);
    let asked: Vec<u64> = desk
        .logged("message")
        .iter()
        .filter(|event| event["role"] == "user")
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    for (name, pair) in ["one", "two"].iter().zip(asked.windows(2)) {
        let stage = json!({"type": "collapse_stage", "id": name, "first": pair[0], "last": pair[1] - 1,
            "summary": format!("summary {name}")});
        desk.session.append(&[&stage.to_string()]).unwrap();
    }
    (desk, asked)
}

#[test]
fn c4_a_refusal_commits_all_staged_spans_at_once_before_anything_else() {
    let (desk, _) = staged(NONE);
    desk.prepares();
    let before = digest(&desk.session);
    let head = desk.head();
    let answer = desk.refused(TOO_LONG);
    assert_eq!(
        (answer.outcome.as_str(), answer.tiers[0].tier.as_str()),
        ("retry", "collapse")
    );
    let commits = desk.logged("collapse_commit");
    assert_eq!(commits.len(), 2);
    assert!(desk.logged("compact_plan").is_empty());
    let body = desk.body();
    assert!(body.contains("summary one") && body.contains("summary two"));
    assert!(!body.contains("question 0") && body.contains("question 2"));
    let after = digest(&desk.session);
    let desk = desk.reopened();
    assert_eq!(digest(&desk.session), after, "c3: they replay");
    // The next refusal goes on with the next step: each once.
    let again = desk.refused(TOO_LONG);
    assert_eq!(again.outcome, "summarise");
    desk.session.rollback(api::To::Seq(head)).unwrap();
    assert_eq!(digest(&desk.session), before);
}

#[test]
fn c3_undo_brings_a_span_back_byte_for_byte() {
    let (desk, _) = staged(NONE);
    let (before, digest_before) = (desk.body(), digest(&desk.session));
    desk.prepares();
    desk.refused(TOO_LONG);
    let commits = desk.logged("collapse_commit");
    for commit in commits.iter().rev() {
        desk.session.undo(commit["seq"].as_u64().unwrap()).unwrap();
    }
    // The answer's limit is another one: the refusal taught what the provider counts.
    let (after, end) = (desk.body(), before.find("\"model\"").unwrap());
    assert!(after.get(..end) == before.get(..end));
    assert_eq!(digest(&desk.session), digest_before);
}

#[test]
fn c2_a_commit_names_its_exact_span_and_shows_it() {
    let (desk, asked) = staged(NONE);
    desk.prepares();
    desk.refused(TOO_LONG);
    let commits = desk.logged("collapse_commit");
    assert_eq!(
        (&commits[0]["first"], &commits[0]["last"]),
        (&json!(asked[0]), &json!(asked[1] - 1))
    );
    assert!(
        desk.body().contains("<collapsed id=\\\"one\\\""),
        "{}",
        desk.body()
    );
}

#[test]
fn c3_a_full_compaction_covers_what_was_collapsed() {
    let (desk, _) = staged(NONE);
    desk.prepares();
    desk.refused(TOO_LONG);
    let done = desk
        .session
        .compact(api::Compact {
            model_free: true,
            ..Default::default()
        })
        .unwrap();
    assert_eq!(done.outcome, "committed");
    let collapsed = digest(&desk.session);
    let body = desk.body();
    assert!(!body.contains("<collapsed id="), "{body}");
    let commit = desk.logged("compact_commit")[0]["seq"].as_u64().unwrap();
    desk.session.undo(commit).unwrap();
    assert!(desk.body().contains("summary one"));
    assert_ne!(digest(&desk.session), collapsed);
}
