//! The list of mutants (`tests/mutants/list.txt`) fits the tree: each old text stands in its file exactly once.
//!
//! - Whether the mutants are caught is for `tests/mutants/run`, which takes minutes.

#![allow(clippy::expect_used, reason = "a test says so by failing")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The laws: each needs a mutant.
const LAWS: [&str; 13] = [
    "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13",
];

#[derive(Default)]
struct Mutant {
    law: String,
    name: String,
    file: String,
    test: String,
    old: String,
    new: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The entries, read as `run` reads them.
fn mutants() -> Vec<Mutant> {
    let text = std::fs::read_to_string(root().join("tests/mutants/list.txt"))
        .expect("the list of mutants is there");
    let (mut found, mut mutant, mut part) = (Vec::new(), Mutant::default(), "head");
    for line in text.lines() {
        part = match (part, line) {
            ("head", "old:") => "old",
            ("old", "new:") => "new",
            ("new", "end") => {
                found.push(std::mem::take(&mut mutant));
                "head"
            }
            ("head", line) => {
                head(&mut mutant, line);
                part
            }
            (part, line) => {
                let text = if part == "old" {
                    &mut mutant.old
                } else {
                    &mut mutant.new
                };
                text.push_str(line);
                text.push('\n');
                part
            }
        };
    }
    found
}

fn head(mutant: &mut Mutant, line: &str) {
    let Some((key, value)) = line.split_once(": ") else {
        return;
    };
    let field = match key {
        "law" => &mut mutant.law,
        "name" => &mut mutant.name,
        "file" => &mut mutant.file,
        "test" => &mut mutant.test,
        _ => return,
    };
    value.clone_into(field);
}

#[test]
fn every_mutant_fits_the_tree() {
    for mutant in mutants() {
        let text = std::fs::read_to_string(root().join(&mutant.file)).expect("its file is there");
        assert_eq!(
            text.matches(&mutant.old).count(),
            1,
            "law {} ({}): the old text must stand once in {}",
            mutant.law,
            mutant.name,
            mutant.file
        );
        assert_ne!(mutant.old, mutant.new, "{} changes something", mutant.name);
        assert!(mutant.test.starts_with("cargo test "), "{}", mutant.test);
    }
}

#[test]
fn every_law_has_a_mutant() {
    let all = mutants();
    let laws: BTreeSet<&str> = all.iter().map(|mutant| mutant.law.as_str()).collect();
    assert_eq!(laws, LAWS.into_iter().collect());
}
