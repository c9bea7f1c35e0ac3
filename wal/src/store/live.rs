//! What the store holds in memory: open chunks, and full ones that wait to be written.
//!
//! - A record is readable from here until the row that holds it is in the store.
//! - Per stream, records are taken in order of seq; whoever comes out of order is fetched from the segments.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::chunk::{Chunk, encode_record};
use super::compare::Tail;
use crate::record::{Record, RecordDigest, StreamId};

/// What a stream looks like to the filler.
struct Known {
    last: u64,
    last_digest: RecordDigest,
    open: Option<Chunk>,
    /// The last chunk in the store.
    tail: Option<Tail>,
}

/// Whether records that damage took may be passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holes {
    /// What comes is all there is.
    Passed,
    /// What is missing may still be in the segments.
    Refused,
}

/// The part of the store that is in memory.
#[derive(Default)]
pub(super) struct Live {
    /// Which worker may change it.
    pub(super) epoch: u64,
    /// Whether committed records are taken; otherwise only noted.
    pub(super) filling: bool,
    pub(super) pending_bytes: usize,
    pub(super) open_bytes: usize,
    streams: HashMap<StreamId, Known>,
    pending: VecDeque<Arc<Chunk>>,
    /// Streams whose newest records must be fetched from the segments, with the seq to reach.
    behind: HashMap<StreamId, u64>,
}

impl Live {
    /// Begins anew for another worker.
    pub(super) fn reset(&mut self, epoch: u64) {
        let behind = std::mem::take(&mut self.behind);
        *self = Live {
            epoch,
            behind,
            ..Live::default()
        };
    }

    /// Tells where a stream ends in the store.
    pub(super) fn enter(&mut self, stream: StreamId, tail: Tail) {
        let known = Known {
            last: tail.last,
            last_digest: tail.last_digest,
            open: None,
            tail: Some(tail),
        };
        self.streams.insert(stream, known);
    }

    /// Takes a committed record, or notes that its stream has more.
    pub(super) fn commit(&mut self, record: &Record) {
        let waiting = self.behind.contains_key(&record.stream);
        if !self.filling || waiting || !self.push(record, Holes::Refused) {
            self.note(record.stream, record.seq);
        }
    }

    /// Notes that a stream reaches that seq in the segments.
    pub(super) fn note(&mut self, stream: StreamId, seq: u64) {
        if self
            .streams
            .get(&stream)
            .is_none_or(|known| known.last < seq)
        {
            let target = self.behind.entry(stream).or_insert(seq);
            *target = (*target).max(seq);
        }
    }

    /// Takes a record; false when it is not the next one. A record that is already known is left alone.
    pub(super) fn push(&mut self, record: &Record, holes: Holes) -> bool {
        let Some(encoded) = encode_record(record) else {
            return false;
        };
        if holes == Holes::Refused && record.seq > 0 && !self.streams.contains_key(&record.stream) {
            // A fork begins above 0, or its first commits were not heard of: the segments know.
            return false;
        }
        let known = self.streams.entry(record.stream).or_insert_with(|| Known {
            last: record.seq,
            last_digest: record.previous,
            open: Some(Chunk::empty(record.stream, record.seq, record.previous)),
            tail: None,
        });
        let fresh =
            known.tail.is_none() && known.open.as_ref().is_some_and(|open| open.count() == 0);
        if record.seq <= known.last && !fresh {
            return true;
        }
        let next =
            known.last.checked_add(1) == Some(record.seq) && known.last_digest == record.previous;
        if !fresh && !next && holes == Holes::Refused {
            return false;
        }
        let fits = |open: &Chunk| {
            open.continues(record.seq, record.previous) && open.has_room(1, encoded.len())
        };
        if let Some(full) = known.open.take_if(|open| !fits(open)) {
            self.open_bytes = self.open_bytes.saturating_sub(full.size());
            self.pending_bytes = self.pending_bytes.saturating_add(full.size());
            self.pending.push_back(Arc::new(full));
        }
        let begin = || Chunk::empty(record.stream, record.seq, record.previous);
        known
            .open
            .get_or_insert_with(begin)
            .push(&encoded, record.digest);
        known.last = record.seq;
        known.last_digest = record.digest;
        self.open_bytes = self.open_bytes.saturating_add(encoded.len());
        true
    }

    /// Closes all open chunks, so that they are written as they are.
    pub(super) fn close_chunks(&mut self) {
        for known in self.streams.values_mut() {
            if let Some(open) = known.open.take_if(|open| open.count() > 0) {
                self.pending_bytes = self.pending_bytes.saturating_add(open.size());
                self.pending.push_back(Arc::new(open));
            }
        }
        self.open_bytes = 0;
    }

    /// The next chunk to be written, with the last one of its stream in the store.
    pub(super) fn next_pending(&self) -> Option<(Arc<Chunk>, Option<Tail>)> {
        let chunk = self.pending.front()?;
        let tail = self.streams.get(&chunk.stream).and_then(|known| known.tail);
        Some((Arc::clone(chunk), tail))
    }

    /// The chunk that was next is in the store, as (a part of) a chunk with that tail.
    pub(super) fn written(&mut self, tail: Tail) {
        if let Some(chunk) = self.pending.pop_front() {
            self.pending_bytes = self.pending_bytes.saturating_sub(chunk.size());
            if let Some(known) = self.streams.get_mut(&chunk.stream) {
                known.tail = Some(tail);
            }
        }
    }

    /// A stream that is behind: its first missing seq and the one to reach.
    pub(super) fn next_behind(&self) -> Option<(StreamId, u64, u64)> {
        let (stream, target) = self.behind.iter().next()?;
        let from = self
            .streams
            .get(stream)
            .map_or(0, |known| known.last.saturating_add(1));
        Some((*stream, from, *target))
    }

    /// All that the segments have up to `target` was taken; whether nothing came since.
    pub(super) fn caught_up(&mut self, stream: StreamId, target: u64) {
        if self
            .behind
            .get(&stream)
            .is_some_and(|noted| *noted <= target)
        {
            self.behind.remove(&stream);
        }
    }

    /// Whether records of this stream up to its durable head are not known here yet.
    pub(super) fn misses(&self, stream: StreamId, durable: Option<u64>) -> bool {
        let known = self.streams.get(&stream).map(|known| known.last);
        self.behind.contains_key(&stream) || known < durable
    }

    pub(super) fn is_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    pub(super) fn has_open(&self) -> bool {
        self.open_bytes > 0
    }

    /// The chunk in memory that holds a seq, waiting or open.
    pub(super) fn holding(&self, stream: StreamId, seq: u64) -> Option<Arc<Chunk>> {
        let open = self.streams.get(&stream)?.open.as_ref();
        if let Some(open) = open.filter(|open| open.index_of(seq).is_some()) {
            return Some(Arc::new(open.clone()));
        }
        let waits = |chunk: &&Arc<Chunk>| chunk.stream == stream && chunk.index_of(seq).is_some();
        self.pending.iter().find(waits).map(Arc::clone)
    }

    /// The chunks of a stream in memory, newest first.
    pub(super) fn newest_first(&self, stream: StreamId) -> Vec<Arc<Chunk>> {
        let open = self
            .streams
            .get(&stream)
            .and_then(|known| known.open.as_ref());
        let open = open
            .filter(|open| open.count() > 0)
            .map(|open| Arc::new(open.clone()));
        let waiting = self
            .pending
            .iter()
            .rev()
            .filter(|chunk| chunk.stream == stream)
            .map(Arc::clone);
        open.into_iter().chain(waiting).collect()
    }

    /// The smallest seq in memory that is not below `seq`.
    pub(super) fn next_from(&self, stream: StreamId, seq: u64) -> Option<u64> {
        let chunks = self.newest_first(stream);
        chunks
            .iter()
            .filter(|chunk| chunk.last() >= seq)
            .map(|chunk| chunk.first.max(seq))
            .min()
    }
}
