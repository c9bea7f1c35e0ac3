//! Rows that only show through the whole engine: what a provider folded itself, attachments, a body that is too large.

use super::desk::{Desk, NONE, SUMMARY, THINKER, word};
use crate::common::digest;
use recount::api;
use serde_json::{Value, json};

/// What the provider folded itself stands in the prompt, is hidden by a fold of ours with its words kept, and comes back.
#[test]
fn a12_a_providers_own_compaction_is_not_lost() {
    let desk = Desk::new(THINKER, NONE);
    desk.talks(2, 40);
    let block = json!({"type": "compaction", "content": "OWN-FOLD of the provider"});
    let answer = json!({"type": "message", "role": "assistant", "response": "own", "stop": "end_turn", "issuer": "anthropic",
        "content": [block, {"type": "text", "text": "I go on."}]});
    desk.session.append(&[&answer.to_string()]).unwrap();
    desk.says("what now?");
    assert!(desk.body().contains("OWN-FOLD"), "{}", desk.body());
    desk.answers("this");
    desk.turn(7, 60);
    desk.says("and then?");
    let before = digest(&desk.session);
    // A model is shown what the provider wrote; without a model it is part of the summary.
    let plan = desk.plans();
    let asked = super::desk::text(&plan.requests[0].request);
    assert!(asked.contains("OWN-FOLD"), "{asked}");
    desk.hands_in(&plan.compaction, 0, SUMMARY);
    let commit = desk.logged("compact_commit")[0]["seq"].as_u64().unwrap();
    assert!(!desk.body().contains("OWN-FOLD"));
    let desk = desk.reopened();
    desk.session.undo(commit).unwrap();
    assert_eq!(digest(&desk.session), before);
    desk.session
        .compact(api::Compact {
            model_free: true,
            ..Default::default()
        })
        .unwrap();
    assert!(desk.body().contains("OWN-FOLD"), "{}", desk.body());
    // Whoever does not know such blocks is shown what they say, or what stood before them.
    let elsewhere = Desk::new(super::desk::SMALL, NONE);
    elsewhere.says("hello there");
    elsewhere.session.append(&[&answer.to_string()]).unwrap();
    elsewhere.says("go on");
    assert!(
        elsewhere.body().contains("hello there"),
        "{}",
        elsewhere.body()
    );
}

#[test]
fn p2_attachments_come_with_every_prompt_and_stand_once() {
    let policy = r#"{"type":"policy","preset":"five-layer"}"#;
    let desk = Desk::new(THINKER, policy);
    desk.session
        .append(&[
            r#"{"type":"todo","items":[{"content":"count the TODO-BIRDS","status":"pending"}]}"#,
            r#"{"type":"memory","id":"m","text":"they like MEMORY-SEEDS","scope":"session"}"#,
            r#"{"type":"memory","id":"u","text":"prefers USER-TABLES","scope":"user","importance":5}"#,
            r#"{"type":"memory","id":"v","text":"once said USER-NOTHING","scope":"user","importance":0}"#,
        ])
        .unwrap();
    desk.says("begin");
    let once = |desk: &Desk, words: &str| desk.body().matches(words).count();
    let all = |desk: &Desk| {
        ["TODO-BIRDS", "MEMORY-SEEDS", "USER-TABLES", "USER-NOTHING"].map(|words| once(desk, words))
    };
    assert_eq!(all(&desk), [0; 4], "nothing before it is prepared");
    let tiers = desk.prepares().tiers;
    assert_eq!(all(&desk), [1, 1, 1, 0], "{tiers:?}");
    let shown = desk.body();
    desk.prepares();
    assert_eq!(desk.body(), shown, "nothing changed");
    let desk = desk.reopened();
    desk.answers("well");
    desk.says("and?");
    desk.prepares();
    assert_eq!(all(&desk), [1, 1, 1, 0]);
    // What changed is shown anew; a rollback brings the old one back.
    let before = desk.head();
    desk.session
        .append(&[
            r#"{"type":"todo","items":[{"content":"count the OTHER-BIRDS","status":"done"}]}"#,
        ])
        .unwrap();
    desk.prepares();
    assert_eq!(once(&desk, "OTHER-BIRDS"), 1);
    desk.session.rollback(api::To::Seq(before)).unwrap();
    assert_eq!(
        (once(&desk, "OTHER-BIRDS"), once(&desk, "TODO-BIRDS")),
        (0, 1)
    );
}

/// A body that is too large is about bytes: the largest results go into files, before anything is summed up, whether the provider names
/// its limit or not.
#[test]
fn r2_a_body_that_is_too_large_loses_its_largest_results_first() {
    let refusals = [
        json!({"status": 413, "body": "Request Entity Too Large"}),
        json!({"status": 413, "body": {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}}),
        json!("Request payload size exceeds the limit: 30000 bytes."),
    ];
    for refusal in refusals {
        let desk = Desk::new(THINKER, r#"{"type":"policy","preset":"claude-code"}"#);
        for result in ["large", "small"] {
            let words = word(9).repeat(if result == "small" { 500 } else { 6_000 });
            desk.says("look");
            let call = json!({"type": "message", "role": "assistant", "response": result, "stop": "tool_use", "content": [
                {"type": "tool_use", "id": result, "name": "Grep", "input": {"pattern": result}}]});
            let result = json!({"type": "tool_result", "call": result, "content": words});
            let (call, result) = (call.to_string(), result.to_string());
            desk.session.append(&[&call, &result]).unwrap();
        }
        desk.prepares();
        let before = desk.body().len();
        assert_eq!(desk.logged("replace"), Vec::<Value>::new());
        let ask = || api::Overflowed {
            error: Some(serde_json::from_str(&refusal.to_string()).unwrap()),
            ..api::Overflowed::default()
        };
        let answer = desk.session.overflowed(ask()).unwrap();
        let told = (answer.refused_for.as_str(), answer.outcome.as_str());
        assert_eq!(told, ("bytes", "retry"), "{refusal} {:?}", answer.why);
        assert!(desk.body().len() * 10 <= before * 9, "{refusal}: {before}");
        assert_eq!(desk.logged("replace").len(), 1, "{refusal}");
        assert_eq!(desk.logged("compact_plan"), Vec::<Value>::new());
        // What was taken out once is no step again: the next one follows, also after a restart.
        let again = desk.reopened();
        let answer = again.session.overflowed(ask()).unwrap();
        assert!(
            answer.tiers.iter().all(|step| step.tier != "budget"),
            "{refusal} {:?}",
            answer.tiers
        );
        assert_eq!(again.logged("replace").len(), 1, "{refusal}");
    }
}
