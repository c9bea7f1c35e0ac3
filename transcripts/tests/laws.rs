//! Laws over made-up recordings: whatever the bytes, nothing is lost, and branches are those of the parents.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod common;

use common::{assert_accounted, assert_sound};
use proptest::prelude::*;
use recount_events::{Body, Digest, Found, Seq, Target};
use recount_transcripts::{FormatName, Import, ImportedSession, NoFiles, archive, detect, read};
use std::collections::{BTreeMap, BTreeSet};

fn import(bytes: &[u8]) -> Import {
    read(bytes, Some(FormatName::ClaudeCode), "s", &NoFiles).unwrap()
}

/// The kinds of lines that a made-up recording has; numbers name records, so that parents can be any of them.
#[derive(Clone, Debug)]
struct Made {
    kind: u8,
    parent: usize,
    id: usize,
    sidechain: bool,
}

fn made(kinds: u8) -> impl Strategy<Value = Made> {
    (
        0..kinds,
        0..40_usize,
        0..12_usize,
        prop::bool::weighted(0.1),
    )
        .prop_map(|(kind, parent, id, sidechain)| Made {
            kind,
            parent,
            id,
            sidechain,
        })
}

impl Made {
    /// The line of record `at`. Parents are near, far, later, missing or absent.
    fn line(&self, at: usize) -> String {
        let Made {
            kind,
            parent,
            id,
            sidechain,
        } = self;
        let parent = match parent {
            0..=29 => format!("\"{}\"", at.saturating_sub(parent % 6 + 1)),
            30..=34 => format!("\"{}\"", parent % (at + 3)),
            35 => "null".to_owned(),
            36 => "\"missing\"".to_owned(),
            _ => format!("\"{}\"", at.saturating_sub(1)),
        };
        let head = format!(r#""uuid":"{at}","parentUuid":{parent},"isSidechain":{sidechain}"#);
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"c{id}","content":"x"}}"#);
        match kind {
            0 | 1 => format!(r#"{{"type":"user",{head},"message":{{"content":"{at}"}}}}"#),
            2 | 3 => format!(
                r#"{{"type":"assistant",{head},"message":{{"id":"m{id}","model":"a","content":[{{"type":"text","text":"{at}"}}],"usage":{{"input_tokens":1}}}}}}"#
            ),
            4 => format!(
                r#"{{"type":"assistant",{head},"message":{{"id":"m{id}","model":"b","content":[{{"type":"tool_use","id":"c{id}","name":"Task","input":{{"prompt":"{id}"}}}}]}}}}"#
            ),
            5 => format!(r#"{{"type":"user",{head},"message":{{"content":[{result}]}}}}"#),
            6 => format!(r#"{{"type":"progress",{head},"data":{{"type":"hook_progress"}}}}"#),
            7 => {
                format!(r#"{{"type":"user",{head},"isMeta":true,"message":{{"content":"meta"}}}}"#)
            }
            8 => format!(
                r#"{{"type":"system","subtype":"compact_boundary",{head},"logicalParentUuid":"{id}","compactMetadata":{{"preservedSegment":{{"headUuid":"{id}"}}}}}}"#
            ),
            9 => format!(
                r#"{{"type":"user",{head},"isCompactSummary":true,"message":{{"content":"summary"}}}}"#
            ),
            10 => format!(
                r#"{{"type":"attachment",{head},"attachment":{{"type":"skill_listing","content":"x"}}}}"#
            ),
            11 => format!(
                r#"{{"type":"attachment",{head},"attachment":{{"type":"queued_command","prompt":"x"}}}}"#
            ),
            12 => format!(
                r#"{{"type":"content-replacement","replacements":[{{"toolUseId":"c{id}","replacement":"y"}}]}}"#
            ),
            13 => format!(
                r#"{{"type":"marble-origami-commit","collapseId":"1","summary":"s","firstArchivedUuid":"{id}","lastArchivedUuid":"{at}"}}"#
            ),
            14 => format!(
                r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"message":{{"content":"again"}}}}"#
            ),
            15 => {
                format!(r#"{{"type":"user",{head},"message":{{"content":null}}}}{{"type":"mode"}}"#)
            }
            16 => format!(r#"{{"type":"system","subtype":"api_error",{head}}}"#),
            17 => format!(r#"{{"type":"assistant",{head},"message":{{"id":"m{id}"#),
            _ => "null".to_owned(),
        }
    }
}

fn lines(kinds: u8) -> impl Strategy<Value = Vec<String>> {
    let made = prop::collection::vec(made(kinds), 0..80);
    made.prop_map(|made| {
        made.iter()
            .enumerate()
            .map(|(at, made)| made.line(at))
            .collect()
    })
}

fn text(lines: &[String]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect()
}

/// The positions of the timeline after each event, by nothing but the rollbacks.
fn timelines(session: &ImportedSession) -> Vec<BTreeSet<usize>> {
    let mut all: Vec<BTreeSet<usize>> = Vec::new();
    for (at, imported) in session.events.iter().enumerate() {
        let mut now = all.last().cloned().unwrap_or_default();
        if let Body::Rollback(rollback) = &imported.event.body {
            let Target::Seq(seq) = rollback.asked else {
                panic!()
            };
            now = all[seq.0 as usize].clone();
        }
        now.insert(at);
        all.push(now);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn junk_is_accounted_for(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let import = import(&bytes);
        assert_accounted(&bytes, &import);
        assert_sound(&import);
        if let Some(format) = detect(&bytes) {
            let _ = read(&bytes, Some(format), "s", &NoFiles);
        }
        for format in FormatName::ALL {
            let _ = read(&bytes, Some(format), "s", &NoFiles);
        }
        let _ = archive::read(&bytes);
    }

    #[test]
    fn made_up_recordings_are_accounted_for(lines in lines(19), cut in any::<prop::sample::Index>(), flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let mut bytes = text(&lines);
        for (at, byte) in flips.iter().filter(|_| !lines.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        let end = cut.index(bytes.len() + 1);
        for bytes in [&bytes[..], &bytes[..end]] {
            let import = import(bytes);
            assert_accounted(bytes, &import);
            assert_sound(&import);
            prop_assert_eq!(&import, &read(bytes, Some(FormatName::ClaudeCode), "s", &NoFiles).unwrap());
        }
    }

    #[test]
    fn growing_changes_nothing(lines in lines(19), cut in any::<prop::sample::Index>()) {
        // The main session must be known as such from the start.
        let mut lines = lines;
        lines.insert(0, r#"{"type":"user","uuid":"first","timestamp":"2026-01-01T00:00:00Z","message":{"content":"hi"}}"#.to_owned());
        let end = cut.index(lines.len()) + 1;
        let (part, whole) = (import(&text(&lines[..end])), import(&text(&lines)));
        prop_assert!(part.sessions.len() <= whole.sessions.len());
        for (old, new) in part.sessions.iter().zip(&whole.sessions) {
            prop_assert_eq!(&old.name, &new.name);
            prop_assert_eq!(&old.events[..], &new.events[..old.events.len()]);
        }
    }

    #[test]
    fn parents_are_on_the_timeline_of_their_children(made in prop::collection::vec(made(8), 0..80)) {
        let lines: Vec<String> = made.iter().map(|made| Made { parent: made.parent % 30, sidechain: false, ..made.clone() })
            .enumerate().map(|(at, made)| made.line(at)).collect();
        let import = import(&text(&lines));
        let session = &import.sessions[0];
        let (all, mut places) = (timelines(session), BTreeMap::<String, usize>::new());
        for (at, imported) in session.events.iter().enumerate() {
            let Body::Message(_) = &imported.event.body else { continue };
            let record: serde_json::Value = serde_json::from_str(&lines[imported.source.line as usize - 1]).unwrap();
            let mut parent = record["parentUuid"].as_str().unwrap().to_owned();
            // What shows nothing is looked through.
            while let Some(line) = lines.get(parent.parse::<usize>().unwrap()).filter(|line| line.contains("\"progress\"")) {
                let above = serde_json::from_str::<serde_json::Value>(line).unwrap()["parentUuid"].as_str().unwrap().to_owned();
                if above == parent { break }
                parent = above;
            }
            if let Some(place) = places.get(&parent) {
                prop_assert!(all[at].contains(place), "line {} at {at} is not behind {place}", imported.source.line);
            }
            places.insert(imported.source.id.clone().unwrap(), at);
        }
    }
}

fn found() -> impl Strategy<Value = Found> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        "\\PC{0,8}[\\n\\x00\u{2028}\"]?".prop_map(String::into_bytes)
    ];
    prop_oneof![
        4 => (any::<[u8; 16]>(), bytes).prop_map(|(salt, bytes)| Found::Here { salt, bytes: bytes.into() }),
        1 => Just(Found::Lost),
        1 => Just(Found::Erased),
    ]
}

fn entry() -> impl Strategy<Value = archive::Entry> {
    let body = prop::collection::vec(any::<u8>(), 0..40);
    let contents = prop::collection::vec(found(), 0..4);
    (
        any::<u64>(),
        any::<[u8; 32]>(),
        any::<u16>(),
        any::<u16>(),
        body,
        contents,
    )
        .prop_map(
            |(seq, digest, kind, schema, body, contents)| archive::Entry {
                seq: Seq(seq),
                digest: Digest(digest),
                kind,
                schema,
                body,
                contents,
            },
        )
}

proptest! {
    #[test]
    fn archives_come_back(name in any::<String>(), first in any::<u64>(), entries in prop::collection::vec(entry(), 0..6)) {
        let header = archive::Header { session: name, first: Seq(first) };
        let trailer = archive::Trailer { count: entries.len() as u64, head: entries.last().map(|entry| entry.digest) };
        let lines: String = entries.iter().map(|entry| archive::line(entry, None)).collect();
        let text = archive::header(&header) + &lines + &archive::trailer(&trailer);
        prop_assert_eq!(text.lines().count(), entries.len() + 2);
        let read = archive::read(text.as_bytes()).unwrap();
        let session = &read.sessions[0];
        prop_assert_eq!((&session.header, session.trailer), (&header, Some(trailer)));
        prop_assert_eq!(session.entries.iter().map(|archived| archived.entry.clone()).collect::<Vec<_>>(), entries);
        prop_assert!(read.report.damaged.is_empty());
        for archived in &session.entries {
            let _ = archived.entry.event();
        }
    }
}

/// The same laws where it is steep: long, and all of one unit or of many branches.
#[test]
fn long_recordings_take_no_square_of_time() {
    let one = |at: usize| {
        format!(
            r#"{{"type":"assistant","uuid":"{at}","parentUuid":"0","message":{{"id":"m","content":[{{"type":"tool_use","id":"c"}}]}}}}"#
        )
    };
    let many = |at: usize| {
        format!(
            r#"{{"type":"user","uuid":"{at}","parentUuid":"{}","message":{{"content":"x"}}}}"#,
            if at.is_multiple_of(2) {
                0
            } else {
                at.saturating_sub(2)
            }
        )
    };
    for make in [&one as &dyn Fn(usize) -> String, &many] {
        let lines: Vec<String> = (0..30_000).map(make).collect();
        let bytes = text(&lines);
        let import = import(&bytes);
        assert_accounted(&bytes, &import);
    }
}
