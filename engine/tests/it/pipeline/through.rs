//! Rows that only show through the whole engine: what a provider folded itself, attachments.

use super::desk::{Desk, NONE, SUMMARY, THINKER};
use crate::common::digest;
use recount::api;
use serde_json::json;

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
