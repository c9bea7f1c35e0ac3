//! The dispatcher: envelopes, junk, methods, raw content.

use crate::common::Fixture;
use recount::{METHODS, session_of};
use serde_json::{Value, json};

fn ask(dispatcher: &recount::Dispatcher, method: &str, params: Value) -> Value {
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    serde_json::from_str(&dispatcher.call(&line).unwrap()).unwrap()
}

#[test]
fn a_session_over_json_rpc() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    let opened = ask(
        &dispatcher,
        "v1.session.open",
        json!({"session_id": "s", "create": true, "profile": "gpt-5"}),
    );
    assert_eq!(opened["result"]["created"], true);
    let events = r#"[{"type":"message","role":"user","content":[{"type":"text","text":"a\u2028b","zz":1e3}]}]"#;
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":"x","method":"v1.session.append","params":{{"session":"s","events":{events}}}}}"#
    );
    let answer: Value = serde_json::from_str(&dispatcher.call(&line).unwrap()).unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["first"]),
        (&json!("x"), &json!(2))
    );
    let log = dispatcher
        .call(r#"{"jsonrpc":"2.0","id":1,"method":"v1.session.log","params":{"session":"s","from":2}}"#)
        .unwrap();
    assert!(
        log.contains(r#"{"type":"text","text":"a\u2028b","zz":1e3}"#),
        "{log}"
    );
    let projected = ask(&dispatcher, "v1.session.project", json!({"session": "s"}));
    assert_eq!(projected["result"]["outcome"], "ready");
    assert!(projected["result"]["request"]["body"].is_string());
    let cut = ask(
        &dispatcher,
        "v1.session.project",
        json!({"session": "s", "at": {"seq": 2}, "as": "object"}),
    );
    assert!(cut["result"]["request"]["body"].is_object());
    let back = ask(
        &dispatcher,
        "v1.session.rollback",
        json!({"session": "s", "to": {"turns": 1}}),
    );
    assert_eq!(back["result"]["to"], 1);
}

#[test]
fn junk_gets_an_error_and_nothing_stops() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    let code = |line: &[u8]| {
        let answer: Value = serde_json::from_str(&dispatcher.call_bytes(line).unwrap()).unwrap();
        assert_eq!(answer["error"]["data"]["kind"], "invalid", "{answer}");
        assert!(answer["error"]["data"]["next"].is_string());
        answer["error"]["code"].as_i64().unwrap()
    };
    assert_eq!(code(b"{"), -32700);
    assert_eq!(code(b"\xff\xfe"), -32700);
    assert_eq!(code(b"[]"), -32600);
    assert_eq!(code(b"[1,"), -32700);
    assert_eq!(code(b"17"), -32600);
    assert_eq!(code(br#"{"method":"v1.hello","id":1}"#), -32600);
    assert_eq!(code(br#"{"jsonrpc":"2.0","method":"v1.hello"}"#), -32600);
    assert_eq!(
        code(br#"{"jsonrpc":"2.0","id":{},"method":"v1.hello"}"#),
        -32600
    );
    assert_eq!(
        code(br#"{"jsonrpc":"2.0","id":1,"method":"v1.nothing"}"#),
        -32601
    );
    assert_eq!(
        code(br#"{"jsonrpc":"2.0","id":1,"method":"v1.hello","params":{"x":1}}"#),
        -32602
    );
    assert_eq!(
        code(br#"{"jsonrpc":"2.0","id":1,"method":"v1.session.undo","params":[1]}"#),
        -32602
    );
    assert_eq!(
        code(
            br#"{"jsonrpc":"2.0","id":1,"method":"v1.session.log","params":{"session":"","x":1}}"#
        ),
        -32602
    );
    assert!(dispatcher.call("  \n").is_none());
    let deep = "[".repeat(100_000);
    assert_eq!(
        code(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{deep}"#).as_bytes()),
        -32700
    );
}

#[test]
fn every_method_is_there_and_a_missing_session_is_said() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    let hello = ask(&dispatcher, "v1.hello", json!({}));
    assert_eq!(
        hello["result"]["methods"].as_array().unwrap().len(),
        METHODS.len()
    );
    for method in METHODS {
        let answer = ask(
            &dispatcher,
            method,
            json!({"session": "nobody", "to": {"seq": 0}, "event": 0, "label": "x", "new": "y",
            "path": "/nowhere", "events": [], "a": {}, "b": {}}),
        );
        let code = answer["error"]["code"].as_i64();
        assert_ne!(code, Some(-32601), "{method}");
    }
    for method in [
        "status",
        "verify",
        "log",
        "sync",
        "project",
        "prepare",
        "interrupt",
        "explain",
        "export",
        "open",
    ] {
        let answer = ask(
            &dispatcher,
            &format!("v1.session.{method}"),
            json!({"session": "nobody"}),
        );
        assert_eq!(
            answer["error"]["data"]["kind"], "not_found",
            "{method}: {answer}"
        );
    }
}

#[test]
fn the_session_of_a_line_is_found() {
    assert_eq!(
        session_of(r#"{"params":{"session":"a\u0062"},"id":1}"#).as_deref(),
        Some("ab")
    );
    assert_eq!(
        session_of(r#"{"params":{"session_id":"x","y":[{}]}}"#).as_deref(),
        Some("x")
    );
    assert_eq!(session_of("nonsense"), None);
}

/// The parameters that the protocol's table gives a method, whatever they hold.
fn parameters() -> Vec<(String, Vec<String>)> {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/protocol.md");
    let table = std::fs::read_to_string(table).unwrap();
    let mut all = Vec::new();
    for line in table.lines().filter(|line| line.starts_with("| `v1.")) {
        let cells: Vec<&str> = line.split('|').collect();
        let names = cells[2].split('`').skip(1).step_by(2);
        let names: Vec<String> = names
            .map(|name| name.trim_end_matches('?').to_owned())
            .collect();
        let methods = cells[1].split('`').skip(1).step_by(2);
        for method in methods.filter(|method| METHODS.contains(method)) {
            all.push((method.to_owned(), names.clone()));
        }
    }
    all
}

/// A host of JavaScript may cut a text in the middle of a character: no parameter of any method is refused for that.
#[test]
fn half_a_character_in_any_text_is_no_reason_to_refuse() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    ask(
        &dispatcher,
        "v1.session.open",
        json!({"session": "s", "create": true, "profile": "gpt-5"}),
    );
    // A file that is written is written there.
    let folder = fixture.path().display();
    let file = format!(r#""{folder}/cut \ud83d""#);
    let mut asked = 0;
    for (method, names) in parameters() {
        for name in names.iter().filter(|name| {
            name.chars()
                .all(|one| one.is_ascii_lowercase() || one == '_')
        }) {
            for value in [
                r#""cut \ud83d""#,
                r#"{"checkpoint":"\ude00"}"#,
                r#"["\ud83d\ud83d"]"#,
            ] {
                let session = if name == "session" {
                    ""
                } else {
                    r#""session":"s","#
                };
                let value = if matches!(name.as_str(), "path" | "archive" | "spill_root") {
                    file.as_str()
                } else {
                    value
                };
                let line = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{session}"{name}":{value}}}}}"#
                );
                let answer = dispatcher.call(&line).unwrap();
                assert!(
                    !answer.contains("hex escape") && !answer.contains("surrogate"),
                    "{line} {answer}"
                );
                asked += 1;
            }
        }
    }
    assert!(asked > 200, "{asked}");
}

#[test]
fn half_a_character_is_read_as_a_mark_in_words_and_kept_in_events() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    let call = |method: &str, params: &str| -> Value {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"v1.session.{method}","params":{{"session":"s",{params}}}}}"#
        );
        let answer: Value = serde_json::from_str(&dispatcher.call(&line).unwrap()).unwrap();
        assert!(answer["error"].is_null(), "{line} {answer}");
        answer["result"].clone()
    };
    call("open", r#""create":true,"profile":"gpt-5""#);
    let long = "word ".repeat(300);
    for turn in 0..3 {
        call(
            "append",
            &format!(
                r#""key":"k{turn}\ud83d","events":[{{"type":"message","role":"user","content":"half \ud83d {long}"}},{{"type":"message","role":"assistant","content":"{long}"}}]"#
            ),
        );
    }
    call(
        "append",
        r#""events":[{"type":"message","role":"user","content":"go on"}]"#,
    );
    call(
        "instruct",
        r#""path":"a\ud83d.md","content":"rule \ud83d","scope":"nested""#,
    );
    call("checkpoint", r#""label":"here \ud83d""#);
    let gone = call("compact", r#""custom_instruction":"short \ud83d""#);
    call(
        "abandon",
        &format!(
            r#""compaction":{},"reason":"why \ud83d""#,
            gone["compaction"]
        ),
    );
    let plan = call("compact", r#""custom_instruction":"short \ud83d""#);
    let done = call(
        "summarised",
        &format!(
            r#""compaction":{},"text":"<summary>cut \ud83d</summary>""#,
            plan["compaction"]
        ),
    );
    assert_eq!(done["outcome"], "committed", "{done}");
    call("rollback", r#""to":{"checkpoint":"here \ud83d"}"#);
    let log = dispatcher
        .call(r#"{"jsonrpc":"2.0","id":1,"method":"v1.session.log","params":{"session":"s"}}"#)
        .unwrap();
    assert!(log.contains(r"half \ud83d"), "an event keeps it");
    for words in ["rule", "here", "why", "cut", "short"] {
        assert!(log.contains(&format!("{words} \u{fffd}")), "{words}: {log}");
    }
}
