//! `recount rpc` against callers that err: nothing that comes in ends it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

mod support;

use serde_json::{Value, json};
use std::time::Duration;
use support::{Chance, Rpc};

fn started() -> (tempfile::TempDir, Rpc) {
    let data = tempfile::tempdir().expect("a scratch directory");
    let mut rpc = Rpc::start(data.path());
    rpc.result(
        "v1.session.open",
        json!({"session": "s", "create": true, "profile": "claude-sonnet-4-5"}),
    );
    (data, rpc)
}

fn answer(rpc: &mut Rpc) -> Value {
    rpc.answer(Duration::from_secs(60)).expect("an answer")
}

#[test]
fn lines_that_are_no_requests_are_answered_as_such() {
    let (_data, mut rpc) = started();
    let lines: &[(&[u8], i64)] = &[
        (b"not json", -32700),
        (b"\xff\xfe{}", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1", -32700),
        (b"[]", -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"v1.hello\"}]", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"v1.hello\"}", -32600),
        (b"{\"id\":1,\"method\":\"v1.hello\"}", -32600),
        (b"17", -32600),
        (b"null", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"v1.nonsense\"}", -32601),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"v1.session.append\",\"params\":{\"session\":\"s\"}}", -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"v1.session.status\",\"params\":{\"session\":\"s\",\"typo\":1}}", -32602),
    ];
    for (line, code) in lines {
        assert!(rpc.send(line));
        let answer = answer(&mut rpc);
        assert_eq!(
            answer["error"]["code"],
            *code,
            "{}: {answer}",
            String::from_utf8_lossy(line)
        );
        assert_eq!(answer["error"]["data"]["kind"], "invalid", "{answer}");
        assert!(answer["error"]["data"]["next"].is_string());
    }
    rpc.result("v1.hello", json!({}));
}

#[test]
fn junk_of_every_kind_is_survived() {
    let (_data, mut rpc) = started();
    let mut chance = Chance::new(7);
    let seed = br#"{"jsonrpc":"2.0","id":1,"method":"v1.session.append","params":{"session":"s","events":[{"type":"message","role":"user","content":"x"}]}}"#;
    for _ in 0..300 {
        let mut line = seed.to_vec();
        for _ in 0..=chance.below(4) {
            let place = chance.below(line.len() as u64) as usize;
            line[place] = match chance.below(256) as u8 {
                b'\n' => b' ',
                byte => byte,
            };
        }
        assert!(rpc.send(&line));
        answer(&mut rpc);
    }
    // Nested so deep that a careless reader would run out of stack.
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"v1.session.append\",\"params\":{{\"session\":\"s\",\"events\":[{}1{}]}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(rpc.send(deep.as_bytes()));
    answer(&mut rpc);
    rpc.result("v1.hello", json!({}));
}

#[test]
fn requests_of_one_session_are_answered_in_order() {
    let (_data, mut rpc) = started();
    for number in 0..200 {
        let event = json!({"type": "message", "role": "user", "content": format!("{number}")});
        rpc.ask(
            "v1.session.append",
            json!({"session": "s", "events": [event]}),
        )
        .expect("sent");
    }
    let heads: Vec<u64> = (0..200)
        .map(|_| answer(&mut rpc)["result"]["head"].as_u64().expect("a head"))
        .collect();
    assert!(heads.is_sorted_by(|a, b| a < b), "{heads:?}");
}

#[test]
fn broken_unicode_comes_in_and_goes_out_and_reaches_no_wire() {
    let (_data, mut rpc) = started();
    let line = br#"{"jsonrpc":"2.0","id":900,"method":"v1.session.append","params":{"session":"s","events":[{"type":"message","role":"user","content":"a\ud800b\u0000c"}]}}"#;
    assert!(rpc.send(line));
    assert!(answer(&mut rpc)["result"].is_object());
    // The log's answer holds the escape as it came, so it must be read as bytes, not as text.
    rpc.ask("v1.session.project", json!({"session": "s"}))
        .expect("sent");
    let body = answer(&mut rpc)["result"]["request"]["body"]
        .as_str()
        .expect("a body")
        .to_owned();
    let body: Value = serde_json::from_str(&body).expect("a body is JSON");
    assert_eq!(
        body["messages"][0]["content"][0]["text"],
        "a\u{fffd}b\u{fffd}c"
    );
}

#[test]
fn the_end_of_the_input_is_a_clean_close() {
    let (data, mut rpc) = started();
    for number in 0..50 {
        let event = json!({"type": "message", "role": "user", "content": format!("{number}")});
        rpc.ask(
            "v1.session.append",
            json!({"session": "s", "events": [event]}),
        )
        .expect("sent");
    }
    assert!(rpc.close().success());
    assert_eq!(support::json_of(data.path(), &["status", "s"])["turns"], 50);
}

/// What was read when it came is answered; what was answered is there.
#[test]
fn asked_to_end_it_answers_what_it_read_and_closes_the_log() {
    let (data, mut rpc) = started();
    for number in 0..60 {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        let event = json!({"type": "message", "role": role, "content": format!("line {number}")});
        rpc.ask(
            "v1.session.append",
            json!({"session": "s", "events": [event]}),
        );
    }
    let first = answer(&mut rpc);
    assert!(first.get("error").is_none(), "{first}");
    let status = rpc.terminate();
    assert!(status.success(), "it ended by itself: {status}");
    let mut answers = 1;
    while let Some(answer) = rpc.answer(Duration::from_millis(500)) {
        assert!(answer.get("error").is_none(), "{answer}");
        answers += 1;
    }
    let mut rpc = Rpc::start(data.path());
    let log = rpc.result("v1.session.log", json!({"session": "s"}));
    let events = log["events"].as_array().map_or(0, Vec::len);
    // The session's opening and its profile come first.
    assert_eq!(events, 2 + answers);
    assert_eq!(rpc.result("v1.verify", json!({}))["state"], "clean");
}
