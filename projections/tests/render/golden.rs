//! Golden prompts of version 1: scripts of events and the exact bodies that they give on both wires, for ever.
//!
//! - A file: events, one a line; `----`; what comes out. `UPDATE=1` writes what comes out.

use crate::desk::Desk;
use recount_events::{Event, Millis, Wire};
use recount_projections::render::{Budget, ByBytes};
use recount_projections::{Request, State, project};
use std::fmt::Write as _;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/v1")
}

fn shows(desk: &Desk, wire: Wire) -> String {
    let projection = desk.project(wire);
    crate::sizes::check(&projection);
    let mut out = format!(
        "{wire:?}\n{}\n",
        String::from_utf8(projection.body()).unwrap()
    );
    writeln!(out, "digest {}", projection.digest).unwrap();
    writeln!(out, "outcome {:?}", projection.outcome).unwrap();
    writeln!(
        out,
        "tokens {} bytes {}",
        projection.tokens, projection.bytes
    )
    .unwrap();
    for repair in &projection.repairs {
        let block = repair
            .block
            .map(|block| format!("{}.{}", block.seq, block.index));
        writeln!(
            out,
            "repair {} {}",
            repair.kind.name(),
            block.unwrap_or_else(|| repair.event.to_string())
        )
        .unwrap();
    }
    for left in &projection.left_out {
        writeln!(
            out,
            "left out {} {}.{}",
            left.reason.name(),
            left.block.seq,
            left.block.index
        )
        .unwrap();
    }
    if !projection.params_left_out.is_empty() {
        writeln!(
            out,
            "parameters left out {}",
            projection.params_left_out.join(", ")
        )
        .unwrap();
    }
    out
}

/// The state's own fold of a script gives the same body as the desk's.
fn folds_alike(script: &str, desk: &Desk) {
    let mut state = State::new();
    for line in lines(script) {
        let admitted = state.admit(Event::from_json(line, Millis(0)).unwrap());
        let admitted = admitted.unwrap_or_else(|misfit| panic!("{misfit:?} in {line}"));
        state.apply(admitted);
    }
    let profile = desk.in_force();
    for wire in [Wire::Anthropic, Wire::OpenaiChat] {
        let request = Request {
            timeline: state.timeline(),
            profile: &profile,
            wire,
            heal: false,
            counts: &ByBytes,
            budget: Budget::default(),
        };
        let (one, other) = (project(&request), desk.project(wire));
        assert_eq!(
            String::from_utf8(one.body()),
            String::from_utf8(other.body())
        );
        assert_eq!((one.digest, one.outcome), (other.digest, other.outcome));
    }
}

fn lines(script: &str) -> impl Iterator<Item = &str> {
    script
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[test]
fn golden_prompts_of_version_1() {
    let mut files: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 8, "the golden prompts are there");
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let (script, expected) = text.split_once("----\n").unwrap_or((&text, ""));
        let mut desk = Desk::default();
        for line in lines(script) {
            desk.log(line);
        }
        folds_alike(script, &desk);
        let out = [
            shows(&desk, Wire::Anthropic),
            shows(&desk, Wire::OpenaiChat),
        ]
        .join("\n");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, format!("{script}----\n{out}")).unwrap();
        } else {
            assert_eq!(expected, out, "{}", path.display());
        }
    }
}
