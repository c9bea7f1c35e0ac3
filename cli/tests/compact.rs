//! `compact`, `summarised`, `abandon`, `overflowed`, `actions`, `done`, as a person types them: output, exit status, pipes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

mod support;

use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use support::{RECOUNT, json_of, ok, recount};

const SUMMARY: &str = "<analysis>hm</analysis><summary>They spoke of birds, at length.</summary>\n";
const TOO_LONG: &str = "prompt is too long: 210118 tokens > 200000 maximum";

/// A directory with a session `s` of a few turns.
fn talk() -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("data");
    ok(&data, &["open", "s", "--create", "--profile", "gpt-4.1"]);
    let mut lines = Vec::new();
    for turn in 0..6 {
        let words = format!("bird{turn} \u{1b}[31m").repeat(60);
        lines.push(
            json!({"type": "message", "role": "user", "content": format!("question {turn} {words}")}),
        );
        lines.push(json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": format!("answer {turn} {words}")}]}));
    }
    lines.push(json!({"type": "message", "role": "user", "content": "and now?"}));
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let output = fed(&data, &["append", "s", "-"], &lines.join("\n"));
    assert!(output.status.success(), "{output:?}");
    (scratch, data)
}

/// Runs it with something on standard input.
fn fed(data: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(RECOUNT)
        .arg("--data")
        .arg(data)
        .args(args)
        .env_remove("RECOUNT_DATA")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("its input is a pipe");
    // Who does not read its input may be gone already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let calm = |text: &str| text.chars().all(|one| !one.is_control() || one == '\n');
    assert!(
        calm(&text),
        "control characters reached the terminal: {text:?}"
    );
    text
}

#[test]
fn a2_the_request_goes_through_a_pipe_and_the_summary_comes_back() {
    let (_scratch, data) = talk();
    let printed = recount(&data, &["compact", "s", "--instruction", "heed the crows"]);
    assert_eq!(printed.status.code(), Some(0), "{printed:?}");
    let body: Value = serde_json::from_slice(&printed.stdout).expect("the body alone, as JSON");
    assert!(body["messages"].as_array().is_some_and(|all| all.len() > 5));
    assert!(String::from_utf8_lossy(&printed.stdout).contains("heed the crows"));
    let next = words(&printed.stderr);
    assert!(
        next.contains("| your-model | recount summarised s c"),
        "{next}"
    );
    let list = json_of(&data, &["actions", "s"]);
    let action = &list["actions"][0];
    assert_eq!(
        action["request"]["body"].as_str().map(str::as_bytes),
        Some(printed.stdout.as_slice()),
        "exactly the bytes of the protocol"
    );
    let again = recount(&data, &["compact", "s", "--chunk", "0"]);
    assert_eq!(again.stdout, printed.stdout);
    let missing = recount(&data, &["compact", "s", "--chunk", "5"]);
    assert_eq!((missing.status.code(), missing.stdout.len()), (Some(1), 0));
    let compaction = action["compaction"].as_str().expect("a name").to_owned();
    let before = json_of(&data, &["status", "s"])["tokens"]["total"].as_u64();
    let done = fed(&data, &["summarised", "s", &compaction, "-"], SUMMARY);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let said = words(&done.stdout);
    assert!(
        said.contains("tokens before") && said.contains("after"),
        "{said}"
    );
    let after = json_of(&data, &["status", "s"])["tokens"]["total"].as_u64();
    assert!(after < before);
    let prompt = ok(&data, &["project", "s", "--body"]);
    assert!(prompt.contains("They spoke of birds") && !prompt.contains("question 0"));
    assert!(ok(&data, &["actions", "s"]).contains("nothing is pending"));
}

#[test]
fn a10_without_a_model_it_works_at_once() {
    let (_scratch, data) = talk();
    let said = ok(&data, &["compact", "s", "--model-free"]);
    assert!(
        said.contains("tokens before") && said.contains("recount explain s"),
        "{said}"
    );
    let done = json_of(&data, &["log", "s", "--from", "14"]);
    let commit = done["events"]
        .as_array()
        .expect("events")
        .iter()
        .find(|event| event["type"] == "compact_commit")
        .cloned()
        .expect("a commit");
    ok(&data, &["undo", "s", &commit["seq"].to_string()]);
    assert!(ok(&data, &["project", "s", "--body"]).contains("question 0"));
}

#[test]
fn a7_from_and_up_to_are_positions() {
    let (_scratch, data) = talk();
    let done = json_of(&data, &["compact", "s", "--model-free", "--up-to", "6"]);
    assert_eq!(done["outcome"], "committed");
    let log = json_of(&data, &["log", "s"]);
    let events = log["events"].as_array().expect("events");
    let commit = events.iter().find(|one| one["type"] == "compact_commit");
    let commit = commit.expect("a commit");
    assert_eq!((&commit["first"], &commit["last"]), (&json!(2), &json!(5)));
    let prompt = ok(&data, &["project", "s", "--body"]);
    assert!(prompt.contains("question 2") && prompt.contains("question 5"));
    let crossed = recount(&data, &["compact", "s", "--from", "9", "--up-to", "9"]);
    assert_eq!(crossed.status.code(), Some(3));
    assert!(words(&crossed.stderr).contains("next:"), "{crossed:?}");
}

#[test]
fn a14_what_is_not_taken_is_a_no() {
    let (_scratch, data) = talk();
    let plan = json_of(&data, &["compact", "s"]);
    let id = plan["compaction"].as_str().expect("a name").to_owned();
    let bad = fed(
        &data,
        &["summarised", "s", &id, "-", "--stop", "tool_use"],
        "x",
    );
    assert_eq!(bad.status.code(), Some(1), "{bad:?}");
    let said = words(&bad.stdout);
    assert!(
        said.contains("retry") && said.contains("recount compact s --chunk 0"),
        "{said}"
    );
    let failed = recount(&data, &["summarised", "s", &id, "--error", "overloaded"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(words(&failed.stdout).contains("abandoned"));
    let void = fed(&data, &["summarised", "s", &id], SUMMARY);
    assert_eq!(void.status.code(), Some(1));
    assert!(words(&void.stdout).contains("void"));
    let plan = json_of(&data, &["compact", "s"]);
    let id = plan["compaction"].as_str().expect("a name").to_owned();
    assert!(ok(&data, &["abandon", "s", &id, "not today"]).contains("given up"));
    let again = recount(&data, &["abandon", "s", &id]);
    assert_eq!(again.status.code(), Some(3));
    let usage = recount(
        &data,
        &["summarised", "s", &id, "--error", "x", "--usage", "{"],
    );
    assert_eq!(usage.status.code(), Some(3));
}

#[test]
fn r2_a_refusal_is_answered_with_the_next_step() {
    let (_scratch, data) = talk();
    ok(&data, &["prepare", "s"]);
    let first = recount(&data, &["overflowed", "s", TOO_LONG]);
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let said = words(&first.stdout);
    assert!(
        said.contains("210,118 of 200,000") || said.contains("210118 of 200000"),
        "{said}"
    );
    let second = fed(
        &data,
        &["overflowed", "s", "-", "--status", "400"],
        TOO_LONG,
    );
    assert!(
        second.status.code().is_some_and(|code| code < 2),
        "{second:?}"
    );
    let other = recount(&data, &["overflowed", "s", "rate limit reached"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(words(&other.stdout).contains("surface"));
    let mut last = recount(&data, &["overflowed", "s", TOO_LONG, "--body"]);
    for _ in 0..8 {
        if last.status.code() == Some(1) {
            break;
        }
        let body: Value = serde_json::from_slice(&last.stdout).expect("a body");
        assert!(body["messages"].is_array());
        last = recount(&data, &["overflowed", "s", TOO_LONG, "--body"]);
    }
    assert_eq!(
        (last.status.code(), last.stdout.len()),
        (Some(1), 0),
        "{last:?}"
    );
    assert!(!words(&last.stderr).is_empty());
    let list = json_of(&data, &["actions", "s"]);
    let id = list["actions"][0]["id"]
        .as_str()
        .expect("something to tell")
        .to_owned();
    assert!(ok(&data, &["actions", "s"]).contains("tell"));
    assert!(ok(&data, &["done", "s", &id]).contains("answered"));
    let unknown = recount(&data, &["done", "s", "tell-99999"]);
    assert_eq!(unknown.status.code(), Some(3));
    assert!(words(&unknown.stderr).contains("next:"));
}
