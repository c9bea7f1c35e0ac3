//! A system that refuses the real binary: no descriptors, no right to write, no room.

use super::support::{RECOUNT, Rpc, json_of, ok, recount};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn filled(data: &Path) {
    let mut rpc = Rpc::start(data);
    rpc.result(
        "v1.session.open",
        json!({"session": "s", "create": true, "profile": "claude-sonnet-4-5"}),
    );
    for number in 0..5 {
        let event = json!({"type": "message", "role": "user", "content": format!("line {number}")});
        rpc.result(
            "v1.session.append",
            json!({"session": "s", "events": [event]}),
        );
    }
    assert!(rpc.close().success());
}

/// However few descriptors there are: an answer or an error, no hang, no crash, and the log is whole afterwards.
#[test]
fn too_few_descriptors_are_an_error_and_cost_nothing() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path();
    filled(data);
    let (mut refused, mut done) = (0, 0);
    for limit in 3..36 {
        let script =
            format!("ulimit -n {limit} && exec \"$0\" --data \"$1\" checkpoint s at-{limit}");
        let output = Command::new("timeout")
            .args(["60", "sh", "-c", &script, RECOUNT])
            .arg(data)
            .output()
            .expect("a shell");
        let code = output.status.code();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // 127 and the like are the loader's, which had no descriptor for its libraries.
        let ours = matches!(code, Some(0 | 3))
            || said.contains("shared libraries")
            || said.contains("exec");
        assert!(
            ours && !said.contains("panicked"),
            "limit={limit}: {code:?} {said}"
        );
        match code {
            Some(0) => done += 1,
            _ => refused += 1,
        }
    }
    println!("descriptors exhausted: refused={refused} done={done}");
    assert!(refused > 0 && done > 0, "refused={refused} done={done}");
    let log = ok(data, &["log", "s"]);
    assert_eq!(log.matches("\"checkpoint\"").count(), done, "{log}");
    let verified = ok(data, &["verify"]);
    assert!(verified.contains("clean"), "{verified}");
}

#[test]
fn a_directory_that_cannot_be_written_is_listed_and_shown_and_says_no_to_verbs_that_write() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path();
    filled(data);
    // A process that is killed leaves a last group that nobody has settled.
    let mut rpc = Rpc::start(data);
    rpc.result(
        "v1.session.checkpoint",
        json!({"session": "s", "label": "here"}),
    );
    rpc.kill();
    let Some(_mounted) = ReadOnly::mount(data) else {
        println!("not shown: nothing can be mounted here");
        return;
    };
    let status = json_of(data, &["status", "s"]);
    assert_eq!(status["turns"], 5);
    assert_eq!(status["durable"], status["head"], "{status}");
    assert!(ok(data, &["verify", "--heads", "-"]).contains('s'));
    assert!(ok(data, &["list"]).contains('s'));
    assert!(ok(data, &["show", "s"]).contains("line 4"));
    assert!(ok(data, &["verify"]).contains("clean"));
    let output = recount(data, &["checkpoint", "s", "no"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("can only be read"), "{said}");
}

/// What was accepted and waits for a full disk is gone when the holder ends: it says so, and so does a verb.
#[test]
fn what_a_full_disk_took_at_the_end_is_said_by_who_ends() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let Some(at) = Small::mount(scratch.path()) else {
        println!("not shown: nothing can be mounted here");
        return;
    };
    let data = at.0.join("data");
    filled(&data);
    let ballast = at.0.join("ballast");
    fill(&ballast);
    let answer = json!({"type": "message", "role": "assistant", "content": "w".repeat(200_000)});
    let mut rpc = Rpc::start(&data);
    let receipt = rpc.result(
        "v1.session.append",
        json!({"session": "s", "events": [answer.clone()]}),
    );
    assert!(
        receipt["durable"].as_u64() < receipt["head"].as_u64(),
        "{receipt}"
    );
    assert_eq!(rpc.close().code(), Some(3));
    let elsewhere = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(elsewhere.path(), answer.to_string()).expect("an event");
    let file = elsewhere.path().to_str().expect("a path");
    let output = recount(&data, &["append", "s", file]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("never reached the disk") && said.contains("not_durable"),
        "{said}"
    );
    // Who only looks has lost nothing by that.
    assert!(ok(&data, &["list"]).contains('s'));
    std::fs::remove_file(&ballast).expect("the ballast");
    let log = ok(&data, &["log", "s"]);
    assert!(!log.contains("assistant"), "{log}");
    assert!(ok(&data, &["verify"]).contains("clean"));
}

/// An import that a full disk cuts short says so once, and goes on where it was when there is space.
#[test]
fn an_import_that_a_full_disk_cut_short_goes_on_when_there_is_space() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let Some(at) = Small::mount(scratch.path()) else {
        println!("not shown: nothing can be mounted here");
        return;
    };
    let elsewhere = tempfile::tempdir().expect("a scratch directory");
    let transcript = elsewhere.path().join("long.jsonl");
    let transcript = transcript.to_str().expect("a path");
    std::fs::write(transcript, talk(1_601)).expect("a transcript");
    let data = at.0.join("data");
    let output = recount(&data, &["--json", "import", transcript]);
    assert_eq!(output.status.code(), Some(3));
    let said: Value = serde_json::from_slice(&output.stderr).expect("one error");
    assert_eq!(said["data"]["kind"], "not_durable", "{said}");
    let there = json_of(&data, &["status", "long"])["head"]
        .as_u64()
        .expect("a head");
    assert!(there > 0 && there < 1_601, "{there}");
    let larger = Command::new("mount")
        .args(["-o", "remount,size=16m"])
        .arg(&at.0)
        .status();
    assert!(larger.is_ok_and(|status| status.success()));
    let whole = elsewhere.path().join("whole");
    assert!(ok(&data, &["import", transcript]).contains("grown"));
    ok(&whole, &["import", transcript]);
    for data in [&data, &whole] {
        assert!(ok(data, &["verify"]).contains("clean"));
    }
    let wide = json!({"provider": "anthropic", "model": "m", "wire": "anthropic", "window": 5_000_000, "max_output": 1_000, "prefill": true});
    let wide = wide.to_string();
    let body = |data: &Path| {
        let prompt = json_of(data, &["project", "long", "--profile", &wide]);
        assert_eq!(prompt["outcome"], "ready");
        prompt["request"]["body"].clone()
    };
    assert_eq!(body(&data), body(&whole));
}

/// A transcript of so many long lines.
fn talk(lines: usize) -> String {
    let line = |number: usize| {
        let role = ["user", "assistant"][number % 2];
        let parent = number.checked_sub(1).map(|before| format!("u{before}"));
        let words = format!("line {number} {}", "w".repeat(2_000));
        json!({"type": role, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "long",
            "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": role, "content": [{"type": "text", "text": words}]}})
    };
    (0..lines)
        .map(|number| format!("{}\n", line(number)))
        .collect()
}

/// A disk of two megabytes, until it is dropped.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(at: &Path) -> Option<Small> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(at)
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        mounted.then(|| Small(at.to_path_buf()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The directory mounted over itself without the right to write, until it is dropped.
struct ReadOnly(std::path::PathBuf);

impl ReadOnly {
    fn mount(at: &Path) -> Option<ReadOnly> {
        let mount = |options: &[&str]| {
            let status = Command::new("mount").args(options).arg(at).output();
            status.is_ok_and(|output| output.status.success())
        };
        if !mount(&["--bind", at.to_str()?]) {
            return None;
        }
        let mounted = ReadOnly(at.to_path_buf());
        mount(&["-o", "remount,bind,ro"]).then_some(mounted)
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A holder whose disk is full answers what it has, says since when nothing is durable, and ends when it is asked to.
#[test]
fn a_holder_on_a_full_disk_answers_and_ends() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let Some(at) = Small::mount(scratch.path()) else {
        println!("not shown: nothing can be mounted here");
        return;
    };
    let data = at.0.join("data");
    filled(&data);
    let ballast = at.0.join("ballast");
    fill(&ballast);
    let mut rpc = Rpc::start(&data);
    let words = "w".repeat(20_000);
    let ask =
        json!({"session": "s", "events": [{"type": "message", "role": "user", "content": words}]});
    let mut kinds = Vec::new();
    for _ in 0..12 {
        let answer = rpc.call("v1.session.append", ask.clone());
        if answer["result"].is_object() {
            continue;
        }
        kinds.push(
            answer["error"]["data"]["kind"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    let typed = |kind: &String| ["io", "unknown", "not_durable"].contains(&kind.as_str());
    assert!(!kinds.is_empty() && kinds.iter().all(typed), "{kinds:?}");
    let status = rpc.result("v1.session.status", json!({"session": "s"}));
    assert!(status["durable"].is_u64(), "{status}");
    let shown = rpc.result("v1.session.log", json!({"session": "s", "limit": 3}));
    assert_eq!(shown["events"].as_array().map(Vec::len), Some(3));
    std::fs::remove_file(&ballast).expect("the ballast");
    rpc.result("v1.session.append", ask);
    fill(&ballast);
    let started = std::time::Instant::now();
    rpc.close();
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "it hung at its end"
    );
    std::fs::remove_file(&ballast).expect("the ballast");
    let verified = ok(&data, &["verify"]);
    assert!(verified.contains("clean"), "{verified}");
    println!("the real binary on a full disk: refused={}", kinds.len());
}

fn fill(path: &Path) {
    use std::io::Write as _;
    let mut file = std::fs::File::create(path).expect("a name");
    for size in [4096, 512, 1] {
        let piece = vec![7; size];
        while file.write_all(&piece).is_ok() {}
    }
}
