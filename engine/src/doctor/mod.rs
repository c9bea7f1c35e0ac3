//! Looking at a directory from outside: without its lock, without its engine, whatever its state.
//!
//! - Only reads, except for [`repair`], which lists what it does and does only what cannot lose anything.
//! - A directory that a live process holds is looked at again when something seems wrong: it may have been being written.
//! - What cannot be read is an ailment with its place, never an end of the examination.

mod files;
mod foreign;
mod holder;
mod names;
mod remedy;
mod segments;

use crate::{Error, ErrorKind, api};
use std::path::Path;
use std::time::Duration;

/// How often a directory that is being written is looked at before what seems wrong is believed.
const LOOKS: u32 = 4;
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(150);

/// Looks at a data directory, a recording, or whatever stands there.
#[must_use]
pub fn examine(path: &Path) -> api::Diagnosis {
    let mut diagnosis = once(path);
    for _ in 1..LOOKS {
        if diagnosis.holder.is_none() || diagnosis.is_well() {
            break;
        }
        std::thread::sleep(PAUSE);
        diagnosis = once(path);
    }
    diagnosis
}

/// What [`repair`] would do: nothing is changed. `derived`: also take away what is derived, so that it is made again.
#[must_use]
pub fn plan(path: &Path, derived: bool) -> api::Diagnosis {
    let mut diagnosis = examine(path);
    if diagnosis.what == api::What::Recount {
        diagnosis.remedies = remedy::plan(path, &diagnosis, derived);
    }
    diagnosis
}

/// Does what is safe: takes away what is left over (and with `derived` what is made again), writes a missing key file again.
///
/// # Errors
/// `locked` while a process holds the directory, `invalid` for what is no data directory of Recount.
pub fn repair(path: &Path, derived: bool) -> Result<api::Diagnosis, Error> {
    let seen = once(path);
    if seen.what != api::What::Recount {
        return Err(
            Error::invalid(format!("nothing to repair here: {}", seen.summary))
                .with_field("path")
                .with_next("name a data directory of Recount"),
        );
    }
    let lock = recount_wal::Lock::take(path).map_err(|cause| match cause {
        recount_wal::OpenError::Locked { holder } => Error::new(
            ErrorKind::Locked,
            format!("a process holds the directory: {holder}"),
        )
        .with_holder(holder)
        .with_next("end that process, then repair"),
        other => Error::new(ErrorKind::Io, format!("the lock cannot be taken: {other}")),
    })?;
    // Planned again under the lock: nobody changes anything any more.
    let done = remedy::carry_out(path, &lock, remedy::plan(path, &once(path), derived));
    let mut diagnosis = once(path);
    diagnosis.remedies = done;
    Ok(diagnosis)
}

/// One look.
fn once(path: &Path) -> api::Diagnosis {
    let mut diagnosis = api::Diagnosis {
        path: path.to_string_lossy().into_owned(),
        ..api::Diagnosis::default()
    };
    match std::fs::metadata(path) {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            foreign::missing(&mut diagnosis);
        }
        Err(cause) => foreign::unread(&mut diagnosis, &cause),
        Ok(about) if about.is_file() => foreign::file(&mut diagnosis, path),
        Ok(about) if !about.is_dir() => foreign::device(&mut diagnosis),
        Ok(_) if files::is_ours(path) => ours(&mut diagnosis, path),
        Ok(_) => foreign::folder(&mut diagnosis, path),
    }
    diagnosis
}

/// A data directory of Recount.
fn ours(diagnosis: &mut api::Diagnosis, path: &Path) {
    diagnosis.holder = holder::of(path);
    files::examine(diagnosis, path);
    segments::examine(diagnosis, path);
    let log = diagnosis.log.clone().unwrap_or_default();
    diagnosis.summary = format!(
        "a data directory of Recount: {} sessions, {} events, {} segments",
        log.sessions, log.events, log.segments
    );
}
