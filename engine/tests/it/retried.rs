//! What is asked again after a disk refused.

use crate::common::{CALL, CHAT, answers, digest, says};
use recount::disk::{Fault, Operation, SimulatedDisk};
use recount::{Chance, Engine, Error, ErrorKind, Options, api};
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

fn fail(disk: &SimulatedDisk, operation: Operation, after: u64, times: u64) {
    disk.fail(Fault {
        operation,
        after,
        times,
        kind: io::ErrorKind::StorageFull,
        short: 0,
    });
}

const DRAFT: &str =
    r#"{"type":"draft","response":"d1","index":0,"block":{"type":"text","text":"half a sen"}}"#;

#[test]
fn a_draft_outlives_an_interruption_that_the_disk_refused() {
    let disk = SimulatedDisk::new();
    let session = engine(&disk).create("s", Some("gpt-5".into())).unwrap();
    session.append(&[&says("go"), CALL]).unwrap();
    session.append(&[DRAFT]).unwrap();
    fail(&disk, Operation::Write, 0, 1);
    let refused = session.interrupt(api::Interrupt::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Io, "{refused}");
    disk.heal();
    let closed = session.interrupt(api::Interrupt::default()).unwrap();
    assert!(closed.draft);
    assert!(crate::common::body(&session).contains("half a sen"));
    let nothing = session.interrupt(api::Interrupt::default()).unwrap();
    assert!(!nothing.draft);
}

/// What is written and can be asked for again.
type Asked = fn(&Engine) -> Result<(), Error>;

const ASKED: &[(&str, Asked)] = &[
    ("open", |engine| {
        let ask = api::Open {
            session: "s".into(),
            profile: Some("gpt-5-mini".into()),
            key: Some("k".into()),
            ..Default::default()
        };
        engine.open_session(&ask).map(|_| ())
    }),
    ("interrupt", |engine| {
        let ask = api::Interrupt {
            session: "s".into(),
            key: Some("k".into()),
            ..Default::default()
        };
        engine.interrupt(&ask).map(|_| ())
    }),
    ("fork", |engine| {
        let ask = api::Fork {
            session: "s".into(),
            new: "f".into(),
            key: Some("k".into()),
            ..Default::default()
        };
        engine.fork(&ask).map(|_| ())
    }),
    ("checkpoint", |engine| {
        let ask = api::Checkpoint {
            session: "s".into(),
            label: "here".into(),
            key: Some("k".into()),
            ..Default::default()
        };
        engine.checkpoint(&ask).map(|_| ())
    }),
];

#[test]
fn law_11_a_repeat_answers_only_when_what_was_in_doubt_is_on_disk() {
    for (name, asks) in ASKED {
        let disk = SimulatedDisk::new();
        let engine = engine(&disk);
        let session = engine.create("s", Some("gpt-5".into())).unwrap();
        session.append(&[&says("go"), CALL]).unwrap();
        fail(&disk, Operation::Sync, 0, u64::MAX);
        let first = asks(&engine).unwrap_err();
        assert_eq!(first.kind(), ErrorKind::Unknown, "{name}: {first}");
        let again = asks(&engine).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::NotDurable, "{name}: {again}");
        disk.heal();
        asks(&engine).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_fork_that_is_asked_for_again_is_answered_as_before_whatever_its_parent_did() {
    let disk = SimulatedDisk::new();
    let engine = engine(&disk);
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    let head = session.append(CHAT).unwrap().head;
    let ask = api::Fork {
        session: "s".into(),
        new: "f".into(),
        expect: Some(head),
        key: Some("k".into()),
        ..Default::default()
    };
    let first = engine.fork(&ask).unwrap();
    session.append(&[&answers("so"), &says("more")]).unwrap();
    let again = engine.fork(&ask).unwrap();
    assert_eq!((again.session, again.head), (first.session, first.head));
    let other = api::Fork { key: None, ..ask };
    assert_eq!(engine.fork(&other).unwrap_err().field(), Some("new"));
}

#[test]
fn an_archive_that_was_cut_short_under_another_name_gets_it_when_it_is_brought_again() {
    let source = SimulatedDisk::new();
    let from = engine(&source);
    let session = from.create("s", Some("gpt-5".into())).unwrap();
    session.append(CHAT).unwrap();
    for turn in 0..300 {
        session
            .append(&[&answers(&format!("a {turn}")), &says("on")])
            .unwrap();
    }
    let text = session
        .export(api::Export::default())
        .unwrap()
        .text
        .unwrap();
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("s.jsonl");
    std::fs::write(&path, text).unwrap();
    let ask = api::Import {
        path: path.to_string_lossy().into_owned(),
        name: Some("copy".into()),
        ..Default::default()
    };
    let mut goes_on = 0;
    for after in 0.. {
        let disk = SimulatedDisk::new();
        let engine = engine(&disk);
        fail(&disk, Operation::Write, after, u64::MAX);
        let whole = engine.import(&ask).is_ok();
        disk.heal();
        let state = &engine.import(&ask).unwrap().sessions[0].state;
        goes_on += u32::from(!whole && state != "created");
        let listed = engine.list(&api::List::default()).unwrap().sessions;
        let names: Vec<&str> = listed.iter().map(|line| line.session.as_str()).collect();
        assert_eq!(names, ["copy"], "after={after}");
        let copy = engine.session("copy").unwrap();
        assert_eq!(digest(&copy), digest(&session), "after={after}");
        let again = engine.import(&ask).unwrap();
        assert_eq!(again.sessions[0].state, "same", "after={after}");
        if whole {
            break;
        }
    }
    assert!(goes_on > 0, "no import was cut short within");
}
