//! What a segment holds, in memory and as the footer of a sealed segment.
//!
//! - Built in one way only (record by record, in file order), so a footer equals a fresh scan.
//! - `head` is the last seq ever seen, damaged ones included; it is never given again.

use std::collections::BTreeMap;

use super::cursor::{Cursor, Put};
use super::head::Head;
use super::lost::Lost;
use super::{ALIGN, Keys, TRAILER, TRAILER_MAGIC};
use crate::record::{RecordDigest, StreamId};

/// Consecutive records of a stream in one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u64,
    /// Offset of each frame, in units of 8 bytes.
    pub(crate) offsets: Vec<u32>,
}

impl Run {
    /// The seq behind the run's last.
    pub(crate) fn next(&self) -> u64 {
        self.first.saturating_add(self.offsets.len() as u64)
    }

    /// Leaves out so many records at its beginning.
    pub(crate) fn skip(&mut self, records: u64) {
        let most = self.offsets.len();
        let records = usize::try_from(records).map_or(most, |records| records.min(most));
        self.offsets.drain(..records);
        self.first = self.first.saturating_add(records as u64);
    }
}

/// What a segment holds of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The stream's first seq, if it begins here from an origin; else 0.
    pub(crate) first: u64,
    pub(crate) head: u64,
    pub(crate) time: u64,
    /// Digest of the last record whose head could be read; zeros when there is none.
    pub(crate) digest: RecordDigest,
    pub(crate) runs: Vec<Run>,
}

/// A stretch of bytes that nobody can read any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// What a segment holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) streams: BTreeMap<StreamId, Part>,
    pub(crate) holes: Vec<Hole>,
    /// Records whose seq an earlier one has already: two hands wrote. Only a scan sees them, a footer does not list them.
    pub(crate) doubled: Vec<(StreamId, u64)>,
}

impl Parts {
    /// Adds a record whose frame verified; frames come in file order.
    pub(crate) fn add(&mut self, head: &Head) {
        let at = u32::try_from(head.place.offset / ALIGN).unwrap_or(u32::MAX);
        let part = self
            .streams
            .entry(head.stream)
            .or_insert_with(|| Part::of(head));
        if !part.runs.is_empty() && head.seq <= part.head {
            // A seq is never given twice: what was read first stands.
            self.doubled.push((head.stream, head.seq));
            return;
        }
        match part.runs.last_mut() {
            Some(run) if run.next() == head.seq => run.offsets.push(at),
            _ => part.runs.push(Run {
                first: head.seq,
                offsets: vec![at],
            }),
        }
        part.head = part.head.max(head.seq);
        part.time = head.time;
        part.digest = head.digest;
    }

    /// Notes that a record once stood here, though it cannot be read.
    pub(crate) fn seen(&mut self, stream: StreamId, seq: u64) {
        let part = self
            .streams
            .entry(stream)
            .or_insert_with(|| Part::starting(0, seq));
        part.head = part.head.max(seq);
    }

    /// Notes a record whose head verifies though its body does not: the chain goes on from it.
    pub(crate) fn lost(&mut self, head: &Head) {
        self.streams
            .entry(head.stream)
            .or_insert_with(|| Part::of(head));
        self.seen(head.stream, head.seq);
        if let Some(part) = self
            .streams
            .get_mut(&head.stream)
            .filter(|part| part.head == head.seq)
        {
            (part.digest, part.time) = (head.digest, head.time);
        }
    }

    /// Takes in a lost frame at an offset: the chain goes on behind what it names. The hole without bytes says where.
    pub(crate) fn gone(&mut self, lost: &Lost, offset: u64) {
        for tail in &lost.tails {
            let part = self
                .streams
                .entry(tail.stream)
                .or_insert_with(|| Part::starting(tail.begin, tail.last));
            if tail.last >= part.head {
                part.head = tail.last;
                if tail.digest != RecordDigest::ROOT {
                    (part.digest, part.time) = (tail.digest, tail.time);
                }
            }
        }
        self.holes.push(Hole { offset, bytes: 0 });
    }

    /// The first record of each stream that stands at an offset or behind it.
    pub(crate) fn first_behind(&self, offset: u64) -> BTreeMap<StreamId, u64> {
        let first = |part: &Part| {
            part.runs.iter().find_map(|run| {
                let before = |at: &u32| u64::from(*at) * ALIGN < offset;
                let before = run.offsets.partition_point(before);
                (before < run.offsets.len()).then(|| run.first.saturating_add(before as u64))
            })
        };
        let firsts = self.streams.iter();
        firsts
            .filter_map(|(stream, part)| Some((*stream, first(part)?)))
            .collect()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_count(self.streams.len());
        for (stream, part) in &self.streams {
            out.put(&stream.0);
            for number in [part.first, part.head, part.time] {
                out.put_u64(number);
            }
            out.put(&part.digest.0);
            out.put_count(part.runs.len());
            for run in &part.runs {
                out.put_u64(run.first);
                out.put_count(run.offsets.len());
                run.offsets.iter().for_each(|offset| out.put_u32(*offset));
            }
        }
        out.put_count(self.holes.len());
        for hole in &self.holes {
            out.put_u64(hole.offset);
            out.put_u64(hole.bytes);
        }
        out
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Parts> {
        let mut cursor = Cursor(body);
        let mut parts = Parts::default();
        for _ in 0..cursor.count(76)? {
            let stream = StreamId(cursor.array()?);
            parts.streams.insert(stream, Part::decode(&mut cursor)?);
        }
        for _ in 0..cursor.count(16)? {
            parts.holes.push(Hole {
                offset: cursor.u64()?,
                bytes: cursor.u64()?,
            });
        }
        cursor.0.is_empty().then_some(parts)
    }
}

impl Part {
    fn of(head: &Head) -> Part {
        Part::starting(if head.origin { head.seq } else { 0 }, head.seq)
    }

    fn starting(first: u64, head: u64) -> Part {
        Part {
            first,
            head,
            time: 0,
            digest: RecordDigest::ROOT,
            runs: Vec::new(),
        }
    }

    fn decode(cursor: &mut Cursor<'_>) -> Option<Part> {
        let (first, head, time) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        let digest = RecordDigest(cursor.array()?);
        let mut runs = Vec::new();
        for _ in 0..cursor.count(12)? {
            let first = cursor.u64()?;
            let count = cursor.count(4)?;
            let offsets = (0..count)
                .map(|_| cursor.u32())
                .collect::<Option<Vec<_>>>()?;
            runs.push(Run { first, offsets });
        }
        Some(Part {
            first,
            head,
            time,
            digest,
            runs,
        })
    }
}

/// The last bytes of a sealed segment: where its footer begins.
pub(crate) fn trailer(footer: u64, keys: &Keys) -> Vec<u8> {
    let mut out = Vec::with_capacity(TRAILER as usize);
    out.put(&TRAILER_MAGIC);
    out.put_u64(footer);
    out.put_u64(0);
    let checksum = keys.checksum(&out);
    out.put_u64(checksum);
    out
}

/// The offset of the footer that a trailer names.
pub(crate) fn footer_offset(bytes: &[u8], keys: &Keys) -> Option<u64> {
    let bytes: &[u8; TRAILER as usize] = bytes.try_into().ok()?;
    let (covered, checksum) = bytes.split_last_chunk::<8>()?;
    let mut cursor = Cursor(covered);
    let magic: [u8; 8] = cursor.array()?;
    let footer = cursor.u64()?;
    let sound = magic == TRAILER_MAGIC
        && cursor.u64()? == 0
        && keys.checksum(covered) == u64::from_le_bytes(*checksum);
    sound.then_some(footer)
}
