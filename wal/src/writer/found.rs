//! The end of the log as another process left it: made durable before anything is written behind it.
//!
//! - What was read may have come from memory. A sync that failed was told to that process alone, and the system takes the bytes for
//!   written (Linux does): so what no later group shows to be durable is written again, then synced.
//! - As long as that fails nothing is written, and none of it counts as durable. It is tried again before each write.

use std::collections::BTreeMap;
use std::io;

use super::{Current, Writer};
use crate::disk::{Access, SegmentFile, read_up_to};
use crate::format::{SEGMENTS, segment_name};
use crate::record::StreamId;
use crate::recovery::Tail;

/// The segment that was written on last, as long as it may not be durable.
#[derive(Debug)]
pub(super) struct Found {
    tail: Tail,
    /// What no later group shows to be durable, once it was read: after a failed write memory need not hold it any longer.
    bytes: Option<Vec<u8>>,
}

impl Writer {
    /// Goes on in a segment that was found; what stands behind its end is cut first. If it cannot be cut, or is to be left, a new
    /// segment is begun instead, which says where this one ends: also then it is made durable first.
    pub(crate) fn resume(&mut self, tail: Tail) {
        self.found = Some(Found { tail, bytes: None });
        if let Err(error) = self.settle_found() {
            tracing::warn!(%error, "what was found could not be made durable yet");
        }
    }

    /// The first record of each stream that was found and is not durable yet; none when all is.
    pub(crate) fn unsettled(&self) -> Option<&BTreeMap<StreamId, u64>> {
        self.found.as_ref().map(|found| &found.tail.unsynced)
    }

    /// Makes what was found durable, if it is not yet.
    pub(crate) fn settle_found(&mut self) -> io::Result<()> {
        let Some(mut found) = self.found.take() else {
            return Ok(());
        };
        if let Err(error) = self.make_durable(&mut found) {
            self.found = Some(found);
            return Err(error);
        }
        Ok(())
    }

    fn make_durable(&mut self, found: &mut Found) -> io::Result<()> {
        let Found { tail, bytes } = found;
        let file = self.disk.open(&segment_name(tail.number), Access::Write)?;
        let mut left = tail.left;
        if tail.longer && !tail.left {
            left = file.truncate(tail.end).is_err();
        }
        let bytes = match bytes {
            Some(bytes) => bytes,
            None => bytes.insert(part(file.as_ref(), tail.synced, tail.end)?),
        };
        file.write_at(bytes, tail.synced)?;
        file.sync_data()?;
        // Names may be in memory only as well.
        self.disk.sync_dir(SEGMENTS)?;
        self.disk.sync_dir("")?;
        if left {
            self.unended.push((tail.number, tail.end));
            return Ok(());
        }
        self.sealed.up_to(tail.number);
        self.current = Some(Current {
            number: tail.number,
            file,
            end: tail.end,
            reach: tail.end,
            bare: false,
            parts: std::mem::take(&mut tail.parts),
        });
        Ok(())
    }

    /// Makes a seal that was found durable. If that fails, the segment ends before its footer: up to there it was durable before
    /// the footer was written.
    pub(crate) fn confirm(&mut self, number: u64, footer: u64) {
        let confirmed = || {
            let file = self.disk.open(&segment_name(number), Access::Write)?;
            let seal = part(file.as_ref(), footer, file.len()?)?;
            file.write_at(&seal, footer)?;
            file.sync_data()
        };
        if confirmed().is_err() {
            self.unended.push((number, footer));
        }
    }
}

/// The bytes of a file from one offset to another.
fn part(file: &dyn SegmentFile, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let length = to.saturating_sub(from);
    let bytes = read_up_to(file, from, length)?;
    if bytes.len() as u64 == length {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
