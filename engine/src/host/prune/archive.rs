//! The archive of what goes: on disk, read back and checked before anything is forgotten.

use crate::host::directory::Directory;
use crate::host::export;
use crate::{Error, ErrorKind, evidence, place};
use recount_transcripts::archive;
use recount_wal::Wal;
use std::path::Path;

/// Writes the sessions one behind the other. A file that is there already stays, and must hold the same.
pub(super) fn write(dir: &Directory, log: &Wal, names: &[&str], path: &str) -> Result<(), Error> {
    let path = Path::new(path);
    export::outside(dir, path)?;
    place::readable(path).map_err(|error| error.with_field("archive"))?;
    let mut text = String::new();
    for name in names {
        text += &export::archive(dir, log, name)?.text;
    }
    match std::fs::read(path) {
        Ok(there) if there == text.as_bytes() => {}
        Ok(_) => {
            return Err(Error::new(
                ErrorKind::Conflict,
                "the archive would replace another file",
            )
            .with_field("archive")
            .with_next("name a file that is not there yet"));
        }
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            export::write_archive(path, text.as_bytes())
                .map_err(|error| error.with_field("archive"))?;
        }
        Err(cause) => return Err(Error::from(cause).with_field("archive")),
    }
    check(path, names.len())
}

/// What stands on disk can be read, and its digests hold.
fn check(path: &Path, sessions: usize) -> Result<(), Error> {
    let bytes = std::fs::read(path)?;
    let read = archive::read(&bytes).map(|read| read.sessions.len());
    let sound = evidence::read(&bytes).is_ok() && read == Ok(sessions);
    if sound {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Damaged,
        "the archive does not read back as it was written; nothing was forgotten",
    )
    .with_field("archive")
    .with_next("see to the disk, or name a file elsewhere"))
}
