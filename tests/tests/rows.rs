//! The table of rows in `docs/pipeline.md` against the tests: each row has tests that begin with its id.

#![allow(clippy::unwrap_used, reason = "tests fail by panics")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Ids of the table, in lower case.
fn rows() -> Vec<String> {
    let table = std::fs::read_to_string(root().join("docs/pipeline.md")).unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("| "));
    cells
        .filter_map(|line| line.split(" |").next())
        .filter(|id| id.len() <= 3 && id.ends_with(|last: char| last.is_ascii_digit()))
        .map(str::to_lowercase)
        .collect()
}

/// Tests by the id that their name begins with.
fn tests() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut folders: Vec<PathBuf> = [
        "events",
        "projections",
        "policies",
        "engine",
        "cli",
        "tests",
    ]
    .map(|name| root().join(name))
    .into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                names(&std::fs::read_to_string(path).unwrap(), &mut found);
            }
        }
    }
    found
}

/// Names of tests: functions right behind a `#[test]`.
fn names(source: &str, found: &mut BTreeMap<String, Vec<String>>) {
    let mut test = false;
    for line in source.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("fn ").filter(|_| test) {
            let name = name.split('(').next().unwrap_or_default();
            for id in name.split('_').take_while(|part| is_id(part)) {
                found
                    .entry(id.to_owned())
                    .or_default()
                    .push(name.to_owned());
            }
        }
        test = line == "#[test]" || (test && (line.starts_with('#') || line.starts_with("//")));
    }
}

fn is_id(part: &str) -> bool {
    let mut letters = part.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_lowercase())
        && !letters.as_str().is_empty()
        && letters.all(|digit| digit.is_ascii_digit())
}

#[test]
fn each_row_has_tests() {
    let (rows, tests) = (rows(), tests());
    assert_eq!(rows.len(), 69, "{rows:?}");
    for row in &rows {
        let own = tests.get(row).map_or(0, Vec::len);
        println!("{row:<4} {own}");
    }
    let bare: Vec<&String> = rows
        .iter()
        .filter(|row| !tests.contains_key(*row))
        .collect();
    assert!(bare.is_empty(), "rows without tests: {bare:?}");
}
