//! Section 8: concurrency and order.

use crate::desk::{Desk, sent};
use crate::disk::{SEGMENT, on, said, says};
use recount::disk::SimulatedDisk;
use recount::{Chance, Clock, Engine, ErrorKind, Options, api};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Every file of a folder, by its path in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                let name = path.strip_prefix(folder).unwrap();
                found.insert(name.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    found
}

/// Two processes that overlapped without a lock: each wrote its own event 580, in segments of its own, and both are there.
#[test]
fn pain_77_a_position_that_was_given_twice_is_reported_and_the_session_lives() {
    let origin = SimulatedDisk::new();
    let session = on(&origin)
        .create("s", Some("claude-sonnet-5".into()))
        .unwrap();
    let events: Vec<_> = (2..580).map(|seq| says(&format!("line {seq}"))).collect();
    let ask = api::Append {
        events,
        ..Default::default()
    };
    assert_eq!(session.append_with(ask).unwrap().head, 579);
    session.engine().close().unwrap();
    let segment = |number: u64| format!("segments/{number:016x}.seg");
    let small = |disk: &SimulatedDisk| {
        let options = Options {
            disk: Some(Arc::new(disk.clone())),
            chance: Chance::Seeded(9),
            segment_bytes: Some(4_096),
            ..Options::default()
        };
        Engine::open("/nowhere", options).unwrap()
    };
    let copy = || {
        let copy = SimulatedDisk::new();
        copy.put("key", origin.bytes("key").unwrap());
        copy.put(SEGMENT, origin.bytes(SEGMENT).unwrap());
        copy
    };
    // Both go on from 579; the one begins a segment with its 580, the other writes something else first.
    let (one, other) = (copy(), copy());
    let write = |disk: &SimulatedDisk, first: Option<&str>, words: &str| {
        let engine = small(disk);
        if let Some(first) = first {
            let else_where = engine.create("elsewhere", None).unwrap();
            else_where
                .append(&[says(&first.repeat(3_500)).get()])
                .unwrap();
        }
        let session = engine.session("s").unwrap();
        assert_eq!(session.append(&[says(words).get()]).unwrap().head, 580);
        engine.close().unwrap();
    };
    write(&one, None, "580 of the one");
    write(&other, Some("x"), "580 of the other");
    let both = SimulatedDisk::new();
    both.put("key", origin.bytes("key").unwrap());
    both.put(SEGMENT, one.bytes(SEGMENT).unwrap());
    both.put(&segment(1), one.bytes(&segment(1)).unwrap());
    let holds = |number: u64| {
        let bytes = other.bytes(&segment(number)).unwrap_or_default();
        bytes.windows(16).any(|part| part == b"580 of the other")
    };
    let theirs = (2..9).find(|number| holds(*number)).unwrap();
    both.put(&segment(2), other.bytes(&segment(2)).unwrap());
    if theirs != 2 {
        both.put(&segment(theirs), other.bytes(&segment(theirs)).unwrap());
    }
    let engine = on(&both);
    let session = engine.session("s").unwrap();
    let all = said(&session);
    assert_eq!(all.len(), 579, "every position once");
    assert_eq!(
        all.last().map(String::as_str),
        Some("580 of the one"),
        "what came first stands"
    );
    let verified = engine.verify().unwrap();
    assert_ne!(verified.state, api::State::Clean, "{verified:?}");
    assert!(
        !verified.problems.is_empty()
            || verified.sessions.iter().any(|one| !one.damaged.is_empty()),
        "{verified:?}"
    );
    let receipt = session.append(&[says("and on").get()]).unwrap();
    assert_eq!(receipt.first, 581);
    assert!(sent(&session).shows("and on"));
}

/// The same in an archive: the line is told of, and nothing is made of it in silence.
#[test]
fn pain_77_an_archive_with_a_position_twice_is_refused_with_its_line() {
    let desk = Desk::new();
    desk.turn("one");
    let path = desk.folder().join("twice");
    let ask = api::Export {
        path: Some(path.to_string_lossy().into_owned()),
        ..Default::default()
    };
    desk.session().export(ask).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut twice = lines.clone();
    twice.insert(3, lines[2]);
    std::fs::write(&path, twice.join("\n") + "\n").unwrap();
    let found = recount::doctor::examine(&path);
    assert!(
        !found.is_well() && found.doubted.iter().any(|note| note.line == 4),
        "{found:?}"
    );
    let import = api::Import {
        path: path.to_string_lossy().into_owned(),
        name: Some("twin".into()),
        ..Default::default()
    };
    assert!(desk.engine().import(&import).is_err());
    assert_eq!(
        desk.engine().session("twin").unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[cfg(unix)]
#[test]
fn pain_78_two_writers_of_one_directory_never_mix() {
    use recount::share::Handle;
    let desk = Desk::new();
    let second = Engine::open(desk.folder(), Options::default()).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Locked);
    assert!(second.holder().is_some() && !second.next().is_empty());

    let dir = tempfile::tempdir().unwrap();
    let one = Handle::open(dir.path(), Options::default()).unwrap();
    let two = Handle::open(dir.path(), Options::default()).unwrap();
    assert!(one.local().is_some() && two.local().is_none());
    let opened = one
        .call("v1.session.open", r#"{"session":"s","create":true}"#)
        .unwrap();
    assert!(opened.get().contains("\"head\":0"));
    let writers: Vec<_> = [("one", one), ("two", two)]
        .into_iter()
        .map(|(name, handle)| {
            std::thread::spawn(move || {
                for turn in 0..25 {
                    let turn = [json!({"type": "message", "role": "user", "content": format!("{name} asks {turn}")}),
                        json!({"type": "message", "role": "assistant", "content": format!("{name} hears {turn}")})];
                    let ask = json!({"session": "s", "events": turn});
                    handle.call("v1.session.append", &ask.to_string()).unwrap();
                }
                handle
            })
        })
        .collect();
    let handles: Vec<Handle> = writers.into_iter().map(|one| one.join().unwrap()).collect();
    let stale = json!({"session": "s", "expect": 3, "events": [{"type": "message", "role": "user", "content": "stale"}]});
    let error = handles[1]
        .call("v1.session.append", &stale.to_string())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let log = handles[1]
        .call("v1.session.log", r#"{"session":"s"}"#)
        .unwrap();
    let log: Value = serde_json::from_str(log.get()).unwrap();
    let said: Vec<&str> = log["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|event| event["content"].as_str())
        .collect();
    assert_eq!(said.len(), 100);
    for pair in said.chunks(2) {
        assert_eq!(
            pair[0].replace("asks", "hears"),
            pair[1],
            "a batch was parted"
        );
    }
    for name in ["one", "two"] {
        let own: Vec<&&str> = said.iter().filter(|line| line.starts_with(name)).collect();
        let expected: Vec<String> = (0..25)
            .flat_map(|turn| {
                [
                    format!("{name} asks {turn}"),
                    format!("{name} hears {turn}"),
                ]
            })
            .collect();
        assert_eq!(own, expected.iter().collect::<Vec<_>>());
    }
    drop(handles);
    assert!(files(dir.path()).contains_key(SEGMENT));
}

#[test]
fn pain_79_a_clock_that_runs_back_orders_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicU64::new(1_700_000_000_000));
    let clock = Arc::clone(&now);
    let options = Options {
        clock: Clock::Own(Arc::new(move || clock.load(Ordering::Relaxed))),
        ..Options::default()
    };
    let engine = Engine::open(dir.path(), options).unwrap();
    let session = engine.create("s", Some("claude-sonnet-5".into())).unwrap();
    let line = |role: &str, text: &str| {
        json!({"type": "message", "role": role, "content": text}).to_string()
    };
    session
        .append(&[&line("user", "first"), &line("assistant", "second")])
        .unwrap();
    // The client's clock is ten minutes behind.
    now.fetch_sub(600_000, Ordering::Relaxed);
    let third = session.append(&[&line("user", "third")]).unwrap().first;
    let projected = session.project(api::Project::default()).unwrap();
    assert_eq!(
        projected.outcome,
        api::Outcome::Ready,
        "the question is the newest, whatever its time"
    );
    let sent = sent(&session);
    let body = sent.anthropic.to_string();
    let at = |text: &str| body.find(text).unwrap();
    assert!(at("first") < at("second") && at("second") < at("third"));
    session.append(&[&line("assistant", "fourth")]).unwrap();
    let log = session.log(0, 100).unwrap();
    let seqs: Vec<u64> = log
        .events
        .iter()
        .map(|event| {
            serde_json::from_str::<Value>(event.get()).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert!(seqs.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    // Back in time says what it comes to: a position, by the order of the log.
    let back = session.rollback(api::To::Seq(third)).unwrap();
    assert_eq!(back.to, third);
    assert_eq!(session.verify().unwrap().state, api::State::Clean);
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
}
