//! What is known of a segment before it is read.
//!
//! - Making a segment may be interrupted, also by a recovery that was making one after a segment that was never finished.
//!   So the row of segments may end in any number of unmade ones; nothing was ever acknowledged in them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::Opened;
use super::prunings::Noted;
use crate::format::control::Opening;
use crate::format::head::FrameKind;
use crate::format::{HEADER, Keys};
use crate::index::Gone;
use crate::record::StreamId;
use crate::segment::judge::judge;
use crate::segment::scan::scan;

/// So many numbers are looked at behind the last made segment.
const GAP: usize = 1024;

/// What is known of a segment before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It counts up to an offset, all of which was durable.
    Ended(u64),
    /// Its footer stands: all of it was durable.
    Sealed,
    /// Another segment follows, and nothing says where this one ended: its end is missing.
    Cut,
    /// The last one that was made: it may have a group that was never acknowledged.
    Last,
    /// Its making was interrupted, and no later segment was made: it holds nothing.
    Unmade,
}

/// The segments of a directory, as they stand to one another.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) ends: BTreeMap<u64, u64>,
    last_made: Option<u64>,
    /// Segments that are compressed: they were sealed, so they are never written on.
    packed: BTreeSet<u64>,
}

impl Row {
    pub(super) fn of(segments: &[Opened], keys: &Keys) -> io::Result<Row> {
        let mut ends = BTreeMap::new();
        let mut last_made = None;
        for segment in segments {
            let frame = segment.source(keys).frame(HEADER)?;
            // One that lacks its padding is torn: it does not count, so it must not speak for others either.
            let length = segment.file.len()?;
            let opening = frame.filter(|frame| {
                frame.head.frame == FrameKind::Opening
                    && HEADER.saturating_add(frame.head.length) <= length
            });
            if let Some(opening) = opening.and_then(|frame| Opening::decode(&frame.body)) {
                ends.extend(opening.ends);
                last_made = Some(segment.number);
            } else if segment.packed.is_some() || was_synced(segment, keys)? {
                last_made = Some(segment.number);
            }
        }
        let packed = segments.iter().filter(|segment| segment.packed.is_some());
        Ok(Row {
            packed: packed.map(|segment| segment.number).collect(),
            ends,
            last_made,
        })
    }

    /// `until`: how far a segment counts that is being written on.
    pub(super) fn standing(&self, number: u64, until: Option<u64>) -> Standing {
        if let Some(end) = self.ends.get(&number).copied().or(until) {
            return Standing::Ended(end);
        }
        match self.last_made {
            Some(last) if number < last || self.packed.contains(&number) => Standing::Cut,
            Some(last) if number == last => Standing::Last,
            _ => Standing::Unmade,
        }
    }

    /// The streams that prunings name, as far as those count.
    pub(super) fn forgotten(&self, prunings: Vec<Noted>) -> BTreeMap<StreamId, Gone> {
        let counts = |noted: &Noted| {
            let end = self.ends.get(&noted.segment);
            end.is_none_or(|end| noted.end <= *end)
        };
        let mut forgotten = BTreeMap::new();
        for Noted {
            segment, pruning, ..
        } in prunings.into_iter().filter(counts)
        {
            for pruned in pruning.streams {
                let gone = Gone {
                    below: segment,
                    last: pruned.last,
                    digest: pruned.digest,
                    damage: pruning.damage,
                };
                forgotten.insert(pruned.stream, gone);
            }
        }
        forgotten
    }

    /// The first number between two made segments that is nobody's, and was not given up before anything was in it.
    pub(super) fn missing(&self, before: u64, after: u64) -> Option<u64> {
        if self.last_made.is_none_or(|last| after > last) {
            return None;
        }
        (before.saturating_add(1)..after).find(|number| self.ends.get(number) != Some(&0))
    }

    /// Numbers behind the last made segment that were given to segments of which not even the name is left.
    pub(super) fn vanished(&self, segments: &[Opened]) -> Vec<u64> {
        let numbers: Vec<u64> = segments.iter().map(|segment| segment.number).collect();
        let first = self.last_made.map_or(0, |last| last.saturating_add(1));
        let behind = numbers.last().map_or(first..first, |last| first..*last);
        // A recovery uses up one number; a wider gap is not the work of crashes.
        let gap = behind
            .take(GAP)
            .filter(|number| numbers.binary_search(number).is_err());
        gap.collect()
    }
}

/// Whether something says that a segment without a sound opening was durable all the same.
fn was_synced(segment: &Opened, keys: &Keys) -> io::Result<bool> {
    let source = segment.source(keys);
    if source.footer()?.is_some() {
        return Ok(true);
    }
    Ok(judge(&scan(source, u64::MAX)?, 0).synced > HEADER)
}
