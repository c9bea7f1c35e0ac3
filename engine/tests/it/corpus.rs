//! Real recordings, where they lie beside the checkout: in, shown on both wires, checked.

use crate::common::Fixture;
use recount::api;
use std::path::{Path, PathBuf};

/// All recordings below a folder, with their sizes.
fn below(folder: &Path, found: &mut Vec<(u64, PathBuf)>) {
    for path in std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
    {
        if path.is_dir() {
            below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push((
                std::fs::metadata(&path).map_or(0, |facts| facts.len()),
                path,
            ));
        }
    }
}

/// The largest recordings below a folder.
fn largest(folder: &Path, count: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    below(folder, &mut found);
    found.sort();
    found
        .into_iter()
        .rev()
        .take(count)
        .map(|(_, path)| path)
        .collect()
}

/// Where the recordings lie.
fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("RECOUNT_SHARED").map_or_else(beside, PathBuf::from)
}

/// The head and a few places before it.
fn cuts(head: u64) -> Vec<api::At> {
    let places = (1..5).map(|part| head * part / 5);
    places.map(api::At::Seq).chain([api::At::Head]).collect()
}

fn check(path: &Path) {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let began = std::time::Instant::now();
    let ask = api::Import {
        path: path.to_string_lossy().into_owned(),
        name: Some("s".into()),
        ..Default::default()
    };
    let imported = match engine.import(&ask) {
        Ok(imported) => imported,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            assert_eq!(
                error.kind(),
                recount::ErrorKind::Invalid,
                "{}",
                path.display()
            );
            return;
        }
    };
    let events: u64 = imported
        .sessions
        .iter()
        .map(|session| session.head + 1)
        .sum();
    let misfits: u64 = imported.sessions.iter().map(|session| session.kept).sum();
    for session in &imported.sessions {
        for (at, wire) in cuts(session.head)
            .into_iter()
            .flat_map(|at| [(at.clone(), "anthropic"), (at, "openai_chat")])
        {
            let ask = api::Project {
                session: session.session.clone(),
                at,
                wire: Some(wire.into()),
                profile: Some("claude-sonnet-5".into()),
                ..Default::default()
            };
            let projected = engine.project(&ask).unwrap();
            assert!(projected.outcome != api::Outcome::Ready || projected.request.is_some());
        }
    }
    let verified = engine.verify().unwrap();
    assert_eq!(
        (verified.state, &verified.problems),
        (api::State::Clean, &Vec::new()),
        "{}",
        path.display()
    );
    assert!(
        engine
            .import(&ask)
            .unwrap()
            .sessions
            .iter()
            .all(|session| session.state == "same"),
        "{}",
        path.display()
    );
    eprintln!(
        "{}: events={events} misfits={misfits} in {:?}",
        path.display(),
        began.elapsed()
    );
}

#[test]
fn the_largest_recordings_are_read_shown_and_checked() {
    let files = largest(&shared().join("corpus/claude-code-jsonl"), 3);
    if files.is_empty() {
        eprintln!("no recordings beside the checkout; nothing was read");
    }
    files.iter().for_each(|path| check(path));
}

#[test]
#[ignore = "minutes; for a look at everything"]
fn every_recording_is_read_shown_and_checked() {
    largest(&shared().join("corpus"), usize::MAX)
        .iter()
        .for_each(|path| check(path));
}
