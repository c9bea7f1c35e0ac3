//! A session in memory: its core, and what the shell knows of its log.

use super::kept::Kept;
use crate::core::{Core, Key, Repeat};
use crate::{Error, api};
use recount_events::Seq;
use recount_wal::RecordDigest;

/// A session that was read from the log, or just made.
#[derive(Debug)]
pub(crate) struct Live {
    /// The sans-io part.
    pub(crate) core: Core,
    /// What was found when it was opened.
    pub(crate) recovered: api::Recovered,
    /// Digest of the newest record.
    pub(crate) digest: RecordDigest,
    /// An event of a newer version without which the session cannot be understood: it is read, not written.
    pub(crate) read_only: Option<u64>,
    /// What is known of its checkpoints.
    pub(crate) kept: Kept,
    /// What is known of the memory it takes.
    pub(crate) weighed: Weighed,
}

/// What was last known of the bytes that a session holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weighed {
    /// Positions before were counted.
    next: u64,
    /// So many of them were cold.
    cold: u64,
    /// Bytes of texts.
    bytes: u64,
}

/// Bytes that one byte of text takes: it stands in its event and in its piece of the prompt, and both grow by doubling.
const COPIES: u64 = 3;
/// Bytes that an event takes beside its texts.
const EVENT: u64 = 800;
/// Bytes that a cold event takes: its entries in the maps of the timeline and the ledger.
const COLD: u64 = 400;

impl Live {
    /// What was done under a key before; other content under it is a conflict.
    pub(crate) fn done_before(&self, key: Option<Key>) -> Result<Option<Repeat>, Error> {
        let found = key.map(|key| self.core.keys.find(key)).transpose()?;
        Ok(found.flatten())
    }

    /// About how many bytes it takes. Costs as much as there is new.
    pub(crate) fn weigh(&mut self) -> u64 {
        let state = &self.core.state;
        let (next, cold) = (self.core.next().0, state.cold());
        let known = self.weighed;
        let bytes = if known.cold == cold && known.next <= next {
            let fresh = state.bytes_at_hand(Seq(known.next));
            known.bytes.saturating_add(fresh)
        } else {
            state.bytes_at_hand(Seq(0))
        };
        self.weighed = Weighed { next, cold, bytes };
        let warm = next.saturating_sub(cold);
        bytes
            .saturating_mul(COPIES)
            .saturating_add(warm.saturating_mul(EVENT))
            .saturating_add(cold.saturating_mul(COLD))
    }
}
