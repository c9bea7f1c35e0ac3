//! What the shell is given from outside: clock, chance, sizes.

use recount_events::Millis;
use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock at the border: it stamps what the caller did not stamp.
#[derive(Clone, Default)]
pub enum Clock {
    /// The system's.
    #[default]
    System,
    /// The caller's: answers ms since the epoch.
    Own(Arc<dyn Fn() -> u64 + Send + Sync>),
}

impl Clock {
    /// The time now.
    #[must_use]
    pub fn now(&self) -> Millis {
        match self {
            Self::System => Millis(system()),
            Self::Own(clock) => Millis(clock()),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the shell reads the clock"
)]
fn system() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Own(_) => "Own",
        })
    }
}

/// Where salts come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chance {
    /// The system's randomness.
    #[default]
    System,
    /// A sequence from a seed, so that digests of records come out equal. For tests: with it, erased text can be guessed.
    Seeded(u64),
}

/// How a data directory is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The clock at the border.
    pub clock: Clock,
    /// Where salts come from.
    pub chance: Chance,
    /// Bytes of a log segment; none: the log's own default.
    pub segment_bytes: Option<u64>,
    /// Events after which an open session's state is written to its checkpoint and its history leaves memory; none: 2,048.
    pub checkpoint_every: Option<u64>,
    /// Bytes that open sessions may take, by estimate, before those that were used longest ago leave memory; none: 256 MiB.
    pub memory_bytes: Option<u64>,
    /// A disk in place of the directory's own, without a lock and without the event store: for tests of what happens when it fails.
    pub disk: Option<Arc<dyn recount_wal::disk::Disk>>,
    /// How the event store is kept; none: the log's own defaults.
    pub store: Option<recount_wal::store::StoreOptions>,
    /// Who is told of what the host did not ask for.
    pub notices: super::Notices,
    /// The host's say in compactions.
    pub hooks: super::Hooks,
}
