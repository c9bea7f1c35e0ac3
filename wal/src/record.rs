//! What the log holds: streams of numbered records, each an opaque body with opaque contents.
//!
//! - Seqs of a stream are dense; only a stream with an origin (a fork, an import) begins above 0.
//! - A record digest is portable: it covers nothing that depends on where the record stands on disk.
//! - Contents are outside the record digest, so that they can be erased while the chain still verifies.

use std::fmt;
use std::sync::Arc;

/// The largest body of a record: 16 MiB. Checked before anything is allocated.
pub const MAX_BODY: usize = 16 << 20;
/// The largest single content of a record: 256 MiB. Checked before anything is allocated.
pub const MAX_CONTENT: usize = 256 << 20;
/// The most contents a record can have.
pub const MAX_CONTENTS: usize = 65_535;

/// Derived id of a stream; the caller derives it from a name with the directory's key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub [u8; 16]);

/// Portable digest of a record: blake3 over domain, seq, the digest of the record before it in its stream, kind, schema and body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordDigest(pub [u8; 32]);

impl RecordDigest {
    /// What the first record of a stream without origin is chained to: 32 zero bytes.
    pub const ROOT: RecordDigest = RecordDigest([0; 32]);

    /// The digest of a record that follows `previous` in its stream.
    #[must_use]
    pub fn of(
        previous: RecordDigest,
        seq: u64,
        kind: u16,
        schema: u16,
        body: &[u8],
    ) -> RecordDigest {
        let mut hasher = blake3::Hasher::new_derive_key(RECORD_DOMAIN);
        hasher.update(&seq.to_le_bytes());
        hasher.update(&previous.0);
        hasher.update(&kind.to_le_bytes());
        hasher.update(&schema.to_le_bytes());
        hasher.update(body);
        RecordDigest(*hasher.finalize().as_bytes())
    }
}

/// The blake3 key-derivation context of record digests; part of the format.
pub const RECORD_DOMAIN: &str = "recount wal 2026-11-29 record digest v1";

/// Authored bytes, stored after the body; the body holds only a commitment to them.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    /// 16 random bytes, chosen by the caller, which key the commitment.
    pub salt: [u8; 16],
    /// The bytes as they were authored.
    pub bytes: Arc<[u8]>,
}

/// What is read back where a content was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The content, checked against its checksum.
    Here(Content),
    /// The bytes on disk no longer match their checksum: damage.
    Lost,
    /// The content was erased on purpose.
    Erased,
}

/// A position in the segments: a byte offset in a segment's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Number of the segment, from 0.
    pub segment: u64,
    /// Offset in the segment, in bytes.
    pub offset: u64,
}

/// Where a content stands: the place of its salt, and the number of authored bytes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentPlace {
    /// The first byte of the salt.
    pub place: Place,
    /// Number of authored bytes, without salt and checksum.
    pub length: u32,
}

/// A record on its way in; stream and seq come from its [`Batch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// The caller's time, in its own unit; data, never an order.
    pub time: u64,
    /// The caller's kind of record.
    pub kind: u16,
    /// The caller's version of the body's layout.
    pub schema: u16,
    /// Opaque bytes, at most [`MAX_BODY`].
    pub body: Vec<u8>,
    /// Authored bytes, each at most [`MAX_CONTENT`].
    pub contents: Vec<Content>,
}

/// Records of one stream that are admitted whole or not at all and recovered whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The stream that is appended to.
    pub stream: StreamId,
    /// The seq expected for the first record; anything else is a conflict.
    pub first: u64,
    /// The records, in order; at least one.
    pub records: Vec<NewRecord>,
    /// An opaque idempotency tag, handed back with (stream, first, last).
    pub tag: Option<[u8; 32]>,
    /// Only for the first record of a stream that is a fork or an import: the digest its chain starts from; `first` may be above 0 then.
    pub origin: Option<RecordDigest>,
}

/// What a receipt of an append promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// On disk: survives power loss.
    Synced,
    /// Accepted: will be written in order, before anything later.
    Ordered,
}

/// The answer to an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Seq of the batch's first record.
    pub first: u64,
    /// Seq of the batch's last record.
    pub last: u64,
    /// Record digest of the last record.
    pub digest: RecordDigest,
    /// The stream's durable head at the time of the receipt; none before anything is durable.
    pub durable: Option<u64>,
}

/// A record as read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The stream it belongs to.
    pub stream: StreamId,
    /// Its number in the stream.
    pub seq: u64,
    /// The caller's time.
    pub time: u64,
    /// The caller's kind.
    pub kind: u16,
    /// The caller's version of the body's layout.
    pub schema: u16,
    /// The opaque body.
    pub body: Vec<u8>,
    /// The contents, in the order they were given.
    pub contents: Vec<Stored>,
    /// Its record digest.
    pub digest: RecordDigest,
    /// The digest of the record before it, which `digest` covers.
    pub previous: RecordDigest,
    /// The tag of its batch; only on the batch's first record.
    pub tag: Option<[u8; 32]>,
    /// First and last seq of its batch.
    pub batch: (u64, u64),
    /// Where its frame begins; a record that is accepted but not yet written has none.
    pub place: Option<Place>,
    /// Where its contents stand, as many as `contents`; empty while the record has no place.
    pub content_places: Vec<ContentPlace>,
}

/// A hole in a stream: records that damage took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first seq that is missing.
    pub first: u64,
    /// The last seq that is missing.
    pub last: u64,
    /// The segment in which the damage is, as far as it is known.
    pub segment: u64,
    /// Where the damaged bytes begin.
    pub offset: u64,
    /// How many bytes are damaged.
    pub bytes: u64,
}

/// What a read of a stream yields, in order of seq.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A record whose frame verified.
    Record(Box<Record>),
    /// Records that damage took.
    Gap(Gap),
}

/// How far a stream reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Seq of the last accepted record.
    pub accepted: u64,
    /// Seq of the last durable record.
    pub durable: Option<u64>,
    /// Record digest of the accepted head.
    pub digest: RecordDigest,
    /// The caller's time of the accepted head.
    pub time: u64,
}

/// A stream in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// The stream.
    pub stream: StreamId,
    /// Seq of its first record: 0, or above for a stream with an origin.
    pub first: u64,
    /// How far it reaches.
    pub heads: Heads,
}

/// A batch's tag and the seqs that it named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// The opaque tag.
    pub tag: [u8; 32],
    /// First seq of the batch.
    pub first: u64,
    /// Last seq of the batch.
    pub last: u64,
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamId({self})")
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for RecordDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordDigest({self})")
    }
}

impl fmt::Display for RecordDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for Content {
    // Authored bytes stay out of logs and panic messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({} bytes)", self.bytes.len())
    }
}

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
