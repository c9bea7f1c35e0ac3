//! Section 4, as far as a host folds by itself.

use crate::desk::{Desk, suggest};
use recount::api;
use serde_json::{Value, json};

#[test]
fn pain_35_a_fold_that_makes_nothing_smaller_is_refused() {
    let mut desk = Desk::new();
    desk.turn("one");
    desk.says("and?");
    let (head, digest) = (desk.head(), desk.digest());
    let error = desk
        .try_fold(
            head,
            &"a summary longer than what it stands for ".repeat(40),
        )
        .unwrap_err();
    assert_eq!(suggest(&error), Value::Null);
    assert_eq!((desk.head(), desk.digest()), (head, digest.clone()));
    desk.reopen();
    assert_eq!((desk.head(), desk.digest()), (head, digest));
}

#[test]
fn pain_44_a_second_deletion_counts_only_what_is_seen() {
    let desk = Desk::new();
    let first = desk.turn("one");
    for turn in 0..23 {
        desk.turn(&turn.to_string());
    }
    let last = desk.head();
    let log = |event: u64| -> Value {
        serde_json::from_str(desk.session().log(event, 1).unwrap().events[0].get()).unwrap()
    };
    let one = desk.log(&json!({"type": "delete_range", "first": first, "last": last}));
    assert_eq!(log(one)["covered"].as_array().map(Vec::len), Some(48));
    let kept = desk.turn("later");
    let again = json!({"type": "delete_range", "first": first, "last": kept + 1});
    let offer = suggest(&desk.try_log(&again).unwrap_err());
    assert_eq!(offer, json!({"first": kept, "last": kept + 1}));
    let two = desk.log(&json!({"type": "delete_range", "first": kept, "last": kept + 1}));
    assert_eq!(log(two)["covered"], json!([kept, kept + 1]));
    desk.says("and?");
    let explained = desk.session().explain(api::At::Head).unwrap();
    assert_eq!(explained.absent.len(), 50, "markers are no messages");
    assert!(desk.sent().shows("and?"));
}
