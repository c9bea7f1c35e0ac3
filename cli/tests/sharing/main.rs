//! Many processes on one directory: the first serves the others, and when it dies one of them goes on.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

#[path = "../support/mod.rs"]
mod support;

mod crowd;
mod refused;

use serde_json::json;
use support::{Rpc, json_of, ok};

#[test]
fn two_terminals_on_one_directory_both_work() {
    let data = tempfile::tempdir().expect("a scratch directory");
    let (mut one, mut other) = (Rpc::start(data.path()), Rpc::start(data.path()));
    one.result(
        "v1.session.open",
        json!({"session": "s", "create": true, "profile": "claude-sonnet-4-5"}),
    );
    for number in 0..4 {
        let rpc = if number % 2 == 0 {
            &mut one
        } else {
            &mut other
        };
        let event = json!({"type": "message", "role": "user", "content": format!("line {number}")});
        let receipt = rpc.result(
            "v1.session.append",
            json!({"session": "s", "events": [event]}),
        );
        assert_eq!(receipt["durable"], receipt["head"]);
    }
    // A third one, of the command line, comes and goes meanwhile.
    assert_eq!(json_of(data.path(), &["status", "s"])["turns"], 4);
    assert_eq!(
        one.result("v1.session.project", json!({"session": "s"}))["digest"],
        other.result("v1.session.project", json!({"session": "s"}))["digest"]
    );
    assert!(one.close().success());
    assert!(other.close().success());
    assert!(ok(data.path(), &["verify"]).contains("clean"));
}

#[test]
fn the_loser_of_an_expected_head_gets_a_conflict() {
    let data = tempfile::tempdir().expect("a scratch directory");
    let (mut one, mut other) = (Rpc::start(data.path()), Rpc::start(data.path()));
    let head =
        one.result("v1.session.open", json!({"session": "s", "create": true}))["head"].clone();
    let ask = |words: &str| json!({"session": "s", "expect": head, "events": [{"type": "message", "role": "user", "content": words}]});
    one.result("v1.session.append", ask("first"));
    assert_eq!(
        other.error("v1.session.append", ask("second"))["data"]["kind"],
        "conflict"
    );
}

#[test]
fn a_client_takes_over_when_the_holder_dies() {
    let data = tempfile::tempdir().expect("a scratch directory");
    let mut holder = Rpc::start(data.path());
    holder.result("v1.session.open", json!({"session": "s", "create": true}));
    let mut clients: Vec<Rpc> = (0..3).map(|_| Rpc::start(data.path())).collect();
    for client in &mut clients {
        client.result("v1.session.status", json!({"session": "s"}));
    }
    holder.kill();
    for (number, client) in clients.iter_mut().enumerate() {
        let event =
            json!({"type": "message", "role": "user", "content": format!("after {number}")});
        client.result(
            "v1.session.append",
            json!({"session": "s", "events": [event], "key": format!("k{number}")}),
        );
    }
    let log = clients[2].result("v1.session.log", json!({"session": "s"}));
    let said: Vec<_> = log["events"]
        .as_array()
        .expect("events")
        .iter()
        .filter(|event| event["type"] == "message")
        .collect();
    assert_eq!(said.len(), 3);
}

#[test]
fn a_holder_that_closes_hands_over() {
    let data = tempfile::tempdir().expect("a scratch directory");
    let mut holder = Rpc::start(data.path());
    holder.result("v1.session.open", json!({"session": "s", "create": true}));
    let mut client = Rpc::start(data.path());
    client.result("v1.session.status", json!({"session": "s"}));
    assert!(holder.close().success());
    // No key: a clean hand-over must not make the outcome unknown.
    let event = json!({"type": "message", "role": "user", "content": "after"});
    client.result(
        "v1.session.append",
        json!({"session": "s", "events": [event]}),
    );
}

#[test]
fn a_directory_with_a_long_path_is_shared_too() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("d".repeat(120));
    let (mut one, mut other) = (Rpc::start(&data), Rpc::start(&data));
    one.result("v1.session.open", json!({"session": "s", "create": true}));
    other.result("v1.session.status", json!({"session": "s"}));
}

#[test]
fn two_processes_started_at_once_find_each_other() {
    for _ in 0..5 {
        let data = tempfile::tempdir().expect("a scratch directory");
        let mut all: Vec<Rpc> = (0..4).map(|_| Rpc::start(data.path())).collect();
        for rpc in &mut all {
            rpc.result("v1.sessions.list", json!({}));
        }
    }
}
