//! Section 12: bytes that were sent once stay.

use crate::desk::Desk;
use recount::api;
use serde_json::json;

fn tool(name: &str) -> serde_json::Value {
    json!({"name": name, "description": "does it", "input_schema": {"type": "object"}})
}

#[test]
fn pain_90_the_order_in_which_tools_are_found_changes_no_byte() {
    let bodies: Vec<String> = [["alpha", "beta", "gamma"], ["gamma", "alpha", "beta"]]
        .iter()
        .map(|names| {
            let desk = Desk::new();
            desk.log(&json!({"type": "tools", "tools": names.map(tool)}));
            desk.says("question");
            recount_tests::host::body(&desk.project(api::At::Head)).unwrap()
        })
        .collect();
    assert_eq!(bodies[0], bodies[1]);
    let desk = Desk::new();
    desk.log(&json!({"type": "tools", "tools": [tool("alpha"), tool("beta")]}));
    desk.says("question");
    desk.session().prepare(api::Prepare::default()).unwrap();
    let before = desk.project(api::At::Head).body_digest;
    desk.log(&json!({"type": "tools", "tools": [tool("beta"), tool("alpha")]}));
    let after = desk.project(api::At::Head);
    assert_eq!(after.body_digest, before);
    assert_eq!(after.first_changed, None);
    desk.turn("more");
    assert_eq!(desk.project(api::At::Head).first_changed, None);
    desk.log(&json!({"type": "tools", "tools": [tool("alpha"), tool("betb")]}));
    let changed = desk.project(api::At::Head).first_changed.unwrap();
    assert_eq!((changed.piece, changed.event), (1, Some(desk.head())));
}

#[test]
fn pain_90_a_value_that_changes_stands_behind_everything_else() {
    let desk = Desk::new();
    desk.turn("one");
    desk.says("question");
    let digests = |desk: &Desk| -> Vec<String> {
        let pieces = desk.project(api::At::Head).pieces.unwrap();
        pieces.into_iter().map(|piece| piece.digest).collect()
    };
    let before = digests(&desk);
    for minute in 0..5 {
        desk.log(&json!({"type": "inject", "slot": "clock", "lifetime": "tail", "content": format!("it is 10:0{minute}")}));
        let now = digests(&desk);
        assert_eq!(
            (now.len(), &now[..before.len()]),
            (before.len() + 1, before.as_slice())
        );
        desk.sent();
    }
}

#[test]
fn pain_91_no_window_slides_over_old_results() {
    let desk = Desk::new();
    let mut before: Vec<String> = Vec::new();
    for turn in 0..40 {
        desk.says(&format!("question {turn}"));
        desk.calls(&["t"]);
        desk.result("t", &format!("a long result {turn} ").repeat(30));
        let projected = desk.project(api::At::Head);
        let now: Vec<String> = projected
            .pieces
            .unwrap()
            .into_iter()
            .map(|piece| piece.digest)
            .collect();
        assert_eq!(now[..before.len()], before, "turn {turn}");
        before = now;
    }
    desk.sent();
}
