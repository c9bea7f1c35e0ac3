//! Each verb, as a person types it: output, exit status, `--json`, and no control character of a stranger.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

mod support;

use serde_json::{Value, json};
use std::path::Path;
use support::{json_of, ok, recount};

/// A message list of our own, with a call, and words that try to move the cursor.
fn sample(folder: &Path) -> String {
    let path = folder.join("sample.json");
    let messages = json!({"model": "claude-sonnet-4-5", "system": "be brief", "messages": [
        {"role": "user", "content": "first words \u{1b}[2J\u{1b}]0;title\u{7} and \u{202e}more"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "it"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen\u{9b}31m"}]},
        {"role": "assistant", "content": "It is there."},
        {"role": "user", "content": "second words"}]});
    std::fs::write(&path, messages.to_string()).expect("the sample is written");
    path.to_string_lossy().into_owned()
}

/// A directory with the sample as session `s`.
fn imported() -> tempfile::TempDir {
    let data = tempfile::tempdir().expect("a scratch directory");
    let path = sample(data.path());
    ok(&data.path().join("data"), &["import", &path, "--name", "s"]);
    data
}

fn assert_calm(text: &str) {
    let harmful: Vec<char> = text
        .chars()
        .filter(|character| {
            character.is_control() && *character != '\n'
                || matches!(character, '\u{202a}'..='\u{202e}')
        })
        .collect();
    assert!(
        harmful.is_empty(),
        "{harmful:?} reached the terminal:\n{text}"
    );
}

#[test]
fn every_verb_that_reads_is_calm_and_says_something() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let runs: &[&[&str]] = &[
        &["list"],
        &["show", "s"],
        &["show", "s", "--full", "--all"],
        &["log", "s"],
        &["status", "s"],
        &["explain", "s"],
        &["project", "s", "--pieces"],
        &["verify"],
        &["verify", "s"],
        &["stats"],
        &["stats", "--sessions"],
        &["doctor"],
        &["hello"],
        &["open", "s"],
        &["sync", "s"],
    ];
    for run in runs {
        let output = ok(&data, run);
        assert!(!output.trim().is_empty(), "{run:?} said nothing");
        assert_calm(&output);
    }
    assert!(ok(&data, &["show", "s"]).contains("first words"));
}

#[test]
fn json_is_what_the_protocol_answers() {
    let scratch = imported();
    let data = scratch.path().join("data");
    assert_eq!(json_of(&data, &["list"])["sessions"][0]["session"], "s");
    assert_eq!(json_of(&data, &["project", "s"])["outcome"], "ready");
    assert_eq!(json_of(&data, &["verify"])["state"], "clean");
    assert!(
        json_of(&data, &["log", "s"])["events"]
            .as_array()
            .is_some_and(|events| events.len() > 5)
    );
    assert!(json_of(&data, &["explain", "s"])["tokens"]["total"].as_u64() > Some(0));
}

#[test]
fn a_body_is_printed_to_the_byte() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let body = ok(&data, &["project", "s", "--body"]);
    let answer = json_of(&data, &["project", "s"]);
    assert_eq!(Value::String(body.clone()), answer["request"]["body"]);
    assert_eq!(body.len() as u64, answer["bytes"].as_u64().expect("bytes"));
    let parsed: Value = serde_json::from_str(&body).expect("a body is JSON");
    assert_eq!(parsed["messages"].as_array().map(Vec::len), Some(5));
}

#[test]
fn one_file_that_is_refused_does_not_stop_the_others() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("data");
    let good = sample(scratch.path());
    let bad = scratch
        .path()
        .join("bad.txt")
        .to_string_lossy()
        .into_owned();
    std::fs::write(&bad, "no recording").expect("the file is written");
    let output = recount(&data, &["import", &bad, "/nonexistent/file", &good]);
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains("bad.txt: ") && told.contains("/nonexistent/file: "),
        "{told}"
    );
    assert!(ok(&data, &["list"]).contains("sample"));
}

#[test]
fn without_a_body_the_reason_is_given() {
    let scratch = imported();
    let data = scratch.path().join("data");
    ok(&data, &["rollback", "s", "--turns", "2"]);
    let output = recount(&data, &["project", "s", "--body"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(reason.contains("waiting for person"), "{reason}");
    assert_calm(&reason);
}

#[test]
fn there_and_back_again() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let digest = |data: &Path| json_of(data, &["project", "s"])["digest"].clone();
    let before = digest(&data);
    ok(&data, &["checkpoint", "s", "here"]);
    let rolled = json_of(&data, &["rollback", "s", "--turns", "1"]);
    assert_ne!(digest(&data), before);
    ok(&data, &["undo", "s", &rolled["event"].to_string()]);
    assert_eq!(digest(&data), before);
    let more = data.join("more.jsonl");
    std::fs::write(&more, "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"later\"}\n{\"type\":\"message\",\"role\":\"user\",\"content\":\"and later\"}\n").expect("written");
    ok(&data, &["append", "s", &more.to_string_lossy()]);
    ok(&data, &["rollback", "s", "--checkpoint", "here"]);
    assert_eq!(digest(&data), before);
    ok(&data, &["fork", "s", "twin"]);
    assert_eq!(json_of(&data, &["project", "twin"])["digest"], before);
    let prepared = json_of(&data, &["prepare", "twin"]);
    assert_eq!(prepared["digest"], before);
    assert!(prepared["issued"].is_u64());
    assert_eq!(json_of(&data, &["verify"])["state"], "clean");
}

#[test]
fn an_archive_comes_back_equal() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let archive = scratch
        .path()
        .join("s.archive")
        .to_string_lossy()
        .into_owned();
    ok(&data, &["export", "s", &archive]);
    let elsewhere = scratch.path().join("elsewhere");
    ok(&elsewhere, &["import", &archive]);
    assert_eq!(
        json_of(&elsewhere, &["project", "s"])["digest"],
        json_of(&data, &["project", "s"])["digest"]
    );
    assert_eq!(
        json_of(&elsewhere, &["verify", "s"])["digest"],
        json_of(&data, &["verify", "s"])["digest"],
        "record digests travel"
    );
}

#[test]
fn exit_statuses_say_yes_no_usage_failed() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let status = |args: &[&str]| recount(&data, args).status.code();
    assert_eq!(status(&["diff", "s", "head", "head"]), Some(0));
    assert_eq!(status(&["diff", "s", "5", "head"]), Some(1));
    ok(&data, &["rollback", "s", "--turns", "1"]);
    assert_eq!(status(&["project", "s"]), Some(1), "waiting is no");
    assert_eq!(status(&["rollback", "s"]), Some(2));
    assert_eq!(status(&["no-such-verb"]), Some(2));
    assert_eq!(status(&["project", "nobody"]), Some(3));
    assert_eq!(status(&["rollback", "s", "--turns", "99"]), Some(3));
}

#[test]
fn errors_name_the_next_step() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let output = recount(&data, &["project", "nobody"]);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        text.contains("not_found") && text.contains("next: "),
        "{text}"
    );
    let output = recount(&data, &["--json", "project", "nobody"]);
    let error: Value =
        serde_json::from_slice(&output.stderr).expect("an error is JSON with --json");
    assert_eq!(error["data"]["kind"], "not_found");
}

#[test]
fn bad_events_leave_no_trace() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let before = ok(&data, &["log", "s"]);
    for bad in [
        "",
        "not json",
        "{\"type\":\"nonsense\"}",
        "{\"type\":\"message\",\"role\":\"user\",\"content\":\"fine\"}\n{\"type\":\"tool_result\",\"call\":\"nowhere\",\"content\":\"x\"}",
    ] {
        let path = scratch.path().join("bad.jsonl");
        std::fs::write(&path, bad).expect("written");
        let output = recount(&data, &["append", "s", &path.to_string_lossy()]);
        assert_eq!(output.status.code(), Some(3), "{bad:?}");
    }
    assert_eq!(ok(&data, &["log", "s"]), before);
}

#[test]
fn the_demo_tells_its_story_without_any_recording() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let output = std::process::Command::new(support::RECOUNT)
        .arg("demo")
        .current_dir(scratch.path())
        .env_remove("RECOUNT_DATA")
        .output()
        .expect("runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    for words in [
        "imported",
        "rolled back",
        "undid the rollback",
        "the same bytes, before and after",
        "verified clean",
    ] {
        assert!(text.contains(words), "{words:?} is missing:\n{text}");
    }
}

#[test]
fn completions_and_the_manual_are_generated() {
    let data = tempfile::tempdir().expect("a scratch directory");
    assert!(ok(data.path(), &["completions", "bash"]).contains("recount"));
    assert!(ok(data.path(), &["manual"]).contains(".TH"));
}

#[test]
fn heads_kept_elsewhere_tell_a_cut_log_from_a_damaged_one() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let elsewhere = |name: &str| scratch.path().join(name).to_string_lossy().into_owned();
    let heads = elsewhere("heads");
    let said = ok(&data, &["verify", "--heads", &heads]);
    assert!(said.contains("1 heads written"), "{said}");
    let printed = ok(&data, &["verify", "--heads", "-"]);
    assert_eq!(std::fs::read_to_string(&heads).expect("heads"), printed);
    let archive = elsewhere("s.archive");
    ok(&data, &["export", "s", &archive]);
    for evidence in [&heads, &archive] {
        let said = ok(&data, &["verify", "--against", evidence]);
        assert!(said.contains("what was known up to event"), "{said}");
        ok(&data, &["verify", "s", "--against", evidence]);
    }
    let segment = data.join("segments/0000000000000000.seg");
    let bytes = std::fs::read(&segment).expect("a segment");
    let at = bytes
        .windows(12)
        .position(|part| part == b"second words")
        .expect("the words are in the log");
    std::fs::write(&segment, &bytes[..at]).expect("written");
    std::fs::remove_dir_all(data.join("store")).expect("removed");
    for evidence in [&heads, &archive] {
        let output = recount(&data, &["verify", "--against", evidence]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("s: truncated: event"), "{said}");
    }
    // A check that found something leaves the evidence as it was.
    let output = recount(&data, &["verify", "--against", &heads, "--heads", &heads]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&heads).expect("heads"), printed);
    let other = elsewhere("other");
    recount(&data, &["verify", "--heads", &other]);
    assert_ne!(std::fs::read_to_string(&other).expect("heads"), printed);
    let output = recount(&data, &["verify", "--against", &segment.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(3));
}

/// An end that was cut off is remembered for ever; the heads that hold all the same are replaced.
#[test]
fn a_torn_end_keeps_nobody_from_new_heads_where_the_old_ones_hold() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let heads = scratch.path().join("heads").to_string_lossy().into_owned();
    ok(&data, &["verify", "--heads", &heads]);
    let segment = data.join("segments/0000000000000000.seg");
    let mut bytes = std::fs::read(&segment).expect("a segment");
    bytes.extend([0xff; 40]);
    std::fs::write(&segment, &bytes).expect("written");
    for _ in 0..2 {
        let said = recount(&data, &["verify"]);
        assert!(String::from_utf8_lossy(&said.stdout).contains("torn"));
        ok(&data, &["checkpoint", "s", "here"]);
        let kept = std::fs::read_to_string(&heads).expect("heads");
        let there = || std::fs::read_to_string(&heads).expect("heads");
        let output = recount(&data, &["verify", "--heads", &heads]);
        assert_eq!((output.status.code(), there()), (Some(1), kept.clone()));
        let output = recount(&data, &["verify", "--against", &heads, "--heads", &heads]);
        assert_eq!(output.status.code(), Some(1), "it is torn");
        assert_ne!(there(), kept);
    }
}

#[test]
fn a_content_that_is_lost_is_damage_of_what_was_known_and_named_by_an_export() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let elsewhere = |name: &str| scratch.path().join(name).to_string_lossy().into_owned();
    let heads = elsewhere("heads");
    ok(&data, &["verify", "--heads", &heads]);
    let segment = data.join("segments/0000000000000000.seg");
    let mut bytes = std::fs::read(&segment).expect("a segment");
    let at = bytes
        .windows(12)
        .position(|part| part == b"second words")
        .expect("the words are in the log");
    bytes[at] ^= 1;
    std::fs::write(&segment, &bytes).expect("written");
    let output = recount(&data, &["verify", "--against", &heads]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("s: damaged: event"), "{said}");
    let exported = ok(&data, &["export", "s", &elsewhere("s.archive")]);
    assert!(exported.contains("damaged contents"), "{exported}");
}

/// Evidence is a file: nothing waits for a pipe, nothing takes the place of what is none, and what is gone is told by its first event.
#[cfg(unix)]
#[test]
fn evidence_is_read_from_files_and_written_to_files() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let place = |name: &str| scratch.path().join(name);
    let made = std::process::Command::new("mkfifo")
        .arg(place("pipe"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    std::fs::create_dir(place("folder")).expect("a folder");
    std::os::unix::fs::symlink(place("pipe"), place("link")).expect("a link");
    for name in ["pipe", "folder", "link"] {
        let path = place(name);
        let before = path.symlink_metadata().expect("it is there").file_type();
        for (verb, rest) in [
            ("verify", &["--heads"][..]),
            ("verify", &["--against"]),
            ("export", &["s"]),
            ("prune", &["s", "--yes", "--archive"]),
        ] {
            let mut args = vec![verb];
            args.extend(rest);
            let shown = path.to_string_lossy();
            args.push(&shown);
            let output = recount(&data, &args);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
            assert!(said.contains("not a file"), "{args:?}: {said}");
        }
        let after = path.symlink_metadata().expect("it is there").file_type();
        assert_eq!(after, before, "{name}");
    }
    ok(&data, &["show", "s"]);
}

#[test]
fn doctor_opens_nothing_and_makes_nothing() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let well = ok(&data, &["doctor"]);
    assert!(well.contains("nothing is wrong"), "{well}");
    assert_eq!(json_of(&data, &["doctor"])["state"], "clean");
    let nowhere = scratch.path().join("nowhere");
    let output = recount(&data, &["doctor", &nowhere.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!nowhere.exists());
    std::fs::write(data.join("key.new"), "half").expect("written");
    let said = ok(&data, &["doctor"]);
    assert!(said.contains("take away key.new") && data.join("key.new").exists());
    let said = ok(&data, &["doctor", "--repair"]);
    assert!(
        said.contains("to be done:") && said.contains(": done"),
        "{said}"
    );
    assert!(!data.join("key.new").exists());
    let sample = sample(scratch.path());
    let said = ok(&data, &["doctor", &sample]);
    assert!(said.contains("a recording of another host"), "{said}");
    assert_calm(&said);
}

#[test]
fn who_only_looks_makes_no_directory() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("nowhere");
    assert!(ok(&data, &["list"]).contains("no sessions"));
    assert_eq!(json_of(&data, &["list"]), json!({"sessions": []}));
    for verb in [
        "show", "log", "status", "project", "prepare", "explain", "export",
    ] {
        let output = recount(&data, &[verb, "s"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{verb}");
        assert!(
            told.contains("there is no data directory"),
            "{verb}: {told}"
        );
    }
    for verb in ["verify", "stats"] {
        assert_eq!(recount(&data, &[verb]).status.code(), Some(3));
    }
    assert!(!data.exists());
}

#[test]
fn an_export_writes_over_nothing_of_the_directory() {
    let scratch = imported();
    let data = scratch.path().join("data");
    let key = std::fs::read(data.join("key")).expect("a key");
    for own in ["key", "lock", "segments/0000000000000000.seg", "store/x"] {
        let output = recount(&data, &["export", "s", &data.join(own).to_string_lossy()]);
        assert_eq!(output.status.code(), Some(3), "{own}");
    }
    assert_eq!(std::fs::read(data.join("key")).expect("a key"), key);
    assert!(ok(&data, &["verify"]).contains("clean"));
}

#[test]
fn a_prune_says_what_goes_before_it_does_it() {
    let scratch = imported();
    let data = scratch.path().join("data");
    ok(&data, &["fork", "s", "twin"]);
    let said = ok(&data, &["prune", "s"]);
    assert!(
        said.contains("stays: s (the fork \"twin\" continues it)"),
        "{said}"
    );
    let said = ok(&data, &["prune", "s", "twin"]);
    assert!(
        said.contains("would be forgotten for ever: 2 sessions"),
        "{said}"
    );
    assert_eq!(
        json_of(&data, &["list"])["sessions"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    assert_eq!(
        recount(&data, &["prune"]).status.code(),
        Some(3),
        "no policy"
    );
    assert_eq!(
        recount(&data, &["prune", "--older-than", "3y"])
            .status
            .code(),
        Some(2)
    );
    let streamed = recount(&data, &["prune", "s", "--archive", "-", "--yes"]);
    assert_eq!(streamed.status.code(), Some(3), "cannot be read back");
    let archive = scratch
        .path()
        .join("gone.archive")
        .to_string_lossy()
        .into_owned();
    let said = ok(
        &data,
        &["prune", "s", "twin", "--archive", &archive, "--yes"],
    );
    assert!(said.contains("forgotten for ever: 2 sessions"), "{said}");
    assert!(ok(&data, &["list"]).contains("no sessions"));
    assert!(ok(&data, &["verify"]).contains("clean"));
    ok(&data, &["import", &archive]);
    assert_eq!(
        json_of(&data, &["list"])["sessions"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    let said = ok(&data, &["prune", "nobody", "--yes"]);
    assert!(said.contains("not there: nobody"), "{said}");
}
