//! The files of a data directory: what each part is, and what is left over.
//!
//! - Unknown files are told of and left alone.

use crate::api;
use recount_wal::{KeyFile, inspect};
use std::path::Path;

/// Parts of a directory: name, what it is, whether it can be made again.
const PARTS: &[(&str, &str, bool)] = &[
    ("segments", "the log: the truth", false),
    (
        "key",
        "the directory's key; a copy is in every segment",
        false,
    ),
    ("lock", "who writes", true),
    ("store", "the event store, made from the segments", true),
    ("states", "state checkpoints, made from the segments", true),
    ("out", "prompts that were written to files", true),
    ("spills", "results too large for a prompt, as files", true),
    (
        "socket",
        "the way to the process that holds the directory",
        true,
    ),
    ("socket.path", "where its socket lies", true),
];

/// A file that an interrupted process left.
pub(super) struct Leftover {
    /// Its path in the directory.
    pub(super) file: String,
    /// What it is.
    pub(super) what: &'static str,
}

/// The directory has what only a data directory of Recount has.
pub(super) fn is_ours(path: &Path) -> bool {
    if !inspect(path).segments.is_empty() {
        return true;
    }
    let has = |name: &str| path.join(name).exists();
    let key = std::fs::metadata(path.join("key")).is_ok_and(|about| about.len() == 32);
    (key && (has("segments") || has("lock") || has("store"))) || (has("lock") && has("store"))
}

/// The names in a folder of the directory; none when it cannot be read.
pub(super) fn names(path: &Path, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(path.join(folder)).into_iter().flatten();
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Fills in the parts, what is wrong with the key, what is left over.
pub(super) fn examine(diagnosis: &mut api::Diagnosis, path: &Path) {
    for name in names(path, "") {
        let known = PARTS.iter().find(|(part, ..)| *part == name);
        let (files, bytes) = size(&path.join(&name));
        let (what, derived) = known.map_or(("", false), |(_, what, derived)| (*what, *derived));
        if known.is_none() && name != "key.new" {
            diagnosis.notes.push(api::Ailment {
                what: "not a file of Recount".to_owned(),
                file: Some(name.clone()),
                next: "it is left alone".to_owned(),
                ..api::Ailment::default()
            });
        }
        diagnosis.parts.push(api::Part {
            name,
            what: what.to_owned(),
            files,
            bytes,
            derived,
        });
    }
    key(diagnosis, path);
    lock(diagnosis, path);
    if diagnosis.holder.is_none() {
        let found = leftovers(path).into_iter().map(|left| api::Ailment {
            what: left.what.to_owned(),
            file: Some(left.file),
            next: "nothing depends on it; `recount doctor --repair` takes it away".to_owned(),
            ..api::Ailment::default()
        });
        diagnosis.notes.extend(found);
    }
}

/// Number and bytes of the files at or below a path.
fn size(path: &Path) -> (u64, u64) {
    let mut total = (0_u64, 0_u64);
    let mut paths = vec![path.to_path_buf()];
    while let Some(path) = paths.pop() {
        match std::fs::symlink_metadata(&path) {
            Ok(about) if about.is_dir() => {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                paths.extend(entries.map(|entry| entry.path()));
            }
            Ok(about) => {
                total.0 += 1;
                total.1 = total.1.saturating_add(about.len());
            }
            Err(_) => {}
        }
    }
    total
}

/// What stands in the lock's place must be a file, or nothing.
fn lock(diagnosis: &mut api::Diagnosis, path: &Path) {
    let lock = path.join("lock");
    let there = std::fs::symlink_metadata(&lock).is_ok();
    if there && !std::fs::metadata(&lock).is_ok_and(|about| about.is_file()) {
        diagnosis.problems.push(api::Ailment {
            what: "what stands in the lock's place is not a file".to_owned(),
            file: Some("lock".to_owned()),
            next: "take it away; the next open makes a new one".to_owned(),
            ..api::Ailment::default()
        });
    }
}

fn key(diagnosis: &mut api::Diagnosis, path: &Path) {
    let (what, next) = match inspect(path).key {
        KeyFile::Sound => return,
        KeyFile::Absent => (
            "there is neither a key nor a segment that has it".to_owned(),
            "restore the directory from a backup; without segments nothing of it can be read",
        ),
        KeyFile::Missing => (
            "the key is missing; the segments have it".to_owned(),
            "`recount doctor --repair` writes it again; so does the next open",
        ),
        KeyFile::Wrong => (
            "the key is not the one that the segments were written with".to_owned(),
            "`recount doctor --repair` writes it again from the segments; so does the next open",
        ),
        KeyFile::Unread(cause) => (
            format!("the key cannot be read: {cause}"),
            "see to its permissions; the segments have a copy",
        ),
    };
    diagnosis.problems.push(api::Ailment {
        what,
        file: Some("key".to_owned()),
        next: next.to_owned(),
        ..api::Ailment::default()
    });
}

/// What interrupted processes left. Only true of a directory that nobody holds: a live process is about to use such files.
pub(super) fn leftovers(path: &Path) -> Vec<Leftover> {
    let mut found = Vec::new();
    let mut add = |file: String, what: &'static str| found.push(Leftover { file, what });
    if path.join("key.new").exists() {
        add("key.new".to_owned(), "an unfinished key");
    }
    let unfinished = [
        ("segments", ".seg.new", "an unfinished copy of a segment"),
        ("states", ".new", "an unfinished state checkpoint"),
        ("out", ".part", "an unfinished prompt"),
        ("spills", ".part", "an unfinished file of a result"),
    ];
    for (folder, end, what) in unfinished {
        for name in names(path, folder) {
            let below = format!("{folder}/{name}");
            if name.ends_with(end) {
                add(below, what);
            } else if matches!(folder, "out" | "spills") {
                let inside = names(path, &below).into_iter();
                let inside = inside.filter(|name| name.ends_with(end));
                inside.for_each(|name| add(format!("{below}/{name}"), what));
            }
        }
    }
    let generations: Vec<String> = names(path, "store")
        .into_iter()
        .filter(|name| name.len() == 10 && name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    let Some((newest, older)) = generations.split_last() else {
        return found;
    };
    for name in older {
        let what = "an event store that was replaced by a newer one";
        found.push(Leftover {
            file: format!("store/{name}"),
            what,
        });
    }
    let folder = format!("store/{newest}");
    for name in names(path, &folder) {
        if name.starts_with("snap.") && name.ends_with(".generating") {
            let what = "an unfinished snapshot of the event store";
            found.push(Leftover {
                file: format!("{folder}/{name}"),
                what,
            });
        }
    }
    found
}
