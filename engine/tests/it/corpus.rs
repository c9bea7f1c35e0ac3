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

#[test]
fn recordings_are_read_shown_and_checked() {
    let shared = std::env::var_os("RECOUNT_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let files = largest(&shared.join("corpus/claude-code-jsonl"), 3);
    if files.is_empty() {
        eprintln!("no recordings beside the checkout; nothing was read");
    }
    for path in files {
        let fixture = Fixture::new();
        let engine = fixture.engine();
        let began = std::time::Instant::now();
        let ask = api::Import {
            path: path.to_string_lossy().into_owned(),
            name: Some("s".into()),
            ..Default::default()
        };
        let imported = engine.import(&ask).unwrap();
        eprintln!(
            "{}: {} events in {:?}",
            path.display(),
            imported.sessions[0].head + 1,
            began.elapsed()
        );
        for session in &imported.sessions {
            for wire in ["anthropic", "openai_chat"] {
                let began = std::time::Instant::now();
                let ask = api::Project {
                    session: session.session.clone(),
                    wire: Some(wire.into()),
                    profile: Some("claude-sonnet-5".into()),
                    ..Default::default()
                };
                let projected = engine.project(&ask).unwrap();
                eprintln!(
                    "  {wire}: {:?} tokens={} bytes={} in {:?}",
                    projected.outcome,
                    projected.tokens.total,
                    projected.bytes,
                    began.elapsed()
                );
                assert_ne!(projected.outcome, api::Outcome::Blocked);
            }
        }
        let began = std::time::Instant::now();
        let verified = engine.verify().unwrap();
        eprintln!("  verified in {:?}", began.elapsed());
        assert_eq!(verified.state, api::State::Clean);
        assert_eq!(engine.import(&ask).unwrap().sessions[0].state, "same");
    }
}
