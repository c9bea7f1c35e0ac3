//! Writing a compressed segment beside the one it replaces.
//!
//! - `NNN.seg.new` is written, synced, and read back; only when it says the same it takes the segment's name.
//! - Whatever fails, the segment is left as it was.

use std::io;
use std::sync::Arc;

use super::packed::Packed;
use crate::disk::{Disk, SegmentFile, read_up_to};
use crate::format::block::{BLOCK, BLOCK_HEAD, BlockHead, END, End, LZ4_BLOCKS, half};
use crate::format::cursor::Put;
use crate::format::header::Header;
use crate::format::{HEADER, Keys, SEGMENTS, new_segment_name, segment_name};

/// Bytes written at once.
const PIECE: usize = 1 << 20;
/// Bytes between two syncs: a large sync would make the log's own wait for it.
const SYNCED: u64 = 4 << 20;

/// Asked between blocks; no means that it is given up.
pub(crate) type GoOn<'a> = &'a dyn Fn() -> bool;

/// Writes what a file holds as a compressed segment, under its temporary name, durably, and reads it back. Answers its bytes on disk.
pub(crate) fn pack(
    disk: &dyn Disk,
    keys: &Keys,
    segment: u64,
    whole: &dyn SegmentFile,
    go_on: GoOn<'_>,
) -> io::Result<u64> {
    let name = new_segment_name(segment);
    let written = remove(disk, &name)
        .and_then(|()| disk.create(&name))
        .and_then(|file| write(file, keys, segment, whole, go_on));
    if written.is_err() {
        // It is removed at the next open, or before the next attempt, if that fails too.
        let _ = disk.remove(&name);
    }
    written
}

/// Gives a written segment its name.
pub(crate) fn publish(disk: &dyn Disk, segment: u64) -> io::Result<()> {
    disk.rename(&new_segment_name(segment), &segment_name(segment))?;
    disk.sync_dir(SEGMENTS)
}

/// Takes away what an interrupted attempt left.
pub(crate) fn discard(disk: &dyn Disk, segment: u64) {
    let _ = disk.remove(&new_segment_name(segment));
}

/// Takes away what interrupted attempts of another process left.
pub(crate) fn discard_unfinished(disk: &dyn Disk) {
    let names = disk.list(SEGMENTS).unwrap_or_default();
    let unfinished = names.iter().filter_map(|name| {
        name.strip_suffix(".new")
            .and_then(crate::format::segment_number)
    });
    unfinished.for_each(|segment| discard(disk, segment));
}

fn remove(disk: &dyn Disk, name: &str) -> io::Result<()> {
    match disk.remove(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write(
    file: Arc<dyn SegmentFile>,
    keys: &Keys,
    segment: u64,
    whole: &dyn SegmentFile,
    go_on: GoOn<'_>,
) -> io::Result<u64> {
    let length = whole.len()?;
    let header = Header {
        segment,
        key: keys.directory,
        compression: LZ4_BLOCKS,
    };
    let mut out = Out {
        file: file.as_ref(),
        buffer: header.encode(),
        written: 0,
        synced: 0,
    };
    let mut table = Vec::new();
    let mut offset = HEADER;
    while offset < length {
        check(go_on)?;
        let raw = read_up_to(whole, offset, BLOCK as u64)?;
        if raw.len() as u64 != (length - offset).min(BLOCK as u64) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        table.put_u64(out.position());
        block(keys, segment, offset, &raw, &mut out.buffer);
        out.flush(PIECE)?;
        offset += raw.len() as u64;
    }
    let end = End {
        segment,
        length: length.max(HEADER),
        table: out.position(),
        block: BLOCK as u32,
        count: u32::try_from(table.len() / 8).unwrap_or(u32::MAX),
        digest: half(keys, &table),
    };
    out.buffer.extend(table);
    end.encode(keys, &mut out.buffer);
    out.flush(0)?;
    let stored = out.written;
    file.sync_data()?;
    debug_assert!(stored >= HEADER + END);
    equal(&Packed::open(file, segment, keys)?, whole, go_on)?;
    Ok(stored)
}

fn block(keys: &Keys, segment: u64, offset: u64, raw: &[u8], out: &mut Vec<u8>) {
    let smaller = lz4_flex::block::compress(raw);
    let stored = if smaller.len() < raw.len() {
        smaller.as_slice()
    } else {
        raw
    };
    let head = BlockHead {
        raw: raw.len() as u32,
        stored: stored.len() as u32,
        segment,
        offset,
        digest: half(keys, stored),
    };
    out.reserve(BLOCK_HEAD.saturating_add(stored.len()));
    head.encode(keys, out);
    out.put(stored);
}

/// Whether a written segment says what it was made from.
fn equal(written: &Packed, whole: &dyn SegmentFile, go_on: GoOn<'_>) -> io::Result<()> {
    let length = whole.len()?;
    let mut same = written.whole() && written.len()? == length.max(HEADER);
    let mut offset = HEADER;
    while same && offset < length {
        check(go_on)?;
        let bytes = read_up_to(whole, offset, BLOCK as u64)?;
        same = !bytes.is_empty() && read_up_to(written, offset, BLOCK as u64)? == bytes;
        offset += bytes.len() as u64;
    }
    if same {
        Ok(())
    } else {
        Err(io::Error::other("it does not read back as it was written"))
    }
}

fn check(go_on: GoOn<'_>) -> io::Result<()> {
    if go_on() {
        Ok(())
    } else {
        Err(io::ErrorKind::Interrupted.into())
    }
}

struct Out<'a> {
    file: &'a dyn SegmentFile,
    buffer: Vec<u8>,
    written: u64,
    synced: u64,
}

impl Out<'_> {
    /// Where the next byte goes.
    fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Writes what waits, once it is more than `limit`.
    fn flush(&mut self, limit: usize) -> io::Result<()> {
        if self.buffer.len() <= limit {
            return Ok(());
        }
        self.file.write_at(&self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        if self.written - self.synced > SYNCED {
            self.file.sync_data()?;
            self.synced = self.written;
        }
        Ok(())
    }
}
