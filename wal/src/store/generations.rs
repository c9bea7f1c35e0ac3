//! The directories of the store: numbered, one per rebuild, the highest is the current one.
//!
//! - A rebuild never writes into a directory that was used before: a hung store may still hold it.
//! - Only directories with such a number as name are ever removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of all generations, inside the data directory.
pub(super) const FOLDER: &str = "store";
const DIGITS: usize = 10;

pub(super) struct Generations {
    folder: PathBuf,
}

impl Generations {
    pub(super) fn new(data_directory: &Path) -> Generations {
        Generations {
            folder: data_directory.join(FOLDER),
        }
    }

    /// The newest generation, if there is one.
    pub(super) fn newest(&self) -> Option<PathBuf> {
        let number = self.numbers().ok()?.into_iter().max()?;
        Some(self.path(number))
    }

    /// A directory that was never used, created.
    pub(super) fn fresh(&self) -> io::Result<PathBuf> {
        if fs::symlink_metadata(&self.folder).is_ok_and(|found| !found.is_dir()) {
            fs::remove_file(&self.folder)?;
        }
        fs::create_dir_all(&self.folder)?;
        let mut number = self.numbers()?.into_iter().max().unwrap_or(0);
        loop {
            number = number
                .checked_add(1)
                .ok_or_else(|| io::Error::other("no generation left"))?;
            let path = self.path(number);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(path),
                // Something that is no directory has this name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes all generations but one; what cannot be removed is left for the next time.
    pub(super) fn keep_only(&self, kept: &Path) {
        for number in self.numbers().unwrap_or_default() {
            let path = self.path(number);
            if path != kept && fs::remove_dir_all(&path).is_err() {
                tracing::debug!(
                    number,
                    "an old generation of the store could not be removed"
                );
            }
        }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:0DIGITS$}"))
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let number = name
                .to_str()
                .filter(|name| name.len() == DIGITS)
                .and_then(|name| name.parse().ok());
            if let (Some(number), true) = (number, entry.file_type()?.is_dir()) {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }
}
