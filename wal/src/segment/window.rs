//! A file read in large pieces, for a walk from front to back.
//!
//! - Its length is that of the moment it was made; what a writer adds later is not seen.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::{SegmentFile, read_up_to};

/// Bytes read at once.
const WINDOW: usize = 256 << 10;

/// A read-only file with a piece of it in memory.
#[derive(Debug)]
pub(crate) struct Window {
    file: Arc<dyn SegmentFile>,
    length: u64,
    /// Where the piece begins, and the piece.
    held: Mutex<(u64, Vec<u8>)>,
}

impl Window {
    pub(crate) fn new(file: Arc<dyn SegmentFile>) -> io::Result<Window> {
        let length = file.len()?;
        Ok(Window {
            file,
            length,
            held: Mutex::new((0, Vec::new())),
        })
    }
}

impl SegmentFile for Window {
    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if buffer.len() > WINDOW {
            return self.file.read_at(buffer, offset);
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if piece(&held, offset, buffer.len()).is_none() {
            *held = (
                offset,
                read_up_to(self.file.as_ref(), offset, WINDOW as u64)?,
            );
        }
        // Only the file's end makes it shorter than asked now.
        let bytes = piece(&held, offset, buffer.len()).unwrap_or(&held.1);
        let bytes = bytes.get(..buffer.len()).unwrap_or(bytes);
        buffer
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        Ok(bytes.len())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn sync_data(&self) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn truncate(&self, _length: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

fn piece(held: &(u64, Vec<u8>), offset: u64, length: usize) -> Option<&[u8]> {
    let start = usize::try_from(offset.checked_sub(held.0)?).ok()?;
    held.1.get(start..start.checked_add(length)?)
}
