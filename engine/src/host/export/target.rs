//! Where an export goes: never over the data directory's own files, whole or not at all, and on disk.

use crate::host::directory::Directory;
use crate::host::project;
use crate::{Error, place};
use std::path::Path;

/// Names in a data directory that nothing may be written over.
const OWN: &[&str] = &[
    "segments",
    "key",
    "key.new",
    "lock",
    "store",
    "states",
    "socket",
    "socket.path",
    "out",
    "spills",
];

/// Refuses a path that is one of the directory's own files or in one of its folders.
pub(in crate::host) fn outside(dir: &Directory, path: &Path) -> Result<(), Error> {
    let own = std::fs::canonicalize(&dir.path);
    let parent = path.parent().unwrap_or(path);
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    let (Ok(own), Ok(parent)) = (own, std::fs::canonicalize(parent)) else {
        // A folder that is not there is nobody's; writing to it fails by itself.
        return Ok(());
    };
    let place = path
        .file_name()
        .map_or_else(|| parent.clone(), |name| parent.join(name));
    let inside = place.strip_prefix(&own).ok();
    let first = inside.map(|inside| {
        inside
            .components()
            .next()
            .map(|part| part.as_os_str().to_owned())
    });
    let taken = match first {
        None => false,
        Some(None) => true,
        Some(Some(name)) => OWN.iter().any(|own| name == *own),
    };
    if !taken {
        return Ok(());
    }
    Err(
        Error::invalid("the path is one of the data directory's own files")
            .with_field("path")
            .with_next("name a file outside the data directory"),
    )
}

/// Writes an archive durably, whole or not at all; over nothing but a file.
pub(in crate::host) fn write_archive(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    place::replaceable(path)?;
    project::write_private(path, bytes)?;
    sync_folder_of(path)
}

/// Has a name on disk: what a folder holds is on disk once the folder is.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        std::fs::File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()?;
    }
    Ok(())
}
