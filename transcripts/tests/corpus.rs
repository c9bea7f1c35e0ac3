//! The recordings: each file is read whole, and the laws hold.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod common;

use common::{assert_accounted, assert_lossless, assert_sound, corpus, files};
use recount_transcripts::{Files, FormatName, Import, NoFiles, Problem, detect, read};
use std::path::{Path, PathBuf};

struct Beside(PathBuf);

impl Files for Beside {
    fn list(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(folder))
            .into_iter()
            .flatten()
            .flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.0.join(path)).ok()
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn import(path: &Path) -> (Vec<u8>, Import) {
    let bytes = std::fs::read(path).unwrap();
    let beside = Beside(path.parent().unwrap().to_owned());
    let import = read(&bytes, None, &stem(path), &beside).unwrap();
    (bytes, import)
}

fn claude_files() -> Vec<PathBuf> {
    let Some(corpus) = corpus() else {
        return Vec::new();
    };
    let mut found = files(&corpus.join("claude-code-jsonl"));
    let faults = files(&corpus.join("faults")).into_iter();
    found.extend(faults.filter(|path| stem(path).starts_with("cc-")));
    found
}

#[test]
fn every_session_file_is_accounted_for() {
    for path in claude_files() {
        let (bytes, import) = import(&path);
        assert_eq!(import.format, FormatName::ClaudeCode, "{}", path.display());
        assert_accounted(&bytes, &import);
        assert_lossless(&bytes, &import);
        assert_sound(&import);
        if std::env::var_os("SHOW").is_some() {
            show(&path, &import);
        }
    }
}

fn show(path: &Path, import: &Import) {
    let report = &import.report;
    let mut doubts = std::collections::BTreeMap::<Problem, usize>::new();
    report
        .doubted
        .iter()
        .for_each(|doubt| *doubts.entry(doubt.problem).or_default() += 1);
    eprintln!(
        "{}: read {} kept {} damaged {} branches {:?} doubts {doubts:?}",
        stem(path),
        report.read,
        report.kept,
        report.damaged.len(),
        report.branches
    );
    for session in &import.sessions {
        if std::env::var("SHOW").is_ok_and(|show| show == stem(path)) {
            let lines = common::sketch(session);
            let source = session.events.iter().map(|event| event.source.line);
            lines
                .iter()
                .zip(source)
                .enumerate()
                .for_each(|(at, (line, source))| {
                    eprintln!(
                        "{at:5} [{source}] {}",
                        line.chars().take(150).collect::<String>()
                    )
                });
        }
        eprintln!(
            "    {} {:?} file {:?} parent {:?} events {}",
            session.name,
            session.kind,
            session.file,
            session.parent,
            session.events.len()
        );
    }
}

#[test]
fn a_file_that_grew_gives_the_old_events_first() {
    for path in claude_files() {
        let (bytes, whole) = import(&path);
        let ends: Vec<usize> = (1..=bytes.len())
            .filter(|end| bytes[end - 1] == b'\n')
            .collect();
        for part in 1..8 {
            let Some(end) = ends.get(ends.len() * part / 8) else {
                continue;
            };
            let before = read(
                &bytes[..*end],
                Some(FormatName::ClaudeCode),
                &stem(&path),
                &NoFiles,
            )
            .unwrap();
            // Until a record has a time, the opening has none: that much is promised to change.
            if before.sessions[0].events[0].event.at.0 == 0 {
                continue;
            }
            for (old, new) in before
                .sessions
                .iter()
                .zip(&whole.sessions)
                .filter(|(old, new)| old.kind == new.kind)
            {
                let same = old
                    .events
                    .iter()
                    .zip(&new.events)
                    .take_while(|(old, new)| old == new)
                    .count();
                assert_eq!(
                    same,
                    old.events.len(),
                    "{} up to {end}: {:?}",
                    path.display(),
                    new.events.get(same)
                );
            }
        }
    }
}

#[test]
fn nothing_but_line_files_is_taken_for_one() {
    let Some(corpus) = corpus() else { return };
    for format in [
        "codex-rollout",
        "aider-history-md",
        "gemini-chat",
        "openclaw-session",
        "goose-session",
    ] {
        for path in files(&corpus.join(format)) {
            let found = detect(&std::fs::read(&path).unwrap());
            assert_ne!(found, Some(FormatName::ClaudeCode), "{}", path.display());
        }
    }
}
