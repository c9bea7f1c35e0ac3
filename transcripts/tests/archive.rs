//! The archive: what was logged comes back byte for byte, and damage is placed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod common;

use recount_events::{Body, Digest, Event, Form, Found, Held, Kept, Millis, Seq, Text};
use recount_transcripts::archive::{Archive, Entry, Header, Trailer, header, line, read, trailer};
use recount_transcripts::{FormatName, NoFiles, Problem, Refused, detect};
use std::sync::Arc;

fn event(words: &str, raw: &[u8]) -> Event {
    let kept = Kept {
        name: Text::plain(words),
        raw: Text::new(Form::Bytes, raw),
    };
    Event {
        at: Millis(7),
        body: Body::Kept(kept),
        because: None,
        extra: Some(Text::json("{\"a\":1}")),
    }
}

fn entry(seq: u64, event: &mut Event) -> Entry {
    let mut salt = seq as u8;
    event.seal(&mut || {
        salt = salt.wrapping_add(1);
        [salt; 16]
    });
    let encoded = event.encode().unwrap();
    let contents = encoded
        .contents
        .into_iter()
        .map(|(salt, bytes)| Found::Here { salt, bytes })
        .collect();
    let digest = Digest([seq as u8; 32]);
    Entry {
        seq: Seq(seq),
        digest,
        kind: encoded.kind,
        schema: encoded.schema,
        body: encoded.body,
        contents,
    }
}

fn archive(session: &str, entries: &[Entry]) -> String {
    let first = entries.first().map_or(Seq(0), |entry| entry.seq);
    let mut text = header(&Header {
        session: session.to_owned(),
        first,
    });
    entries
        .iter()
        .for_each(|entry| text.push_str(&line(entry, Some("{\"type\":\"kept\"}"))));
    let head = entries.last().map(|entry| entry.digest);
    text.push_str(&trailer(&Trailer {
        count: entries.len() as u64,
        head,
    }));
    text
}

fn two() -> Vec<Entry> {
    vec![
        entry(0, &mut event("a \"name\"\u{2028}\0é", b"\xff\x00\n")),
        entry(1, &mut event("", b"")),
    ]
}

fn entries(archive: &Archive) -> Vec<Entry> {
    archive
        .sessions
        .iter()
        .flat_map(|session| &session.entries)
        .map(|line| line.entry.clone())
        .collect()
}

#[test]
fn what_was_logged_comes_back() {
    let logged = two();
    let text = archive("a\nb", &logged);
    assert_eq!(detect(text.as_bytes()), Some(FormatName::Archive));
    let found = read(text.as_bytes()).unwrap();
    assert_eq!(entries(&found), logged);
    assert_eq!(
        found.sessions[0].header,
        Header {
            session: "a\nb".to_owned(),
            first: Seq(0)
        }
    );
    assert_eq!(
        found.sessions[0].trailer,
        Some(Trailer {
            count: 2,
            head: Some(Digest([1; 32]))
        })
    );
    assert!(found.report.doubted.is_empty() && found.report.damaged.is_empty());
    let again = found.sessions[0].entries[0]
        .entry
        .event()
        .unwrap()
        .encode()
        .unwrap();
    assert_eq!(again.body, logged[0].body);
}

#[test]
fn texts_that_are_gone_stay_gone() {
    let mut logged = two();
    logged[0].contents[0] = Found::Lost;
    logged[0].contents[1] = Found::Erased;
    let found = read(archive("s", &logged).as_bytes()).unwrap();
    assert_eq!(entries(&found), logged);
    let event = found.sessions[0].entries[0].entry.event().unwrap();
    let held: Vec<bool> = event
        .texts()
        .iter()
        .map(|text| matches!(text.held, Held::Here(_)))
        .collect();
    assert_eq!(held.iter().filter(|here| !**here).count(), 2);
}

#[test]
fn a_changed_content_is_lost() {
    let mut logged = two();
    logged[1].contents[0] = Found::Here {
        salt: [9; 16],
        bytes: Arc::from(*b"{}"),
    };
    let found = read(archive("s", &logged).as_bytes()).unwrap();
    let event = found.sessions[0].entries[1].entry.event().unwrap();
    assert!(matches!(event.texts()[0].held, Held::Lost));
}

#[test]
fn damage_is_placed_and_the_rest_is_read() {
    let text = archive("s", &two());
    let broken: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(at, line)| {
            if at == 1 {
                line.replace("body", "bod")
            } else {
                line.to_owned()
            }
        })
        .collect();
    let found = read(broken.join("\n").as_bytes()).unwrap();
    assert_eq!(entries(&found).len(), 1);
    let damage = &found.report.damaged[0];
    assert_eq!(
        (damage.line, damage.offset, damage.problem),
        (2, text.find('\n').unwrap() as u64 + 1, Problem::Malformed)
    );
    assert!(
        found
            .report
            .doubted
            .iter()
            .all(|doubt| doubt.problem == Problem::Inconsistent)
    );
    assert_eq!(
        found.report.doubted.len(),
        2,
        "a gap, and a count that does not hold"
    );
}

#[test]
fn an_archive_that_breaks_off_says_so() {
    let text = archive("s", &two());
    for end in 1..text.len() {
        let Ok(found) = read(&text.as_bytes()[..end]) else {
            continue;
        };
        assert!(
            !found.report.doubted.is_empty() || found.sessions[0].trailer.is_some(),
            "at {end}"
        );
    }
}

#[test]
fn several_archives_stand_behind_one_another() {
    let text = archive("a", &two()) + &archive("b", &[]) + &archive("c", &two()[1..]);
    let found = read(text.as_bytes()).unwrap();
    let counts: Vec<(&str, usize)> = found
        .sessions
        .iter()
        .map(|session| (session.header.session.as_str(), session.entries.len()))
        .collect();
    assert_eq!(counts, [("a", 2), ("b", 0), ("c", 1)]);
    assert!(found.report.doubted.is_empty());
}

#[test]
fn newer_archives_and_others_are_refused() {
    let newer = "{\"recount_archive\":2,\"session\":\"s\"}\n";
    assert_eq!(
        read(newer.as_bytes()).unwrap_err(),
        Refused::Newer { version: 2 }
    );
    assert_eq!(
        read(b"{}").unwrap_err(),
        Refused::NotThis {
            format: FormatName::Archive
        }
    );
    let text = archive("s", &two());
    assert_eq!(
        recount_transcripts::read(text.as_bytes(), None, "s", &NoFiles).unwrap_err(),
        Refused::Archive
    );
}
