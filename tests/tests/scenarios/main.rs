//! Scenarios: a host's commands and what comes back, exactly. The files in `tests/scenarios/` are meant to be read.
//!
//! - A file is prose (lines that begin with `#`), commands, `----`, and what they print, up to an empty line.
//! - `UPDATE=1 cargo test -p recount-tests --test scenarios` writes what is printed into the files; read the difference.
//! - Every command is one request to the dispatcher; clock and chance are the scenario's own, so the same comes out everywhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a scenario stops at the first surprise"
)]

mod ask;
mod print;
mod prompt;
mod world;

use std::path::{Path, PathBuf};
use world::World;

/// What stands between commands and what they print.
const RULE: &str = "----";

/// A part of a file: prose as it is, or commands with what they print.
enum Part {
    Prose(String),
    Case { commands: Vec<String>, said: String },
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            parts.push(Part::Prose(line.to_owned()));
            continue;
        }
        let mut commands = vec![line.to_owned()];
        commands.extend(
            lines
                .by_ref()
                .take_while(|line| *line != RULE)
                .map(str::to_owned),
        );
        let mut said = String::new();
        while let Some(line) = lines.next_if(|line| !line.is_empty()) {
            said += line;
            said.push('\n');
        }
        parts.push(Part::Case { commands, said });
    }
    parts
}

/// The file as it should be.
fn played(text: &str) -> String {
    let mut world = World::new();
    let mut out = String::new();
    for part in parts(text) {
        match part {
            Part::Prose(line) => out += &line,
            Part::Case { commands, .. } => {
                out += &commands.join("\n");
                out += "\n----\n";
                let said: Vec<String> = commands.iter().map(|line| world.run(line)).collect();
                out += said.concat().trim_end();
            }
        }
        out.push('\n');
    }
    out
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = std::fs::read_dir(folder).expect("there are scenarios");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "txt"));
    files.sort();
    files
}

/// The first line that differs, for a message.
fn difference(expected: &str, found: &str) -> String {
    let mut pairs = expected.lines().zip(found.lines()).enumerate();
    let first = pairs.find(|(_, (expected, found))| expected != found);
    first.map_or_else(
        || "one is longer".to_owned(),
        |(at, (expected, found))| {
            format!(
                "line {}:\n  expected {expected}\n  found    {found}",
                at + 1
            )
        },
    )
}

#[test]
fn scenarios_play_as_written() {
    let files = files();
    assert!(files.len() >= 7, "the scenarios were not found");
    let mut wrong = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a scenario is readable");
        let found = played(&text);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &found).expect("a scenario can be written");
        } else if found != text {
            wrong.push(format!("{}: {}", path.display(), difference(&text, &found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A comparison that cannot fail compares nothing.
#[test]
fn a_wrong_line_is_seen() {
    let text = "open s claude-opus-4-5\n----\nnonsense\n";
    let found = played(text);
    assert_ne!(found, text);
    assert!(difference(text, &found).starts_with("line 3:"));
    let cases = parts(text);
    assert!(matches!(&cases[0], Part::Case { said, .. } if said == "nonsense\n"));
}
