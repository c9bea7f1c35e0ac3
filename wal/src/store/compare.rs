//! The comparison of a store with the segments: every record, byte by byte through chain digests.
//!
//! - A store may lack the newest records of a stream; that is filled in. Any other difference is a doubt.
//! - Records that the segments lost inside a stream are no difference: the store goes on serving them, if the chain
//!   proves them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::chunk::{Chunk, encode_record, link, seed};
use super::contract::{Order, Store, Table};
use super::layout::{TermsOf, chunk_key, parse_key, rows_of};
use super::source::Segments;
use super::status::{Ahead, Doubt, Span};
use crate::record::{Record, RecordDigest, StreamId, StreamInfo};

/// The largest key.
pub(super) const LAST_KEY: [u8; 32] = [0xff; 32];

/// A chunk as the comparison knows it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    first: u64,
    last: u64,
    chain: [u8; 32],
}

/// Where a stream ends in the store, and what its last chunk has room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) bytes: usize,
    pub(super) last_digest: RecordDigest,
}

impl Tail {
    pub(super) fn of(chunk: &Chunk) -> Tail {
        Tail {
            first: chunk.first,
            last: chunk.last(),
            bytes: chunk.size(),
            last_digest: chunk.last_digest,
        }
    }
}

/// What a store holds, read and checked in itself.
pub(super) struct Inventory {
    cursors: HashMap<StreamId, Cursor>,
}

struct Cursor {
    marks: Vec<Mark>,
    tail: Tail,
    /// The first mark that is not compared yet.
    at: usize,
    /// Seq that comes next in it, and the chain digest so far.
    running: Option<(u64, [u8; 32])>,
}

/// Reads every row of a store and checks that each is well formed and belongs to the others.
pub(super) fn take_inventory(
    store: &dyn Store,
    terms: &TermsOf,
    beat: &dyn Fn(),
) -> Result<Inventory, Doubt> {
    let mut indexes: HashMap<Vec<u8>, blake3::Hash> = HashMap::new();
    store.range(
        Table::Index,
        &[],
        &LAST_KEY,
        Order::Ascending,
        &mut |key, value| {
            beat();
            indexes.insert(key.to_vec(), blake3::hash(value));
            ControlFlow::Continue(())
        },
    )?;
    let mut inventory = Inventory {
        cursors: HashMap::new(),
    };
    let mut doubt = None;
    store.range(
        Table::Chunk,
        &[],
        &LAST_KEY,
        Order::Ascending,
        &mut |key, value| {
            beat();
            match inventory.enter(key, value, terms, &mut indexes) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    doubt = Some(error);
                    ControlFlow::Break(())
                }
            }
        },
    )?;
    match doubt {
        Some(doubt) => Err(doubt),
        None if !indexes.is_empty() => Err(Doubt::Differs {
            stream: None,
            what: "an index row without a chunk",
        }),
        None => Ok(inventory),
    }
}

impl Inventory {
    fn enter(
        &mut self,
        key: &[u8],
        value: &[u8],
        terms: &TermsOf,
        indexes: &mut HashMap<Vec<u8>, blake3::Hash>,
    ) -> Result<(), Doubt> {
        let Some((stream, first)) = parse_key(key) else {
            return Err(Doubt::Differs {
                stream: None,
                what: "a key that is none",
            });
        };
        let differs = |what| Doubt::Differs {
            stream: Some(stream),
            what,
        };
        let chunk = Chunk::decode(value).map_err(|bad| differs(bad.0))?;
        if (chunk.stream, chunk.first) != (stream, first) {
            return Err(differs("a chunk under another key"));
        }
        let [_, index] = rows_of(&chunk, terms).map_err(|bad| differs(bad.0))?;
        let expected = index.value.as_deref().map(blake3::hash);
        if indexes.remove(key) != expected {
            return Err(differs("an index row that does not fit its chunk"));
        }
        let mark = Mark {
            first,
            last: chunk.last(),
            chain: chunk.chain,
        };
        let tail = Tail::of(&chunk);
        let cursor = self.cursors.entry(stream).or_insert_with(|| Cursor {
            marks: Vec::new(),
            tail,
            at: 0,
            running: None,
        });
        if cursor
            .marks
            .last()
            .is_some_and(|before| before.last >= first)
        {
            return Err(differs("chunks that overlap"));
        }
        cursor.marks.push(mark);
        cursor.tail = tail;
        Ok(())
    }

    /// Where each stream ends in the store.
    pub(super) fn tails(&self) -> impl Iterator<Item = (StreamId, Tail)> {
        self.cursors
            .iter()
            .map(|(stream, cursor)| (*stream, cursor.tail))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cursors.is_empty()
    }
}

/// What a record of the segments is to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The store has its seq; whether it has the same record shows at the end of the chunk.
    Held,
    /// It is newer than all that the store has of its stream.
    New,
}

/// Compares as the segments are read.
pub(super) struct Comparison {
    cursors: HashMap<StreamId, Cursor>,
    suspects: Vec<Span>,
}

impl Comparison {
    pub(super) fn new(inventory: Inventory) -> Comparison {
        Comparison {
            cursors: inventory.cursors,
            suspects: Vec::new(),
        }
    }

    /// Takes the next record; those of one stream must come in order of seq.
    pub(super) fn see(&mut self, record: &Record) -> Result<Seen, Doubt> {
        let Some(cursor) = self.cursors.get_mut(&record.stream) else {
            return Ok(Seen::New);
        };
        if record.seq > cursor.tail.last {
            return Ok(Seen::New);
        }
        cursor.pass_before(record, &mut self.suspects);
        let Some(mark) = cursor.marks.get(cursor.at).copied() else {
            return Ok(Seen::New);
        };
        if record.seq < mark.first {
            return Err(Doubt::Differs {
                stream: Some(record.stream),
                what: "a record is missing in the store",
            });
        }
        cursor.advance(record, mark, &mut self.suspects);
        Ok(Seen::Held)
    }

    /// What is left to look at more closely, and of which streams the store knows more than the segments.
    pub(super) fn finish(mut self, streams: &[StreamInfo]) -> (Vec<Span>, Vec<Ahead>) {
        let heads: HashMap<StreamId, Option<u64>> = streams
            .iter()
            .map(|info| (info.stream, info.heads.durable))
            .collect();
        let mut ahead = Vec::new();
        for (stream, cursor) in &self.cursors {
            let segments = heads.get(stream).copied().flatten();
            if segments.is_none_or(|durable| durable < cursor.tail.last) {
                ahead.push(Ahead {
                    stream: *stream,
                    segments,
                    store: cursor.tail.last,
                });
            }
            let rest = cursor.marks.iter().skip(cursor.at);
            self.suspects.extend(rest.map(|mark| span(*stream, *mark)));
        }
        ahead.sort_unstable_by_key(|ahead| ahead.stream);
        (self.suspects, ahead)
    }
}

/// Compares a store that is in use; answers how many records its rows hold.
pub(super) fn compare(
    store: &dyn Store,
    segments: &dyn Segments,
    terms: &TermsOf,
    beat: &dyn Fn(),
) -> Result<u64, Doubt> {
    let inventory = take_inventory(store, terms, beat)?;
    let marks = inventory.cursors.values().flat_map(|cursor| &cursor.marks);
    let records = marks.map(|mark| mark.last.saturating_sub(mark.first).saturating_add(1));
    let records = records.fold(0, u64::saturating_add);
    let mut comparison = Comparison::new(inventory);
    let mut outcome = Ok(());
    segments.scan(&mut |record| {
        beat();
        match comparison.see(record) {
            Ok(_) => ControlFlow::Continue(()),
            Err(doubt) => {
                outcome = Err(doubt);
                ControlFlow::Break(())
            }
        }
    })?;
    outcome?;
    let (suspects, ahead) = comparison.finish(&segments.streams());
    if !ahead.is_empty() {
        return Err(Doubt::Ahead);
    }
    for suspect in suspects {
        examine(store, segments, suspect)?;
    }
    Ok(records)
}

impl Cursor {
    /// Chunks that end before this record were not completed: the segments lack something there.
    fn pass_before(&mut self, record: &Record, suspects: &mut Vec<Span>) {
        while let Some(mark) = self
            .marks
            .get(self.at)
            .filter(|mark| mark.last < record.seq)
        {
            suspects.push(span(record.stream, *mark));
            self.step();
        }
    }

    fn advance(&mut self, record: &Record, mark: Mark, suspects: &mut Vec<Span>) {
        let chain = if record.seq == mark.first {
            Some(seed(record.stream, mark.first, record.previous))
        } else {
            self.running
                .filter(|(next, _)| *next == record.seq)
                .map(|(_, chain)| chain)
        };
        let linked = chain.and_then(|chain| Some(link(&chain, &encode_record(record)?)));
        if record.seq == mark.last {
            if linked != Some(mark.chain) {
                suspects.push(span(record.stream, mark));
            }
            self.step();
        } else {
            self.running = linked.map(|chain| (record.seq.saturating_add(1), chain));
        }
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
        self.running = None;
    }
}

fn span(stream: StreamId, mark: Mark) -> Span {
    Span {
        stream,
        first: mark.first,
        last: mark.last,
    }
}

/// Compares one chunk record by record; answers what the segments lost and the chunk still has.
pub(super) fn examine(
    store: &dyn Store,
    segments: &dyn Segments,
    suspect: Span,
) -> Result<Vec<Span>, Doubt> {
    let differs = |what| Doubt::Differs {
        stream: Some(suspect.stream),
        what,
    };
    let value = store.get(Table::Chunk, &chunk_key(suspect.stream, suspect.first))?;
    let value = value.ok_or_else(|| differs("a chunk is gone"))?;
    let chunk = Chunk::decode(&value).map_err(|bad| differs(bad.0))?;
    let mut held = vec![false; chunk.count()];
    let mut equal = true;
    // A chunk may have grown since it was marked, so its own end counts.
    segments.read(suspect.stream, chunk.first, chunk.last(), &mut |record| {
        equal &= same(&chunk, record, &mut held);
        if equal {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    if !equal {
        return Err(differs("a record is not that of the segments"));
    }
    if held.iter().all(|held| *held) {
        // Every record is equal, yet the chunk's own chain was not: only what precedes it can differ.
        return Err(differs("a chunk hangs on another record"));
    }
    salvage(&chunk, &held).map_err(|bad| differs(bad.0))
}

fn same(chunk: &Chunk, record: &Record, held: &mut [bool]) -> bool {
    let Some(index) = chunk.index_of(record.seq) else {
        return false;
    };
    if let Some(held) = held.get_mut(index) {
        *held = true;
    }
    let before = chunk.before(index).ok();
    before == Some(record.previous) && encode_record(record).as_deref() == chunk.encoded(index)
}

fn salvage(chunk: &Chunk, held: &[bool]) -> Result<Vec<Span>, super::chunk::BadChunk> {
    let mut spans: Vec<Span> = Vec::new();
    for index in (0..chunk.count()).filter(|index| held.get(*index) == Some(&false)) {
        let Some(record) = chunk.whole(index)? else {
            continue;
        };
        let digest = RecordDigest::of(
            record.previous,
            record.seq,
            record.kind,
            record.schema,
            &record.body,
        );
        if digest != record.digest {
            return Err(super::chunk::BadChunk("a record does not match its digest"));
        }
        match spans.last_mut() {
            Some(span) if span.last.checked_add(1) == Some(record.seq) => span.last = record.seq,
            _ => spans.push(Span {
                stream: chunk.stream,
                first: record.seq,
                last: record.seq,
            }),
        }
    }
    Ok(spans)
}
