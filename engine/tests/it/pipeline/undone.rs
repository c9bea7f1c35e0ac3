//! A13, C3: the undo of a compaction, and what becomes of its plan.

use super::desk::{Desk, SUMMARY};
use recount::api;
use serde_json::json;

/// A compaction that was planned and committed; its commit.
fn compacted(desk: &Desk) -> (String, u64) {
    let plan = desk.plans();
    let done = desk.hands_in(&plan.compaction, 0, SUMMARY);
    assert_eq!(done.outcome, "committed", "{done:?}");
    let commit = desk.logged("compact_commit").pop().unwrap();
    (plan.compaction, commit["seq"].as_u64().unwrap())
}

fn grown() -> Desk {
    let desk = Desk::plain();
    desk.talks(4, 60);
    desk
}

#[test]
fn a13_a_plan_whose_commit_was_undone_waits_for_nobody() {
    let desk = grown();
    let before = desk.body();
    let (plan, commit) = compacted(&desk);
    desk.session.undo(commit).unwrap();
    assert_eq!(desk.body(), before);
    let desk = desk.reopened();
    assert_eq!(desk.session.status().unwrap().pending, Vec::<String>::new());
    assert_eq!(desk.session.actions().unwrap().len(), 0);
    let late = desk.hands_in(&plan, 0, SUMMARY);
    assert_eq!(late.outcome, "rejected");
    assert!(late.why.unwrap().contains("its commit was undone"));
    // Asked again, it is another compaction, with requests.
    let again = desk.plans();
    assert_ne!(again.compaction, plan);
    assert_eq!(again.requests.len(), 1);
    let ended = desk.logged("compact_abandon");
    assert_eq!(
        (ended.len(), &ended[0]["id"], &ended[0]["reason"]),
        (1, &json!(plan), &json!("its commit was undone"))
    );
    assert_eq!(
        desk.session.status().unwrap().pending,
        std::slice::from_ref(&again.compaction)
    );
    let done = desk.hands_in(&again.compaction, 0, SUMMARY);
    assert_eq!(done.outcome, "committed");
}

#[test]
fn a13_a_plan_whose_commit_was_undone_can_be_given_up_by_hand() {
    let desk = grown();
    let (plan, commit) = compacted(&desk);
    desk.session.undo(commit).unwrap();
    let give_up = || desk.session.abandon(&plan, "enough");
    give_up().unwrap();
    assert!(give_up().is_err(), "once");
}

/// An instruction that a fold hid is shown again because of that fold: whatever is undone then, it stands once.
#[test]
fn p3_what_is_shown_again_behind_a_fold_falls_with_it() {
    const RULE: &str = "Count twice.";
    let folds: [fn(&Desk) -> u64; 3] = [
        |desk| compacted(desk).1,
        |desk| {
            let range =
                json!({"type": "delete_range", "first": first_of(desk), "last": desk.head()});
            desk.session.append(&[&range.to_string()]).unwrap();
            desk.head()
        },
        |desk| {
            let span = json!({"type": "collapse_commit", "id": "k", "first": first_of(desk), "last": desk.head(), "summary": "birds"});
            desk.session.append(&[&span.to_string()]).unwrap();
            desk.head()
        },
    ];
    for fold in folds {
        let desk = Desk::plain();
        desk.session
            .instruct(api::Instruct {
                path: "sub/AGENTS.md".into(),
                content: RULE.into(),
                scope: api::InstructScope::Nested,
                ..Default::default()
            })
            .unwrap();
        for turn in 0..3 {
            desk.turn(turn, 60);
        }
        let shown = |desk: &Desk| desk.body().matches(RULE).count();
        let before = desk.body();
        let mask = fold(&desk);
        desk.says("and now?");
        desk.prepares();
        let again = desk.logged("inject").pop().unwrap();
        assert_eq!(again["because"], mask, "{again}");
        assert_eq!(shown(&desk), 1);
        let undo = desk.session.undo(mask).unwrap().event;
        assert_eq!(shown(&desk), 1, "undone");
        assert!(desk.body().starts_with(before.split("]}]").next().unwrap()));
        let desk = desk.reopened();
        desk.prepares();
        assert_eq!(shown(&desk), 1, "and prepared again");
        desk.session.undo(undo).unwrap();
        desk.prepares();
        assert_eq!(shown(&desk), 1, "folded again");
    }
}

/// The first position of the talk.
fn first_of(desk: &Desk) -> u64 {
    desk.logged("inject")[0]["seq"].as_u64().unwrap()
}
