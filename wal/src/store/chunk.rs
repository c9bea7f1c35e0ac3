//! A chunk: consecutive records of one stream as one value of the store.
//!
//! - Its records are dense and linked: each follows the seq and the record digest of the one before it.
//! - Its chain digest covers every byte of it, and can be computed record by record, so it is compared without decoding.
//! - It holds bodies and the places of contents, never contents. What is too large stays in the segment.

use thiserror::Error;

use crate::record::{ContentPlace, Place, Record, RecordDigest, StreamId};

/// Version of the layout; another one is rebuilt, not migrated.
pub(super) const VERSION: u8 = 1;
/// The blake3 key-derivation context of the chain digest.
pub(super) const CHAIN_DOMAIN: &str = "recount wal 2026-11-29 store chunk v1";
/// Bytes before the first record.
pub(super) const HEADER: usize = 96;
/// A chunk is closed at this many records: STORAGE's measurement was taken with about a hundred.
pub(super) const MAX_RECORDS: usize = 100;
/// A chunk is closed at this many bytes, which keeps it well under sled's 128 KiB.
pub(super) const MAX_BYTES: usize = 64 << 10;
/// A record that would take more than this stays in its segment.
pub(super) const MAX_INLINE: usize = 32 << 10;

const FLAG_TAG: u8 = 1;
const FLAG_BATCH: u8 = 2;
const FLAG_ELSEWHERE: u8 = 4;
const FLAGS: u8 = FLAG_TAG | FLAG_BATCH | FLAG_ELSEWHERE;
const CONTENT_PLACE: usize = 20;

/// The bytes of a chunk are not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("bad chunk: {0}")]
pub(super) struct BadChunk(pub(super) &'static str);

/// A record as a chunk holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept<'a> {
    pub(super) time: u64,
    pub(super) kind: u16,
    pub(super) schema: u16,
    pub(super) digest: RecordDigest,
    pub(super) place: Place,
    pub(super) tag: Option<[u8; 32]>,
    pub(super) batch: Option<(u64, u64)>,
    /// None when the record stayed in its segment.
    pub(super) inline: Option<(Vec<ContentPlace>, &'a [u8])>,
}

/// Consecutive records of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) stream: StreamId,
    pub(super) first: u64,
    /// The record digest before the first record.
    pub(super) previous: RecordDigest,
    /// The chain digest over everything up to the last record.
    pub(super) chain: [u8; 32],
    /// The record digest of the last record.
    pub(super) last_digest: RecordDigest,
    /// Where each record's bytes begin.
    starts: Vec<usize>,
    bytes: Vec<u8>,
}

impl Chunk {
    /// A chunk without records, which may begin with a record that has this seq and previous digest.
    pub(super) fn empty(stream: StreamId, first: u64, previous: RecordDigest) -> Chunk {
        Chunk {
            stream,
            first,
            previous,
            chain: seed(stream, first, previous),
            last_digest: previous,
            starts: Vec::new(),
            bytes: Vec::new(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Seq of the record that would come next.
    pub(super) fn next(&self) -> u64 {
        self.first.saturating_add(self.starts.len() as u64)
    }

    /// Seq of the last record; the first's own when there is none yet.
    pub(super) fn last(&self) -> u64 {
        self.next().saturating_sub(1).max(self.first)
    }

    /// Whether a record follows the last one, seq and chain.
    pub(super) fn continues(&self, seq: u64, previous: RecordDigest) -> bool {
        self.next() == seq && self.last_digest == previous
    }

    /// Whether there is room for that many more records and bytes. An empty chunk always has room for one record.
    pub(super) fn has_room(&self, records: usize, bytes: usize) -> bool {
        self.starts.is_empty()
            || (self.starts.len().saturating_add(records) <= MAX_RECORDS
                && self.bytes.len().saturating_add(bytes) <= MAX_BYTES)
    }

    /// Adds the encoded bytes of a record that continues this chunk.
    pub(super) fn push(&mut self, encoded: &[u8], digest: RecordDigest) {
        self.chain = link(&self.chain, encoded);
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(encoded);
        self.last_digest = digest;
    }

    /// Adds all records of a chunk that continues this one.
    pub(super) fn absorb(&mut self, next: &Chunk) -> Result<(), BadChunk> {
        for index in 0..next.count() {
            let bytes = next.encoded(index).ok_or(BadChunk("record out of range"))?;
            let digest = next.record(index)?.digest;
            self.push(bytes, digest);
        }
        Ok(())
    }

    /// The value in the store.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER.saturating_add(self.bytes.len()));
        out.push(VERSION);
        out.push(0);
        out.extend_from_slice(
            &u16::try_from(self.starts.len())
                .unwrap_or(u16::MAX)
                .to_le_bytes(),
        );
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.stream.0);
        out.extend_from_slice(&self.first.to_le_bytes());
        out.extend_from_slice(&self.previous.0);
        out.extend_from_slice(&self.chain);
        out.extend_from_slice(&self.bytes);
        out
    }

    /// Reads a value back, checking every byte of it.
    pub(super) fn decode(value: &[u8]) -> Result<Chunk, BadChunk> {
        let mut input = Input(value);
        let [version] = input.array()?;
        let [reserved] = input.array()?;
        let count = u16::from_le_bytes(input.array()?);
        let reserved_too: [u8; 4] = input.array()?;
        if version != VERSION {
            return Err(BadChunk("unknown version"));
        }
        if reserved != 0 || reserved_too != [0; 4] {
            return Err(BadChunk("reserved bytes are not zero"));
        }
        let stream = StreamId(input.array()?);
        let first = u64::from_le_bytes(input.array()?);
        let previous = RecordDigest(input.array()?);
        let chain: [u8; 32] = input.array()?;
        let mut chunk = Chunk::empty(stream, first, previous);
        for _ in 0..count {
            let rest = input.0;
            let kept = Kept::decode(&mut input)?;
            let length = rest.len().saturating_sub(input.0.len());
            chunk.push(rest.get(..length).ok_or(BadChunk("short"))?, kept.digest);
        }
        if !input.0.is_empty() || count == 0 {
            return Err(BadChunk("length does not fit"));
        }
        if first.checked_add(u64::from(count)).is_none() {
            return Err(BadChunk("seq overflows"));
        }
        if chunk.chain != chain {
            return Err(BadChunk("chain digest does not match"));
        }
        Ok(chunk)
    }

    /// The encoded bytes of a record.
    pub(super) fn encoded(&self, index: usize) -> Option<&[u8]> {
        let start = *self.starts.get(index)?;
        let end = self
            .starts
            .get(index.saturating_add(1))
            .copied()
            .unwrap_or(self.bytes.len());
        self.bytes.get(start..end)
    }

    /// A record, by its index in the chunk.
    pub(super) fn record(&self, index: usize) -> Result<Kept<'_>, BadChunk> {
        let bytes = self.encoded(index).ok_or(BadChunk("record out of range"))?;
        Kept::decode(&mut Input(bytes))
    }

    /// The record digest before a record.
    pub(super) fn before(&self, index: usize) -> Result<RecordDigest, BadChunk> {
        match index.checked_sub(1) {
            None => Ok(self.previous),
            Some(index) => Ok(self.record(index)?.digest),
        }
    }

    /// The index of a seq, if it is in this chunk.
    pub(super) fn index_of(&self, seq: u64) -> Option<usize> {
        let index = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        (index < self.starts.len()).then_some(index)
    }

    /// A record as it is read back, without its contents; none when it stayed in its segment.
    pub(super) fn whole(&self, index: usize) -> Result<Option<Record>, BadChunk> {
        let kept = self.record(index)?;
        let seq = self.first.saturating_add(index as u64);
        let previous = self.before(index)?;
        Ok(kept.inline.map(|(content_places, body)| Record {
            stream: self.stream,
            seq,
            time: kept.time,
            kind: kept.kind,
            schema: kept.schema,
            body: body.to_vec(),
            contents: Vec::new(),
            digest: kept.digest,
            previous,
            tag: kept.tag,
            batch: kept.batch.unwrap_or((seq, seq)),
            place: Some(kept.place),
            content_places,
        }))
    }
}

/// The chain digest before any record.
pub(super) fn seed(stream: StreamId, first: u64, previous: RecordDigest) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(CHAIN_DOMAIN);
    hasher.update(&stream.0);
    hasher.update(&first.to_le_bytes());
    hasher.update(&previous.0);
    *hasher.finalize().as_bytes()
}

/// The chain digest after one more record.
pub(super) fn link(chain: &[u8; 32], encoded: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(chain);
    hasher.update(encoded);
    *hasher.finalize().as_bytes()
}

/// The bytes of a record in a chunk; none for a record that has no place yet, which is never in a store.
pub(super) fn encode_record(record: &Record) -> Option<Vec<u8>> {
    let place = record.place?;
    let contents = record.content_places.len().saturating_mul(CONTENT_PLACE);
    let inline = record.body.len().saturating_add(contents) <= MAX_INLINE;
    let single = record.batch == (record.seq, record.seq);
    let mut flags = 0;
    if record.tag.is_some() {
        flags |= FLAG_TAG;
    }
    if !single {
        flags |= FLAG_BATCH;
    }
    if !inline {
        flags |= FLAG_ELSEWHERE;
    }
    let mut out = Vec::with_capacity(128);
    out.push(flags);
    out.extend_from_slice(&record.kind.to_le_bytes());
    out.extend_from_slice(&record.schema.to_le_bytes());
    out.extend_from_slice(&record.time.to_le_bytes());
    out.extend_from_slice(&record.digest.0);
    put_place(&mut out, place);
    out.extend_from_slice(record.tag.as_ref().map_or(&[], |tag| tag.as_slice()));
    if !single {
        out.extend_from_slice(&record.batch.0.to_le_bytes());
        out.extend_from_slice(&record.batch.1.to_le_bytes());
    }
    if inline {
        put_inline(&mut out, record);
    }
    Some(out)
}

fn put_inline(out: &mut Vec<u8>, record: &Record) {
    // Both lengths are below MAX_INLINE here.
    let count = u16::try_from(record.content_places.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&count.to_le_bytes());
    for content in &record.content_places {
        put_place(out, content.place);
        out.extend_from_slice(&content.length.to_le_bytes());
    }
    let length = u32::try_from(record.body.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&record.body);
}

fn put_place(out: &mut Vec<u8>, place: Place) {
    out.extend_from_slice(&place.segment.to_le_bytes());
    out.extend_from_slice(&place.offset.to_le_bytes());
}

impl<'a> Kept<'a> {
    fn decode(input: &mut Input<'a>) -> Result<Kept<'a>, BadChunk> {
        let [flags] = input.array()?;
        if flags & !FLAGS != 0 {
            return Err(BadChunk("unknown flags"));
        }
        let kind = u16::from_le_bytes(input.array()?);
        let schema = u16::from_le_bytes(input.array()?);
        let time = u64::from_le_bytes(input.array()?);
        let digest = RecordDigest(input.array()?);
        let place = input.place()?;
        let tag = if flags & FLAG_TAG == 0 {
            None
        } else {
            Some(input.array()?)
        };
        let batch = if flags & FLAG_BATCH == 0 {
            None
        } else {
            Some((input.number()?, input.number()?))
        };
        let inline = if flags & FLAG_ELSEWHERE == 0 {
            Some(input.inline()?)
        } else {
            None
        };
        Ok(Kept {
            time,
            kind,
            schema,
            digest,
            place,
            tag,
            batch,
            inline,
        })
    }
}

/// Bytes that are still to be read.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], BadChunk> {
        let (head, tail) = self.0.split_at_checked(length).ok_or(BadChunk("short"))?;
        self.0 = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadChunk> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(BadChunk("short"))?;
        self.0 = tail;
        Ok(*head)
    }

    fn number(&mut self) -> Result<u64, BadChunk> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn place(&mut self) -> Result<Place, BadChunk> {
        Ok(Place {
            segment: self.number()?,
            offset: self.number()?,
        })
    }

    fn inline(&mut self) -> Result<(Vec<ContentPlace>, &'a [u8]), BadChunk> {
        let count = usize::from(u16::from_le_bytes(self.array()?));
        if count.saturating_mul(CONTENT_PLACE) > self.0.len() {
            return Err(BadChunk("short"));
        }
        let mut contents = Vec::with_capacity(count);
        for _ in 0..count {
            let place = self.place()?;
            contents.push(ContentPlace {
                place,
                length: u32::from_le_bytes(self.array()?),
            });
        }
        let length = u32::from_le_bytes(self.array()?);
        let length = usize::try_from(length).map_err(|_| BadChunk("length does not fit"))?;
        Ok((contents, self.take(length)?))
    }
}
