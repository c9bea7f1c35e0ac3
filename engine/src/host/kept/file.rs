//! The bytes of a state checkpoint; `FORMAT-STATE.md` specifies them.
//!
//! - Nothing is believed before the digest over all of it, keyed with the directory's secret, is right.

use crate::core::Keys;
use bincode::{Decode, Encode};
use recount_events::{BlockId, Seq};
use recount_projections::render::RENDERING;
use recount_projections::{Frozen, Map, State};
use recount_wal::{RecordDigest, StreamId};

/// What a checkpoint begins with.
const MAGIC: [u8; 8] = *b"RECSTATE";
/// The version of these bytes. Anything else is left alone: a checkpoint is never migrated.
const VERSION: u32 = 2;
/// Bytes before the body.
const HEAD: usize = 80;
/// Bytes of the digest at the end.
const DIGEST: usize = 32;
/// The most that a checkpoint takes, in bytes: 1 GiB. What is larger is none.
pub(super) const LARGEST: usize = 1 << 30;
/// What the digest's key is derived for.
const CONTEXT: &str = "recount 2026-11-30 state checkpoint";

/// What belongs into a checkpoint.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) stream: StreamId,
    pub(crate) seq: u64,
    pub(crate) digest: RecordDigest,
    pub(crate) state: State,
    pub(crate) injects: Vec<Seq>,
    pub(crate) inherited: Vec<Map<BlockId, u64>>,
    pub(crate) keys: Keys,
    pub(crate) read_only: Option<u64>,
}

/// What a checkpoint says of where it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The session.
    pub(crate) stream: StreamId,
    /// The newest position in it.
    pub(crate) seq: u64,
    /// The digest of that position's record.
    pub(crate) digest: RecordDigest,
}

/// What a checkpoint holds.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Body {
    pub(crate) frozen: Frozen,
    pub(crate) injects: Vec<Seq>,
    pub(crate) inherited: Vec<Vec<(BlockId, u64)>>,
    /// Name, print, first and last position of each idempotency key.
    pub(crate) keys: Vec<([u8; 16], [u8; 16], Seq, Seq)>,
    pub(crate) read_only: Option<u64>,
}

impl Stored {
    /// As a file of a directory with this secret.
    pub(crate) fn bytes(&self, secret: &[u8; 32]) -> Option<Vec<u8>> {
        let counts = |counts: &Map<BlockId, u64>| {
            counts
                .iter()
                .map(|(block, tokens)| (*block, *tokens))
                .collect()
        };
        let body = Body {
            frozen: self.state.freeze()?,
            injects: self.injects.clone(),
            inherited: self.inherited.iter().map(counts).collect(),
            keys: self.keys.list(),
            read_only: self.read_only,
        };
        let place = Place {
            stream: self.stream,
            seq: self.seq,
            digest: self.digest,
        };
        Some(written(&place, &body, secret))
    }
}

/// The bytes of a checkpoint.
pub(crate) fn written(place: &Place, body: &Body, secret: &[u8; 32]) -> Vec<u8> {
    let body = bincode::encode_to_vec(body, config()).unwrap_or_default();
    let mut bytes = Vec::with_capacity(body.len().saturating_add(HEAD + DIGEST));
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(RENDERING.to_le_bytes());
    bytes.extend(place.stream.0);
    bytes.extend(place.seq.to_le_bytes());
    bytes.extend(place.digest.0);
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    let digest = digest(&bytes, secret);
    bytes.extend(digest);
    bytes
}

/// What bytes say, when they are a checkpoint of this version and this directory, whole.
pub(crate) fn understood(bytes: &[u8], secret: &[u8; 32]) -> Option<(Place, Body)> {
    let (signed, told) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    let (head, body) = signed.split_at_checked(HEAD)?;
    if digest(signed, secret) != told {
        return None;
    }
    let (magic, head) = head.split_at_checked(MAGIC.len())?;
    let (versions, head) = head.split_at_checked(8)?;
    let known = [VERSION.to_le_bytes(), RENDERING.to_le_bytes()].concat();
    let (stream, head) = head.split_at_checked(16)?;
    let (seq, head) = head.split_at_checked(8)?;
    let (record, length) = head.split_at_checked(32)?;
    let length = u64::from_le_bytes(length.try_into().ok()?);
    if magic != MAGIC || versions != known || length != body.len() as u64 {
        return None;
    }
    let (body, read) = bincode::decode_from_slice::<Body, _>(body, config()).ok()?;
    let place = Place {
        stream: StreamId(stream.try_into().ok()?),
        seq: u64::from_le_bytes(seq.try_into().ok()?),
        digest: RecordDigest(record.try_into().ok()?),
    };
    let whole = read as u64 == length && body.frozen.head() == Some(Seq(place.seq));
    whole.then_some((place, body))
}

fn digest(bytes: &[u8], secret: &[u8; 32]) -> [u8; 32] {
    let key = blake3::derive_key(CONTEXT, secret);
    *blake3::keyed_hash(&key, bytes).as_bytes()
}

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<LARGEST>()
}
