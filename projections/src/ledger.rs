//! The ledger: what really happened. Nothing rolls it back, and no byte of a prompt depends on it.

use crate::{Logged, Map};
use alloc::{string::String, sync::Arc};
use recount_events::{BlockId, BreakerState, Digest, Seq};

/// Token totals over all branches; one request counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests.
    pub requests: u64,
    /// Input tokens that were neither read from nor written to the cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Input tokens written to the cache for an hour.
    pub cache_write_1h: u64,
}

/// A breaker as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerView {
    /// The event that brought it here.
    pub seq: Seq,
    /// What it did last.
    pub state: BreakerState,
    /// Its count, level or floor.
    pub value: u64,
}

/// What really happened.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The newest `opened`.
    pub opened: Option<Arc<Logged>>,
    /// The `forked` event, in a fork.
    pub forked: Option<Arc<Logged>>,
    /// The newest `closed`, if nothing but it came last.
    pub closed: Option<Seq>,
    /// Tokens of blocks, by the newest count of each.
    pub counts: Map<BlockId, u64>,
    /// The newest tokenizer's name and version.
    pub tokenizer: Option<Arc<str>>,
    /// Prompts that left: digest to the newest `issued` event of it.
    pub issued: Map<Digest, Seq>,
    /// All `issued` events.
    pub issues: Map<Seq, Arc<Logged>>,
    /// Usages, by the first event of each request, largest values won.
    pub usages: Map<Seq, Totals>,
    /// Their sum.
    pub totals: Totals,
    /// Refusals for size.
    pub overflows: Map<Seq, Arc<Logged>>,
    /// Breakers by name.
    pub breakers: Map<String, BreakerView>,
    /// Erasures' receipts.
    pub erased: Map<Seq, Arc<Logged>>,
    /// Events kept word for word or written by a newer version.
    pub unknown: u64,
}
