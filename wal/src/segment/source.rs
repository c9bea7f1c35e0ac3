//! Reading frames out of a segment's file.
//!
//! - Nothing read is trusted before its checksum; no length before it is held against the file's.

use std::io;

use crate::disk::{SegmentFile, read_up_to};
use crate::format::footer::{Parts, footer_offset};
use crate::format::frame::{Frame, Owner, shortened};
use crate::format::head::{FrameKind, Head};
use crate::format::{HEAD, Keys, TRAILER};
use crate::record::{ContentPlace, Place, Stored};

/// Most frames are smaller; one read fetches them whole.
const GUESS: u64 = 4096;
const PIECE: u64 = 1 << 20;

/// A segment's file with what is needed to check what it holds.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a dyn SegmentFile,
    pub(crate) segment: u64,
    pub(crate) keys: &'a Keys,
}

impl Source<'_> {
    pub(crate) fn head(&self, offset: u64) -> io::Result<Option<Head>> {
        let bytes = read_up_to(self.file, offset, HEAD as u64)?;
        Ok(Head::decode(&bytes, self.place(offset), self.keys))
    }

    /// The frame at an offset, when it verifies.
    pub(crate) fn frame(&self, offset: u64) -> io::Result<Option<Frame>> {
        let mut bytes = read_up_to(self.file, offset, GUESS)?;
        let Some(head) = Head::decode(&bytes, self.place(offset), self.keys) else {
            return Ok(None);
        };
        let wanted = Frame::covered_length(&head);
        if wanted > bytes.len() as u64 {
            let more = wanted - bytes.len() as u64;
            bytes.extend(read_up_to(
                self.file,
                offset.saturating_add(bytes.len() as u64),
                more,
            )?);
        }
        let covered = usize::try_from(wanted)
            .ok()
            .and_then(|wanted| bytes.get(..wanted));
        Ok(covered.and_then(|covered| Frame::decode(head, covered, self.keys)))
    }

    pub(crate) fn content(&self, owner: Owner, at: ContentPlace) -> io::Result<Stored> {
        let block = read_up_to(self.file, at.place.offset, u64::from(at.length) + 32)?;
        Ok(if block.len() as u64 == u64::from(at.length) + 32 {
            owner.decode(self.keys, &block)
        } else {
            Stored::Lost
        })
    }

    pub(crate) fn contents(&self, frame: &Frame) -> io::Result<Vec<Stored>> {
        let owners = (0..).map(|index| Owner {
            stream: frame.head.stream,
            seq: frame.head.seq,
            index,
        });
        frame
            .contents
            .iter()
            .zip(owners)
            .map(|(at, owner)| self.content(owner, *at))
            .collect()
    }

    /// Whether all contents of a frame verify, without holding them in memory.
    pub(crate) fn contents_hold(&self, frame: &Frame) -> io::Result<bool> {
        let owners = (0..).map(|index| Owner {
            stream: frame.head.stream,
            seq: frame.head.seq,
            index,
        });
        for (at, owner) in frame.contents.iter().zip(owners) {
            if !self.content_holds(owner, *at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn content_holds(&self, owner: Owner, at: ContentPlace) -> io::Result<bool> {
        let mut hasher = owner.hasher(self.keys);
        let end = at
            .place
            .offset
            .saturating_add(16)
            .saturating_add(u64::from(at.length));
        let mut offset = at.place.offset;
        while offset < end {
            let bytes = read_up_to(self.file, offset, PIECE.min(end - offset))?;
            if bytes.is_empty() {
                return Ok(false);
            }
            hasher.update(&bytes);
            offset += bytes.len() as u64;
        }
        Ok(read_up_to(self.file, end, 16)? == shortened(&hasher))
    }

    /// The footer of a sealed segment, with the offset of its frame.
    pub(crate) fn footer(&self) -> io::Result<Option<(u64, Parts)>> {
        let Some(at) = self.file.len()?.checked_sub(TRAILER) else {
            return Ok(None);
        };
        let trailer = read_up_to(self.file, at, TRAILER)?;
        let Some(offset) = footer_offset(&trailer, self.keys) else {
            return Ok(None);
        };
        let frame = self
            .frame(offset)?
            .filter(|frame| frame.head.frame == FrameKind::Footer);
        Ok(frame
            .and_then(|frame| Parts::decode(&frame.body))
            .map(|parts| (offset, parts)))
    }

    pub(crate) fn place(&self, offset: u64) -> Place {
        Place {
            segment: self.segment,
            offset,
        }
    }
}
