//! What a store proves about the segments' ends: streams that it knows to reach further than they do.
//!
//! - Only a chunk that is whole, and holds its last record or that record's digest, is evidence; an index row alone is none.
//! - It costs a walk over the index rows, and one chunk for each stream that is ahead.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use super::chunk::Chunk;
use super::compare::LAST_KEY;
use super::contract::{Order, Store, Table};
use super::layout::{Index, chunk_key, parse_key};
use super::status::{Ahead, Doubt};
use crate::record::{RecordDigest, StreamId, StreamInfo};
use crate::recovered::KnownHead;

/// Where the chunks of a stream begin that end behind its head in the segments, and its first seq in the store.
#[derive(Default)]
struct Beyond {
    begin: u64,
    firsts: Vec<u64>,
}

/// The streams that the store knows to reach further than the segments say.
pub(super) fn ahead_of(
    store: &dyn Store,
    heads: &[StreamInfo],
    beat: &dyn Fn(),
) -> Result<Vec<KnownHead>, Doubt> {
    let durable: HashMap<StreamId, Option<u64>> = heads
        .iter()
        .map(|info| (info.stream, info.heads.durable))
        .collect();
    let mut beyond: BTreeMap<StreamId, Beyond> = BTreeMap::new();
    let mut begins: Option<(StreamId, u64)> = None;
    store.range(
        Table::Index,
        &[],
        &LAST_KEY,
        Order::Ascending,
        &mut |key, value| {
            beat();
            let (Some((stream, first)), Ok(index)) = (parse_key(key), Index::decode(value)) else {
                // The comparison will say so; it is no evidence.
                return ControlFlow::Continue(());
            };
            if begins.is_none_or(|(of, _)| of != stream) {
                begins = Some((stream, first));
            }
            let known = durable.get(&stream).copied().flatten();
            if known.is_none_or(|known| known < index.last) {
                let entry = beyond.entry(stream).or_insert_with(|| Beyond {
                    begin: begins.map_or(first, |(_, begin)| begin),
                    firsts: Vec::new(),
                });
                entry.firsts.push(first);
            }
            ControlFlow::Continue(())
        },
    )?;
    let mut known = Vec::new();
    for (stream, beyond) in beyond {
        let head = durable.get(&stream).copied().flatten();
        known.extend(proven(store, stream, &beyond, head, beat)?);
    }
    Ok(known)
}

/// The newest chunk that proves itself, if it ends behind the head.
fn proven(
    store: &dyn Store,
    stream: StreamId,
    beyond: &Beyond,
    head: Option<u64>,
    beat: &dyn Fn(),
) -> Result<Option<KnownHead>, Doubt> {
    for first in beyond.firsts.iter().rev() {
        beat();
        let Some(value) = store.get(Table::Chunk, &chunk_key(stream, *first))? else {
            continue;
        };
        let known = Chunk::decode(&value)
            .ok()
            .filter(|chunk| (chunk.stream, chunk.first) == (stream, *first))
            .and_then(|chunk| end_of(&chunk, beyond.begin));
        if let Some(known) = known.filter(|known| head.is_none_or(|head| head < known.last)) {
            return Ok(Some(known));
        }
    }
    Ok(None)
}

/// Where a chunk ends, if its last record is what its digest was made over. One that stayed in its segment has the digest
/// that the chain of the chunk covers.
fn end_of(chunk: &Chunk, begin: u64) -> Option<KnownHead> {
    let at = chunk.count().checked_sub(1)?;
    let kept = chunk.record(at).ok()?;
    if let Some(record) = chunk.whole(at).ok()? {
        let digest = RecordDigest::of(
            record.previous,
            record.seq,
            record.kind,
            record.schema,
            &record.body,
        );
        if digest != record.digest {
            return None;
        }
    }
    Some(KnownHead {
        stream: chunk.stream,
        begin,
        last: chunk.last(),
        time: kept.time,
        digest: kept.digest,
    })
}

/// The same as the store's status tells it.
pub(super) fn in_words(known: &[KnownHead], heads: &[StreamInfo]) -> Vec<Ahead> {
    let durable: HashMap<StreamId, Option<u64>> = heads
        .iter()
        .map(|info| (info.stream, info.heads.durable))
        .collect();
    let ahead = |known: &KnownHead| Ahead {
        stream: known.stream,
        segments: durable.get(&known.stream).copied().flatten(),
        store: known.last,
    };
    known.iter().map(ahead).collect()
}
