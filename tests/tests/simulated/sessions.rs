//! Which sessions are relived.

use recount_tests::recordings;
use recount_tests::simulation::{Recording, read};
use std::path::PathBuf;

/// Which sessions `RECOUNT_SIMULATION` asks for: `long` all, `long:2/4` the second of four parts; else none.
pub(crate) fn long() -> Option<(usize, usize)> {
    let asked = std::env::var("RECOUNT_SIMULATION").ok()?;
    let rest = asked.strip_prefix("long")?;
    let Some(part) = rest.strip_prefix(':') else {
        return rest.is_empty().then_some((0, 1));
    };
    let (part, parts) = part.split_once('/').unwrap();
    let (part, parts): (usize, usize) = (part.parse().unwrap(), parts.parse().unwrap());
    assert!(
        (1..=parts).contains(&part),
        "{asked}: there is no such part"
    );
    Some((part - 1, parts))
}

/// Recordings of at least so many bytes that can be relived, smallest first.
fn files(least: u64) -> Vec<PathBuf> {
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |facts| facts.len());
    let mut found = recordings::claude_code();
    if let Some(corpus) = recordings::corpus() {
        for folder in ["cline-task", "roo-task"] {
            below(&corpus.join(folder), &mut found);
        }
    }
    found.retain(|path| size(path) >= least);
    found.sort_by_key(size);
    found
}

fn below(folder: &std::path::Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, found);
        } else if path.ends_with("api_conversation_history.json") {
            found.push(path);
        }
    }
}

/// All long sessions of a part; `RECOUNT_SESSIONS` leaves those whose name holds it.
pub(crate) fn all((part, parts): (usize, usize)) -> Vec<Recording> {
    let only = std::env::var("RECOUNT_SESSIONS").unwrap_or_default();
    let read = files(200_000)
        .into_iter()
        .filter_map(|path| read(&path))
        .filter(|one| one.answers() >= 10);
    let places = read.enumerate().filter(|(place, _)| place % parts == part);
    places
        .map(|(_, one)| one)
        .filter(|one| one.name.contains(&only))
        .collect()
}

/// One whose file's name begins so.
pub(crate) fn named(name: &str) -> Option<Recording> {
    let path = files(0)
        .into_iter()
        .rev()
        .find(|path| path.to_string_lossy().contains(name))?;
    read(&path)
}
