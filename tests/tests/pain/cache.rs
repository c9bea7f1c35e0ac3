//! Section 12: bytes that were sent once stay.

use crate::desk::Desk;
use crate::live::{Live, said};
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

#[test]
fn pain_90_a_clock_in_the_header_is_found_by_what_it_costs() {
    let mut live = Live::new("claude-code", 200_000, &json!({}));
    for turn in 0..6 {
        live.turn("go on", &said(&format!("turn{turn}"), 300))
            .tokens();
    }
    assert_eq!(live.count("cache_break"), 0, "nothing fell");
    let clock = live
        .desk
        .log(&json!({"type": "system", "content": "It is 10:01. Be brief."}));
    live.turn("go on", "yes").tokens();
    live.turn("go on", "yes").tokens();
    let fell = live.logged("cache_break");
    assert_eq!(fell.len(), 1, "{fell:?}");
    assert_eq!(
        (&fell[0]["event"], &fell[0]["cause"]),
        (&json!(clock), &json!("changed"))
    );
    assert!(fell[0]["byte"].is_u64());
    assert!(fell[0]["before"].as_u64().unwrap() > fell[0]["after"].as_u64().unwrap() + 2_000);
    assert_eq!(live.status().cache_breaks.len(), 1);
}

#[test]
fn pain_91_under_each_preset_what_was_sent_changes_by_events_alone() {
    for (preset, window) in [
        ("claude-code", 32_000),
        ("claude-code", 200_000),
        ("five-layer", 64_000),
        ("none", 200_000),
    ] {
        let mut live = Live::new(preset, window, &json!({}));
        let (mut read, mut logged) = (0, 0);
        for turn in 0..40 {
            // Each prompt is compared with the one before it, and each difference has to have an event.
            live.work(&format!("job{turn}"), 2, 100).tokens();
            if turn % 10 == 9 {
                live.desk.reopen();
            }
        }
        for usage in live.logged("usage") {
            read += usage["cache_read"].as_u64().unwrap_or(0);
            logged += usage["input"].as_u64().unwrap() + usage["cache_read"].as_u64().unwrap_or(0);
        }
        let changed: u64 = live.differ.causes.values().sum();
        assert!(live.sent >= 120, "{preset} {window}");
        assert!(
            changed * 5 < live.sent,
            "{preset} {window}: {changed} of {} prompts changed: {:?}",
            live.sent,
            live.differ.causes
        );
        if window < 200_000 {
            assert!(changed > 0, "{preset} {window}: it came to that");
        }
        if preset != "none" {
            assert!(
                read * 2 > logged,
                "{preset} {window}: {read} of {logged} from the cache"
            );
        }
    }
}

#[test]
fn pain_91_a_result_that_was_judged_stays_as_it_was_judged() {
    let mut live = Live::new(
        "claude-code",
        200_000,
        &json!({"micro": {"tools": []}, "snip": {"superseded_reads": false, "duplicates": false}}),
    );
    let call = |name: &str| json!([{"type": "tool_use", "id": name, "name": "Grep", "input": {"pattern": name}}]);
    let results = [("small", 100), ("large", 9_000), ("middle", 3_000)];
    live.desk.says("look");
    for (name, words) in results {
        live.reply(&call(name)).tokens();
        live.desk.result(name, &said(name, words));
    }
    live.reply(&json!([{"type": "text", "text": "done"}]))
        .tokens();
    let replaced = live.logged("replace");
    assert_eq!(replaced.len(), 1, "the large one left the prompt");
    for turn in 0..10 {
        live.turn(&format!("turn {turn}"), &said(&format!("turn{turn}"), 300))
            .tokens();
        live.desk.reopen();
    }
    assert_eq!(live.count("replace"), 1, "nothing is judged twice");
    assert!(live.differ.causes.is_empty(), "{:?}", live.differ.causes);
}
