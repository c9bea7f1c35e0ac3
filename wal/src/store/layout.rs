//! Which rows stand in the store for a chunk, and under which keys.
//!
//! - Keys sort by stream, then by the chunk's first seq.
//! - The index row of a chunk is a function of the chunk, so the comparison at open checks it too.

use std::sync::Arc;

use super::chunk::{BadChunk, Chunk};
use super::contract::{Row, Table};
use crate::record::StreamId;

/// Version of the rows as a whole; another one is rebuilt, not migrated.
pub(super) const VERSION: u32 = 1;
/// Key of the only row of [`Table::Meta`].
pub(super) const ABOUT: &[u8] = b"about";
/// Bytes of an index row before its fingerprints.
pub(super) const INDEX_HEADER: usize = 56;

/// Finds the terms under which a record is to be found: opaque keyed hashes that the caller derives from a body.
///
/// The terms must be a function of the arguments; a change of that function is a new version, and rebuilds the store.
pub trait Terms: Send + Sync {
    /// Version of the function.
    fn version(&self) -> u32;
    /// The terms of a record, by kind, schema and body.
    fn of(&self, kind: u16, schema: u16, body: &[u8]) -> Vec<[u8; 16]>;
}

/// The terms in use; without a function only a batch's tag is one.
#[derive(Clone, Default)]
pub(super) struct TermsOf(pub(super) Option<Arc<dyn Terms>>);

impl TermsOf {
    pub(super) fn version(&self) -> u32 {
        self.0.as_ref().map_or(0, |terms| terms.version())
    }

    /// All terms of a record in a chunk. A record that stayed in its segment is found by its tag only.
    pub(super) fn of(&self, chunk: &Chunk, index: usize) -> Result<Vec<[u8; 16]>, BadChunk> {
        let kept = chunk.record(index)?;
        let mut all = match (&self.0, &kept.inline) {
            (Some(terms), Some((_, body))) => terms.of(kept.kind, kept.schema, body),
            _ => Vec::new(),
        };
        all.extend(kept.tag.map(|tag| term_of_tag(&tag)));
        Ok(all)
    }
}

/// The first half of a tag, under which its batch is found.
pub(super) fn term_of_tag(tag: &[u8; 32]) -> [u8; 16] {
    let mut term = [0; 16];
    term.iter_mut().zip(tag).for_each(|(to, from)| *to = *from);
    term
}

/// The first four bytes of a term; enough to skip nearly all chunks without it.
pub(super) fn fingerprint(term: &[u8; 16]) -> [u8; 4] {
    let [a, b, c, d, ..] = *term;
    [a, b, c, d]
}

/// What an index row says about its chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) last: u64,
    pub(super) time_min: u64,
    pub(super) time_max: u64,
    pub(super) chain: [u8; 32],
    pub(super) fingerprints: Vec<[u8; 4]>,
}

impl Index {
    pub(super) fn of(chunk: &Chunk, terms: &TermsOf) -> Result<Index, BadChunk> {
        let mut index = Index {
            last: chunk.last(),
            time_min: u64::MAX,
            time_max: 0,
            chain: chunk.chain,
            fingerprints: Vec::new(),
        };
        for at in 0..chunk.count() {
            let time = chunk.record(at)?.time;
            index.time_min = index.time_min.min(time);
            index.time_max = index.time_max.max(time);
            index
                .fingerprints
                .extend(terms.of(chunk, at)?.iter().map(fingerprint));
        }
        index.fingerprints.sort_unstable();
        index.fingerprints.dedup();
        Ok(index)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(
            INDEX_HEADER.saturating_add(self.fingerprints.len().saturating_mul(4)),
        );
        out.extend_from_slice(&self.last.to_le_bytes());
        out.extend_from_slice(&self.time_min.to_le_bytes());
        out.extend_from_slice(&self.time_max.to_le_bytes());
        out.extend_from_slice(&self.chain);
        out.extend_from_slice(self.fingerprints.as_flattened());
        out
    }

    pub(super) fn decode(value: &[u8]) -> Result<Index, BadChunk> {
        let short = BadChunk("short index row");
        let (last, rest) = value.split_first_chunk::<8>().ok_or(short)?;
        let (time_min, rest) = rest.split_first_chunk::<8>().ok_or(short)?;
        let (time_max, rest) = rest.split_first_chunk::<8>().ok_or(short)?;
        let (chain, rest) = rest.split_first_chunk::<32>().ok_or(short)?;
        let (fingerprints, odd) = rest.as_chunks::<4>();
        if !odd.is_empty() {
            return Err(short);
        }
        Ok(Index {
            last: u64::from_le_bytes(*last),
            time_min: u64::from_le_bytes(*time_min),
            time_max: u64::from_le_bytes(*time_max),
            chain: *chain,
            fingerprints: fingerprints.to_vec(),
        })
    }

    pub(super) fn may_hold(&self, term: &[u8; 16]) -> bool {
        self.fingerprints.binary_search(&fingerprint(term)).is_ok()
    }
}

/// The key of a chunk and of its index row.
pub(super) fn chunk_key(stream: StreamId, first: u64) -> [u8; 24] {
    let mut key = [0; 24];
    let bytes = stream.0.iter().copied().chain(first.to_be_bytes());
    key.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    key
}

/// Stream and first seq of a key.
pub(super) fn parse_key(key: &[u8]) -> Option<(StreamId, u64)> {
    let (stream, rest) = key.split_first_chunk::<16>()?;
    let (first, rest) = rest.split_first_chunk::<8>()?;
    rest.is_empty()
        .then_some((StreamId(*stream), u64::from_be_bytes(*first)))
}

/// Both rows of a chunk.
pub(super) fn rows_of(chunk: &Chunk, terms: &TermsOf) -> Result<[Row; 2], BadChunk> {
    let key = chunk_key(chunk.stream, chunk.first).to_vec();
    let index = Index::of(chunk, terms)?.encode();
    Ok([
        Row {
            table: Table::Chunk,
            key: key.clone(),
            value: Some(chunk.encode()),
        },
        Row {
            table: Table::Index,
            key,
            value: Some(index),
        },
    ])
}

/// The row that says whose store this is: versions and the data directory's identity.
pub(super) fn about_row(identity: [u8; 16], terms: &TermsOf) -> Row {
    let mut value = Vec::with_capacity(24);
    value.extend_from_slice(&VERSION.to_le_bytes());
    value.extend_from_slice(&terms.version().to_le_bytes());
    value.extend_from_slice(&identity);
    Row {
        table: Table::Meta,
        key: ABOUT.to_vec(),
        value: Some(value),
    }
}
