//! The lock of a directory: one process writes.
//!
//! - The lock is the operating system's, so it goes with its process; the file's text only names the holder.
//! - The directory itself is locked too where the system can: who deletes the lock file of a living process does not make
//!   a second writer possible.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::disk::RealDisk;
use crate::error::OpenError;
use crate::format::LOCK_FILE;

/// A held lock of a directory; dropping it lets go. A log takes it by itself; tools take it to change files beside it.
#[derive(Debug)]
pub struct Lock {
    // Let go in this order: whoever gets the file finds the directory free.
    _directory: Option<File>,
    _file: File,
}

impl Lock {
    /// Takes the lock of a directory that is there.
    ///
    /// # Errors
    /// [`OpenError::Locked`], `Io`.
    pub fn take(directory: &Path) -> Result<Lock, OpenError> {
        let mut file =
            RealDisk::private(directory, LOCK_FILE).map_err(OpenError::io("open the lock file"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::Locked {
                    holder: holder(&mut file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(OpenError::io("lock")(error)),
        }
        let folder = match lock_folder(directory) {
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::Locked {
                    holder: holder(&mut file),
                });
            }
            // The lock file is the lock; not every file system locks a directory.
            Err(TryLockError::Error(_)) => None,
            Ok(folder) => folder,
        };
        // Who holds it is a courtesy to others; failing to say so is no reason not to go on.
        let _ = name_holder(&mut file);
        Ok(Lock {
            _directory: folder,
            _file: file,
        })
    }
}

#[cfg(unix)]
fn lock_folder(directory: &Path) -> Result<Option<File>, TryLockError> {
    let folder = File::open(directory).map_err(TryLockError::Error)?;
    folder.try_lock()?;
    Ok(Some(folder))
}

#[cfg(not(unix))]
fn lock_folder(_directory: &Path) -> Result<Option<File>, TryLockError> {
    Ok(None)
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.take(256).read_to_string(&mut text);
    let text = text.trim();
    if text.is_empty() {
        "unknown".to_owned()
    } else {
        text.to_owned()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time in the lock file is for people; nothing is decided by it"
)]
fn name_holder(file: &mut File) -> std::io::Result<()> {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |passed| passed.as_secs());
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "pid={} since={since}", std::process::id())
}
