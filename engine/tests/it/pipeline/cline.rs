//! The preset `cline` from outside, K1 to K8: what a host sees of it, across restarts, and the way back.

use super::desk::{Desk, SUMMARY};
use crate::common::{body, digest};
use recount::api;
use serde_json::json;

/// Windows as Cline's table knows them; the log's words are far below.
const PROFILE: &str = r#"{"provider":"openai","model":"gpt-test","wire":"openai_chat","window":64000,"max_output":4000}"#;
/// A model that may sum up itself.
const NEXT: &str = r#"{"provider":"openai","model":"gpt-5","wire":"openai_chat","window":64000,"max_output":4000}"#;
const CLINE: &str = r#"{"type":"policy","preset":"cline"}"#;
const CONDENSES: &str =
    r#"{"type":"policy","preset":"cline","params":{"cline":{"auto_condense":true}}}"#;
const TOO_LONG: &str = "This model's maximum context length is 64000 tokens. However, your messages resulted in 70000 tokens. Please reduce the length of the messages.";

fn desk(profile: &str, policy: &str) -> Desk {
    let desk = Desk::new(profile, policy);
    desk.talks(8, 20);
    desk
}

/// The previous request used so many tokens.
fn used(desk: &Desk, request: &str, tokens: u64) {
    let usage = json!({"type": "usage", "request": request, "input": tokens - 1, "output": 1});
    desk.session.append(&[usage.to_string().as_str()]).unwrap();
}

fn did(prepared: &api::Prepared, tier: &str) -> Option<String> {
    let mut tiers = prepared.tiers.iter();
    tiers
        .find(|one| one.tier == tier)
        .map(|one| one.did.clone())
}

#[test]
fn k1_k2_k4_a_full_request_leaves_the_middle_out_before_the_next_one() {
    let desk = desk(PROFILE, CLINE);
    used(&desk, "r1", 36_999);
    let before = desk.prepares();
    assert_eq!(did(&before, "cline"), None);
    used(&desk, "r2", 37_000);
    let after = desk.prepares();
    assert_eq!(after.prompt.outcome, api::Outcome::Ready);
    let did = did(&after, "cline").unwrap();
    assert!(did.contains("half is kept"), "{did}");
    assert_ne!(after.prompt.digest, before.prompt.digest);
    let said = body(&desk.session);
    assert!(said.contains("question 0") && said.contains("[NOTE] Some previous"));
    assert!(!said.contains("question 1:") && said.contains("question 7"));
    // Once for each request; the same in another process.
    assert_eq!(desk.prepares().prompt.digest, after.prompt.digest);
    let desk = desk.reopened();
    assert_eq!(desk.prepares().prompt.digest, after.prompt.digest);
    assert_eq!(desk.logged("delete_range").len(), 1);
    // The way back takes the notice with it, and stays.
    let range = desk.logged("delete_range")[0]["seq"].as_u64().unwrap();
    desk.session.undo(range).unwrap();
    assert_eq!(digest(&desk.session), before.prompt.digest);
    assert_eq!(desk.prepares().prompt.digest, before.prompt.digest);
    assert_eq!(desk.logged("delete_range").len(), 1);
    let status = desk.session.status().unwrap();
    assert_eq!(status.trigger, Some(37_000));
}

#[test]
fn k5_a_refusal_is_answered_with_a_smaller_prompt_until_nothing_is_left() {
    let desk = desk(PROFILE, CLINE);
    let sent = desk.prepares();
    let answer = desk.refused(TOO_LONG);
    assert_eq!(
        (answer.outcome.as_str(), answer.run_stop_hooks, answer.level),
        ("retry", false, 0)
    );
    let retry = answer.retry.unwrap();
    assert_ne!(retry.prompt.digest, sent.prompt.digest);
    let said = body(&desk.session);
    assert!(
        said.contains("[Continue assisting the user!]") && said.contains("[NOTE] Some previous")
    );
    assert!(desk.logged("compact_plan").is_empty(), "no model is asked");
    // A restart goes on where it was; each refusal leaves more out, then come the levels, then the error.
    let desk = desk.reopened();
    let mut outcomes = Vec::new();
    for _ in 0..12 {
        let answer = desk.refused(TOO_LONG);
        assert!(!answer.run_stop_hooks);
        outcomes.push((answer.outcome.clone(), answer.level));
        if answer.outcome == "surface" {
            break;
        }
    }
    let surfaced = outcomes.pop().unwrap();
    assert_eq!(surfaced.0, "surface", "{outcomes:?}");
    assert!(
        outcomes.iter().all(|(outcome, _)| outcome == "retry"),
        "{outcomes:?}"
    );
    // The session goes on.
    desk.answers("here I am");
    desk.says("go on");
    assert_eq!(desk.prepares().prompt.outcome, api::Outcome::Ready);
}

#[test]
fn k6_what_a_person_asks_to_condense_is_a_fold_behind_the_first_pair() {
    let desk = desk(PROFILE, CLINE);
    let before = body(&desk.session);
    let plan = desk.plans();
    assert_eq!(plan.outcome, "planned");
    for open in &plan.requests {
        desk.hands_in(&plan.compaction, open.chunk, SUMMARY);
    }
    let commit = desk.logged("compact_commit")[0]["seq"].as_u64().unwrap();
    let said = body(&desk.session);
    assert!(said.contains("They counted birds"));
    assert!(
        said.contains("[Continue assisting the user!]") && said.contains("[NOTE] Some previous")
    );
    assert!(!said.contains("question 3") && said.contains("and now?"));
    let after = digest(&desk.session);
    let desk = desk.reopened();
    assert_eq!(digest(&desk.session), after);
    desk.session.undo(commit).unwrap();
    assert_eq!(body(&desk.session), before);
    // Without a model, the same range.
    let by_rule = desk
        .session
        .compact(api::Compact {
            model_free: true,
            ..Default::default()
        })
        .unwrap();
    assert_eq!(by_rule.outcome, "committed");
    let commits = desk.logged("compact_commit");
    assert_eq!(
        (&commits[0]["first"], &commits[0]["last"]),
        (&commits[1]["first"], &commits[1]["last"])
    );
}

#[test]
fn k7_a_model_that_sums_up_itself_is_asked_at_the_limit() {
    let desk = desk(NEXT, CONDENSES);
    used(&desk, "r1", 36_999);
    assert!(desk.prepares().actions.is_empty());
    used(&desk, "r2", 37_000);
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    let plan = desk.logged("compact_plan");
    assert_eq!(plan.len(), 1);
    let id = plan[0]["id"].as_str().unwrap().to_owned();
    let desk = desk.reopened();
    desk.prepares();
    assert_eq!(desk.logged("compact_plan").len(), 1, "asked once");
    assert!(desk.logged("delete_range").is_empty());
    let waiting = desk.session.actions().unwrap();
    assert!(!waiting.is_empty());
    desk.hands_in(&id, 0, SUMMARY);
    let said = body(&desk.session);
    assert!(said.contains("They counted birds") && !said.contains("question 0"));
    let after = desk.prepares();
    assert_eq!(after.prompt.outcome, api::Outcome::Ready);
    assert_eq!(
        desk.logged("compact_plan").len(),
        1,
        "one request decides once"
    );
}

#[test]
fn k8_back_to_a_time_what_was_decided_later_is_gone_and_the_earlier_stays() {
    let desk = desk(PROFILE, CLINE);
    used(&desk, "r1", 40_000);
    let first = desk.prepares();
    let issued = desk.logged("issued").pop().unwrap();
    let at = issued["at"].as_u64().unwrap();
    desk.answers("more");
    desk.says("and more");
    used(&desk, "r2", 40_000);
    let second = desk.prepares();
    assert_eq!(desk.logged("delete_range").len(), 2);
    let back = desk.session.rollback(api::To::Time(at)).unwrap();
    assert_eq!(digest(&desk.session), first.prompt.digest);
    let desk = desk.reopened();
    assert_eq!(digest(&desk.session), first.prompt.digest);
    desk.session.undo(back.event).unwrap();
    assert_eq!(digest(&desk.session), second.prompt.digest);
}
