//! Where every record stands, and how far every stream reaches: in memory, 4 bytes a record.
//!
//! - `head` never goes below a seq that was once durable, damaged or not.
//! - `pending` holds what is accepted and not durable, in order, right behind the durable head.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::forget::LastOf;
use crate::format::ALIGN;
use crate::format::footer::{Hole, Parts, Run};
use crate::queue::Pending;
use crate::record::{Gap, Heads, Place, RecordDigest, StreamId, StreamInfo};

/// Consecutive records of a stream in one segment.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) segment: u64,
    pub(crate) run: Run,
}

/// One stream.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) first: u64,
    /// The last accepted seq.
    pub(crate) head: u64,
    pub(crate) durable: Option<u64>,
    pub(crate) digest: RecordDigest,
    pub(crate) time: u64,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) pending: VecDeque<Arc<Pending>>,
}

/// All streams, and the bytes that nobody can read any more.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) streams: HashMap<StreamId, Stream>,
    pub(crate) holes: BTreeMap<u64, Vec<Hole>>,
    /// Streams that were forgotten, some of which may have begun again.
    pub(crate) forgotten: BTreeMap<StreamId, Gone>,
    /// Records whose seq an earlier one has already; the first of each row.
    pub(crate) doubled: Vec<(StreamId, u64)>,
    /// Streams that are being forgotten: nothing more is admitted to them.
    pub(crate) leaving: HashSet<StreamId>,
}

/// A stream that was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    /// What segments below this one hold of it does not count.
    pub(crate) below: u64,
    /// The last seq it had.
    pub(crate) last: u64,
    /// Digest of its last record.
    pub(crate) digest: RecordDigest,
    /// Whether bytes that nobody can read were given up with it.
    pub(crate) damage: bool,
}

impl Stream {
    pub(crate) fn heads(&self) -> Heads {
        Heads {
            accepted: self.head,
            durable: self.durable,
            digest: self.digest,
            time: self.time,
        }
    }

    /// Where a record stands; none when it is pending or lost.
    pub(crate) fn place(&self, seq: u64) -> Option<Place> {
        let at = self
            .stretches
            .partition_point(|stretch| stretch.run.first <= seq)
            .checked_sub(1)?;
        let stretch = self.stretches.get(at)?;
        let index = usize::try_from(seq - stretch.run.first).ok()?;
        let offset = u64::from(*stretch.run.offsets.get(index)?) * ALIGN;
        Some(Place {
            segment: stretch.segment,
            offset,
        })
    }

    pub(crate) fn last_place(&self) -> Option<Place> {
        let stretch = self.stretches.last()?;
        let offset = u64::from(*stretch.run.offsets.last()?) * ALIGN;
        Some(Place {
            segment: stretch.segment,
            offset,
        })
    }

    /// The first seq above `seq` that has a place.
    pub(crate) fn next_placed(&self, seq: u64) -> Option<u64> {
        let behind = self.stretches.get(
            self.stretches
                .partition_point(|stretch| stretch.run.next() <= seq)..,
        )?;
        behind.first().map(|stretch| stretch.run.first.max(seq))
    }

    /// Adds a record that became durable.
    pub(crate) fn placed(&mut self, seq: u64, place: Place) {
        let at = u32::try_from(place.offset / ALIGN).unwrap_or(u32::MAX);
        match self.stretches.last_mut() {
            Some(last) if last.segment == place.segment && last.run.next() == seq => {
                last.run.offsets.push(at)
            }
            _ => self.stretches.push(Stretch {
                segment: place.segment,
                run: Run {
                    first: seq,
                    offsets: vec![at],
                },
            }),
        }
    }

    /// The last seq before those that wait.
    fn written(&self) -> Option<u64> {
        match self.waiting() {
            Some(waiting) => waiting.checked_sub(1).filter(|last| *last >= self.first),
            None => Some(self.head),
        }
    }

    /// The first accepted seq that is not durable.
    pub(crate) fn waiting(&self) -> Option<u64> {
        self.pending.front().map(|pending| pending.first)
    }
}

impl Index {
    /// Whether what a segment holds of a stream is forgotten.
    pub(crate) fn is_gone(&self, stream: StreamId, segment: u64) -> bool {
        let gone = self.forgotten.get(&stream);
        gone.is_some_and(|gone| segment < gone.below)
    }

    /// How far a stream reached that was forgotten.
    pub(crate) fn last_of(&self, stream: StreamId) -> Option<LastOf> {
        self.forgotten.get(&stream).map(|gone| LastOf {
            last: gone.last,
            digest: gone.digest,
        })
    }

    /// Which of the streams that had this id one after the other there is now.
    pub(crate) fn life(&self, stream: StreamId) -> Option<u64> {
        self.forgotten.get(&stream).map(|gone| gone.below)
    }

    /// Whether records of forgotten streams still stand in a segment.
    pub(crate) fn holds_forgotten(&self, segment: u64, parts: &Parts) -> bool {
        let mut streams = parts.streams.iter();
        streams.any(|(id, part)| !part.runs.is_empty() && self.is_gone(*id, segment))
    }

    /// Takes in what a segment holds; segments come in order.
    pub(crate) fn merge(&mut self, segment: u64, mut parts: Parts) {
        parts.streams.retain(|id, _| !self.is_gone(*id, segment));
        if !parts.holes.is_empty() {
            self.holes.insert(segment, parts.holes);
        }
        self.doubled.append(&mut parts.doubled);
        for (id, part) in parts.streams {
            let stream = self
                .streams
                .entry(id)
                .or_insert_with(|| Stream::starting(part.first));
            let known = stream.stretches.last().map(|stretch| stretch.run.next());
            for mut run in part.runs {
                // Of two records in one position the one that came first stands; those behind it are no contradiction.
                let twice = known.map_or(0, |known| known.saturating_sub(run.first));
                if twice > 0 {
                    self.doubled.push((id, run.first));
                    run.skip(twice);
                }
                if !run.offsets.is_empty() {
                    stream.stretches.push(Stretch { segment, run });
                }
            }
            if part.head >= stream.head && part.digest != RecordDigest::ROOT {
                (stream.digest, stream.time) = (part.digest, part.time);
            }
            stream.head = stream.head.max(part.head);
            stream.durable = Some(stream.head);
        }
    }

    /// Records from these on were found and are not durable; answers whose.
    pub(crate) fn withhold(&mut self, from: Option<&BTreeMap<StreamId, u64>>) -> Vec<StreamId> {
        let mut withheld = Vec::new();
        for (id, first) in from.into_iter().flatten() {
            if let Some(stream) = self.streams.get_mut(id) {
                stream.durable = first.checked_sub(1).filter(|last| *last >= stream.first);
                withheld.push(*id);
            }
        }
        withheld
    }

    /// What was found of these streams is durable by now.
    pub(crate) fn release(&mut self, withheld: &[StreamId]) {
        for id in withheld {
            if let Some(stream) = self.streams.get_mut(id) {
                stream.durable = stream.written();
            }
        }
    }

    pub(crate) fn infos(&self) -> Vec<StreamInfo> {
        let info = |(id, stream): (&StreamId, &Stream)| StreamInfo {
            stream: *id,
            first: stream.first,
            heads: stream.heads(),
        };
        let mut infos: Vec<_> = self.streams.iter().map(info).collect();
        infos.sort_unstable_by_key(|info| info.stream);
        infos
    }

    /// All gaps of a stream.
    pub(crate) fn gaps(&self, id: StreamId) -> Vec<Gap> {
        let Some(stream) = self.streams.get(&id) else {
            return Vec::new();
        };
        let mut gaps = Vec::new();
        let mut seq = stream.first;
        let durable = stream
            .durable
            .map_or(seq, |durable| durable.saturating_add(1));
        while seq < durable {
            let next = stream.next_placed(seq).unwrap_or(durable).min(durable);
            if next > seq {
                gaps.push(self.gap(stream, seq, next - 1));
            }
            let run = stream
                .stretches
                .iter()
                .find(|stretch| stretch.run.first == next);
            seq = run.map_or(durable, |stretch| stretch.run.next()).max(next);
        }
        gaps
    }

    /// Describes the loss of `first ..= last`: the damage is between the records that stand around it.
    pub(crate) fn gap(&self, stream: &Stream, first: u64, last: u64) -> Gap {
        let before = first
            .checked_sub(1)
            .and_then(|seq| stream.place(seq))
            .unwrap_or_default();
        let after = last.checked_add(1).and_then(|seq| stream.place(seq));
        let upper = after.unwrap_or(Place {
            segment: u64::MAX,
            offset: u64::MAX,
        });
        let holes = self.holes.range(before.segment..=upper.segment);
        let places = holes.flat_map(|(segment, holes)| holes.iter().map(|hole| (*segment, *hole)));
        let inside = |(segment, hole): &(u64, Hole)| {
            let place = Place {
                segment: *segment,
                offset: hole.offset,
            };
            place >= before && place < upper
        };
        let fallback = (
            before.segment,
            Hole {
                offset: before.offset,
                bytes: 0,
            },
        );
        let (segment, hole) = places.into_iter().find(inside).unwrap_or(fallback);
        Gap {
            first,
            last,
            segment,
            offset: hole.offset,
            bytes: hole.bytes,
        }
    }
}

impl Stream {
    pub(crate) fn starting(first: u64) -> Stream {
        Stream {
            first,
            head: first,
            durable: None,
            digest: RecordDigest::ROOT,
            time: 0,
            stretches: Vec::new(),
            pending: VecDeque::new(),
        }
    }
}
