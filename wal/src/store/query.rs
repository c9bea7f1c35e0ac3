//! Reading from the store: records of a stream, and positions by time and by term.
//!
//! - An answer is either right or "look in the segments"; a store that is in doubt gives only the latter, from the moment the doubt is raised until
//!   another one has been compared or built; who was reading at that moment still gets what it found.
//! - What is kept of a store's chunks is kept only while readers use that store.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::chunk::{BadChunk, Chunk};
use super::contract::{Order, Store, StoreError, Table};
use super::event_log::EventLog;
use super::layout::{Index, chunk_key, parse_key, term_of_tag};
use super::status::Doubt;
use crate::record::{Record, StreamId, StreamInfo, Tagged};

/// Decoded chunks that are kept: about 2 MiB.
const CACHED: usize = 32;

/// What the store knows of a range, from its start on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// These records, the first of the range first, without holes; at least one. Contents are not in them, only their places.
    Records(Vec<Record>),
    /// Nothing from the start of the range up to and with this seq: look in the segments.
    Elsewhere(u64),
}

/// The answer to a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The newest seq that fits.
    At(u64),
    /// Nothing fits.
    Nothing,
    /// The store cannot tell: look in the segments.
    Unknown,
}

impl EventLog {
    /// Records of a stream from `from` to `to`, both inclusive, as far as one chunk reaches.
    #[must_use]
    pub fn part(&self, stream: StreamId, from: u64, to: u64) -> Part {
        let Some(store) = self.usable() else {
            return Part::Elsewhere(to);
        };
        self.part_of(&store, stream, from, to)
            .unwrap_or_else(|doubt| {
                self.shared.raise(doubt);
                Part::Elsewhere(to)
            })
    }

    /// The newest record of a stream that has this term: the first half of its tag, or one that
    /// [`Terms`](super::Terms) gives.
    #[must_use]
    pub fn find_term(&self, stream: StreamId, term: [u8; 16]) -> Found {
        let terms = &self.shared.terms;
        self.search(
            stream,
            |index| index.may_hold(&term),
            |chunk, at| terms.of(chunk, at).map(|terms| terms.contains(&term)),
        )
    }

    /// The batch of a stream whose tag begins with these bytes; the outer none says that the store cannot tell.
    #[must_use]
    pub fn find_tag(&self, stream: StreamId, start: [u8; 16]) -> Option<Option<Tagged>> {
        let seq = match self.search(
            stream,
            |index| index.may_hold(&start),
            |chunk, at| {
                Ok(chunk
                    .record(at)?
                    .tag
                    .is_some_and(|tag| term_of_tag(&tag) == start))
            },
        ) {
            Found::At(seq) => seq,
            Found::Nothing => return Some(None),
            Found::Unknown => return None,
        };
        let Part::Records(records) = self.part(stream, seq, seq) else {
            return None;
        };
        let record = records.into_iter().next()?;
        Some(record.tag.map(|tag| Tagged {
            tag,
            first: record.batch.0,
            last: record.batch.1,
        }))
    }

    /// The newest record of a stream whose time is not after `time`, whatever the times before it.
    #[must_use]
    pub fn find_time(&self, stream: StreamId, time: u64) -> Found {
        self.search(
            stream,
            |index| index.time_min <= time,
            |chunk, at| Ok(chunk.record(at)?.time <= time),
        )
    }

    /// All streams, the one with the newest time first.
    #[must_use]
    pub fn newest_streams(&self) -> Vec<StreamInfo> {
        let mut streams = self.shared.segments.streams();
        streams.sort_unstable_by_key(|info| (std::cmp::Reverse(info.heads.time), info.stream));
        streams
    }

    fn usable(&self) -> Option<Arc<dyn Store>> {
        if self.shared.is_doubted() {
            None
        } else {
            self.shared.published()
        }
    }

    fn part_of(
        &self,
        store: &Arc<dyn Store>,
        stream: StreamId,
        from: u64,
        to: u64,
    ) -> Result<Part, Doubt> {
        let held = self.shared.live().holding(stream, from);
        if let Some(chunk) = held {
            return records_of(&chunk, from, to).map_err(|bad| bad_chunk(stream, bad));
        }
        if let Some(chunk) = self.shared.cache.holding(stream, from) {
            return records_of(&chunk, from, to).map_err(|bad| bad_chunk(stream, bad));
        }
        if let Some(chunk) = chunk_before(&**store, stream, from)?
            && chunk.index_of(from).is_some()
        {
            let chunk = Arc::new(chunk);
            self.shared.keep(store, &chunk);
            return records_of(&chunk, from, to).map_err(|bad| bad_chunk(stream, bad));
        }
        let in_store = first_after(&**store, stream, from)?;
        let in_memory = self.shared.live().next_from(stream, from);
        let next = in_store.into_iter().chain(in_memory).min();
        Ok(Part::Elsewhere(next.map_or(to, |next| {
            next.saturating_sub(1).clamp(from, to.max(from))
        })))
    }

    fn search(
        &self,
        stream: StreamId,
        may: impl Fn(&Index) -> bool,
        fits: impl Fn(&Chunk, usize) -> Result<bool, BadChunk>,
    ) -> Found {
        let Some(store) = self.usable() else {
            return Found::Unknown;
        };
        // Asked first: what becomes durable afterwards is not this search's business.
        let durable = self.shared.segments.durable(stream);
        let (behind, chunks) = {
            let live = self.shared.live();
            (live.misses(stream, durable), live.newest_first(stream))
        };
        if behind {
            return Found::Unknown;
        }
        let found = search_chunks(&chunks, &fits).and_then(|found| match found {
            Some(seq) => Ok(Some(seq)),
            None => search_store(&*store, stream, &may, &fits),
        });
        match found {
            Ok(seq) => seq.map_or(Found::Nothing, Found::At),
            Err(doubt) => {
                self.shared.raise(doubt);
                Found::Unknown
            }
        }
    }
}

fn search_chunks(
    chunks: &[Arc<Chunk>],
    fits: &impl Fn(&Chunk, usize) -> Result<bool, BadChunk>,
) -> Result<Option<u64>, Doubt> {
    for chunk in chunks {
        if let Some(seq) = search_chunk(chunk, fits)? {
            return Ok(Some(seq));
        }
    }
    Ok(None)
}

fn search_chunk(
    chunk: &Chunk,
    fits: &impl Fn(&Chunk, usize) -> Result<bool, BadChunk>,
) -> Result<Option<u64>, Doubt> {
    for index in (0..chunk.count()).rev() {
        if fits(chunk, index).map_err(|bad| bad_chunk(chunk.stream, bad))? {
            return Ok(Some(chunk.first.saturating_add(index as u64)));
        }
    }
    Ok(None)
}

fn search_store(
    store: &dyn Store,
    stream: StreamId,
    may: &impl Fn(&Index) -> bool,
    fits: &impl Fn(&Chunk, usize) -> Result<bool, BadChunk>,
) -> Result<Option<u64>, Doubt> {
    let mut before = u64::MAX;
    loop {
        let Some(first) = candidate(store, stream, before, may)? else {
            return Ok(None);
        };
        let value = store.get(Table::Chunk, &chunk_key(stream, first))?;
        let value = value.ok_or(Doubt::Differs {
            stream: Some(stream),
            what: "a chunk is gone",
        })?;
        let chunk = Chunk::decode(&value).map_err(|bad| bad_chunk(stream, bad))?;
        if let Some(seq) = search_chunk(&chunk, fits)? {
            return Ok(Some(seq));
        }
        let Some(next) = first.checked_sub(1) else {
            return Ok(None);
        };
        before = next;
    }
}

/// The newest chunk not after `before` whose index row may fit.
fn candidate(
    store: &dyn Store,
    stream: StreamId,
    before: u64,
    may: &impl Fn(&Index) -> bool,
) -> Result<Option<u64>, Doubt> {
    let mut found = Ok(None);
    let (low, high) = (chunk_key(stream, 0), chunk_key(stream, before));
    store.range(
        Table::Index,
        &low,
        &high,
        Order::Descending,
        &mut |key, value| {
            let index = Index::decode(value).map_err(|bad| bad_chunk(stream, bad));
            match index {
                Ok(index) if !may(&index) => ControlFlow::Continue(()),
                Ok(_) => {
                    found = Ok(parse_key(key).map(|(_, first)| first));
                    ControlFlow::Break(())
                }
                Err(doubt) => {
                    found = Err(doubt);
                    ControlFlow::Break(())
                }
            }
        },
    )?;
    found
}

fn chunk_before(store: &dyn Store, stream: StreamId, seq: u64) -> Result<Option<Chunk>, Doubt> {
    let mut found = None;
    let (low, high) = (chunk_key(stream, 0), chunk_key(stream, seq));
    store.range(
        Table::Chunk,
        &low,
        &high,
        Order::Descending,
        &mut |key, value| {
            found = Some(Chunk::decode(value).map(|chunk| (parse_key(key), chunk)));
            ControlFlow::Break(())
        },
    )?;
    match found {
        None => Ok(None),
        Some(Err(bad)) => Err(bad_chunk(stream, bad)),
        Some(Ok((key, chunk))) if key == Some((chunk.stream, chunk.first)) => Ok(Some(chunk)),
        Some(Ok(_)) => Err(bad_chunk(stream, BadChunk("a chunk under another key"))),
    }
}

fn first_after(store: &dyn Store, stream: StreamId, seq: u64) -> Result<Option<u64>, StoreError> {
    let mut found = None;
    let (low, high) = (chunk_key(stream, seq), chunk_key(stream, u64::MAX));
    store.range(
        Table::Index,
        &low,
        &high,
        Order::Ascending,
        &mut |key, _| {
            found = parse_key(key).map(|(_, first)| first);
            ControlFlow::Break(())
        },
    )?;
    Ok(found)
}

fn records_of(chunk: &Chunk, from: u64, to: u64) -> Result<Part, BadChunk> {
    let Some(start) = chunk.index_of(from) else {
        return Ok(Part::Elsewhere(from));
    };
    let end = chunk
        .index_of(to)
        .map_or(chunk.count(), |end| end.saturating_add(1));
    let mut records = Vec::with_capacity(end.saturating_sub(start));
    for index in start..end {
        match chunk.whole(index)? {
            Some(record) => records.push(record),
            None => break,
        }
    }
    if records.is_empty() {
        Ok(Part::Elsewhere(from))
    } else {
        Ok(Part::Records(records))
    }
}

fn bad_chunk(stream: StreamId, bad: BadChunk) -> Doubt {
    Doubt::Differs {
        stream: Some(stream),
        what: bad.0,
    }
}

/// The chunks read last.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<Arc<Chunk>>>);

impl Cache {
    fn chunks(&self) -> MutexGuard<'_, VecDeque<Arc<Chunk>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn holding(&self, stream: StreamId, seq: u64) -> Option<Arc<Chunk>> {
        let chunks = self.chunks();
        let holds = |chunk: &&Arc<Chunk>| chunk.stream == stream && chunk.index_of(seq).is_some();
        chunks.iter().find(holds).map(Arc::clone)
    }

    pub(super) fn keep(&self, chunk: Arc<Chunk>) {
        let mut chunks = self.chunks();
        chunks.retain(|held| (held.stream, held.first) != (chunk.stream, chunk.first));
        chunks.push_front(chunk);
        chunks.truncate(CACHED);
    }

    pub(super) fn forget(&self, stream: StreamId, first: u64) {
        self.chunks()
            .retain(|held| (held.stream, held.first) != (stream, first));
    }

    pub(super) fn clear(&self) {
        self.chunks().clear();
    }
}
