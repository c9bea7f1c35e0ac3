//! The header of a segment: who it belongs to.
//!
//! - It carries the directory's key, so that a lost key file can be made again from any segment.

use super::block::LZ4_BLOCKS;
use super::cursor::{Cursor, Put};
use super::{HEADER, SEGMENT_MAGIC, VERSION};

pub(super) const DOMAIN: &str = "recount wal 2026-11-29 segment header v1";
const USED: usize = 64;

/// A segment's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) segment: u64,
    pub(crate) key: [u8; 32],
    /// 0: not compressed; 1: blocks of LZ4; other values are reserved.
    pub(crate) compression: u16,
}

/// Why bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadHeader {
    /// Damaged, or never written.
    Damaged,
    /// Sound, but of a version that this code does not know.
    Newer(u16),
}

impl Header {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER as usize);
        bytes.put(&SEGMENT_MAGIC);
        bytes.put_u16(VERSION);
        bytes.put_u16(self.compression);
        bytes.put_u32(0);
        bytes.put_u64(self.segment);
        bytes.put(&self.key);
        bytes.put_u64(0);
        debug_assert_eq!(bytes.len(), USED);
        let digest = blake3::derive_key(DOMAIN, &bytes);
        bytes.put(&digest);
        bytes.resize(HEADER as usize, 0);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Header, BadHeader> {
        let covered = bytes.get(..USED).ok_or(BadHeader::Damaged)?;
        let digest = bytes.get(USED..USED + 32).ok_or(BadHeader::Damaged)?;
        let rest = bytes
            .get(USED + 32..HEADER as usize)
            .ok_or(BadHeader::Damaged)?;
        if blake3::derive_key(DOMAIN, covered) != digest || rest.iter().any(|byte| *byte != 0) {
            return Err(BadHeader::Damaged);
        }
        Header::fields(covered).ok_or(BadHeader::Damaged)?
    }

    fn fields(covered: &[u8]) -> Option<Result<Header, BadHeader>> {
        let mut cursor = Cursor(covered);
        if cursor.array::<8>()? != SEGMENT_MAGIC {
            return Some(Err(BadHeader::Damaged));
        }
        let version = cursor.u16()?;
        let compression = cursor.u16()?;
        let reserved = cursor.u32()?;
        let segment = cursor.u64()?;
        let key = cursor.array()?;
        let reserved_too = cursor.u64()?;
        if version != VERSION || compression > LZ4_BLOCKS {
            return Some(Err(BadHeader::Newer(
                version.max(VERSION.saturating_add(1)),
            )));
        }
        if reserved != 0 || reserved_too != 0 {
            return Some(Err(BadHeader::Damaged));
        }
        Some(Ok(Header {
            segment,
            key,
            compression,
        }))
    }
}
