//! Section 1: calls and their results.

use crate::desk::{Desk, repairs, sent, suggest};
use recount::{ErrorKind, api};
use serde_json::{Value, json};

/// Every call has its one result right behind its message.
fn paired(desk: &Desk, count: usize) {
    let sent = desk.sent();
    let ids = |kind: &str, key: &str| -> Vec<Value> {
        sent.blocks(kind)
            .iter()
            .map(|block| block[key].clone())
            .collect()
    };
    let (calls, results) = (ids("tool_use", "id"), ids("tool_result", "tool_use_id"));
    assert_eq!((calls.len(), &calls), (count, &results));
}

#[test]
fn pain_02_a_fold_never_parts_a_call_from_its_result() {
    let desk = Desk::new();
    desk.turn("one");
    let call = desk.calls(&["t1"]);
    let result = desk.result("t1", "found");
    desk.says("go on");
    let before = desk.digest();
    let error = desk.try_fold(result, "s").unwrap_err();
    assert_eq!(suggest(&error), json!({"keep_from": call}));
    assert_eq!(desk.digest(), before);
    paired(&desk, 1);
    desk.fold(call, "s");
    paired(&desk, 1);
}

#[test]
fn pain_03_a_second_fold_without_a_place_is_refused() {
    let desk = Desk::new();
    desk.turn("one");
    desk.calls(&["t1"]);
    desk.result("t1", "found");
    let kept = desk.turn("two");
    desk.says("and?");
    desk.fold(kept, "s");
    let before = desk.digest();
    let error = desk
        .try_log(&json!({"type": "compact_commit", "summary": "again"}))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert_eq!(desk.digest(), before);
    desk.sent();
}

#[test]
fn pain_04_a_cut_anywhere_is_valid_or_refused_with_an_offer() {
    let desk = Desk::new();
    let first = desk.turn("one");
    for name in ["t1", "t2", "t3"] {
        desk.calls(&[name]);
        desk.result(name, &"found ".repeat(20));
        desk.turn(name);
    }
    desk.says("and?");
    for place in first..=desk.head() + 1 {
        let name = format!("fork {place}");
        let fork = desk.session().fork(&name, api::At::Head).unwrap();
        let commit = |from: &Value| {
            let event = json!({"type": "compact_commit", "keep_from": from, "summary": "s"});
            fork.append(&[&event.to_string()])
        };
        if let Err(error) = commit(&json!(place)) {
            let offer = suggest(&error);
            if place > first {
                commit(&offer["keep_from"]).unwrap();
            }
        }
        sent(&fork);
    }
}

#[test]
fn pain_05_an_open_call_is_never_folded() {
    let desk = Desk::new();
    desk.turn("zero");
    let call = desk.calls(&["t1"]);
    for turn in 0..12 {
        desk.turn(&turn.to_string());
    }
    desk.says("and?");
    let error = desk.try_fold(desk.head(), "s").unwrap_err();
    assert_eq!(suggest(&error), json!({"keep_from": call}));
    desk.fold(call, "s");
    desk.result("t1", "found at last");
    let sent = desk.sent();
    assert!(sent.shows("found at last"));
    paired(&desk, 1);
}

#[test]
fn pain_08_an_interrupted_call_heals_after_a_crash() {
    let mut desk = Desk::new();
    desk.says("do it");
    let call = desk.calls(&["t1"]);
    desk.reopen();
    let open = desk
        .engine()
        .open_session(&api::Open {
            session: "s".into(),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(open.open_calls[0].block, (call, 0));
    desk.says("what happened?");
    let projected = desk.project(api::At::Head);
    assert!(repairs(&projected).contains(&"open call"), "{projected:?}");
    paired(&desk, 1);
    let closed = desk.session().interrupt(api::Interrupt::default()).unwrap();
    assert_eq!(closed.closed.len(), 1);
    paired(&desk, 1);
    assert!(!repairs(&desk.project(api::At::Head)).contains(&"open call"));
}

#[test]
fn pain_09_an_orphan_far_back_is_mended() {
    let desk = Desk::new();
    desk.says("first");
    let orphan = desk.calls(&["t1"]);
    for turn in 0..20 {
        desk.says(&format!("more {turn}"));
        desk.calls(&[&format!("u{turn}")]);
        desk.result(&format!("u{turn}"), "found");
    }
    let projected = desk.project(api::At::Head);
    let mended = projected
        .repairs
        .iter()
        .find(|repair| repair.kind == "open call");
    assert_eq!(mended.and_then(|repair| repair.event), Some(orphan));
    paired(&desk, 21);
}

#[test]
fn pain_10_no_way_of_hiding_parts_a_pair() {
    let desk = Desk::new();
    let first = desk.turn("one");
    let call = desk.calls(&["t1"]);
    let result = desk.result("t1", "found");
    desk.says("and?");
    let range = json!({"type": "delete_range", "first": first, "last": call});
    let error = desk.try_log(&range).unwrap_err();
    let offer = suggest(&error);
    assert_eq!(offer["last"], result);
    let error = desk
        .try_log(&json!({"type": "snip", "messages": [call]}))
        .unwrap_err();
    assert_eq!(suggest(&error), json!({"messages": [call, result]}));
    desk.log(&json!({"type": "delete_range", "first": offer["first"], "last": offer["last"]}));
    paired(&desk, 0);
}

#[test]
fn pain_11_the_persons_words_beside_a_result_stay() {
    let desk = Desk::new();
    desk.turn("one");
    desk.calls(&["t1"]);
    desk.try_fold(desk.head() + 1, "s").unwrap_err();
    desk.log(&json!({"type": "message", "role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "found"},
        {"type": "text", "text": "please stop"}]}));
    let sent = desk.sent();
    assert!(sent.shows("please stop") && sent.shows("found"));
    paired(&desk, 1);
}

#[test]
fn pain_12_a_message_of_words_and_a_result_folds_with_its_call() {
    let desk = Desk::new();
    let first = desk.turn("one");
    let call = desk.calls(&["t1"]);
    let both = desk.log(&json!({"type": "message", "role": "user", "content": [
        {"type": "text", "text": "by the way"},
        {"type": "tool_result", "tool_use_id": "t1", "content": "found"}]}));
    desk.turn("two");
    desk.says("and?");
    for place in first + 1..=desk.head() {
        let fork = desk
            .session()
            .fork(&format!("f{place}"), api::At::Head)
            .unwrap();
        let event = json!({"type": "compact_commit", "keep_from": place, "summary": "s"});
        let folded = fork.append(&[&event.to_string()]);
        assert_eq!(
            folded.is_err(),
            (call + 1..=both).contains(&place),
            "{place}: {folded:?}"
        );
        let words = sent(&fork).shows("by the way");
        assert_eq!(words, folded.is_err() || place <= call, "{place}");
    }
}

#[test]
fn pain_13_a_fork_at_an_open_call_can_be_sent() {
    let desk = Desk::new();
    desk.says("do it");
    let call = desk.calls(&["t1"]);
    let fork = desk.session().fork("other", api::At::Seq(call)).unwrap();
    let waits = fork.project(api::Project::default()).unwrap();
    assert_eq!(waits.waiting.unwrap().calls, vec![(call, 0)]);
    assert_eq!(sent(&fork).blocks("tool_result").len(), 1);
    fork.append(&[r#"{"type":"tool_result","call":"t1","content":"in the fork"}"#])
        .unwrap();
    assert!(sent(&fork).shows("in the fork"));
    assert!(!desk.sent().shows("in the fork"));
    assert_eq!(desk.session().status().unwrap().open_calls, 1);
}

#[test]
fn pain_14_every_kind_of_result_closes_a_call() {
    for status in [
        "ok",
        "error",
        "rejected",
        "interrupted",
        "not_started",
        "unknown",
    ] {
        let desk = Desk::new();
        desk.says("do it");
        desk.calls(&["t1"]);
        desk.log(&json!({"type": "tool_result", "call": "t1", "status": status, "content": "so it went"}));
        let projected = desk.session().project(api::Project::default()).unwrap();
        assert_eq!(projected.outcome, api::Outcome::Ready, "{status}");
        assert!(desk.sent().shows("so it went"), "{status}");
        paired(&desk, 1);
    }
}

#[test]
fn pain_15_no_result_is_made_up_for_a_call_that_was_folded() {
    let desk = Desk::new();
    desk.turn("one");
    desk.calls(&["t1"]);
    desk.result("t1", "found");
    let kept = desk.says("and?");
    desk.fold(kept, "s");
    let call = desk.calls(&["t2"]);
    let open = desk.session().status().unwrap().open_calls;
    assert_eq!(open, 1);
    let projected = desk.project(api::At::Head);
    let mended: Vec<_> = projected
        .repairs
        .iter()
        .map(|repair| repair.event)
        .collect();
    assert_eq!(mended, vec![Some(call)]);
    paired(&desk, 1);
}

#[test]
fn pain_16_a_repair_is_listed_and_explained() {
    let desk = Desk::new();
    desk.says("do it");
    let call = desk.calls(&["t1"]);
    desk.says("never mind");
    let projected = desk.project(api::At::Head);
    assert!(
        projected
            .repairs
            .iter()
            .any(|repair| repair.kind == "open call" && repair.event == Some(call))
    );
    let explained = desk.session().explain(api::At::Head).unwrap();
    let made = explained
        .shown
        .iter()
        .find(|piece| piece.role == "result")
        .unwrap();
    assert!(
        made.why.contains("placeholder") || made.why.contains("repaired"),
        "{made:?}"
    );
    assert_eq!(
        desk.session().log(call, 10).unwrap().events.len(),
        2,
        "the log is untouched"
    );
}
