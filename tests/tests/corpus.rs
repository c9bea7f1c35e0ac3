//! Real recordings: every Claude Code file, faults included, read, shown, checked, read again, grown and rewritten.
//!
//! - A cut is ready and valid, or it waits for a stated reason. It is never impossible, and never an error.
//! - Without the recordings the tests say that they were left out.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use recount::{Engine, api};
use recount_tests::host::{self, Verdict, judge};
use recount_tests::recordings::{self, Count, Dice, stem};
use recount_tests::validator::Facts;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Shown for cuts and sessions that have no profile of their own.
const ANTHROPIC: &str = "claude-sonnet-4-5";
/// Shown on the other dialect: a window that holds every recording.
const CHAT: &str = "gpt-4.1";
/// Random cuts of a file.
const CUTS: u64 = 20;

fn import(engine: &Engine, path: &Path) -> api::Imported {
    let ask = api::Import {
        path: path.to_string_lossy().into_owned(),
        format: Some("claude-code-jsonl".into()),
        ..Default::default()
    };
    engine
        .import(&ask)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All events of a session, as the log shows them.
fn log(engine: &Engine, session: &str) -> Vec<Value> {
    let session = engine.session(session).unwrap();
    let mut events = Vec::new();
    let mut from = Some(0);
    while let Some(next) = from {
        let page = session.log(next, 1_000).unwrap();
        events.extend(
            page.events
                .iter()
                .map(|event| serde_json::from_str::<Value>(event.get()).unwrap()),
        );
        from = page.next;
    }
    events
}

/// The report adds up with a count that was made without the reader.
fn accounted(name: &str, count: &Count, bytes: usize, imported: &api::Imported) {
    let own = |note: &&api::Note| !note.problem.contains(" (in ");
    let alone = imported.sessions.len() == 1;
    let all = count.records + count.damaged.len() as u64;
    assert!(
        imported.read == all || (!alone && imported.read > all),
        "{name}: read {} of {all}",
        imported.read
    );
    assert!(imported.kept <= imported.read, "{name}");
    let damaged: Vec<(u64, u64)> = imported
        .damaged
        .iter()
        .filter(own)
        .map(|note| (note.line, note.offset))
        .collect();
    assert_eq!(damaged, count.damaged, "{name}: damage by line and byte");
    for note in imported.doubted.iter().filter(own) {
        assert!(
            note.line <= count.lines && note.offset <= bytes as u64 && !note.problem.is_empty(),
            "{name}: {note:?}"
        );
    }
    for note in &imported.damaged {
        assert!(
            note.bytes.is_some_and(|bytes| bytes > 0),
            "{name}: {note:?}"
        );
    }
}

/// How the cuts of one file came out.
#[derive(Default)]
struct Seen {
    ready: u64,
    waiting: BTreeMap<String, u64>,
    wrong: Vec<String>,
}

impl Seen {
    fn take(&mut self, verdict: Verdict, place: &str) {
        match verdict {
            Verdict::Ready => self.ready += 1,
            Verdict::Waiting(whom) => *self.waiting.entry(whom).or_default() += 1,
            Verdict::Wrong(why) => self.wrong.push(format!("{place}: {why}")),
        }
    }
}

/// One cut on both dialects, for the session's own profile where it has one there; what waits for results is healed as well.
fn cut(engine: &Engine, session: &str, events: &[Value], seq: u64, seen: &mut Seen) {
    for (wire, _) in host::WIRES {
        for heal in [false, true] {
            let place = format!("{session} at {seq} on {wire}, heal: {heal}");
            let verdict = match show(engine, session, events, seq, wire, heal) {
                Ok((projected, facts)) => judge(&projected, &facts),
                Err(error) => Verdict::Wrong(format!("error {error}")),
            };
            let results = verdict == Verdict::Waiting("results".to_owned());
            if results && heal {
                seen.wrong
                    .push(format!("{place}: healed, and still waiting"));
            }
            seen.take(verdict, &place);
            if !results {
                break;
            }
        }
    }
}

fn show(
    engine: &Engine,
    session: &str,
    events: &[Value],
    seq: u64,
    wire: &str,
    heal: bool,
) -> Result<(api::Projected, Facts), recount::Error> {
    let ask = |profile: Option<&str>| api::Project {
        session: session.to_owned(),
        at: api::At::Seq(seq),
        wire: Some(wire.to_owned()),
        profile: profile.map(Into::into),
        heal,
        ..Default::default()
    };
    if wire == "openai_chat" {
        let projected = engine.project(&ask(Some(CHAT)))?;
        return Ok((projected, host::shipped(CHAT)));
    }
    match engine.project(&ask(None)) {
        Ok(projected) => {
            let facts = own(events, seq, &projected.model);
            Ok((projected, facts))
        }
        Err(error) if error.field() == Some("profile") => {
            let projected = engine.project(&ask(Some(ANTHROPIC)))?;
            Ok((projected, host::shipped(ANTHROPIC)))
        }
        Err(error) => Err(error),
    }
}

/// The end of a session for profiles that treat thinking, prefill and system messages differently, in a window that holds everything.
fn other_profiles(engine: &Engine, session: &str, seen: &mut Seen) {
    for (binds, keeps, prefill, kind) in [
        (
            false,
            "all",
            false,
            r#"{"type":"enabled","budget_tokens":2000}"#,
        ),
        (
            false,
            "last",
            true,
            r#"{"type":"enabled","budget_tokens":2000}"#,
        ),
        (false, "none", false, r#"{"type":"adaptive"}"#),
        (true, "all", true, r#"{"type":"adaptive"}"#),
    ] {
        let given = format!(
            r#"{{"provider":"anthropic","model":"claude-sonnet-4-5","wire":"anthropic","window":5000000,"max_output":8000,"body_bytes":0,"images":{{"count":100,"bytes":5242880,"pixels":8000}},"prefill":{prefill},"system_role":{prefill},"thinking":{{"binds":{binds},"keeps":"{keeps}"}},"params":{{"thinking":{kind}}}}}"#
        );
        let profile = api::Spec::json(&given).unwrap();
        let facts = host::facts(&recount::profiles::resolve(&profile).unwrap());
        let ask = api::Project {
            session: session.to_owned(),
            profile: Some(profile),
            heal: true,
            ..Default::default()
        };
        let place = format!("{session}, thinking {kind} kept {keeps} bound {binds}");
        match engine.project(&ask) {
            Ok(projected) => seen.take(judge(&projected, &facts), &place),
            Err(error) => seen.wrong.push(format!("{place}: error {error}")),
        }
    }
}

/// What the newest profile of a model allows, as far as a cut knows it.
fn own(events: &[Value], seq: u64, model: &str) -> Facts {
    let until = usize::try_from(seq).unwrap();
    events
        .iter()
        .take(until + 1)
        .rev()
        .find(|event| event["type"] == "profile" && event["model"] == model)
        .map(host::logged)
        .unwrap_or_else(|| panic!("the log shows no profile of {model}"))
}

#[test]
fn every_recording_is_read_shown_and_checked() {
    let mut failed = Vec::new();
    for path in recordings::claude_code() {
        let began = std::time::Instant::now();
        let name = stem(&path);
        let bytes = std::fs::read(&path).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let engine = host::engine(dir.path()).unwrap();
        let imported = import(&engine, &path);
        accounted(&name, &recordings::count(&bytes), bytes.len(), &imported);
        let mut seen = Seen::default();
        let mut dice = Dice::new(&name);
        let logs: Vec<(&str, Vec<Value>)> = imported
            .sessions
            .iter()
            .map(|line| (line.session.as_str(), log(&engine, &line.session)))
            .collect();
        for (session, events) in &logs {
            cut(&engine, session, events, events.len() as u64 - 1, &mut seen);
            other_profiles(&engine, session, &mut seen);
        }
        let all: u64 = logs.iter().map(|(_, events)| events.len() as u64).sum();
        for _ in 0..CUTS {
            let mut place = dice.below(all);
            for (session, events) in &logs {
                if place < events.len() as u64 {
                    cut(&engine, session, events, place, &mut seen);
                    break;
                }
                place -= events.len() as u64;
            }
        }
        let verified = engine.verify().unwrap();
        assert_eq!(verified.state, api::State::Clean, "{name}: {verified:?}");
        // A result without a call of its own is skipped; the report said so when it was read.
        let told = imported
            .doubted
            .iter()
            .filter(|note| note.problem.starts_with("its result is not shown"));
        let skipped = verified.sessions.iter().flat_map(|one| &one.skipped);
        assert_eq!(told.count(), skipped.count(), "{name}: {verified:?}");
        for session in &verified.sessions {
            assert!(session.problems.is_empty(), "{name}: {session:?}");
        }
        let again = import(&engine, &path);
        for (line, before) in again.sessions.iter().zip(&imported.sessions) {
            assert_eq!(
                (line.state.as_str(), line.events, line.head),
                ("same", 0, before.head),
                "{name}: {line:?}"
            );
        }
        assert_eq!(again.sessions.len(), imported.sessions.len(), "{name}");
        println!(
            "{name}: {} records, {} kept, {} doubted, {} damaged; {} sessions, {all} events; cuts: {} ready, waiting {:?}, {} wrong; {:?}",
            imported.read,
            imported.kept,
            imported.doubted.len(),
            imported.damaged.len(),
            logs.len(),
            seen.ready,
            seen.waiting,
            seen.wrong.len(),
            began.elapsed()
        );
        failed.extend(seen.wrong.into_iter().map(|why| format!("{name}: {why}")));
    }
    assert!(
        failed.is_empty(),
        "{} cuts:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The digests of what the heads of a file's sessions send, on both dialects.
fn sent(engine: &Engine, imported: &api::Imported) -> Vec<(u64, Option<String>)> {
    let mut sent = Vec::new();
    for line in &imported.sessions {
        let session = engine.session(&line.session).unwrap();
        for (wire, _) in host::WIRES {
            let projected = host::prompt(&session, wire).unwrap();
            sent.push((projected.cut, projected.body_digest));
        }
    }
    sent
}

/// Ends of lines after the first record that has a time: until then the opening of a session has none.
fn ends(bytes: &[u8]) -> Vec<usize> {
    let stamp = b"\"timestamp\"";
    let first = bytes
        .windows(stamp.len())
        .position(|window| window == stamp)
        .unwrap_or(bytes.len());
    (first..bytes.len())
        .filter(|at| bytes[*at] == b'\n')
        .map(|at| at + 1)
        .collect()
}

#[test]
fn a_recording_that_grew_adds_only_what_is_new() {
    for path in recordings::claude_code() {
        let name = stem(&path);
        let bytes = std::fs::read(&path).unwrap();
        let ends = ends(&bytes);
        let mut dice = Dice::new(&format!("grown {name}"));
        let Some(end) = ends.get(usize::try_from(dice.below(ends.len() as u64)).unwrap()) else {
            continue;
        };
        let (dir, other, folder) = (
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
        );
        let file = folder.path().join(path.file_name().unwrap());
        let engine = host::engine(dir.path()).unwrap();
        std::fs::write(&file, &bytes[..*end]).unwrap();
        let before = import(&engine, &file);
        let old: Vec<Vec<Value>> = before
            .sessions
            .iter()
            .map(|line| log(&engine, &line.session))
            .collect();
        std::fs::write(&file, &bytes).unwrap();
        let after = import(&engine, &file);
        for (line, old) in before.sessions.iter().zip(&old) {
            let grown = after
                .sessions
                .iter()
                .find(|grown| grown.session == line.session)
                .unwrap_or_else(|| {
                    panic!(
                        "{name} cut at {end}: {} became {:?}",
                        line.session, after.sessions
                    )
                });
            assert!(
                matches!(grown.state.as_str(), "grown" | "same"),
                "{name} cut at {end}: {grown:?}"
            );
            assert_eq!(grown.head, line.head + grown.events, "{name} cut at {end}");
            let now = log(&engine, &line.session);
            assert_eq!(
                now.get(..old.len()),
                Some(old.as_slice()),
                "{name} cut at {end}"
            );
        }
        let fresh = host::engine(other.path()).unwrap();
        let whole = import(&fresh, &file);
        assert_eq!(
            sent(&engine, &after),
            sent(&fresh, &whole),
            "{name} cut at {end}"
        );
    }
}

#[test]
fn a_recording_that_was_rewritten_becomes_a_fork() {
    for path in recordings::claude_code() {
        let name = stem(&path);
        let bytes = std::fs::read(&path).unwrap();
        let Some((changed, line)) = recordings::rewritten(&bytes) else {
            println!("{name}: no text to change");
            continue;
        };
        let (dir, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = folder.path().join(path.file_name().unwrap());
        let engine = host::engine(dir.path()).unwrap();
        std::fs::write(&file, &bytes).unwrap();
        let before = import(&engine, &file);
        let old = sent(&engine, &before);
        std::fs::write(&file, &changed).unwrap();
        let after = import(&engine, &file);
        let new: Vec<&api::ImportedSession> = after
            .sessions
            .iter()
            .filter(|session| session.state != "same")
            .collect();
        let [fork] = new.as_slice() else {
            panic!("{name} line {line}: {new:?}");
        };
        assert_eq!(fork.state, "forked", "{name} line {line}: {fork:?}");
        let first = before
            .sessions
            .iter()
            .find(|session| Some(session.session.as_str()) == fork.from.as_deref())
            .unwrap_or_else(|| panic!("{name}: forked from {:?}", fork.from));
        assert!(
            fork.at.is_some_and(|at| at < first.head),
            "{name}: {fork:?}"
        );
        assert_eq!(
            sent(&engine, &before),
            old,
            "{name}: the first reading stays"
        );
        let again = import(&engine, &file);
        assert!(
            again.sessions.iter().all(|line| line.state == "same"),
            "{name}: {again:?}"
        );
        assert_eq!(engine.verify().unwrap().state, api::State::Clean, "{name}");
        println!(
            "{name}: line {line} rewritten, forked at {:?} of {}",
            fork.at, first.head
        );
    }
}
