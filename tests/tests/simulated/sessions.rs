//! Which sessions are relived.

use recount_tests::recordings;
use recount_tests::simulation::{Recording, read};
use std::path::PathBuf;

/// Every session is asked for.
pub(crate) fn long() -> bool {
    std::env::var("RECOUNT_SIMULATION").is_ok_and(|run| run == "long")
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

/// All long sessions.
pub(crate) fn all() -> Vec<Recording> {
    let read = files(200_000)
        .iter()
        .filter_map(|path| read(path))
        .collect::<Vec<_>>();
    read.into_iter().filter(|one| one.answers() >= 10).collect()
}

/// One whose file's name begins so.
pub(crate) fn named(name: &str) -> Option<Recording> {
    let path = files(0)
        .into_iter()
        .rev()
        .find(|path| path.to_string_lossy().contains(name))?;
    read(&path)
}
