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
    /// The compaction whose own call this was: it says nothing about the size of the session's prompt.
    pub compaction: Option<Text>,
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
    /// Digest of the prompt that was refused.
    pub issued: Option<Digest>,
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

/// Why less was read from the provider's cache than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum CacheCause {
    /// The prompt still begins with what was sent before, and its time was not over.
    Unexplained,
    /// What was written had outlived its time.
    Expired,
    /// The prompt no longer begins with what was sent before.
    Changed,
}

/// Less was read from the provider's cache than after the call before, unannounced. Ledger.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CacheBreak {
    /// The usage that shows it.
    pub usage: Seq,
    /// Tokens read from the cache by the call before.
    pub before: u64,
    /// Tokens read from it by this one.
    pub after: u64,
    /// The first byte of the body that differs from the prompt before.
    pub byte: Option<u64>,
    /// The source of the piece in which it lies.
    pub piece: Option<BlockId>,
    /// The event behind that piece.
    pub event: Option<Seq>,
    /// Why.
    pub cause: CacheCause,
}

/// A host did what the engine had asked of it, or could not. Ledger.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Done {
    /// The action, by the engine's own name for it.
    pub action: String,
    /// Why it failed; none: it is done.
    pub error: Option<Text>,
}

/// Contents were overwritten for ever. Ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Erased {
    /// The events whose contents are gone, as inclusive runs.
    pub events: Vec<(Seq, Seq)>,
    /// Digests of the prompt pieces that showed them.
    pub pieces: Vec<Digest>,
}
