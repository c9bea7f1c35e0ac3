//! The store as the log uses it: told of what was committed, asked for records, closed.
//!
//! - Telling it of a commit costs a copy into memory; only a full backlog makes it wait, and never for ever.
//! - Closing waits a limited time, then leaves the store to itself: the next open compares it anyway.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use super::shared::Shared;
use super::source::Segments;
use super::status::{Doubt, StoreOptions, StoreState, StoreStatus};
use super::supervisor::supervise;
use crate::record::Record;

/// How often whoever waits for a comparison looks whether it can still come.
const LOOK: Duration = Duration::from_millis(50);

/// The store behind the segments. Share it by reference; it is `Send` and `Sync`.
pub struct EventLog {
    pub(super) shared: Arc<Shared>,
    ended: Receiver<()>,
}

impl EventLog {
    /// Starts the store of a data directory and returns at once; the comparison runs behind.
    ///
    /// `identity` tells data directories apart; it is stored, so it must not be a secret.
    #[must_use]
    pub fn start(
        data_directory: &Path,
        identity: [u8; 16],
        segments: Arc<dyn Segments>,
        options: StoreOptions,
    ) -> EventLog {
        let shared = Arc::new(Shared::new(identity, segments, options));
        let (sender, ended) = bounded(0);
        let supervised = Arc::clone(&shared);
        // Later generations are made where the first one is, wherever the process has gone.
        let directory = crate::disk::whole(data_directory);
        let spawned = thread::Builder::new()
            .name("recount-store-watch".into())
            .spawn(move || {
                supervise(&supervised, directory);
                // Dropping it is the signal.
                drop(sender);
            });
        if spawned.is_err() {
            tracing::warn!("no thread for the store; reads go to the segments");
        }
        EventLog { shared, ended }
    }

    /// Waits until the comparison is over, at most that long; whether it is.
    pub fn wait_compared(&self, limit: Duration) -> bool {
        self.shared
            .wait_for(limit, |status| status.state != StoreState::Comparing)
    }

    /// Waits until the segments were held against what the store knew of the streams' heads, at most that long; whether
    /// they were. A store that is given up is no evidence.
    pub fn wait_weighed(&self, limit: Duration) -> bool {
        let known = |status: &StoreStatus| status.weighed || status.state != StoreState::Comparing;
        self.shared.wait_for(limit, known);
        self.status().weighed
    }

    /// Waits until the store serves reads or is off, at most that long; whether it serves reads.
    pub fn wait_ready(&self, limit: Duration) -> bool {
        let settled = |status: &StoreStatus| {
            !matches!(
                status.state,
                StoreState::Comparing | StoreState::Rebuilding(_)
            )
        };
        self.shared.wait_for(limit, settled) && self.status().state == StoreState::Ready
    }

    /// What it is doing, and what was found.
    #[must_use]
    pub fn status(&self) -> StoreStatus {
        self.shared.status_now()
    }

    /// Takes records that are durable and that [`Segments::read`] finds from now on. A full backlog makes it wait.
    ///
    /// Call it without holding a lock that the segments need to be read.
    pub fn committed<'a>(&self, records: impl IntoIterator<Item = &'a Record>) {
        self.shared.touch();
        let mut live = self.shared.live();
        records.into_iter().for_each(|record| live.commit(record));
        let limit = self.shared.options.backlog;
        if live.next_pending().is_none() && !live.is_behind() {
            return;
        }
        self.shared.work.notify_all();
        let full = |live: &super::live::Live| live.filling && live.pending_bytes > limit;
        let started = Instant::now();
        while full(&live) {
            let rest = self.shared.options.slow.saturating_sub(started.elapsed());
            if rest.is_zero() {
                // Whoever is slow for so long catches up from the segments, at nobody's cost.
                live.filling = false;
                break;
            }
            live = match self.shared.room.wait_timeout(live, rest) {
                Ok((live, _)) => live,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// Reads every row again and compares it with the segments; answers how many records the rows hold, and has the store
    /// rebuilt when it differs. None while it serves no reads, or when it stops before it has answered.
    pub fn verify(&self) -> Option<Result<u64, Doubt>> {
        let worker = self.shared.serving()?;
        // The worker does it between two writes, so that no row changes meanwhile.
        let answer = self.shared.ask_to_verify();
        // One that was given up over it may keep the question for ever.
        while self.shared.serving() == Some(worker) {
            match answer.recv_timeout(LOOK) {
                Ok(outcome) => return Some(outcome),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        answer.try_recv().ok()
    }

    /// Has the store rebuilt, for instance after a segment was rewritten and places in it changed.
    pub fn rebuild(&self) {
        self.shared.raise(Doubt::Asked);
    }

    /// Writes what is open and closes; whether it ended within the limit that the options give.
    pub fn close(&self) -> bool {
        if self.shared.closing.swap(true, Ordering::AcqRel) {
            return false;
        }
        {
            let _live = self.shared.live();
            self.shared.work.notify_all();
            self.shared.room.notify_all();
        }
        // The sender is dropped at the end; a time-out says that the store hangs.
        let outcome = self.ended.recv_timeout(self.shared.options.close);
        matches!(outcome, Err(RecvTimeoutError::Disconnected))
    }
}

impl std::fmt::Debug for EventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventLog")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        self.close();
    }
}
