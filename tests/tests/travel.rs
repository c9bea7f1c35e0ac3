//! Rollbacks of the longest recordings, each undone: the same digests before and after, after a reopen, and in a process with another
//! language, time zone and hash seed.
//!
//! - A rollback to a place shows what `project` shows at that place.
//! - Without the recordings the tests say that they were left out.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use recount::{Engine, Session, api};
use recount_tests::host;
use recount_tests::recordings::{self, Dice, stem};
use std::path::Path;
use std::process::Command;

/// How many of the longest recordings.
const SESSIONS: usize = 3;
/// Rollbacks of each.
const ROLLBACKS: u64 = 20;
/// Checkpoints of each.
const LABELS: u64 = 4;
/// Where the other process finds what it has to show.
const FOLDER: &str = "RECOUNT_TRAVEL";
/// What the other process writes before its digests.
const MARK: &str = "digests: ";

/// Digest and bytes of what a session sends on both dialects.
fn shown(session: &Session, at: &api::At) -> Vec<(String, String)> {
    let show = |(wire, _)| {
        let ask = api::Project {
            at: at.clone(),
            wire: Some(String::from(wire)),
            profile: Some("gpt-4.1".into()),
            heal: true,
            ..Default::default()
        };
        let projected = session.project(ask).unwrap();
        (projected.digest, projected.body_digest.unwrap_or_default())
    };
    host::WIRES.into_iter().map(show).collect()
}

/// Checkpoints with something said behind each, so that going back to a label takes something away.
fn mark(session: &Session) {
    for label in 0..LABELS {
        session.checkpoint(&format!("label {label}")).unwrap();
        session
            .append(&[
                &format!(r#"{{"type":"message","role":"user","content":"question {label}"}}"#),
                &format!(r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":"answer {label}"}}]}}"#),
            ])
            .unwrap();
    }
    session
        .append(&[r#"{"type":"message","role":"user","content":"and now?"}"#])
        .unwrap();
}

/// The time of an event.
fn time(session: &Session, seq: u64) -> u64 {
    let page = session.log(seq, 1).unwrap();
    let event: serde_json::Value = serde_json::from_str(page.events[0].get()).unwrap();
    event["at"].as_u64().unwrap()
}

/// A place to go back to, of each of the four kinds in turn.
fn target(session: &Session, round: u64, long: u64, dice: &mut Dice) -> api::To {
    match round % 4 {
        0 => api::To::Seq(dice.below(long)),
        1 => api::To::Time(time(session, dice.below(long)).max(time(session, 1))),
        2 => api::To::Turns(1 + dice.below(session.status().unwrap().turns)),
        _ => api::To::Checkpoint(format!("label {}", dice.below(LABELS))),
    }
}

/// Goes back so many times, and forth again each time.
fn travel(session: &Session, name: &str, long: u64, dice: &mut Dice) {
    let home = shown(session, &api::At::Head);
    let mut moved = 0;
    for round in 0..ROLLBACKS {
        let to = target(session, round, long, dice);
        let place = format!("{name} round {round} to {to:?}");
        let back = session
            .rollback(to)
            .unwrap_or_else(|error| panic!("{place}: {error}"));
        let there = shown(session, &api::At::Head);
        assert_eq!(there, shown(session, &api::At::Seq(back.to)), "{place}");
        moved += u64::from(there != home);
        let undone = session.undo(back.event).unwrap();
        assert_eq!(undone.event, back.event + 1, "{place}");
        assert_eq!(shown(session, &api::At::Head), home, "{place}");
        assert_eq!(shown(session, &api::At::Seq(back.event)), there, "{place}");
    }
    assert!(
        moved >= ROLLBACKS / 2,
        "{name}: {moved} of them took something away"
    );
}

/// What all sessions of a directory send, one line each.
fn everything(engine: &Engine) -> Vec<String> {
    let listed = engine.list(&api::List::default()).unwrap();
    let mut lines: Vec<String> = listed
        .sessions
        .iter()
        .map(|line| {
            let session = engine.session(&line.session).unwrap();
            format!("{} {:?}", line.session, shown(&session, &api::At::Head))
        })
        .collect();
    lines.sort();
    lines
}

/// What another process sees, under another language, time zone and hash seed.
fn elsewhere(folder: &Path) -> Vec<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "another_process_shows_what_it_sees",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .envs([
            ("LANG", "tr_TR.UTF-8"),
            ("LC_ALL", "tr_TR.UTF-8"),
            ("TZ", "Pacific/Kiritimati"),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .filter_map(|line| line.split_once(MARK))
        .map(|(_, line)| line.to_owned())
        .collect()
}

#[test]
fn another_process_shows_what_it_sees() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let engine = host::engine(Path::new(&folder)).unwrap();
    println!();
    for line in everything(&engine) {
        println!("{MARK}{line}");
    }
    engine.close().unwrap();
}

#[test]
fn the_longest_sessions_go_back_and_forth_without_a_trace() {
    for path in recordings::claude_code().iter().rev().take(SESSIONS) {
        let began = std::time::Instant::now();
        let name = stem(path);
        let dir = tempfile::tempdir().unwrap();
        let engine = host::engine(dir.path()).unwrap();
        let ask = api::Import {
            path: path.to_string_lossy().into_owned(),
            ..Default::default()
        };
        let imported = engine.import(&ask).unwrap();
        let session = engine.session(&imported.sessions[0].session).unwrap();
        mark(&session);
        let long = session.status().unwrap().head;
        let mut dice = Dice::new(&name);
        travel(&session, &name, long, &mut dice);
        let before = everything(&engine);
        engine.close().unwrap();
        drop((session, engine));

        let engine = host::engine(dir.path()).unwrap();
        assert_eq!(everything(&engine), before, "{name}: reopened");
        let session = engine.session(&imported.sessions[0].session).unwrap();
        travel(&session, &name, long, &mut dice);
        assert_eq!(
            everything(&engine),
            before,
            "{name}: reopened and travelled"
        );
        let verified = engine.verify().unwrap();
        assert_eq!(verified.state, api::State::Clean, "{name}: {verified:?}");
        engine.close().unwrap();
        drop((session, engine));

        assert_eq!(elsewhere(dir.path()), before, "{name}: in another process");
        println!("{name}: {} events, {:?}", long + 1, began.elapsed());
    }
}
