//! The policy `cline` at the command line: a task comes in and goes on by its rules.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

mod support;

use serde_json::{Value, json};
use std::path::Path;
use support::{json_of, ok};

const PROFILE: &str = r#"{"provider":"openai","model":"gpt-test","wire":"openai_chat","window":64000,"max_output":4000}"#;
const TOO_LONG: &str = "prompt is too long: 70000 tokens > 64000 maximum";

/// A task of ten exchanges, as Cline writes it.
fn task(folder: &Path) {
    let mut history = Vec::new();
    let mut ui = Vec::new();
    for turn in 0..10 {
        let at = 1_700_000_000_000_u64 + turn * 1_000;
        ui.push(
            json!({"ts": at, "type": "say", "say": "api_req_started", "text": "{\"tokensIn\":10}",
            "conversationHistoryIndex": i64::try_from(history.len()).expect("small") - 1}),
        );
        history.push(json!({"role": "user", "content": [{"type": "text", "text": format!("question {turn}")}]}));
        history.push(json!({"role": "assistant", "content": [{"type": "text", "text": format!("answer {turn}")}]}));
    }
    std::fs::create_dir_all(folder).expect("a folder");
    let write = |name: &str, list: Vec<Value>| {
        std::fs::write(folder.join(name), Value::Array(list).to_string()).expect("a file");
    };
    write("api_conversation_history.json", history);
    write("ui_messages.json", ui);
}

fn append(data: &Path, scratch: &Path, event: &Value) {
    let file = scratch.join("event.jsonl");
    std::fs::write(&file, event.to_string()).expect("a file");
    ok(
        data,
        &["append", "1700000000000", file.to_str().expect("UTF-8")],
    );
}

fn body(prepared: &Value) -> String {
    prepared["request"]["body"].to_string()
}

#[test]
fn k1_k5_k6_a_task_goes_on_by_clines_rules() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("data");
    let folder = scratch.path().join("1700000000000");
    task(&folder);
    let session = "1700000000000";
    ok(&data, &["import", folder.to_str().expect("UTF-8")]);
    ok(
        &data,
        &["open", session, "--profile", PROFILE, "--policy", "cline"],
    );
    append(
        &data,
        scratch.path(),
        &json!({"type": "message", "role": "user", "content": "and now?"}),
    );
    let before = json_of(&data, &["prepare", session]);
    assert!(body(&before).contains("question 3"), "{before}");
    append(
        &data,
        scratch.path(),
        &json!({"type": "usage", "request": "r", "input": 37_000, "output": 0}),
    );
    let after = json_of(&data, &["prepare", session]);
    assert_eq!(after["tiers"][0]["tier"], "cline", "{after}");
    let said = body(&after);
    assert!(!said.contains("question 3") && said.contains("question 0"));
    assert!(said.contains("[NOTE] Some previous"));
    let status = json_of(&data, &["status", session]);
    assert_eq!(
        (&status["policy"], &status["trigger"]),
        (&json!("cline"), &json!(37_000))
    );

    let refused = json_of(&data, &["overflowed", session, TOO_LONG]);
    assert_eq!(refused["outcome"], "retry", "{refused}");
    assert_eq!(refused["run_stop_hooks"], false);
    assert!(
        refused["retry"]["request"]["body"]
            .to_string()
            .contains("[Continue assisting the user!]")
    );

    // All of it is taken back, the newest first.
    let log = json_of(&data, &["log", session]);
    let events = log["events"].as_array().expect("a list");
    let ranges: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "delete_range")
        .collect();
    assert_eq!(ranges.len(), 2);
    for range in ranges.iter().rev() {
        ok(&data, &["undo", session, &range["seq"].to_string()]);
    }
    let again = json_of(&data, &["project", session]);
    assert_eq!(again["digest"], before["digest"]);

    let folded = json_of(&data, &["compact", session, "--model-free"]);
    assert_eq!(folded["outcome"], "committed", "{folded}");
    let said = body(&json_of(&data, &["project", session]));
    assert!(said.contains("<summary>") && said.contains("[NOTE] Some previous"));
}
