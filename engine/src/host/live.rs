//! A session in memory: its core, and what the shell knows of its log.

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
}
