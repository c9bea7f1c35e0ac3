//! A disk that is only read: every change is refused before it reaches the real one.
//!
//! - For a directory whose lock cannot be taken because nothing can be written there.

use std::io;
use std::sync::Arc;

use super::{Access, Disk, SegmentFile};

/// Another disk, without its writing half.
#[derive(Debug)]
pub(crate) struct ReadOnly(pub(crate) Arc<dyn Disk>);

fn refused<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl Disk for ReadOnly {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.0.list(folder)
    }

    fn create_dir(&self, _folder: &str) -> io::Result<()> {
        refused()
    }

    fn create(&self, _name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        refused()
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn SegmentFile>> {
        match access {
            Access::Read => self.0.open(name, access),
            Access::Write => refused(),
        }
    }

    fn rename(&self, _from: &str, _to: &str) -> io::Result<()> {
        refused()
    }

    fn remove(&self, _name: &str) -> io::Result<()> {
        refused()
    }

    fn sync_dir(&self, _folder: &str) -> io::Result<()> {
        refused()
    }
}
