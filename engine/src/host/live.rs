//! A session in memory: its core, and what the shell knows of its log.

use super::kept::Kept;
use crate::api;
use crate::core::Core;
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
}

impl Live {
    /// About how many bytes it takes: an event that is at hand is taken for 2.4 kB, a cold one for 0.4 kB (its entries in
    /// the maps of the timeline and the ledger; estimated, not measured).
    pub(crate) fn weight(&self) -> u64 {
        let cold = self.core.state.cold();
        let warm = self.core.next().0.saturating_sub(cold);
        warm.saturating_mul(2_400)
            .saturating_add(cold.saturating_mul(400))
    }
}
