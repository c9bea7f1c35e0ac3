//! Edits of the provider's cache.

use crate::{BlockId, Text};
use alloc::vec::Vec;
use bincode::{Decode, Encode};

/// Results are deleted on the provider's side; no local byte changes. Timeline.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CacheEdit {
    /// Its name.
    pub id: Text,
    /// The calls whose results are deleted.
    pub calls: Vec<BlockId>,
    /// The provider's cumulative count of deleted tokens before.
    pub baseline: u64,
}

/// The provider told what an edit freed. Timeline.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CacheAck {
    /// The edit.
    pub id: Text,
    /// Tokens.
    pub deleted_tokens: u64,
}

/// The provider's cache is cold: pinned edits are void. Timeline.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CacheReset {
    /// Why.
    pub reason: Text,
}
