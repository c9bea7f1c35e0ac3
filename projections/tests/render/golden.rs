//! Golden prompts of version 1: scripts of events and the exact bodies that they give on both wires, for ever.
//!
//! - A file: events, one a line; `----`; what comes out. `UPDATE=1` writes what comes out.

use crate::desk::Desk;
use recount_events::Wire;
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
        for line in script
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            desk.log(line);
        }
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
