//! What really happened: never rolled back, never part of a prompt's bytes.

use crate::{BlockId, Digest, Seq, Text, Wire};
use alloc::{string::String, vec::Vec};
use bincode::{Decode, Encode};

/// Token counts of blocks, made once for ever. Ledger.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Counted {
    /// The tokenizer's name and version.
    pub tokenizer: String,
    /// Block and tokens.
    pub counts: Vec<(BlockId, u64)>,
}

/// A prompt left the engine. Ledger.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Issued {
    /// Root over the digests of its pieces.
    pub digest: Digest,
    /// The position that it shows, included.
    pub cut: Seq,
    /// Tokens, by estimate.
    pub estimate: u64,
    /// The request's parameters as sent: a JSON object.
    pub params: Option<Text>,
    /// The dialect.
    pub wire: Wire,
    /// The version of fold, repair and render.
    pub rendering: u32,
    /// The profile event in force.
    pub profile: Option<Seq>,
    /// Open calls were shown with a placeholder.
    pub healed: bool,
}

/// What an answer cost, in tokens. Ledger; one request counts once, the largest values win.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Usage {
    /// The provider's request or message id.
    pub request: Option<Text>,
    /// Digest of the prompt.
    pub issued: Option<Digest>,
    /// Input that was neither read from nor written to the cache.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Input written to the cache for an hour.
    pub cache_write_1h: u64,
    /// The provider's cumulative count of tokens deleted by cache edits.
    pub cache_deleted: Option<u64>,
    /// The provider's own object.
    pub raw: Option<Text>,
    /// The first usage of the same request. Resolved.
    pub repeats: Option<Seq>,
}

/// What was too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Excess {
    /// Tokens.
    #[default]
    Tokens,
    /// Bytes.
    Bytes,
    /// Pictures.
    Images,
}

/// A provider refused a prompt for its size. Ledger.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Overflow {
    /// The provider's words.
    pub error: Text,
    /// How much it was.
    pub actual: Option<u64>,
    /// How much is allowed.
    pub limit: Option<u64>,
    /// Of what.
    pub kind: Excess,
}

/// What a breaker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum BreakerState {
    /// It counted a failure.
    Counts,
    /// It stops its tier.
    Trips,
    /// It lets its tier run again.
    Releases,
}

/// Counters and latches that keep a tier from running in a circle. Ledger; its release may be undone.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Breaker {
    /// Which.
    pub name: String,
    /// What it does.
    pub state: BreakerState,
    /// Its count, level or floor.
    pub value: u64,
}

/// Contents were overwritten for ever. Ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Erased {
    /// The events whose contents are gone, as inclusive runs.
    pub events: Vec<(Seq, Seq)>,
    /// Digests of the prompt pieces that showed them.
    pub pieces: Vec<Digest>,
}
