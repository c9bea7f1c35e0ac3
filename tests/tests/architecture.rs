//! What is deliberately absent (`ARCHITECTURE.md`), held by a test.
//!
//! - Each rule is one function over the tree as it lies on disk; a rule names the files that break it.

#![allow(clippy::expect_used, reason = "a test says so by failing")]

use std::fs;
use std::path::{Path, PathBuf};

/// The workspace's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files below a folder of the workspace with one of the endings, with their text.
fn files(folder: &str, endings: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !matches!(
                    name.as_str(),
                    "target" | ".git" | "corpus" | "golden" | "node_modules"
                ) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending))
                && let Ok(text) = fs::read_to_string(&path)
            {
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// The names in the `[dependencies]` table of a crate.
fn dependencies(folder: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(folder).join("Cargo.toml"))
        .expect("each folder of the workspace has a Cargo.toml");
    let table = text.split("[dependencies]").nth(1).unwrap_or_default();
    let table = table.split("\n[").next().unwrap_or_default();
    table
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Fails with the list of offenders.
fn none(rule: &str, offenders: &[String]) {
    assert!(
        offenders.is_empty(),
        "{rule}:\n  {}",
        offenders.join("\n  ")
    );
}

/// The code holds the word, not as the end of a longer one.
fn names(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(place, _)| {
        let before = code
            .get(..place)
            .and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric() && before != '_')
    })
}

/// Places where a line outside comments holds one of the words.
fn mentions(files: &[(PathBuf, String)], words: &[&str]) -> Vec<String> {
    let mut places = Vec::new();
    for (path, text) in files {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if words.iter().any(|word| names(code, word)) {
                places.push(format!(
                    "{}:{}: {}",
                    path.display(),
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
    places
}

#[test]
fn arrows_point_to_what_changes_less() {
    let allowed: [(&str, &[&str]); 6] = [
        ("events", &[]),
        ("cline", &["recount-events"]),
        ("wal", &[]),
        ("projections", &["recount-events"]),
        (
            "policies",
            &["recount-cline", "recount-events", "recount-projections"],
        ),
        ("transcripts", &["recount-events"]),
    ];
    let mut offenders = Vec::new();
    for (folder, allowed) in allowed {
        let names = dependencies(folder);
        assert!(
            !names.is_empty(),
            "{folder} has no dependencies at all: the reader of its Cargo.toml is broken"
        );
        for name in names
            .iter()
            .filter(|name| name.starts_with("recount") && !allowed.contains(&name.as_str()))
        {
            offenders.push(format!("{folder} depends on {name}"));
        }
    }
    none(
        "a crate may only know what changes less than it",
        &offenders,
    );
}

#[test]
fn pure_crates_cannot_reach_the_world() {
    let mut offenders = Vec::new();
    for folder in ["events", "cline", "projections", "policies"] {
        let text = fs::read_to_string(root().join(folder).join("src/lib.rs"))
            .expect("each crate has a root");
        if !text.contains("#![no_std]")
            && !text.contains("#![cfg_attr(not(feature = \"arbitrary\"), no_std)]")
        {
            offenders.push(format!("{folder}/src/lib.rs is not no_std"));
        }
        for name in dependencies(folder) {
            if matches!(
                name.as_str(),
                "tokio" | "getrandom" | "sled" | "tempfile" | "crossbeam-channel"
            ) {
                offenders.push(format!("{folder} depends on {name}"));
            }
        }
    }
    none(
        "events, cline, projections and policies have no clock, chance or disk",
        &offenders,
    );
}

#[test]
fn nothing_pure_keeps_an_unordered_map() {
    let mut sources = files("events/src", &[".rs"]);
    sources.extend(files("projections/src", &[".rs"]));
    sources.extend(files("policies/src", &[".rs"]));
    assert!(
        sources.len() > 10,
        "the pure crates' sources were not found"
    );
    none(
        "order must not depend on a hash seed",
        &mentions(&sources, &["HashMap", "HashSet", "hashbrown"]),
    );
}

#[test]
fn sled_is_named_in_one_file() {
    let sources: Vec<_> = [
        "wal/src",
        "engine/src",
        "cli/src",
        "projections/src",
        "events/src",
        "transcripts/src",
    ]
    .iter()
    .flat_map(|folder| files(folder, &[".rs"]))
    .collect();
    let mut named: Vec<_> = sources
        .iter()
        .filter(|(path, text)| !mentions(&[(path.clone(), text.clone())], &["sled::"]).is_empty())
        .map(|(path, _)| path.display().to_string())
        .collect();
    named.dedup();
    assert!(named.len() <= 1, "sled stands behind one file: {named:?}");
}

#[test]
fn clocks_are_read_at_the_border_only() {
    let sources: Vec<_> = [
        "events/src",
        "projections/src",
        "policies/src",
        "transcripts/src",
    ]
    .iter()
    .flat_map(|folder| files(folder, &[".rs"]))
    .collect();
    none(
        "times are given",
        &mentions(&sources, &["SystemTime::now", "Instant::now"]),
    );
}

#[test]
fn the_async_runtime_stays_at_the_border() {
    let offenders: Vec<_> = [
        "events",
        "cline",
        "wal",
        "projections",
        "policies",
        "transcripts",
    ]
    .iter()
    .filter(|folder| dependencies(folder).iter().any(|name| name == "tokio"))
    .map(|folder| (*folder).to_owned())
    .collect();
    none(
        "tokio is for the engine's async face, sharing and the command line",
        &offenders,
    );
}

#[test]
fn no_unsafe_and_no_unfinished_work() {
    let sources: Vec<_> = [
        "events",
        "wal",
        "projections",
        "policies",
        "transcripts",
        "engine",
        "cli",
    ]
    .iter()
    .flat_map(|folder| files(&format!("{folder}/src"), &[".rs"]))
    .collect();
    let words = [
        ["un", "safe "].concat(),
        ["to", "do!("].concat(),
        ["unimple", "mented!("].concat(),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    none("whole, and safe", &mentions(&sources, &words));
}

#[test]
fn files_stay_small() {
    let sources: Vec<_> = [
        "events",
        "wal",
        "projections",
        "policies",
        "transcripts",
        "engine",
        "cli",
        "tests",
    ]
    .iter()
    .flat_map(|folder| files(folder, &[".rs"]))
    .collect();
    let offenders: Vec<_> = sources
        .iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > 600)
        .map(|(path, lines)| format!("{} has {lines} lines", path.display()))
        .collect();
    none("one concept a file, 600 lines at the most", &offenders);
}
