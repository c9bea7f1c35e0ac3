//! What a repair does: little, and only what cannot lose anything.
//!
//! - Segments are never touched.
//! - The event store may hold what damage took from the segments: it stays while anything is damaged or missing.

use super::files;
use crate::api::{self, Act, Remedy, State};
use recount_wal::{KeyFile, Lock, inspect, restore_key};
use std::path::Path;

/// What would be done.
pub(super) fn plan(path: &Path, diagnosis: &api::Diagnosis, derived: bool) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    if matches!(inspect(path).key, KeyFile::Missing | KeyFile::Wrong) {
        remedies.push(remedy(
            Act::Restore,
            "key",
            "every segment has a copy of it",
        ));
    }
    for left in files::leftovers(path) {
        remedies.push(remedy(Act::Remove, &left.file, left.what));
    }
    if !derived {
        return remedies;
    }
    let there = |name: &str| path.join(name).exists();
    let whole = matches!(
        diagnosis.state,
        Some(State::Clean | State::Erased | State::Torn)
    );
    if there("store") && whole {
        remedies.push(remedy(
            Act::Remove,
            "store",
            "made again from the segments at the next open",
        ));
    }
    if there("states") {
        remedies.push(remedy(
            Act::Remove,
            "states",
            "made again when sessions are opened",
        ));
    }
    remedies
}

fn remedy(act: Act, file: &str, why: &str) -> Remedy {
    Remedy {
        act,
        file: file.to_owned(),
        why: why.to_owned(),
        ..Remedy::default()
    }
}

/// Does it, one after the other.
pub(super) fn carry_out(path: &Path, lock: &Lock, remedies: Vec<Remedy>) -> Vec<Remedy> {
    let mut done: Vec<Remedy> = Vec::with_capacity(remedies.len());
    for mut remedy in remedies {
        // A part of what was taken away before is gone with it.
        let outcome = match remedy.act {
            Act::Restore => restore_key(path, lock)
                .map(drop)
                .map_err(|cause| cause.to_string()),
            Act::Remove => remove(&path.join(&remedy.file)).map_err(|cause| cause.to_string()),
        };
        remedy.done = outcome.is_ok();
        remedy.failed = outcome.err();
        done.push(remedy);
    }
    done
}

fn remove(path: &Path) -> std::io::Result<()> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(cause) => Err(cause),
    };
    match removed {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
