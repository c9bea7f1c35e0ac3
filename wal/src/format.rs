//! The bytes on disk; `FORMAT.md` is the norm, a test holds the two together.
//!
//! - All numbers are little-endian.
//! - Frames begin at multiples of 8; a zero where a magic should be means that nothing was written there.
//! - Every length is checked against its limit before anything is allocated.

pub(crate) mod block;
pub(crate) mod control;
pub(crate) mod cursor;
#[cfg(test)]
mod example;
pub(crate) mod footer;
pub(crate) mod frame;
pub(crate) mod head;
pub(crate) mod header;
pub(crate) mod lost;

/// The version of the format that this code writes, and the newest that it reads.
pub const VERSION: u16 = 1;
/// First bytes of a segment.
pub const SEGMENT_MAGIC: [u8; 8] = *b"RECOUNTS";
/// First bytes of a frame; the last one is the version of the frame's layout.
pub const FRAME_MAGIC: [u8; 4] = *b"RCF\x01";
/// First bytes of the trailer that ends a sealed segment.
pub const TRAILER_MAGIC: [u8; 8] = *b"RECOUNTE";
/// Bytes of a segment's header.
pub const HEADER: u64 = 128;
/// Bytes of a frame's head.
pub const HEAD: usize = 256;
/// Bytes of the digest behind head, table and body.
pub const DIGEST: usize = 32;
/// Bytes of a trailer.
pub const TRAILER: u64 = 32;
/// Bytes that surround each content: 16 of salt before it, 16 of checksum behind it.
pub const AROUND_CONTENT: u64 = 32;
/// Frames begin at multiples of this.
pub const ALIGN: u64 = 8;
/// The largest body of a control frame.
pub const MAX_CONTROL: u32 = 1 << 30;
/// What stands where a salt stood, once a content is erased.
pub const ERASED_SALT: [u8; 16] = *b"recount: erased\n";

/// The folder of the segments, in the log's directory.
pub const SEGMENTS: &str = "segments";
/// The file with the directory's secret.
pub const KEY_FILE: &str = "key";
/// The file that is locked by the process that writes.
pub const LOCK_FILE: &str = "lock";

const FRAME_CONTEXT: &str = "recount wal 2026-11-29 frame key v1";
const CONTENT_CONTEXT: &str = "recount wal 2026-11-29 content key v1";

/// The keys that checksums of this directory are made with, so that authored bytes cannot pose as a frame.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    pub(crate) directory: [u8; 32],
    frame: [u8; 32],
    content: [u8; 32],
}

impl Keys {
    pub(crate) fn of(directory: [u8; 32]) -> Keys {
        Keys {
            directory,
            frame: blake3::derive_key(FRAME_CONTEXT, &directory),
            content: blake3::derive_key(CONTENT_CONTEXT, &directory),
        }
    }

    pub(crate) fn frame_digest(&self, bytes: &[u8]) -> [u8; 32] {
        *blake3::keyed_hash(&self.frame, bytes).as_bytes()
    }

    pub(crate) fn checksum(&self, bytes: &[u8]) -> u64 {
        let digest = blake3::keyed_hash(&self.frame, bytes);
        let mut first = [0; 8];
        first.copy_from_slice(&digest.as_bytes()[..8]);
        u64::from_le_bytes(first)
    }

    pub(crate) fn content_hasher(&self) -> blake3::Hasher {
        blake3::Hasher::new_keyed(&self.content)
    }
}

impl std::fmt::Debug for Keys {
    // The directory's secret stays out of logs and panic messages.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

/// The name of a segment's file in the log's directory.
#[must_use]
pub fn segment_name(number: u64) -> String {
    format!("{SEGMENTS}/{number:016x}.seg")
}

/// The name under which a segment's file is written again, before it takes the segment's own.
#[must_use]
pub fn new_segment_name(number: u64) -> String {
    format!("{}.new", segment_name(number))
}

/// The number in the name of a segment's file (without folder).
#[must_use]
pub fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".seg")?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    (segment_name(number) == format!("{SEGMENTS}/{name}")).then_some(number)
}

/// The smallest multiple of [`ALIGN`] that is not below; saturates.
pub(crate) fn aligned(length: u64) -> u64 {
    length.checked_next_multiple_of(ALIGN).unwrap_or(u64::MAX)
}
