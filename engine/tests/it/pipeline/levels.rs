//! R3: levels without a model in a `prepare`.

use super::desk::{Desk, NONE};
use recount::api;
use serde_json::json;

/// Only summaries and levels: the other tiers have tests of their own.
const AUTO: &str = r#"{"type":"policy","preset":"claude-code","params":{"snip":{"superseded_reads":false,"duplicates":false},"micro":{"idle_minutes":0,"cached":"none"}}}"#;

fn profile(window: u64, body_bytes: u64) -> String {
    let answer = window / 10;
    json!({"provider": "openai", "model": "gpt-test", "wire": "openai_chat", "window": window, "max_output": answer, "body_bytes": body_bytes}).to_string()
}

/// So many tokens, as we count them, about.
fn words(tokens: usize) -> String {
    "some words ".repeat(tokens / 2)
}

fn reads(desk: &Desk, id: &str, tokens: usize) {
    let call = json!({"type": "message", "role": "assistant", "response": id, "stop": "tool_use", "content": [
        {"type": "tool_use", "id": id, "name": "read", "input": {"path": id}}]});
    let result = json!({"type": "tool_result", "call": id, "content": words(tokens)});
    desk.session
        .append(&[&call.to_string(), &result.to_string()])
        .unwrap();
}

fn levels(prepared: &api::Prepared) -> Vec<&str> {
    let levels = prepared.tiers.iter().filter(|one| one.tier == "overflow");
    levels
        .map(|one| one.did.split(':').next().unwrap())
        .collect()
}

#[test]
fn r3_a_level_that_frees_nothing_is_passed_over() {
    let desk = Desk::new(&profile(4_000, 0), AUTO);
    desk.says("go");
    let calls = ["t1", "t2", "t3"]
        .map(|id| json!({"type": "tool_use", "id": id, "name": "read", "input": {}}));
    let all = json!({"type": "message", "role": "assistant", "stop": "tool_use", "content": calls});
    desk.session.append(&[&all.to_string()]).unwrap();
    for id in ["t1", "t2", "t3"] {
        let result = json!({"type": "tool_result", "call": id, "content": words(200)});
        desk.session.append(&[&result.to_string()]).unwrap();
    }
    // Over the window by little: level 1 should be enough, but keeps these three results as they are.
    for tokens in (2_600..4_000).step_by(40) {
        let system = json!({"type": "system", "content": words(tokens)}).to_string();
        desk.session.append(&[&system]).unwrap();
        let outcome = desk
            .session
            .project(api::Project::default())
            .unwrap()
            .outcome;
        if outcome == api::Outcome::Impossible {
            break;
        }
    }
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    assert_eq!(levels(&prepared), ["level 2"], "{:?}", prepared.tiers);
}

#[test]
fn r3_bytes_too_many_are_no_tokens() {
    let desk = Desk::new(&profile(200_000, 100_000), AUTO);
    for _ in 0..20 {
        desk.says("go on");
        desk.answers(&words(1_100));
    }
    desk.says("and now?");
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    assert_eq!(levels(&prepared), ["level 1"], "{:?}", prepared.tiers);
}

#[test]
fn r3_what_is_shown_again_behind_a_level_is_made_room_for() {
    let desk = Desk::new(&profile(8_000, 0), AUTO);
    let rules = format!("THE RULES {}", words(3_000));
    let inject =
        json!({"type": "inject", "slot": "rules", "lifetime": "session", "content": rules});
    desk.session.append(&[&inject.to_string()]).unwrap();
    desk.turn(0, 60);
    desk.says("look");
    reads(&desk, "t9", 5_000);
    let prepared = desk.prepares();
    assert_eq!(
        prepared.prompt.outcome,
        api::Outcome::Ready,
        "{:?}",
        prepared.tiers
    );
    assert_eq!(levels(&prepared).len(), 2, "{:?}", prepared.tiers);
    assert!(desk.body().contains("THE RULES"));
}

#[test]
fn k1_diff_under_cline_shows_what_its_own_tier_would_do() {
    let desk = Desk::new(&profile(64_000, 0), NONE);
    desk.talks(8, 20);
    let usage = json!({"type": "usage", "request": "r1", "input": 40_000, "output": 1});
    desk.session.append(&[&usage.to_string()]).unwrap();
    let head = desk.head();
    let cline = api::Side {
        policy: Some("cline".into()),
        ..Default::default()
    };
    let differed = desk.session.diff(api::Side::default(), cline).unwrap();
    assert!(!differed.equal);
    assert!(!differed.removed.is_empty(), "the middle is left out");
    assert_eq!(desk.head(), head, "nothing was logged by asking");
}
