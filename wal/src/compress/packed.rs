//! A compressed segment, read as if it was not.
//!
//! - Offsets and length are those of the segment as it was written; only the blocks that a read touches are decompressed.
//! - A block that does not verify reads as bytes that are no frame, so it is damage of what it holds and of nothing else.
//! - When the end or the table does not verify, the blocks are searched for: each says itself which bytes it holds.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::{SegmentFile, read_up_to};
use crate::format::block::{BLOCK_HEAD, BLOCK_MAGIC, BlockHead, END, End, half};
use crate::format::cursor::Cursor;
use crate::format::footer::Hole;
use crate::format::header::Header;
use crate::format::{HEADER, Keys};

/// What damaged bytes read as: not zeros, which would mean that nothing was written there.
pub(crate) const LOST: u8 = 0xff;
/// Decompressed blocks that each open segment keeps.
const HELD: usize = 2;
const PIECE: u64 = 1 << 20;

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    /// Offset of its first byte in the segment.
    offset: u64,
    raw: u64,
    /// Where its head begins in the file, and how many bytes head and stored bytes take.
    at: u64,
    bytes: u64,
}

/// A compressed segment.
pub(crate) struct Packed {
    file: Arc<dyn SegmentFile>,
    segment: u64,
    keys: Keys,
    header: Vec<u8>,
    length: u64,
    spots: Vec<Spot>,
    /// Whether end and table verified, so that the length is known.
    whole: bool,
    held: Mutex<VecDeque<(usize, Arc<Vec<u8>>)>>,
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packed")
            .field("segment", &self.segment)
            .field("blocks", &self.spots.len())
            .finish_non_exhaustive()
    }
}

impl Packed {
    /// Opens a file that its header calls compressed.
    pub(crate) fn open(
        file: Arc<dyn SegmentFile>,
        segment: u64,
        keys: &Keys,
    ) -> io::Result<Packed> {
        match Packed::by_end(&file, segment, keys)? {
            Some(packed) => Ok(packed),
            None => Packed::by_search(file, segment, keys),
        }
    }

    /// Opens a file that nothing is known of; none when it is no compressed segment.
    pub(crate) fn probe(
        file: &Arc<dyn SegmentFile>,
        segment: u64,
        keys: &Keys,
    ) -> io::Result<Option<Packed>> {
        if let Some(packed) = Packed::by_end(file, segment, keys)? {
            return Ok(Some(packed));
        }
        let found = Packed::by_search(Arc::clone(file), segment, keys)?;
        Ok((!found.spots.is_empty()).then_some(found))
    }

    fn new(
        file: Arc<dyn SegmentFile>,
        segment: u64,
        keys: &Keys,
        length: u64,
        spots: Vec<Spot>,
        whole: bool,
    ) -> Packed {
        let header = Header {
            segment,
            key: keys.directory,
            compression: 0,
        };
        Packed {
            file,
            segment,
            keys: *keys,
            header: header.encode(),
            length,
            spots,
            whole,
            held: Mutex::new(VecDeque::new()),
        }
    }

    fn by_end(
        file: &Arc<dyn SegmentFile>,
        segment: u64,
        keys: &Keys,
    ) -> io::Result<Option<Packed>> {
        let length = file.len()?;
        let Some(at) = length.checked_sub(END) else {
            return Ok(None);
        };
        let bytes = read_up_to(file.as_ref(), at, END)?;
        let Some(end) = End::decode(&bytes, length, segment, keys) else {
            return Ok(None);
        };
        let table = read_up_to(file.as_ref(), end.table, u64::from(end.count) * 8)?;
        if half(keys, &table) != end.digest {
            return Ok(None);
        }
        let Some(spots) = spots(&table, &end) else {
            return Ok(None);
        };
        let file = Arc::clone(file);
        Ok(Some(Packed::new(
            file, segment, keys, end.length, spots, true,
        )))
    }

    /// Finds blocks by their heads, wherever they stand.
    fn by_search(file: Arc<dyn SegmentFile>, segment: u64, keys: &Keys) -> io::Result<Packed> {
        let mut found = Vec::new();
        let mut at = HEADER;
        loop {
            let bytes = read_up_to(file.as_ref(), at, PIECE)?;
            if bytes.len() < BLOCK_HEAD {
                break;
            }
            match search(&bytes, segment, keys) {
                Some((skipped, head)) => {
                    let spot = Spot {
                        offset: head.offset,
                        raw: u64::from(head.raw),
                        at: at.saturating_add(skipped as u64),
                        bytes: BLOCK_HEAD as u64 + u64::from(head.stored),
                    };
                    at = spot.at.saturating_add(spot.bytes);
                    found.push(spot);
                }
                None => at = at.saturating_add((bytes.len() - BLOCK_HEAD + 1) as u64),
            }
        }
        found.sort_by_key(|spot| spot.offset);
        let mut spots: Vec<Spot> = Vec::with_capacity(found.len());
        for spot in found {
            if spots
                .last()
                .is_none_or(|last| last.offset + last.raw <= spot.offset)
            {
                spots.push(spot);
            }
        }
        let length = spots.last().map_or(HEADER, |last| last.offset + last.raw);
        Ok(Packed::new(file, segment, keys, length, spots, false))
    }

    /// Whether end and table verified.
    pub(crate) fn whole(&self) -> bool {
        self.whole
    }

    /// The bytes of the segment that its blocks do not hold any more; reads all of it.
    pub(crate) fn lost(&self) -> io::Result<Vec<Hole>> {
        let mut holes = Vec::new();
        let mut next = HEADER;
        let mut missing = |from: u64, to: u64| {
            if from < to {
                holes.push(Hole {
                    offset: from,
                    bytes: to - from,
                });
            }
        };
        for spot in &self.spots {
            missing(next, spot.offset);
            next = spot.offset + spot.raw;
            if self.decompressed(spot)?.is_none() {
                missing(spot.offset, next);
            }
        }
        missing(next, self.length);
        Ok(holes)
    }

    fn decompressed(&self, spot: &Spot) -> io::Result<Option<Vec<u8>>> {
        let bytes = read_up_to(self.file.as_ref(), spot.at, spot.bytes)?;
        let Some((head, stored)) =
            BlockHead::decode(&bytes, self.segment, &self.keys).zip(bytes.get(BLOCK_HEAD..))
        else {
            return Ok(None);
        };
        let fits = head.offset == spot.offset
            && u64::from(head.raw) == spot.raw
            && stored.len() as u64 == u64::from(head.stored)
            && half(&self.keys, stored) == head.digest;
        if !fits {
            return Ok(None);
        }
        if head.stored == head.raw {
            return Ok(Some(stored.to_vec()));
        }
        // The length is at most that of the largest block, and was covered by the head's checksum.
        let mut raw = vec![0; head.raw as usize];
        let length = lz4_flex::block::decompress_into(stored, &mut raw);
        Ok(length
            .is_ok_and(|length| length == raw.len())
            .then_some(raw))
    }

    fn block(&self, index: usize, spot: &Spot) -> io::Result<Option<Arc<Vec<u8>>>> {
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = held().iter().find(|(at, _)| *at == index) {
            return Ok(Some(Arc::clone(block)));
        }
        let block = self.decompressed(spot)?.map(Arc::new);
        if let Some(block) = &block {
            let mut held = held();
            held.push_front((index, Arc::clone(block)));
            held.truncate(HELD);
        }
        Ok(block)
    }

    /// Fills the buffer's beginning from one place; at least one byte of it.
    fn piece(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        if at < HEADER {
            return Ok(copy(buffer, &self.header, at));
        }
        let behind = self.spots.partition_point(|spot| spot.offset <= at);
        let inside = behind
            .checked_sub(1)
            .and_then(|index| Some((index, self.spots.get(index)?)))
            .filter(|(_, spot)| at < spot.offset + spot.raw);
        let Some((index, spot)) = inside else {
            let next = self
                .spots
                .get(behind)
                .map_or(self.length, |spot| spot.offset);
            return Ok(fill(buffer, next.saturating_sub(at)));
        };
        match self.block(index, spot)? {
            Some(block) => Ok(copy(buffer, &block, at - spot.offset)),
            None => Ok(fill(buffer, spot.offset + spot.raw - at)),
        }
    }
}

/// Where the blocks of a table stand; none when it contradicts itself.
fn spots(table: &[u8], end: &End) -> Option<Vec<Spot>> {
    let mut cursor = Cursor(table);
    let mut spots = Vec::with_capacity(end.count as usize);
    let mut at = if end.count > 0 {
        cursor.u64()?
    } else {
        end.table
    };
    for index in 0..u64::from(end.count) {
        let next = if cursor.0.is_empty() {
            end.table
        } else {
            cursor.u64()?
        };
        let offset = HEADER + index * u64::from(end.block);
        let bytes = next.checked_sub(at)?;
        let raw = u64::from(end.block).min(end.length - offset);
        if bytes <= BLOCK_HEAD as u64 || bytes > BLOCK_HEAD as u64 + raw {
            return None;
        }
        spots.push(Spot {
            offset,
            raw,
            at,
            bytes,
        });
        at = next;
    }
    Some(spots)
}

/// The first head in the bytes, and how many bytes stand before it.
fn search(bytes: &[u8], segment: u64, keys: &Keys) -> Option<(usize, BlockHead)> {
    let starts = bytes.windows(BLOCK_MAGIC.len()).enumerate();
    starts
        .filter(|(_, window)| *window == BLOCK_MAGIC)
        .find_map(|(at, _)| Some((at, BlockHead::decode(bytes.get(at..)?, segment, keys)?)))
}

/// Copies what there is from a place on; answers how much that was.
fn copy(buffer: &mut [u8], from: &[u8], at: u64) -> usize {
    let from = usize::try_from(at).ok().and_then(|at| from.get(at..));
    let from = from.unwrap_or_default();
    let size = from.len().min(buffer.len());
    if let (Some(to), Some(from)) = (buffer.get_mut(..size), from.get(..size)) {
        to.copy_from_slice(from);
    }
    size
}

fn fill(buffer: &mut [u8], bytes: u64) -> usize {
    let size = usize::try_from(bytes)
        .unwrap_or(usize::MAX)
        .min(buffer.len());
    buffer.get_mut(..size).unwrap_or_default().fill(LOST);
    size
}

impl SegmentFile for Packed {
    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let there = self.length.saturating_sub(offset);
        let size = usize::try_from(there)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..size).filter(|rest| !rest.is_empty()) {
            match self.piece(rest, offset + done as u64)? {
                0 => break,
                more => done += more,
            }
        }
        Ok(done)
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
