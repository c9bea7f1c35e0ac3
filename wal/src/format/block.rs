//! The pieces of a compressed segment: blocks, the table of where they stand, and the end that names the table.
//!
//! - A block says itself which bytes of the segment it holds, so a lost table can be made again from the blocks.
//! - Every byte of the file is covered by a checksum or a digest; lengths are checked before anything is allocated.

use super::cursor::{Cursor, Put};
use super::{HEADER, Keys};

/// First bytes of a block; the last one is the version of its layout.
pub(crate) const BLOCK_MAGIC: [u8; 4] = *b"RCB\x01";
/// First bytes of the end of a compressed segment.
pub(crate) const END_MAGIC: [u8; 8] = *b"RECOUNTZ";
/// Bytes of a block's head.
pub(crate) const BLOCK_HEAD: usize = 56;
/// Bytes of the segment that a block holds; the last one may hold fewer.
pub(crate) const BLOCK: usize = 64 << 10;
/// The most bytes of the segment that a block may hold.
pub(crate) const MAX_BLOCK: u32 = 1 << 20;
/// Bytes of the end.
pub(crate) const END: u64 = 64;
/// What the header's compression field says of such a segment.
pub(crate) const LZ4_BLOCKS: u16 = 1;

/// The head of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHead {
    /// Bytes that it holds.
    pub(crate) raw: u32,
    /// Bytes that stand behind the head; as many as `raw`: not compressed.
    pub(crate) stored: u32,
    pub(crate) segment: u64,
    /// Offset of its first byte in the segment as it was written.
    pub(crate) offset: u64,
    /// Over the bytes behind the head.
    pub(crate) digest: [u8; 16],
}

impl BlockHead {
    pub(crate) fn encode(&self, keys: &Keys, out: &mut Vec<u8>) {
        let start = out.len();
        out.put(&BLOCK_MAGIC);
        for number in [self.raw, self.stored, 0] {
            out.put_u32(number);
        }
        out.put_u64(self.segment);
        out.put_u64(self.offset);
        out.put(&self.digest);
        let checksum = keys.checksum(out.get(start..).unwrap_or_default());
        out.put_u64(checksum);
    }

    /// Decodes a head of a segment's block; none when the bytes are anything else.
    pub(crate) fn decode(bytes: &[u8], segment: u64, keys: &Keys) -> Option<BlockHead> {
        let bytes: &[u8; BLOCK_HEAD] = bytes.first_chunk()?;
        let (covered, checksum) = bytes.split_last_chunk::<8>()?;
        if !bytes.starts_with(&BLOCK_MAGIC)
            || keys.checksum(covered) != u64::from_le_bytes(*checksum)
        {
            return None;
        }
        let mut cursor = Cursor(covered.get(4..)?);
        let (raw, stored, reserved) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
        let head = BlockHead {
            raw,
            stored,
            segment: cursor.u64()?,
            offset: cursor.u64()?,
            digest: cursor.array()?,
        };
        let sound = reserved == 0
            && head.segment == segment
            && (1..=MAX_BLOCK).contains(&raw)
            && (1..=raw).contains(&stored)
            && head.offset >= HEADER
            && head.offset.checked_add(u64::from(raw)).is_some();
        sound.then_some(head)
    }
}

/// The end of a compressed segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) segment: u64,
    /// Bytes of the segment as it was written.
    pub(crate) length: u64,
    /// Where the table begins in the file.
    pub(crate) table: u64,
    /// Bytes that each block but the last one holds.
    pub(crate) block: u32,
    /// Number of blocks.
    pub(crate) count: u32,
    /// Over the table.
    pub(crate) digest: [u8; 16],
}

impl End {
    pub(crate) fn encode(&self, keys: &Keys, out: &mut Vec<u8>) {
        let start = out.len();
        out.put(&END_MAGIC);
        for number in [self.segment, self.length, self.table] {
            out.put_u64(number);
        }
        out.put_u32(self.block);
        out.put_u32(self.count);
        out.put(&self.digest);
        let checksum = keys.checksum(out.get(start..).unwrap_or_default());
        out.put_u64(checksum);
    }

    /// Decodes the last bytes of a file of `length` bytes; none when they are anything else.
    pub(crate) fn decode(bytes: &[u8], file: u64, segment: u64, keys: &Keys) -> Option<End> {
        let bytes: &[u8; END as usize] = bytes.try_into().ok()?;
        let (covered, checksum) = bytes.split_last_chunk::<8>()?;
        let mut cursor = Cursor(covered);
        if cursor.array::<8>()? != END_MAGIC
            || keys.checksum(covered) != u64::from_le_bytes(*checksum)
        {
            return None;
        }
        let end = End {
            segment: cursor.u64()?,
            length: cursor.u64()?,
            table: cursor.u64()?,
            block: cursor.u32()?,
            count: cursor.u32()?,
            digest: cursor.array()?,
        };
        (end.segment == segment && end.lengths_hold(file)).then_some(end)
    }

    fn lengths_hold(&self, file: u64) -> bool {
        let table = u64::from(self.count) * 8;
        let ends = self
            .table
            .checked_add(table)
            .and_then(|end| end.checked_add(END));
        let held = self.length.checked_sub(HEADER);
        (1..=MAX_BLOCK).contains(&self.block)
            && self.table >= HEADER
            && ends == Some(file)
            && held
                .is_some_and(|held| held.div_ceil(u64::from(self.block)) == u64::from(self.count))
    }
}

/// The first half of a keyed digest.
pub(crate) fn half(keys: &Keys, bytes: &[u8]) -> [u8; 16] {
    let digest = keys.frame_digest(bytes);
    let (halves, _) = digest.as_chunks::<16>();
    halves.first().copied().unwrap_or_default()
}
