//! Section 5: rollback, rewind, undo, fork.

use crate::desk::Desk;
use recount::{ErrorKind, api};
use serde_json::json;

#[test]
fn pain_46_a_rollback_past_a_fold_brings_back_what_it_hid() {
    let desk = Desk::new();
    let before = desk.head();
    desk.turn("U1");
    let cut = desk.head();
    desk.turn("U2");
    desk.fold(desk.head() + 1, "s");
    desk.turn("U3");
    let back = desk.session().rollback(api::To::Turns(2)).unwrap();
    assert_eq!(back.to, cut);
    desk.says("and?");
    let sent = desk.sent();
    assert!(sent.shows("question U1") && sent.shows("answer U1"));
    assert!(!sent.shows("U2") && !sent.shows("U3") && !sent.shows("<summary>"));
    assert!(before < cut);
}

#[test]
fn pain_47_a_rewind_behind_a_fold_keeps_every_turn_before_it() {
    let desk = Desk::new();
    let turns: Vec<u64> = (1..=9)
        .map(|turn| desk.turn(&format!("U{turn}.")))
        .collect();
    desk.fold(desk.head() + 1, "s");
    desk.session().rollback(api::To::Seq(turns[4])).unwrap();
    let sent = desk.sent();
    for turn in 1..=5 {
        assert!(sent.shows(&format!("question U{turn}.")), "{turn}");
    }
    assert!(!sent.shows("question U6."));
}

#[test]
fn pain_49_a_restored_checkpoint_forgets_what_was_deleted_after_it() {
    let desk = Desk::new();
    let first = desk.turn("U1");
    let last = desk.turn("U2");
    desk.session().checkpoint("here").unwrap();
    let before = desk.digest();
    desk.log(&json!({"type": "delete_range", "first": first, "last": last + 1}));
    assert_ne!(desk.digest(), before);
    desk.session()
        .rollback(api::To::Checkpoint("here".into()))
        .unwrap();
    assert_eq!(desk.digest(), before);
    desk.says("and?");
    assert!(desk.sent().shows("question U1"));
}

#[test]
fn pain_50_what_was_rolled_back_stays_away_after_a_reopen() {
    let mut desk = Desk::new();
    desk.turn("U1");
    desk.session().checkpoint("here").unwrap();
    desk.turn("U2");
    desk.session()
        .rollback(api::To::Checkpoint("here".into()))
        .unwrap();
    let before = desk.digest();
    for _ in 0..2 {
        desk.reopen();
        assert_eq!(desk.digest(), before);
    }
    desk.says("and?");
    assert!(!desk.sent().shows("U2"));
}

#[test]
fn pain_52_folds_are_peeled_off_layer_by_layer() {
    let desk = Desk::new();
    desk.turn("U1");
    let before = desk.digest();
    let inner = desk.fold(
        desk.head() + 1,
        "layer one, which is a little longer than two",
    );
    desk.turn("U2");
    let outer = desk.fold(desk.head() + 1, "layer two");
    desk.says("later");
    assert!(desk.sent().shows("layer two") && !desk.sent().shows("layer one"));
    let peeled = desk.session().undo(outer).unwrap();
    let sent = desk.sent();
    assert!(sent.shows("layer one") && sent.shows("question U2") && sent.shows("later"));
    desk.session().undo(inner).unwrap();
    let sent = desk.sent();
    assert!(sent.shows("question U1") && sent.shows("question U2") && sent.shows("later"));
    assert_eq!(desk.project(api::At::Seq(inner - 1)).digest, before);
    desk.session().undo(peeled.event).unwrap();
    assert!(desk.sent().shows("layer two"), "an undo can be undone");
}

#[test]
fn pain_53_a_rollback_can_be_rolled_back() {
    let desk = Desk::new();
    for turn in ["U1", "U2", "U3", "U4"] {
        desk.turn(turn);
    }
    let before = desk.digest();
    let back = desk.session().rollback(api::To::Turns(3)).unwrap();
    assert_ne!(desk.digest(), before);
    desk.session().undo(back.event).unwrap();
    assert_eq!(desk.digest(), before);
    let back = desk.session().rollback(api::To::Turns(3)).unwrap();
    desk.turn("other");
    let error = desk.session().undo(back.event).unwrap_err();
    assert_eq!(
        error.suggest(),
        Some(format!(r#"{{"rollback":{{"seq":{}}}}}"#, back.event - 1).as_str())
    );
    desk.session()
        .rollback(api::To::Seq(back.event - 1))
        .unwrap();
    assert_eq!(desk.digest(), before);
}

#[test]
fn pain_54_after_a_rollback_the_latest_is_what_it_went_back_to() {
    let mut desk = Desk::new();
    desk.turn("U1");
    let place = desk.head();
    desk.session().checkpoint("mark").unwrap();
    let there = desk.project(api::At::Seq(place)).digest;
    desk.turn("U2");
    desk.session().checkpoint("mark").unwrap();
    desk.session().rollback(api::To::Seq(place)).unwrap();
    assert_eq!(desk.digest(), there);
    desk.reopen();
    assert_eq!(desk.project(api::At::Head).digest, there);
    let error = desk
        .session()
        .rollback(api::To::Checkpoint("mark".into()))
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::NotFound,
        "both marks were rolled over: {error}"
    );
}

#[test]
fn pain_55_a_rollback_that_makes_no_sense_changes_nothing() {
    let desk = Desk::new();
    desk.turn("U1");
    desk.calls(&["t1"]);
    let (head, digest) = (desk.head(), desk.digest());
    for to in [
        api::To::Seq(head + 1),
        api::To::Turns(0),
        api::To::Turns(99),
        api::To::Checkpoint("none".into()),
        api::To::Time(1),
    ] {
        desk.session().rollback(to.clone()).unwrap_err();
        assert_eq!(
            (desk.head(), desk.digest()),
            (head, digest.clone()),
            "{to:?}"
        );
    }
}

#[test]
fn pain_56_what_was_deleted_never_comes_back_by_itself() {
    let mut desk = Desk::new();
    desk.turn("U1");
    let call = desk.calls(&["t1"]);
    let result = desk.result("t1", "the secret of t1");
    desk.log(&json!({"type": "delete_range", "first": call, "last": result}));
    let mut looks = 0;
    let mut gone = |desk: &Desk| {
        looks += 1;
        let fork = format!("f{looks}");
        let fork = desk.session().fork(&fork, api::At::Head).unwrap();
        fork.append(&[r#"{"type":"message","role":"user","content":"?"}"#])
            .unwrap();
        assert!(!crate::desk::sent(&fork).shows("the secret of t1"));
    };
    gone(&desk);
    desk.turn("U2");
    let one = desk.fold(desk.head() + 1, "s1");
    gone(&desk);
    desk.turn("U3");
    let two = desk.fold(desk.head() + 1, "s2");
    gone(&desk);
    desk.reopen();
    gone(&desk);
    for fold in [two, one] {
        desk.session().undo(fold).unwrap();
        gone(&desk);
    }
}
