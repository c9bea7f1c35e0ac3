//! Tasks of Cline and of Roo through the binary: in, again, shown, out into real folders, and whatever lies there instead.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says so by failing"
)]

mod support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{RECOUNT, json_of, ok, recount};

const HISTORY: &str = "api_conversation_history.json";
const UI: &str = "ui_messages.json";
const EDITS: &str = "context_history.json";

/// A task of two turns with a call, a cut range, an edit, and letters of many kinds.
fn task(folder: &Path) {
    let history = concat!(
        r#"[{"role":"user","content":[{"type":"text","text":"<task>\ngrüße 👋🏽 \u2028 \ud83d e\u0301 \u202e\n</task>"}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t0","name":"read_file","input":{"path":"ä/\ud83d"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t0","content":[{"type":"text","text":"[read_file for 'ä'] Result:\nlong"}]}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"fine"}]},"#,
        r#"{"role":"user","content":[{"type":"text","text":"<feedback>\nmore\n</feedback>"}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"more"}]}]"#
    );
    let ui = concat!(
        r#"[{"ts":1700000000000,"type":"say","say":"text","text":"grüße","conversationHistoryIndex":-1},"#,
        r#"{"ts":1700000003000,"type":"say","say":"checkpoint_created","lastCheckpointHash":"abc","conversationHistoryIndex":3},"#,
        r#"{"ts":1700000009000,"type":"say","say":"text","text":"cut","conversationHistoryIndex":5,"conversationHistoryDeletedRange":[2,3]}]"#
    );
    let edits = r#"[[1,[0,[[0,[[1700000005000,"text",["notice"],[]]]]]]]]"#;
    std::fs::create_dir_all(folder).expect("a folder");
    for (name, text) in [(HISTORY, history), (UI, ui), (EDITS, edits)] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("a path of UTF-8").to_owned()
}

/// All files below a folder, by their paths.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
        }
    }
    found
}

fn export(data: &Path, session: &str, out: &str) -> std::process::Output {
    let ask = ["export", session, "--format", "cline-task", "--out", out];
    recount(data, &ask)
}

fn exported(data: &Path, session: &str, out: &Path) {
    let done = export(data, session, &text(out));
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// What a refusal says.
fn refused(done: &std::process::Output) -> String {
    assert!(!done.status.success(), "it was not refused");
    assert!(done.status.code().is_some(), "it was killed");
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// The messages of a session's next prompt, in which the person says one more word.
fn messages(data: &Path, session: &str) -> Value {
    let events = data.join("../words.jsonl");
    let word = json!({"type": "message", "role": "user", "content": "on", "authored": true});
    std::fs::write(&events, word.to_string()).expect("a file");
    ok(data, &["append", session, &text(&events)]);
    let profile = json!({"provider": "anthropic", "model": "m", "wire": "anthropic", "window": 10_000_000, "max_output": 1_000});
    let profile = profile.to_string();
    let ask = [
        "project",
        session,
        "--heal",
        "--body",
        "--profile",
        &profile,
    ];
    let body: Value = serde_json::from_str(&ok(data, &ask)).expect("a body of JSON");
    body["messages"].clone()
}

fn scratch() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (data, folder) = (
        scratch.path().join("data"),
        scratch.path().join("1700000000000"),
    );
    task(&folder);
    ok(&data, &["import", &text(&folder)]);
    (scratch, data, folder)
}

#[test]
fn a_task_goes_out_into_a_folder_byte_for_byte() {
    let (scratch, data, folder) = scratch();
    let out = scratch.path().join("new/deep/1700000000000");
    exported(&data, "1700000000000", &out);
    for name in [HISTORY, UI, EDITS] {
        let (before, after) = (
            std::fs::read(folder.join(name)).expect("it was there"),
            std::fs::read(out.join(name)).expect("it is written"),
        );
        assert_eq!(before, after, "{name}");
    }
    assert_eq!(
        files(&scratch.path().join("new")).len(),
        3,
        "and nothing else"
    );
    let again = json_of(&data, &["import", &text(&out)]);
    assert_eq!(again["sessions"][0]["state"], "same");
}

#[test]
fn a_path_may_be_relative_and_end_with_a_slash() {
    let (scratch, data, _) = scratch();
    for out in ["here", "there/", "./a/../b", "grüße 👋/x"] {
        let done = Command::new(RECOUNT)
            .current_dir(scratch.path())
            .args(["--data", "data", "export", "1700000000000"])
            .args(["--format", "cline-task", "--out", out])
            .output()
            .expect("the binary runs");
        if out.contains("..") {
            // The folder in between is made where it is needed, or the path is refused; nothing lands elsewhere.
            assert!(done.status.success() == scratch.path().join("b").is_dir());
            continue;
        }
        assert!(
            done.status.success(),
            "{out}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        assert_eq!(files(&scratch.path().join(out)).len(), 3, "{out}");
    }
    assert!(data.is_dir());
}

#[test]
fn nothing_is_written_over() {
    let (scratch, data, _) = scratch();
    let out = scratch.path().join("taken");
    std::fs::create_dir(&out).expect("a folder");
    // A folder with other files takes the task; one with a file of a task does not, be it a link into nothing.
    std::fs::write(out.join("notes.txt"), "mine").expect("a file");
    exported(&data, "1700000000000", &out);
    assert_eq!(files(&out).len(), 4);
    for name in [HISTORY, UI, EDITS] {
        let out = scratch.path().join(format!("with {name}"));
        std::fs::create_dir(&out).expect("a folder");
        std::fs::write(out.join(name), "mine").expect("a file");
        let why = refused(&export(&data, "1700000000000", &text(&out)));
        assert!(why.contains(name), "{why}");
        let after: Vec<_> = files(&out).into_iter().collect();
        assert_eq!(after, [(out.join(name), b"mine".to_vec())]);
    }
    #[cfg(unix)]
    {
        let out = scratch.path().join("link");
        std::fs::create_dir(&out).expect("a folder");
        std::os::unix::fs::symlink("nowhere", out.join(UI)).expect("a link");
        let why = refused(&export(&data, "1700000000000", &text(&out)));
        assert!(why.contains(UI), "{why}");
        let link = out.join(UI).symlink_metadata().expect("it is there");
        assert!(link.is_symlink());
    }
}

#[test]
fn a_place_that_takes_no_folder_is_named_and_left_as_it_is() {
    let (scratch, data, _) = scratch();
    let file = scratch.path().join("a file");
    std::fs::write(&file, "mine").expect("a file");
    let before = files(scratch.path());
    let places = [file.clone(), file.join("below"), file.join("further/below")];
    for out in places {
        let why = refused(&export(&data, "1700000000000", &text(&out)));
        assert!(!why.contains("panicked"), "{why}");
    }
    let own = refused(&export(
        &data,
        "1700000000000",
        &text(&data.join("segments")),
    ));
    assert!(own.contains("data directory"), "{own}");
    let unknown = refused(&export(&data, "nobody", &text(&scratch.path().join("new"))));
    assert!(
        unknown.contains("nobody") || unknown.contains("session"),
        "{unknown}"
    );
    assert!(!scratch.path().join("new").exists());
    assert_eq!(std::fs::read(&file).expect("it is there"), b"mine");
    let outside = |all: BTreeMap<PathBuf, Vec<u8>>| -> Vec<PathBuf> {
        let paths = all.into_keys();
        paths.filter(|path| !path.starts_with(&data)).collect()
    };
    assert_eq!(
        outside(before),
        outside(files(scratch.path())),
        "nothing is left"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let closed = scratch.path().join("closed");
        std::fs::create_dir(&closed).expect("a folder");
        let mode = |mode| std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode));
        mode(0o555).expect("its mode");
        // Who may write anywhere is not stopped by it.
        if std::fs::write(closed.join("probe"), "").is_err() {
            refused(&export(&data, "1700000000000", &text(&closed)));
            refused(&export(&data, "1700000000000", &text(&closed.join("new"))));
            assert_eq!(files(&closed).len(), 0);
        }
        mode(0o755).expect("its mode");
    }
}

#[test]
fn a_name_with_slashes_is_no_path() {
    let (scratch, data, folder) = scratch();
    for name in ["a/b/../c", "/etc/x", "grüße/👋", "..", "\u{202e}x"] {
        ok(&data, &["import", &text(&folder), "--name", name]);
        let out = scratch.path().join("out");
        exported(&data, name, &out);
        assert_eq!(files(&out).len(), 3, "{name}");
        std::fs::remove_dir_all(&out).expect("a folder");
    }
}

#[test]
fn a_session_from_elsewhere_is_the_same_conversation_as_a_task() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("data");
    let line = |uuid: u8, parent: Value, kind: &str, content: Value| {
        json!({"type": kind, "uuid": format!("u{uuid}"), "parentUuid": parent, "sessionId": "s", "timestamp": format!("2026-01-02T03:04:0{uuid}.000Z"),
            "message": {"role": kind, "content": content}})
        .to_string()
    };
    let lines = [
        line(0, Value::Null, "user", json!("grüße 👋🏽 \u{2028} e\u{301}")),
        line(
            1,
            json!("u0"),
            "assistant",
            json!([{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t0", "name": "Read", "input": {"file_path": "ä"}}]),
        ),
        line(
            2,
            json!("u1"),
            "user",
            json!([{"type": "tool_result", "tool_use_id": "t0", "content": [{"type": "text", "text": "found"}], "is_error": true}]),
        ),
        line(
            3,
            json!("u2"),
            "assistant",
            json!([{"type": "text", "text": "There."}]),
        ),
        line(
            4,
            json!("u3"),
            "user",
            json!([{"type": "text", "text": "thanks"}]),
        ),
    ];
    let file = scratch.path().join("elsewhere.jsonl");
    std::fs::write(&file, lines.join("\n")).expect("a file");
    ok(&data, &["import", &text(&file)]);
    let out = scratch.path().join("1700000000001");
    exported(&data, "elsewhere", &out);
    ok(&data, &["import", &text(&out)]);
    // And out once more.
    let more = scratch.path().join("more");
    exported(&data, "1700000000001", &more);
    let (here, there) = (
        messages(&data, "1700000000001"),
        messages(&data, "elsewhere"),
    );
    assert_eq!(here, there);
    assert!(here.to_string().contains("grüße 👋🏽"));
    for (path, bytes) in files(&out) {
        let name = path.file_name().expect("a name");
        assert_eq!(files(&more)[&more.join(name)], bytes, "{name:?}");
    }
    assert!(ok(&data, &["verify"]).contains("directory: clean"));
}

/// Imports what lies in a folder in place of a task's files.
fn survives(data: &Path, folder: &Path, what: &str) -> Option<Value> {
    let name = format!("n{}", what.len());
    let mut ask = vec!["--json", "import"];
    let path = text(folder);
    ask.extend([path.as_str(), "--name", &name]);
    let done = recount(data, &ask);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!said.contains("panicked"), "{what}: {said}");
    let code = done.status.code();
    assert!(code.is_some_and(|code| code < 100), "{what}: {code:?}");
    let answer: Option<Value> = serde_json::from_slice(&done.stdout).ok();
    assert!(
        done.status.success()
            == answer
                .as_ref()
                .is_some_and(|answer| answer["sessions"].is_array()),
        "{what}: {said}"
    );
    assert!(done.status.success() || !said.trim().is_empty(), "{what}");
    answer.filter(|_| done.status.success())
}

#[test]
fn whatever_lies_in_the_place_of_a_file_is_told_and_the_rest_is_read() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("data");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!(
        "[{{\"role\":\"user\",\"content\":\"x\",\"id\":\"{}\"}}]",
        "9".repeat(3 << 20)
    );
    let bytes: [(&str, Vec<u8>); 8] = [
        ("nothing", Vec::new()),
        ("NULs", vec![0; 4096]),
        ("no UTF-8", b"[{\"role\":\"user\",\"content\":\"\xff\xfe\xc3\"}]".to_vec()),
        ("nesting", deep.into_bytes()),
        ("a huge id", long.into_bytes()),
        ("a mark and line ends", b"\xef\xbb\xbf[\r\n{\"role\":\"user\",\"content\":\"x\"}\r\n]\r\n".to_vec()),
        ("numbers", br#"[{"ts":1e400,"role":"user","content":"x","conversationHistoryIndex":1e400,"conversationHistoryDeletedRange":[-9e99,1e400]},{"ts":1.5,"conversationHistoryIndex":0.5,"conversationHistoryDeletedRange":[2.0,3.0]},{"ts":-0,"conversationHistoryDeletedRange":[99999999999999999999,-1]}]"#.to_vec()),
        ("equal times", br#"[{"ts":5,"conversationHistoryIndex":1},{"ts":5,"conversationHistoryIndex":3,"conversationHistoryDeletedRange":[-3,-2]},{"ts":5,"conversationHistoryIndex":0,"conversationHistoryDeletedRange":[2,999]}]"#.to_vec()),
    ];
    for name in [HISTORY, UI, EDITS] {
        for (what, bytes) in &bytes {
            let folder = scratch.path().join(format!("{what} {name}"));
            task(&folder);
            std::fs::write(folder.join(name), bytes).expect("a file");
            let what = format!("{what} in {name}");
            let answer =
                survives(&data, &folder, &what).unwrap_or_else(|| panic!("{what}: refused"));
            let told = |key: &str| answer[key].as_array().map_or(0, Vec::len);
            let quiet = name != UI
                && ["numbers", "equal times"]
                    .iter()
                    .any(|odd| what.starts_with(odd));
            assert!(
                quiet
                    || told("damaged") + told("doubted") > 0
                    || what.starts_with("a huge id in ui"),
                "{what}: nothing is said"
            );
        }
    }
    assert!(ok(&data, &["verify"]).contains("directory: clean"));
}

#[cfg(unix)]
#[test]
fn folders_links_and_circles_in_the_place_of_files_are_no_files() {
    use std::os::unix::fs::symlink;
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("data");
    for name in [HISTORY, UI, EDITS] {
        for kind in ["folder", "circle", "nowhere", "device"] {
            let folder = scratch.path().join(format!("{kind} {name}"));
            task(&folder);
            let place = folder.join(name);
            std::fs::remove_file(&place).expect("it was there");
            let made = match kind {
                "folder" => std::fs::create_dir(&place),
                "circle" => symlink(name, &place),
                "nowhere" => symlink("/nowhere/at/all", &place),
                _ => symlink("/dev/zero", &place),
            };
            made.expect("something else");
            let answer = survives(&data, &folder, &format!("{kind} {name}"));
            assert!(answer.is_some(), "{kind} {name}: the rest is a task");
        }
    }
    // A tree that leads into itself ends.
    let tree = scratch.path().join("tree");
    task(&tree.join("1700000000000"));
    symlink(&tree, tree.join("again")).expect("a link");
    let done = json_of(&data, &["import", &text(&tree)]);
    assert_eq!(done["sessions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn files_that_break_off_give_what_stood_before() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (data, whole) = (scratch.path().join("data"), scratch.path().join("whole"));
    task(&whole);
    let bytes = std::fs::read(whole.join(HISTORY)).expect("it is there");
    for end in (0..bytes.len()).step_by(97) {
        let folder = scratch.path().join(format!("1{end:012}"));
        task(&folder);
        std::fs::write(folder.join(HISTORY), &bytes[..end]).expect("a file");
        let answer = json_of(&data, &["import", &text(&folder)]);
        assert_eq!(answer["damaged"].as_array().map(Vec::len), Some(1), "{end}");
        messages(&data, &format!("1{end:012}"));
    }
    assert!(ok(&data, &["verify"]).contains("directory: clean"));
}

/// The recordings: beside the checkout, or where `RECOUNT_SHARED` says.
fn corpus(format: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("RECOUNT_SHARED").map_or(beside, PathBuf::from);
    let corpus = shared.join("corpus").join(format);
    if corpus.is_dir() {
        return Some(corpus);
    }
    eprintln!("left out: no recordings at {}", corpus.display());
    None
}

#[test]
fn all_recordings_come_in_twice_are_shown_and_go_out() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path().join("data");
    for format in ["cline-task", "roo-task", "cline-sdk-session"] {
        let Some(corpus) = corpus(format) else { return };
        let first = json_of(&data, &["import", &text(&corpus)]);
        let again = json_of(&data, &["import", &text(&corpus)]);
        assert_eq!(first["damaged"], json!([]), "{format}");
        let sessions = again["sessions"].as_array().expect("sessions");
        assert_eq!(
            Some(sessions.len()),
            first["sessions"].as_array().map(Vec::len)
        );
        for session in sessions {
            assert_eq!(session["state"], "same", "{session}");
            let name = session["session"].as_str().expect("a name");
            exported(&data, name, &scratch.path().join("out").join(name));
            let said = messages(&data, name);
            let valid = said.as_array().is_some_and(|all| {
                all.iter().all(|one| {
                    one["content"]
                        .as_array()
                        .is_some_and(|blocks| !blocks.is_empty())
                })
            });
            assert!(valid, "{name}");
        }
    }
    assert!(ok(&data, &["verify"]).contains("directory: clean"));
}
