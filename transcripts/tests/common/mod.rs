//! What the tests of this crate share: the corpus, if it is there, and the laws that every reading obeys.
#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each test file uses its part"
)]

use recount_events::{Body, Range, Seq, Shape, Target, Text};
use recount_transcripts::{Import, Imported, ImportedSession};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The recordings: beside the repository or where `RECOUNT_SHARED` says. Tests say so when they are not there.
pub fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("RECOUNT_SHARED").map_or(beside, PathBuf::from);
    let corpus = shared.join("corpus");
    if corpus.is_dir() {
        return Some(corpus);
    }
    eprintln!(
        "no recordings at {}: nothing tested with them",
        corpus.display()
    );
    None
}

/// All files below a folder, in order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path))
        } else {
            found.push(path)
        }
    }
    found.sort();
    found
}

/// Every byte of a file that is not white space stands in the source of an event (a byte order mark aside).
pub fn assert_accounted(bytes: &[u8], import: &Import) {
    let mut covered = vec![false; bytes.len()];
    let own = import
        .sessions
        .iter()
        .filter(|session| session.file.is_none());
    for imported in own.flat_map(|session| &session.events) {
        let (from, len) = (
            imported.source.offset as usize,
            imported.source.bytes as usize,
        );
        covered[from..from + len].fill(true);
    }
    let bom = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let lost = (bom..bytes.len()).find(|at| !covered[*at] && !bytes[*at].is_ascii_whitespace());
    assert_eq!(lost, None, "a byte that no event accounts for");
}

/// Session 0 opens, names of places point backwards, texts are at hand.
pub fn assert_sound(import: &Import) {
    let names: std::collections::BTreeSet<&str> = import
        .sessions
        .iter()
        .map(|session| session.name.as_str())
        .collect();
    assert_eq!(names.len(), import.sessions.len(), "names of sessions");
    for session in &import.sessions {
        assert!(matches!(session.events[0].event.body, Body::Opened(_)));
        for (at, imported) in session.events.iter().enumerate() {
            for seq in named(&imported.event.body) {
                assert!(seq.0 <= at as u64, "{} names {seq} at {at}", session.name);
            }
        }
        if let Some((parent, event)) = &session.parent {
            let parent = import
                .sessions
                .iter()
                .find(|other| other.name == *parent)
                .unwrap();
            assert!(*event < parent.events.len());
        }
    }
}

fn named(body: &Body) -> Vec<Seq> {
    match body {
        Body::Rollback(rollback) => match rollback.asked {
            Target::Seq(seq) => vec![seq],
            _ => vec![],
        },
        Body::CompactCommit(commit) => match commit.range {
            Range::KeepFrom(seq) => vec![seq],
            Range::Closed { first, last } => vec![first, last],
            Range::Marker => vec![],
        },
        Body::Replace(replace) => replace.blocks.iter().map(|block| block.seq).collect(),
        Body::ToolResult(result) => result.block.iter().map(|block| block.seq).collect(),
        _ => vec![],
    }
}

/// A text, for people.
pub fn words(text: &Text) -> String {
    String::from_utf8_lossy(text.bytes().unwrap()).into_owned()
}

/// One line for each event: what the scenario tests compare.
pub fn sketch(session: &ImportedSession) -> Vec<String> {
    session
        .events
        .iter()
        .map(|imported| line(&imported.event.body))
        .collect()
}

fn line(body: &Body) -> String {
    match body {
        Body::Opened(opened) => {
            format!("opened {} {:?}", words(&opened.session), opened.kind).to_lowercase()
        }
        Body::Kept(kept) => format!("kept {}", words(&kept.name)),
        Body::Profile(profile) => format!("profile {} {}", words(&profile.model), profile.window),
        Body::Message(message) => {
            let blocks: Vec<String> = message
                .content
                .blocks
                .iter()
                .map(|block| words(&block.raw))
                .collect();
            let authored = message
                .authored
                .map_or(String::new(), |said| format!(" authored={said}"));
            let response = message
                .response
                .as_ref()
                .map_or(String::new(), |id| format!(" response={}", words(id)));
            format!(
                "{:?}{response}{authored} {}",
                message.role,
                blocks.join(" ")
            )
            .to_lowercase()
        }
        Body::Usage(usage) => format!("usage {}/{}", usage.input, usage.output),
        Body::Rollback(rollback) => match rollback.asked {
            Target::Seq(seq) => format!("rollback {seq}"),
            _ => "rollback ?".to_owned(),
        },
        Body::CompactCommit(commit) => match commit.range {
            Range::KeepFrom(seq) => format!(
                "compact before {seq}: {}",
                commit.summary.as_ref().map_or(String::new(), words)
            ),
            _ => "compact ?".to_owned(),
        },
        Body::Inject(inject) => format!("inject {}", words(&inject.slot)),
        Body::ToolResult(result) => format!(
            "result {:?} {:?}",
            result.block.map(|block| (block.seq.0, block.index)),
            result.status
        ),
        Body::Replace(replace) => {
            let blocks: Vec<_> = replace
                .blocks
                .iter()
                .map(|block| (block.seq.0, block.index))
                .collect();
            format!("replace {blocks:?}")
        }
        Body::System(_) => "system".to_owned(),
        Body::Tools(tools) => format!("tools {}", tools.tools.len()),
        other => format!("{other:?}"),
    }
}

/// Every record can be built again from its events: what a message does not hold of its line, its unknown fields do.
pub fn assert_lossless(bytes: &[u8], import: &Import) {
    for session in import
        .sessions
        .iter()
        .filter(|session| session.file.is_none())
    {
        for (at, imported) in session
            .events
            .iter()
            .enumerate()
            .filter(|(_, imported)| imported.source.bytes > 0)
        {
            let from = imported.source.offset as usize;
            let line = &bytes[from..from + imported.source.bytes as usize];
            if let Body::Kept(kept) = &imported.event.body {
                assert_eq!(kept.raw.bytes().unwrap(), line);
                continue;
            }
            // A line with a lone surrogate is no text for this reader; its bytes are compared elsewhere.
            let Ok(record) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            if let Some(extra) = &imported.event.extra {
                assert_eq!(
                    rebuilt(extra, &session.events[at..]),
                    record,
                    "line {}",
                    imported.source.line
                );
            }
        }
    }
}

fn rebuilt(extra: &Text, events: &[Imported]) -> Value {
    let mut record =
        serde_json::from_slice::<Value>(extra.bytes().unwrap()).unwrap()["claude_code"].take();
    let Some(message) = record.get_mut("message").and_then(Value::as_object_mut) else {
        return record;
    };
    let Body::Message(said) = &events[0].event.body else {
        return record;
    };
    if message.contains_key("content") {
        return record;
    }
    let blocks: Vec<Value> = said
        .content
        .blocks
        .iter()
        .map(|block| serde_json::from_slice(block.raw.bytes().unwrap()).unwrap())
        .collect();
    let content = match said.content.shape {
        Shape::String => blocks[0].clone(),
        Shape::Blocks => Value::Array(blocks),
        _ => Value::Null,
    };
    message.insert("content".to_owned(), content);
    if let Some(Body::Usage(usage)) = events.get(1).map(|next| &next.event.body) {
        let raw = usage.raw.as_ref().unwrap();
        message.insert(
            "usage".to_owned(),
            serde_json::from_slice(raw.bytes().unwrap()).unwrap(),
        );
    }
    record
}
