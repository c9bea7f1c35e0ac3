//! Events of the first version, an event of every kind: read and written the same for ever.
//!
//! - `golden/v1/NAME.json` is a log line, `NAME.hex` its bytes. `UPDATE=1 cargo test -p recount-events --test golden` writes the bytes of new lines;
//!   bytes that are there already change only with the file deleted, which a released kind never needs.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail tests")]

use recount_events::{Encoded, Event, Found, Held, KINDS, Logged, Millis};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Base names of the lines, sorted.
fn names() -> Vec<(String, PathBuf)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/golden/v1"));
    let lines = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let lines = lines.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut all: Vec<_> = lines
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().into(), path))
        .collect();
    all.sort();
    all
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// The file of an encoded event.
fn print(encoded: &Encoded) -> String {
    let Encoded {
        kind,
        schema,
        time,
        body,
        contents,
    } = encoded;
    let mut out = format!(
        "kind {kind}\nschema {schema}\ntime {}\nbody {}\n",
        time.0,
        hex(body)
    );
    for (salt, bytes) in contents {
        writeln!(out, "content {} {}", hex(salt), hex(bytes)).unwrap();
    }
    out
}

fn parse(file: &str) -> Encoded {
    let mut encoded = Encoded {
        kind: 0,
        schema: 0,
        time: Millis(0),
        body: vec![],
        contents: vec![],
    };
    for line in file.lines() {
        let (word, value) = line.split_once(' ').unwrap();
        match word {
            "kind" => encoded.kind = value.parse().unwrap(),
            "schema" => encoded.schema = value.parse().unwrap(),
            "time" => encoded.time = Millis(value.parse().unwrap()),
            "body" => encoded.body = unhex(value),
            "content" => {
                let (salt, bytes) = value.split_once(' ').unwrap();
                encoded
                    .contents
                    .push((unhex(salt).try_into().unwrap(), Arc::from(unhex(bytes))));
            }
            other => assert_eq!(other, "content"),
        }
    }
    encoded
}

/// The event of a line, sealed under salts that count up from the kind.
fn read(line: &str) -> Logged {
    let mut logged = Event::from_log_json(line).unwrap();
    let mut next = logged.event.body.kind().to_le_bytes()[0];
    logged.event.seal(&mut || {
        next = next.wrapping_add(1);
        [next; 16]
    });
    logged
}

/// What a log finds of the contents: all that was at hand.
fn found(encoded: &Encoded) -> Vec<Found> {
    let contents = encoded.contents.iter();
    contents
        .map(|(salt, bytes)| Found::Here {
            salt: *salt,
            bytes: Arc::clone(bytes),
        })
        .collect()
}

#[test]
fn lines_and_bytes_agree_for_ever() {
    for (name, path) in names() {
        let line = std::fs::read_to_string(&path).unwrap();
        let Logged { seq, digest, event } = read(line.trim_end());
        let encoded = event.encode().unwrap();
        let stored = path.with_extension("hex");
        if std::env::var_os("UPDATE").is_some() && !stored.exists() {
            std::fs::write(&stored, print(&encoded)).unwrap();
        }
        let file = std::fs::read_to_string(&stored).expect("UPDATE=1 writes it");
        assert_eq!(print(&encoded), file, "{name}");
        let old = parse(&file);
        let back = Event::decode(old.kind, old.schema, &old.body, found(&old)).unwrap();
        assert_eq!(back, event, "{name}");
        assert_eq!(back.encode().unwrap(), old, "{name}");
        assert_eq!(
            back.to_json(seq.unwrap(), digest.as_ref()),
            line.trim_end(),
            "{name}"
        );
        let gone = event
            .texts()
            .iter()
            .filter(|text| !matches!(text.held, Held::Here(_)))
            .count();
        assert_eq!(
            gone > 0,
            line.contains("\"lost\":true") || line.contains("\"erased\":true"),
            "{name}"
        );
    }
}

#[test]
fn every_kind_has_one() {
    let seen: BTreeSet<u16> = names()
        .iter()
        .map(|(_, path)| parse(&std::fs::read_to_string(path.with_extension("hex")).unwrap()).kind)
        .collect();
    assert!(KINDS.iter().all(|(kind, _)| seen.contains(kind)));
    assert!(seen.contains(&33_000));
}
