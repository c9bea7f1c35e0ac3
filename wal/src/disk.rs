//! The one door to files: a small trait, so that a disk that fails can stand in for the real one.
//!
//! - Names are relative to the log's directory and use `/`.
//! - What is written is durable only after `sync_data` of the file, and a name only after `sync_dir` of its folder.

mod read_only;
mod real;
mod simulated;

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

pub(crate) use read_only::ReadOnly;
pub use real::RealDisk;
pub(crate) use real::whole;
pub use simulated::{Crash, Fault, Journal, Operation, Plan, SimulatedDisk, Survival, View};

/// Whether a file is opened to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// For reading only.
    Read,
    /// For reading and writing.
    Write,
}

/// A directory in which a log lives.
pub trait Disk: Send + Sync + Debug {
    /// The names of the files in a folder (`""` is the directory itself), in no order; an absent folder is empty.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;
    /// Makes a folder and those above it, if they are absent.
    fn create_dir(&self, folder: &str) -> io::Result<()>;
    /// Makes a file that must not exist yet, readable by its owner only.
    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>>;
    /// Opens a file that exists.
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn SegmentFile>>;
    /// Gives a file another name, replacing what had it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, folder: &str) -> io::Result<()>;
}

/// An open file.
pub trait SegmentFile: Send + Sync + Debug {
    /// Writes all bytes at an offset; after an error any part of them may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Reads up to as many bytes as the buffer holds; fewer only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// The file's length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file holds no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Makes what was written, and the length, durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Cuts (or grows with zeros) the file to a length.
    fn truncate(&self, length: u64) -> io::Result<()>;
}

/// Reads up to `length` bytes at an offset, without trusting `length` further than the file reaches.
pub(crate) fn read_up_to(file: &dyn SegmentFile, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let there = file.len()?.saturating_sub(offset).min(length);
    let size = usize::try_from(there).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut buffer = vec![0; size];
    let got = file.read_at(&mut buffer, offset)?;
    buffer.truncate(got);
    Ok(buffer)
}
