//! The bodies of the fuzz targets over their corpora and seeded mutations of them, without a fuzzer.
//!
//! - `RECOUNT_CASES` is the number of mutations a target; `RECOUNT_SEED` the first number, for more of others.
//! - What fails is written to a file; put it into `fuzz/corpus/TARGET/` with the repair.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says so by failing"
)]

use recount_tests::fuzz::{Body, TARGETS, mutated};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/corpus")
        .join(target);
    let entries = std::fs::read_dir(&folder).expect("each target has a corpus");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(files.len() >= 5, "{target} has too few seeds");
    files
        .iter()
        .map(|path| std::fs::read(path).expect("a seed is readable"))
        .collect()
}

fn number(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs a body and keeps its input when it fails.
fn run(target: &str, body: Body, name: &str, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(input))) {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}-{name}"));
        std::fs::write(&path, input).expect("a failing input is kept");
        eprintln!("{target} fails on {name}: {}", path.display());
        std::panic::resume_unwind(panic);
    }
}

fn fuzz(target: &str) {
    let (_, body) = TARGETS
        .into_iter()
        .find(|(name, _)| *name == target)
        .expect("a target of that name");
    let seeds = corpus(target);
    for (at, seed) in seeds.iter().enumerate() {
        run(target, body, &format!("seed-{at}"), seed);
    }
    let first = number("RECOUNT_SEED", 0);
    for case in first..first + number("RECOUNT_CASES", 1_000) {
        run(target, body, &case.to_string(), &mutated(case, &seeds));
    }
}

#[test]
fn decode_event() {
    fuzz("decode_event");
}

#[test]
fn recover_log() {
    fuzz("recover_log");
}

#[test]
fn replay_log() {
    fuzz("replay_log");
}

#[test]
fn import_transcript() {
    fuzz("import_transcript");
}

#[test]
fn import_task() {
    fuzz("import_task");
}

#[test]
fn render_prompt() {
    fuzz("render_prompt");
}

/// The mutations must reach behind the front door: most still are JSON, and many change what their seed did.
#[test]
fn mutations_are_often_events() {
    let seeds = corpus("render_prompt");
    let (mut lines, mut events) = (0, 0);
    for case in 0..300 {
        for line in mutated(case, &seeds).split(|byte| *byte == b'\n') {
            let Ok(line) = str::from_utf8(line) else {
                continue;
            };
            lines += 1;
            let event = recount_events::Event::from_json(line, recount_events::Millis(0));
            events += u32::from(event.is_ok());
        }
    }
    assert!(
        events * 2 > lines && events < lines,
        "events={events} lines={lines}"
    );
}
