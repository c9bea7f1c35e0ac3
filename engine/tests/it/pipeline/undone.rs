//! A13, C3: the undo of a compaction, and what becomes of its plan.

use super::desk::{Desk, SUMMARY};
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
