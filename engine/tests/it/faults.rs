//! A disk that refuses, a log of a newer version, and requests that are too large: what each kind of error promises.

use crate::common::{CHAT, Fixture, answers, digest, says};
use recount::disk::{Fault, Operation, SimulatedDisk, Survival};
use recount::{Chance, Engine, ErrorKind, Options, api};
use serde_json::value::RawValue;
use std::io;
use std::sync::Arc;

fn engine(disk: &SimulatedDisk) -> Engine {
    let options = Options {
        disk: Some(Arc::new(disk.clone())),
        chance: Chance::Seeded(3),
        ..Options::default()
    };
    Engine::open("/nowhere", options).unwrap()
}

fn fail(disk: &SimulatedDisk, operation: Operation, times: u64) {
    disk.fail(Fault {
        operation,
        after: 0,
        times,
        kind: io::ErrorKind::StorageFull,
        short: 0,
    });
}

fn keyed(text: &str) -> api::Append {
    let events = vec![RawValue::from_string(says(text)).unwrap()];
    api::Append {
        events,
        key: Some("k".into()),
        ..Default::default()
    }
}

#[test]
fn law_04_a_refused_append_leaves_nothing() {
    let disk = SimulatedDisk::new();
    let engine = engine(&disk);
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    session.append(CHAT).unwrap();
    let before = (digest(&session), session.status().unwrap().head);
    fail(&disk, Operation::Write, 1);
    let error = session.append(&[&says("x")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert_eq!((digest(&session), session.status().unwrap().head), before);
    disk.heal();
    let receipt = session.append(&[&says("y")]).unwrap();
    assert_eq!(receipt.first, before.1 + 1);
    let again = self::engine(&disk.crashed(Survival::Lost));
    assert_eq!(digest(&again.session("s").unwrap()), digest(&session));
}

#[test]
fn an_unknown_outcome_is_settled_by_the_same_key() {
    for times in [1, 2, 3, 50] {
        let disk = SimulatedDisk::new();
        let engine = engine(&disk);
        let session = engine.create("s", Some("gpt-5".into())).unwrap();
        let head = session.append(CHAT).unwrap().head;
        fail(&disk, Operation::Sync, times);
        let first = session.append_with(keyed("once"));
        disk.heal();
        let second = session.append_with(keyed("once")).unwrap();
        assert_eq!(
            (second.first, second.durable),
            (head + 1, Some(head + 1)),
            "{first:?}"
        );
        let again = self::engine(&disk.crashed(Survival::Lost));
        let log = again.session("s").unwrap().log(0, 100).unwrap();
        assert_eq!(
            log.events
                .iter()
                .filter(|event| event.get().contains("once"))
                .count(),
            1
        );
    }
}

#[test]
fn law_11_what_was_acknowledged_is_there_after_any_crash() {
    let mut at = 0;
    loop {
        let disk = SimulatedDisk::new();
        let engine = engine(&disk);
        let session = engine.create("s", Some("gpt-5".into())).unwrap();
        session.append(CHAT).unwrap();
        disk.halt_at(disk.operations() + at);
        let mut acknowledged = session.status().unwrap().durable.unwrap();
        let mut went_through = true;
        for turn in 0..3 {
            match session.append(&[&answers("a"), &says(&turn.to_string())]) {
                Ok(receipt) => acknowledged = acknowledged.max(receipt.durable.unwrap_or(0)),
                Err(_) => went_through = false,
            }
        }
        if session.prepare(api::Prepare::default()).is_err() {
            went_through = false;
        }
        for survival in [Survival::Lost, Survival::Torn(at)] {
            let after = self::engine(&disk.crashed(survival));
            let found = after.session("s").unwrap();
            assert!(found.status().unwrap().head >= acknowledged, "at={at}");
            assert_eq!(
                found.verify().unwrap().problems,
                Vec::<String>::new(),
                "at={at}"
            );
            found.append(&[&says("goes on")]).unwrap();
        }
        if went_through {
            break;
        }
        at += 1;
    }
    assert!(at > 3, "the crash was never in the way");
}

#[test]
fn the_host_is_told_when_durability_is_lost_and_regained() {
    let disk = SimulatedDisk::new();
    let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let options = Options {
        disk: Some(Arc::new(disk.clone())),
        ..Options::default()
    };
    options
        .notices
        .listen(move |notice: &recount::Notice| hears.lock().unwrap().push(notice.clone()));
    let engine = Engine::open("/nowhere", options).unwrap();
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    fail(&disk, Operation::Write, u64::MAX);
    let ordered = api::Append {
        durability: Some(api::Durability::Ordered),
        ..keyed("pending")
    };
    session.append_with(ordered).unwrap();
    let _ = session.sync();
    disk.heal();
    session.sync().unwrap();
    engine.close().unwrap();
    let heard = heard.lock().unwrap();
    let [
        recount::Notice::DurabilityLost { cause },
        recount::Notice::DurabilityRegained,
    ] = &heard[..]
    else {
        panic!("{heard:?}")
    };
    assert!(!cause.is_empty());
}

#[test]
fn what_waits_for_the_disk_is_named() {
    let disk = SimulatedDisk::new();
    let engine = engine(&disk);
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    let head = session.append(CHAT).unwrap().head;
    fail(&disk, Operation::Write, u64::MAX);
    let ordered = api::Append {
        durability: Some(api::Durability::Ordered),
        ..keyed("pending")
    };
    session.append_with(ordered).unwrap();
    let error = session.append(&[&says("after")]).unwrap_err();
    assert_eq!(
        (error.kind(), error.since()),
        (ErrorKind::NotDurable, Some(head + 1)),
        "{error}"
    );
    assert_eq!(
        session.prepare(api::Prepare::default()).unwrap_err().kind(),
        ErrorKind::NotDurable
    );
    let status = session.status().unwrap();
    assert_eq!(
        (status.head, status.durable, status.not_durable_since),
        (head + 1, Some(head), Some(head + 1))
    );
    disk.heal();
    assert_eq!(session.sync().unwrap().durable, Some(head + 1));
    session.append(&[&answers("then")]).unwrap();
}

#[test]
fn an_essential_event_of_a_newer_version_is_read_not_written() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let text = session
        .export(api::Export::default())
        .unwrap()
        .text
        .unwrap();
    let next = session.status().unwrap().head + 1;
    let lines: Vec<&str> = text.lines().collect();
    let (trailer, rest) = lines.split_last().unwrap();
    let head = rest
        .last()
        .unwrap()
        .split("\"digest\":\"")
        .nth(1)
        .unwrap()
        .get(..64)
        .unwrap();
    let previous = recount_wal::RecordDigest(bytes(head));
    let kind = 0x8000 | 999;
    let digest = recount_wal::RecordDigest::of(previous, next, kind, 1, &[0, 0, 0]);
    let line = format!(
        r#"{{"seq":{next},"digest":"{digest}","kind":{kind},"schema":1,"body":"AAAA","contents":[]}}"#
    );
    let trailer = trailer
        .replace(head, &digest.to_string())
        .replace(&format!(":{next}"), &format!(":{}", next + 1));
    let archive = format!("{}\n{line}\n{trailer}\n", rest.join("\n"));
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("newer.jsonl");
    std::fs::write(&path, archive).unwrap();
    let other = Fixture::new();
    let engine = other.engine();
    engine
        .import(&api::Import {
            path: path.to_string_lossy().into_owned(),
            ..Default::default()
        })
        .unwrap();
    let session = engine.session("s").unwrap();
    assert_eq!(
        session.append(&[&says("x")]).unwrap_err().kind(),
        ErrorKind::Newer
    );
    assert_eq!(
        session.project(api::Project::default()).unwrap().outcome,
        api::Outcome::Ready
    );
    assert_eq!(session.log(next, 1).unwrap().events.len(), 1);
}

fn bytes(hex: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[place * 2..place * 2 + 2], 16).unwrap();
    }
    bytes
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    let line = vec![b' '; recount::MAX_LINE + 1];
    assert!(
        dispatcher.call_bytes(&line).is_none(),
        "a blank line is blank however long"
    );
    let line = vec![b'{'; recount::MAX_LINE + 1];
    let answer = dispatcher.call_bytes(&line).unwrap();
    assert!(answer.contains("too_large"), "{answer}");
}
