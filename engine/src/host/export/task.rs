//! Tasks out: a session as the files that Cline would have.

use super::target::{outside, sync_folder_of, write_archive};
use crate::host::engine::Engine;
use crate::{Error, ErrorKind, api, place};
use recount_events::Seq;
use recount_projections::State;
use recount_transcripts::{InForce, Written, write_task};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes the files of a session into a folder.
pub(super) fn export(engine: &Engine, ask: &api::Export) -> Result<api::Exported, Error> {
    let dir = &*engine.inner;
    crate::host::directory::check_name(&ask.session)?;
    let Some(path) = ask.path.as_deref() else {
        return Err(Error::invalid("a task is a folder of files")
            .with_field("path")
            .with_next("name a folder to write them into"));
    };
    let folder = Path::new(path);
    outside(dir, folder)?;
    place::fillable(folder)?;
    let (written, events) = {
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        written(&ask.session, &dir.whole(&mut held)?.core.state)
    };
    free(folder, &written)?;
    put(folder, &written).map_err(|error| error.with_field("path"))?;
    let sizes = written.files.iter().map(|(_, text)| text.len() as u64);
    let bytes = sizes.fold(0, u64::saturating_add);
    Ok(api::Exported {
        session: ask.session.clone(),
        format: "cline-task".to_owned(),
        events,
        bytes,
        path: Some(path.to_owned()),
        notes: written.notes,
        ..api::Exported::default()
    })
}

/// The files, and from how many events they come.
fn written(name: &str, state: &State) -> (Written, u64) {
    let timeline = state.timeline();
    let head = state.head().map_or(0, |head| head.0.saturating_add(1));
    let active = (0..head)
        .map(Seq)
        .filter(|seq| timeline.line.contains(*seq) && !timeline.line.fallen.contains_key(seq));
    let events: Vec<_> = active
        .filter_map(|seq| Some((seq, state.event(seq)?)))
        .collect();
    let log: Vec<InForce<'_>> = events
        .iter()
        .map(|(seq, logged)| InForce {
            seq: *seq,
            event: &logged.event,
            hidden: timeline.content.contains_key(seq) && !timeline.visible(*seq),
        })
        .collect();
    (write_task(name, &log), log.len() as u64)
}

/// Writes the files: a new folder comes into being with all of them, or not at all. Into one that is there each comes whole.
fn put(folder: &Path, written: &Written) -> Result<(), Error> {
    static WRITERS: AtomicU64 = AtomicU64::new(0);
    let name = folder.file_name();
    let Some(name) = name.filter(|_| folder.symlink_metadata().is_err()) else {
        return fill(folder, written);
    };
    let folder = folder.with_file_name(name);
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let own = WRITERS.fetch_add(1, Ordering::Relaxed);
    let mut unfinished = name.to_owned();
    unfinished.push(format!(".{}-{own}.part", std::process::id()));
    let unfinished = folder.with_file_name(unfinished);
    let done = std::fs::create_dir(&unfinished)
        .map_err(Error::from)
        .and_then(|()| fill(&unfinished, written))
        .and_then(|()| Ok(std::fs::rename(&unfinished, &folder)?));
    if done.is_err() {
        // What is left of it is of no use, and the error of writing says more than one of removing.
        let _ = std::fs::remove_dir_all(&unfinished);
    }
    done?;
    sync_folder_of(&folder)
}

fn fill(folder: &Path, written: &Written) -> Result<(), Error> {
    for (name, text) in &written.files {
        write_archive(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}

/// Nothing is written over: a folder that holds a task may be the host's own.
fn free(folder: &Path, written: &Written) -> Result<(), Error> {
    let taken = written
        .files
        .iter()
        .find(|(name, _)| folder.join(name).symlink_metadata().is_ok());
    match taken {
        None => Ok(()),
        Some((name, _)) => Err(Error::new(
            ErrorKind::Conflict,
            format!("the folder holds a file of that name; file={name:?}"),
        )
        .with_field("path")
        .with_next("name another folder")),
    }
}
