//! The notes of streams that are forgotten.
//!
//! - They stand directly behind the opening of a segment, so they are found without reading the rest of it.

use std::io;

use super::Opened;
use crate::format::control::Pruning;
use crate::format::head::FrameKind;
use crate::format::{HEADER, Keys};

/// A note: in which segment, and where its frame ends.
#[derive(Debug)]
pub(super) struct Noted {
    pub(super) segment: u64,
    pub(super) end: u64,
    pub(super) pruning: Pruning,
}

/// Reads the notes at the beginnings of segments.
pub(super) fn prunings(segments: &[Opened], keys: &Keys) -> io::Result<Vec<Noted>> {
    let mut noted = Vec::new();
    for segment in segments {
        let source = segment.source(keys);
        let opening = source.head(HEADER)?;
        let Some(opening) = opening.filter(|head| head.frame == FrameKind::Opening) else {
            continue;
        };
        let length = segment.file.len()?;
        let mut offset = HEADER.saturating_add(opening.length);
        while source
            .head(offset)?
            .is_some_and(|head| head.frame == FrameKind::Pruning)
        {
            let Some(frame) = source.frame(offset)? else {
                break;
            };
            offset = offset.saturating_add(frame.head.length);
            // One that lacks its padding is torn.
            let pruning = Pruning::decode(&frame.body).filter(|_| offset <= length);
            noted.extend(pruning.map(|pruning| Noted {
                segment: segment.number,
                end: offset,
                pruning,
            }));
        }
    }
    Ok(noted)
}
