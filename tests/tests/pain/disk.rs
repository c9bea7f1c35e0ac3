//! Section 7: crash, corruption, disk.

use crate::desk::Desk;
use recount::disk::{Fault, Operation, SimulatedDisk, Survival};
use recount::{Chance, Clock, Engine, ErrorKind, Options, Session, api, evidence};
use recount_transcripts::archive;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The first segment of a log.
pub(crate) const SEGMENT: &str = "segments/0000000000000000.seg";

/// An engine on a disk of the test's own.
pub(crate) fn on(disk: &SimulatedDisk) -> Engine {
    let options = Options {
        disk: Some(Arc::new(disk.clone())),
        chance: Chance::Seeded(7),
        clock: Clock::Own(Arc::new(|| 1_700_000_000_000)),
        ..Options::default()
    };
    Engine::open("/nowhere", options).unwrap()
}

pub(crate) fn says(text: &str) -> Box<RawValue> {
    let event = json!({"type": "message", "role": "user", "content": text});
    serde_json::value::to_raw_value(&event).unwrap()
}

/// Appends with a key and a durability.
fn ask(text: &str, key: Option<&str>, durability: api::Durability) -> api::Append {
    api::Append {
        events: vec![says(text)],
        key: key.map(str::to_owned),
        durability: Some(durability),
        ..Default::default()
    }
}

/// All that the person said, in the order of the log.
pub(crate) fn said(session: &Session) -> Vec<String> {
    let mut said = Vec::new();
    let mut from = 0;
    loop {
        let page = session.log(from, 1_000).unwrap();
        for event in &page.events {
            let event: Value = serde_json::from_str(event.get()).unwrap();
            if event["type"] == "message" {
                said.push(event["content"].as_str().unwrap_or_default().to_owned());
            }
        }
        match page.next {
            Some(next) => from = next,
            None => return said,
        }
    }
}

/// Where frames begin.
fn frames(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len())
        .step_by(8)
        .filter(|at| bytes[*at..].starts_with(b"RCF\x01"))
        .collect()
}

/// Where the words stand.
fn place(bytes: &[u8], words: &[u8]) -> usize {
    bytes
        .windows(words.len())
        .position(|part| part == words)
        .unwrap()
}

#[test]
fn pain_65_the_last_record_cut_at_every_byte() {
    let disk = SimulatedDisk::new();
    let engine = on(&disk);
    let session = engine.create("s", Some("claude-sonnet-5".into())).unwrap();
    for turn in 0..5 {
        let text = format!("line {turn}");
        session
            .append_with(ask(&text, None, api::Durability::Synced))
            .unwrap();
    }
    let bytes = disk.crashed(Survival::Kept).bytes(SEGMENT).unwrap();
    let last = *frames(&bytes).last().unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    assert!(bytes[last..end].windows(6).any(|part| part == b"line 4"));
    let mut opened = 0;
    for cut in last..end {
        for nul in [false, true] {
            let mut left = bytes[..cut].to_vec();
            if nul {
                left.resize(bytes.len(), 0);
            }
            let torn = SimulatedDisk::new();
            torn.put("key", disk.bytes("key").unwrap());
            torn.put(SEGMENT, left);
            let engine = on(&torn);
            let session = engine.session("s").unwrap();
            assert_eq!(
                said(&session),
                ["line 0", "line 1", "line 2", "line 3"],
                "cut at {cut}"
            );
            let state = engine.verify().unwrap().state;
            let expected = if cut == last {
                api::State::Clean
            } else {
                api::State::Torn
            };
            assert_eq!(state, expected, "cut at {cut}, zeros behind it: {nul}");
            session
                .append_with(ask("line 4", None, api::Durability::Synced))
                .unwrap();
            assert_eq!(said(&session).len(), 5);
            opened += 1;
        }
    }
    println!("{opened} cut logs opened");
    assert!(opened > 600);
}

#[test]
fn pain_66_one_bad_record_of_7166() {
    const ALL: usize = 7_166;
    let disk = SimulatedDisk::new();
    let session = on(&disk)
        .create("s", Some("claude-sonnet-5".into()))
        .unwrap();
    let mut events: Vec<Box<RawValue>> = Vec::new();
    // Two are there already: the opening and the profile. Every tenth is metadata, the others are said.
    for number in 2..ALL {
        events.push(if number % 10 == 0 {
            let mark = json!({"type": "checkpoint", "label": format!("mark {number};")});
            serde_json::value::to_raw_value(&mark).unwrap()
        } else {
            says(&format!("line {number};"))
        });
    }
    for batch in events.chunks(300) {
        let ask = api::Append {
            events: batch.to_vec(),
            durability: Some(api::Durability::Ordered),
            ..Default::default()
        };
        session.append_with(ask).unwrap();
    }
    session.sync().unwrap();
    let whole = said(&session);
    session.engine().close().unwrap();
    let bytes = disk.bytes(SEGMENT).unwrap();
    for (words, lost) in [("mark 3580;", 0), ("line 3583;", 1)] {
        let at = place(&bytes, words.as_bytes());
        let head = frames(&bytes[..at]).pop().unwrap();
        let mut broken = bytes.clone();
        broken[head + 64] ^= 0xff;
        let hurt = SimulatedDisk::new();
        hurt.put("key", disk.bytes("key").unwrap());
        hurt.put(SEGMENT, broken);
        let engine = on(&hurt);
        let session = engine.session("s").unwrap();
        assert_eq!(said(&session).len(), whole.len() - lost, "{words}");
        assert_eq!(session.status().unwrap().head, ALL as u64 - 1);
        let verified = session.verify().unwrap();
        assert_eq!(verified.state, api::State::Damaged);
        let [damaged] = verified.damaged.as_slice() else {
            panic!("{words}: {:?}", verified.damaged);
        };
        assert_eq!(damaged.first, damaged.last);
        assert_eq!(words[5..9].parse(), Ok(damaged.first));
        assert_eq!(damaged.offset, head as u64);
        assert_eq!(verified.events, ALL as u64 - 1);
    }
}

#[test]
fn pain_68_a_short_write_and_its_retry_leave_one_whole_record() {
    let mut tried = 0;
    for short in (0..900).step_by(7) {
        let disk = SimulatedDisk::new();
        let session = on(&disk)
            .create("s", Some("claude-sonnet-5".into()))
            .unwrap();
        disk.fail(Fault {
            operation: Operation::Write,
            after: 0,
            times: 1,
            kind: io::ErrorKind::StorageFull,
            short,
        });
        let wanted = || ask("said once", Some("k"), api::Durability::Synced);
        let first = session.append_with(wanted());
        disk.heal();
        let second = session.append_with(wanted()).unwrap();
        let third = session.append_with(wanted()).unwrap();
        assert!(third.repeated && third.first == second.first);
        assert!(first.is_err() || second.repeated);
        let after = on(&disk.crashed(Survival::Lost)).session("s").unwrap();
        assert_eq!(said(&after), ["said once"], "short={short}");
        assert_eq!(after.verify().unwrap().problems, Vec::<String>::new());
        tried += usize::from(first.is_err());
    }
    println!("{tried} short writes repeated");
    assert!(tried > 100);
}

#[test]
fn pain_69_line_ends_of_every_kind_inside_a_record() {
    let odd = "a\nb\u{2028}c\u{2029}d\u{85}e\rf\u{b}g\u{c}h\r\n";
    let mut desk = Desk::new();
    desk.says(odd);
    desk.answers(odd);
    desk.says("and?");
    assert!(desk.sent().shows(odd));
    let digest = desk.digest();
    desk.reopen();
    assert!(desk.sent().shows(odd));
    let path = desk.folder().join("an archive");
    let ask = api::Export {
        path: Some(path.to_string_lossy().into_owned()),
        ..Default::default()
    };
    let exported = desk.session().export(ask).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(
        lines as u64,
        exported.events + 2,
        "one line a record, and two around them"
    );
    let import = api::Import {
        path: path.to_string_lossy().into_owned(),
        name: Some("twin".into()),
        ..Default::default()
    };
    desk.engine().import(&import).unwrap();
    let twin = desk.engine().session("twin").unwrap();
    let twin = twin.project(api::Project {
        heal: true,
        ..Default::default()
    });
    assert_eq!(twin.unwrap().digest, digest);

    // A recording whose host wrote these characters raw, as JSON allows.
    let raw = "one\u{2028}two\u{85}three\u{2029}";
    let line = |uuid: &str, parent: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"r\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{raw}{uuid}\"}}}}\n"
        )
    };
    let path = desk.folder().join("r.jsonl");
    std::fs::write(&path, line("u1", "null") + &line("u2", "\"u1\"")).unwrap();
    let import = api::Import {
        path: path.to_string_lossy().into_owned(),
        ..Default::default()
    };
    let imported = desk.engine().import(&import).unwrap();
    assert_eq!((imported.read, imported.damaged.len()), (2, 0));
    assert_eq!(
        said(&desk.engine().session("r").unwrap()),
        [format!("{raw}u1"), format!("{raw}u2")]
    );
}

#[test]
fn pain_70_a_full_disk_for_five_appends_and_then_space() {
    let disk = SimulatedDisk::new();
    let session = on(&disk)
        .create("s", Some("claude-sonnet-5".into()))
        .unwrap();
    let head = session
        .append_with(ask("before", None, api::Durability::Synced))
        .unwrap()
        .head;
    disk.fail(Fault {
        operation: Operation::Write,
        after: 0,
        times: u64::MAX,
        kind: io::ErrorKind::StorageFull,
        short: 0,
    });
    // The first is accepted and waits; the host is told from where on nothing is durable.
    let waits = session
        .append_with(ask("waits", None, api::Durability::Ordered))
        .unwrap();
    assert_eq!((waits.head, waits.durable), (head + 1, Some(head)));
    for number in 0..5 {
        let error = session
            .append_with(ask(
                &format!("refused {number}"),
                None,
                api::Durability::Synced,
            ))
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.since()),
            (ErrorKind::NotDurable, Some(head + 1)),
            "{error}"
        );
        assert!(!error.next().is_empty());
    }
    let status = session.status().unwrap();
    assert_eq!(status.not_durable_since, Some(head + 1));
    assert_eq!(said(&session), ["before", "waits"], "reading goes on");
    let report = session.engine().stats(&api::Stats::default()).unwrap();
    assert_eq!(report.backlog.batches, 1);
    disk.heal();
    assert_eq!(session.sync().unwrap().durable, Some(head + 1));
    session
        .append_with(ask("after", None, api::Durability::Synced))
        .unwrap();
    assert_eq!(session.status().unwrap().not_durable_since, None);
    let resumed = on(&disk.crashed(Survival::Lost)).session("s").unwrap();
    assert_eq!(said(&resumed), ["before", "waits", "after"]);
}

/// The child of the next test: appends and says what was acknowledged, until it is killed.
#[test]
fn pain_71_child() {
    let Some(folder) = std::env::var_os("PAIN_71") else {
        return;
    };
    let engine = Engine::open(PathBuf::from(folder), Options::default()).unwrap();
    let session = engine.create("s", None).unwrap();
    for number in 0..u64::MAX {
        let receipt = session
            .append_with(ask(
                &format!("line {number}"),
                None,
                api::Durability::Synced,
            ))
            .unwrap();
        assert_eq!(receipt.durable, Some(receipt.head));
        println!("acknowledged {number}");
        io::stdout().flush().unwrap();
    }
}

#[test]
fn pain_71_what_was_acknowledged_survives_a_kill() {
    let mut acknowledged_in_all = 0;
    for round in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "disk::pain_71_child", "--nocapture"])
            .env("PAIN_71", dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = 0;
        let mut hear = |line: io::Result<String>| {
            if line.is_ok_and(|line| line.contains("acknowledged ")) {
                acknowledged += 1;
            }
            acknowledged
        };
        for line in lines.by_ref() {
            if hear(line) > 15 * (round + 1) {
                break;
            }
        }
        // On unix this is SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines {
            hear(line);
        }
        let engine = Engine::open(dir.path(), Options::default()).unwrap();
        let said = said(&engine.session("s").unwrap());
        assert!(
            said.len() >= acknowledged,
            "{} of {acknowledged}",
            said.len()
        );
        for (number, line) in said.iter().enumerate() {
            assert_eq!(*line, format!("line {number}"));
        }
        acknowledged_in_all += acknowledged;
    }
    println!("{acknowledged_in_all} acknowledged, all there");
}

#[test]
fn pain_72_a_compaction_leaves_the_old_bytes_as_they_are() {
    let mut desk = Desk::new();
    for turn in 0..10 {
        desk.turn(&turn.to_string());
    }
    desk.session().sync().unwrap();
    let path = desk.folder().join(SEGMENT);
    let before = std::fs::read(&path).unwrap();
    let old = before.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    desk.fold(desk.head() + 1, "all of it");
    desk.says("and?");
    desk.reopen();
    let after = std::fs::read(&path).unwrap();
    assert!(after.len() >= old && after[..old] == before[..old]);
    let log = desk.session().log(0, 100).unwrap();
    assert_eq!(
        log.events
            .iter()
            .filter(|event| event.get().contains("question"))
            .count(),
        10
    );
}

#[test]
fn pain_73_a_compaction_covers_what_it_names_and_nothing_else() {
    let mut desk = Desk::new();
    let first = desk.turn("0");
    for turn in 1..50 {
        desk.turn(&turn.to_string());
    }
    let limited = desk.session().log(first, 20).unwrap();
    assert_eq!((limited.events.len(), limited.next), (20, Some(first + 20)));
    // A compaction over the window of 20 of 100 items.
    let commit = desk.log(&json!({"type": "compact_commit", "first": first, "last": first + 19, "summary": "the first ten turns"}));
    desk.log(
        &json!({"type": "compact_commit", "first": null, "last": null, "summary": "a marker"}),
    );
    desk.says("and?");
    desk.reopen();
    let sent = desk.sent();
    assert!(sent.shows("the first ten turns"));
    for turn in 0..50 {
        assert_eq!(
            sent.shows(&format!("question {turn}:")),
            turn >= 10,
            "turn {turn}"
        );
    }
    let all = desk.session().log(first, 1_000).unwrap();
    assert_eq!(all.events.len(), 100 + 3, "all of it is in the log");
    let back = desk.session().undo(commit).unwrap();
    assert!(back.digest.is_some() && desk.sent().shows("question 0:"));
}

#[test]
fn pain_74_two_who_write_the_same_file_leave_one_whole_file() {
    let desk = Desk::new();
    for turn in 0..3 {
        desk.turn(&turn.to_string());
    }
    let engine = desk.engine();
    let long = engine.create("long", None).unwrap();
    for part in 0..40 {
        let text = "x".repeat(4_000) + &part.to_string();
        long.append_with(ask(&text, None, api::Durability::Ordered))
            .unwrap();
    }
    let path = desk.folder().join("one file");
    let export = |session: Session| {
        let path = path.to_string_lossy().into_owned();
        std::thread::spawn(move || {
            for _ in 0..15 {
                let ask = api::Export {
                    path: Some(path.clone()),
                    ..Default::default()
                };
                session.export(ask).unwrap();
            }
        })
    };
    let writers: Vec<_> = (0..2)
        .flat_map(|_| [export(desk.session()), export(long.clone())])
        .collect();
    let mut read = 0;
    while writers.iter().any(|writer| !writer.is_finished()) {
        if let Ok(bytes) = std::fs::read(&path) {
            let found = archive::read(&bytes).unwrap();
            assert!(found.report.damaged.is_empty() && found.report.doubted.is_empty());
            assert!(evidence::read(&bytes).is_ok());
            read += 1;
        }
    }
    for writer in writers {
        writer.join().unwrap();
    }
    assert!(
        archive::read(&std::fs::read(&path).unwrap())
            .unwrap()
            .report
            .doubted
            .is_empty()
    );
    let left = std::fs::read_dir(desk.folder()).unwrap();
    let left = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains(".part")
    });
    assert_eq!(left.count(), 0);
    println!("{read} times read while it was being written");
}
