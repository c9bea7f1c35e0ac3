//! Section 7, the checker: a doctor that finds exactly what is hurt.

use crate::desk::Desk;
use crate::disk::{SEGMENT, on, said};
use recount::disk::SimulatedDisk;
use recount::{api, doctor};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// 908 recordings, 11 of which were hurt: the doctor names exactly these, and what is whole in them is still read.
#[test]
fn pain_75_the_doctor_finds_the_corrupt_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut hurt = Vec::new();
    for number in 0..908_usize {
        let path = folder.path().join(format!("{number}.jsonl"));
        let mut bytes = recording(number);
        if number % 80 == 40 {
            harm(&mut bytes, hurt.len());
            hurt.push(path.clone());
        }
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(hurt.len(), 11);
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !doctor::examine(path).is_well())
        .collect();
    found.sort();
    hurt.sort();
    assert_eq!(found, hurt);
    let desk = Desk::new();
    for path in &hurt {
        let places = doctor::examine(path).damaged.len();
        assert!(places > 0, "{}", path.display());
        let import = api::Import {
            path: path.to_string_lossy().into_owned(),
            ..Default::default()
        };
        let imported = desk.engine().import(&import).unwrap();
        assert_eq!(imported.damaged.len(), places, "an import says the same");
        let said = said(
            &desk
                .engine()
                .session(&imported.sessions[0].session)
                .unwrap(),
        );
        assert!(said.len() >= 3, "{}: {said:?}", path.display());
    }
}

fn recording(number: usize) -> Vec<u8> {
    let mut parent = Value::Null;
    let mut text = String::new();
    for turn in 0..4 {
        let uuid = format!("u{number}-{turn}");
        let record = json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "r", "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": format!("line {turn} of {number}")}});
        text += &format!("{record}\n");
        parent = json!(uuid);
    }
    text.into_bytes()
}

/// Hurts the last line, in a way of its own for each number.
fn harm(bytes: &mut Vec<u8>, number: usize) {
    let end = bytes.len();
    let last = bytes[..end - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    let middle = (last + end) / 2;
    match number {
        0 => bytes.truncate(last + 1),
        1 => bytes.truncate(middle),
        2 => bytes.truncate(end - 2),
        3 => bytes[middle..].fill(0),
        4 => bytes[last..].fill(0),
        5 => bytes[last] = b'x',
        6 => bytes[middle..middle + 2].copy_from_slice(&[0xff, 0xfe]),
        7 => bytes.extend_from_slice(b"{\"type\":\"us"),
        8 => bytes.extend_from_slice(&[0; 300]),
        9 => bytes.splice(last..last, *b"}{").for_each(drop),
        _ => bytes.splice(middle..middle, *b"\n").for_each(drop),
    }
}

/// The same with data directories: whatever byte is hurt, the doctor says so or nothing that is read differs.
#[test]
fn pain_75_the_doctor_finds_hurt_directories() {
    let mut desk = Desk::new();
    for turn in 0..6 {
        desk.turn(&turn.to_string());
    }
    let digest = desk.digest();
    desk.reopen();
    let (mut told, mut harmless) = (0, 0);
    let mut bytes = Vec::new();
    desk.reopen_after(|folder| bytes = std::fs::read(folder.join(SEGMENT)).unwrap());
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("segments")).unwrap();
    std::fs::copy(desk.folder().join("key"), copy.path().join("key")).unwrap();
    for at in (0..end).step_by(end / 150 + 1) {
        let mut hurt = bytes.clone();
        hurt[at] ^= 1 << (at % 8);
        std::fs::write(copy.path().join(SEGMENT), hurt).unwrap();
        if doctor::examine(copy.path()).is_well() {
            assert_eq!(read_only_digest(copy.path()), digest, "byte {at}");
            harmless += 1;
        } else {
            told += 1;
        }
    }
    println!("{told} hurt directories told, {harmless} harmless");
    assert!(told > 100);
}

/// The prompt of a copy of a directory.
fn read_only_digest(folder: &Path) -> String {
    let copy = SimulatedDisk::new();
    for name in ["key", SEGMENT] {
        copy.put(name, std::fs::read(folder.join(name)).unwrap());
    }
    let ask = api::Project {
        heal: true,
        ..Default::default()
    };
    on(&copy).session("s").unwrap().project(ask).unwrap().digest
}
