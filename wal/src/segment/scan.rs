//! Walking a segment from its first frame to its last byte, through whatever stands there.
//!
//! - Every byte behind the header belongs to exactly one item, or to the zeros at the end.
//! - After bytes that are no frame, the walk goes on at the next head that verifies.

use std::io;

use super::source::Source;
use crate::disk::read_up_to;
use crate::format::footer::footer_offset;
use crate::format::head::{FrameKind, Head};
use crate::format::{ALIGN, FRAME_MAGIC, HEADER, TRAILER};

const PIECE: u64 = 1 << 20;

/// What stands at a stretch of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A frame that verifies, contents included.
    Sound(Head),
    /// A frame that verifies but for a content.
    ContentBad(Head),
    /// A head that verifies before a body that does not.
    BodyBad(Head),
    /// Bytes without a head.
    Junk,
}

impl Found {
    pub(crate) fn head(&self) -> Option<&Head> {
        match self {
            Found::Sound(head) | Found::ContentBad(head) | Found::BodyBad(head) => Some(head),
            Found::Junk => None,
        }
    }
}

/// A stretch of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) found: Found,
}

/// A whole segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    pub(crate) items: Vec<Item>,
    /// Bodies of control frames other than footers and closings.
    pub(crate) controls: Vec<(Head, Vec<u8>)>,
    /// Where the file, or the part of it that counts, ends.
    pub(crate) length: u64,
}

/// Walks a segment up to `limit`.
pub(crate) fn scan(source: Source<'_>, limit: u64) -> io::Result<Scan> {
    let mut scan = Scan {
        length: source.file.len()?.min(limit),
        ..Scan::default()
    };
    let mut offset = HEADER;
    while offset < scan.length {
        if at_trailer(source, offset, scan.length)? {
            break;
        }
        let Some(item) = item(source, offset, &mut scan)? else {
            break;
        };
        offset = item.offset.saturating_add(item.bytes);
        scan.items.push(item);
    }
    Ok(scan)
}

fn at_trailer(source: Source<'_>, offset: u64, length: u64) -> io::Result<bool> {
    if length - offset != TRAILER {
        return Ok(false);
    }
    Ok(footer_offset(&read_up_to(source.file, offset, TRAILER)?, source.keys).is_some())
}

fn item(source: Source<'_>, offset: u64, scan: &mut Scan) -> io::Result<Option<Item>> {
    let Some(head) = source.head(offset)? else {
        return junk(source, offset, scan.length);
    };
    if head.length > scan.length - offset {
        // The head stands, the end of the file does not reach as far as it says.
        return Ok(Some(Item {
            offset,
            bytes: scan.length - offset,
            found: Found::BodyBad(head),
        }));
    }
    let found = match source.frame(offset)? {
        None => Found::BodyBad(head),
        Some(frame) if !source.contents_hold(&frame)? => Found::ContentBad(head),
        Some(frame) => {
            if matches!(
                head.frame,
                FrameKind::Opening | FrameKind::Cut | FrameKind::Erasing | FrameKind::Lost
            ) {
                scan.controls.push((head, frame.body));
            }
            Found::Sound(head)
        }
    };
    Ok(Some(Item {
        offset,
        bytes: head.length,
        found,
    }))
}

/// How many bytes at an offset are none that verify, as a walk would find; 0 when nothing stands there: zeros mean the end.
pub(crate) fn unreadable(source: Source<'_>, offset: u64) -> io::Result<u64> {
    let length = source.file.len()?;
    let Some(rest) = length.checked_sub(offset) else {
        return Ok(0);
    };
    if let Some(head) = source.head(offset)? {
        return Ok(head.length.min(rest));
    }
    Ok(junk(source, offset, length)?.map_or(0, |item| item.bytes))
}

/// The stretch up to the next head; none when only zeros follow.
fn junk(source: Source<'_>, offset: u64, length: u64) -> io::Result<Option<Item>> {
    let mut zeros = true;
    let mut piece = offset;
    while piece < length {
        let bytes = read_up_to(source.file, piece, PIECE.min(length - piece))?;
        if bytes.is_empty() {
            break;
        }
        for (index, window) in bytes.chunks(ALIGN as usize).enumerate() {
            let at = piece + index as u64 * ALIGN;
            if at > offset && window.starts_with(&FRAME_MAGIC) && source.head(at)?.is_some() {
                return Ok(Some(Item {
                    offset,
                    bytes: at - offset,
                    found: Found::Junk,
                }));
            }
            zeros &= window.iter().all(|byte| *byte == 0);
        }
        piece += bytes.len() as u64;
    }
    Ok((!zeros).then_some(Item {
        offset,
        bytes: length - offset,
        found: Found::Junk,
    }))
}
