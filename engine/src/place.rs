//! What stands at a path, looked at before it is opened: reading a pipe or a device may never end, and a file that is put in its place
//! takes it away.
//!
//! - A path where nothing stands, or that cannot be looked at, is no matter of this: opening it says why.

use crate::Error;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The path from the root on, so that it names the same place wherever the process goes; as it is where the system cannot say.
pub(crate) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Refuses to read what is no file; for a link what it leads to counts.
///
/// # Errors
/// `invalid`.
pub fn readable(path: &Path) -> Result<(), Error> {
    expect(std::fs::metadata(path).ok(), Metadata::is_file, "a file")
}

/// Refuses to write a file over what is none: a device, a pipe, a folder, a link.
///
/// # Errors
/// `invalid`.
pub fn replaceable(path: &Path) -> Result<(), Error> {
    let there = std::fs::symlink_metadata(path).ok();
    expect(there, Metadata::is_file, "a file")
}

/// Refuses to fill what is no folder; for a link what it leads to counts.
pub(crate) fn fillable(path: &Path) -> Result<(), Error> {
    let there = std::fs::metadata(path).or_else(|_| std::fs::symlink_metadata(path));
    expect(there.ok(), Metadata::is_dir, "a folder")
}

fn expect(
    there: Option<Metadata>,
    right: fn(&Metadata) -> bool,
    wanted: &str,
) -> Result<(), Error> {
    match there {
        Some(there) if !right(&there) => Err(Error::invalid(format!(
            "what stands at the path is {}, not {wanted}",
            shape(&there)
        ))
        .with_field("path")
        .with_next(format!("name {wanted}"))),
        _ => Ok(()),
    }
}

fn shape(there: &Metadata) -> &'static str {
    if there.is_dir() {
        "a folder"
    } else if there.is_file() {
        "a file"
    } else if there.is_symlink() {
        "a link"
    } else {
        "a pipe or a device"
    }
}
