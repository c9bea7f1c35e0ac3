//! A segment as it is going to be: its bytes with stretches of them replaced.
//!
//! - Read-only; what stands in the file is not touched.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::disk::SegmentFile;

/// What replaces a stretch: bytes, then a filling up to a length.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: u64,
    pub(crate) fill: u8,
}

/// A file with patches. They do not overlap.
#[derive(Debug)]
pub(crate) struct Overlay {
    base: Arc<dyn SegmentFile>,
    length: u64,
    patches: BTreeMap<u64, Patch>,
}

impl Overlay {
    /// The same bytes, up to a length.
    pub(crate) fn new(base: Arc<dyn SegmentFile>, length: u64) -> Overlay {
        Overlay {
            base,
            length,
            patches: BTreeMap::new(),
        }
    }

    pub(crate) fn patch(&mut self, offset: u64, patch: Patch) {
        self.patches.insert(offset, patch);
    }

    /// Ends the file with these bytes at an offset.
    pub(crate) fn end_with(&mut self, offset: u64, bytes: Vec<u8>) {
        let length = bytes.len() as u64;
        self.length = offset.saturating_add(length);
        let patch = Patch {
            bytes,
            length,
            fill: 0,
        };
        self.patches.insert(offset, patch);
    }
}

impl Patch {
    /// Writes what this patch, which stands at `start`, has for the bytes from `offset` on.
    fn apply(&self, start: u64, buffer: &mut [u8], offset: u64) {
        let bytes = self.bytes.len() as u64;
        if let Some((to, skipped)) = meeting(buffer, offset, start, bytes) {
            let from = self.bytes.get(skipped..).unwrap_or_default();
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        let filling = self.length.saturating_sub(bytes);
        if let Some((to, _)) = meeting(buffer, offset, start.saturating_add(bytes), filling) {
            to.fill(self.fill);
        }
    }
}

/// The part of a buffer, which stands at `offset`, that a stretch covers, and how many bytes of the stretch stand before it.
fn meeting(buffer: &mut [u8], offset: u64, start: u64, length: u64) -> Option<(&mut [u8], usize)> {
    let from = start.max(offset);
    let to = start
        .saturating_add(length)
        .min(offset.saturating_add(buffer.len() as u64));
    let first = usize::try_from(from.checked_sub(offset)?).ok()?;
    let count = usize::try_from(to.checked_sub(from)?).ok()?;
    let skipped = usize::try_from(from - start).ok()?;
    let covered = buffer.get_mut(first..first.checked_add(count)?)?;
    Some((covered, skipped))
}

impl SegmentFile for Overlay {
    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let there = self.length.saturating_sub(offset);
        let size = usize::try_from(there)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let buffer = buffer.get_mut(..size).unwrap_or_default();
        let read = self.base.read_at(buffer, offset)?;
        // What ends the file may reach further than the file did.
        buffer.iter_mut().skip(read).for_each(|byte| *byte = 0);
        let end = offset.saturating_add(size as u64);
        let before = self.patches.range(..end).rev();
        for (start, patch) in
            before.take_while(|(start, patch)| start.saturating_add(patch.length) > offset)
        {
            patch.apply(*start, buffer, offset);
        }
        Ok(size)
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
