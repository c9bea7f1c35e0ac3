//! What the host is told of without asking: durability lost and regained, the event store built again, a cache that was read less than
//! before, a compaction that is due.
//!
//! - Whoever listens is called by the thread at which it happens, so it should only hand over; a panic of his is caught.

use crate::lock::lock;
use recount_wal::store::{StoreOptions, StoreState};
use recount_wal::{Follower, Record};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// One thing that the host is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// The disk refuses: what was accepted waits in memory, and no more is accepted.
    DurabilityLost {
        /// What the system says.
        cause: String,
    },
    /// Everything that was accepted is on disk.
    DurabilityRegained,
    /// The event store is built again from the segments; reads go on from these.
    Rebuilding {
        /// Why.
        why: String,
        /// Records done.
        done: u64,
        /// Records in all.
        total: u64,
    },
    /// The event store serves reads.
    Rebuilt,
    /// The window is so full that a summary is asked for: the action that asks for it waits to be answered.
    CompactionDue {
        /// The session.
        session: String,
        /// The compaction.
        compaction: String,
        /// Requests that are open.
        requests: u64,
    },
    /// A call read much less from the provider's cache than the one before, and nothing in the log announced that.
    CacheBreak {
        /// The session.
        session: String,
        /// The event that says so.
        event: u64,
        /// Tokens read by the call before.
        before: u64,
        /// Tokens read by this one.
        after: u64,
        /// The first byte of the body, without cache markers, that differs from the prompt before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        byte: Option<u64>,
        /// The event behind that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<u64>,
        /// `changed`, `expired` or `unexplained`.
        cause: String,
    },
}

type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

/// Those who listen. Clones are one list; it outlives a change of the directory's holder.
#[derive(Clone, Default)]
pub struct Notices {
    listeners: Arc<Mutex<Vec<Listener>>>,
}

impl Notices {
    /// Calls somebody for everything that happens from now on.
    pub fn listen(&self, listener: impl Fn(&Notice) + Send + Sync + 'static) {
        lock(&self.listeners).push(Arc::new(listener));
    }

    pub(super) fn tell(&self, notice: &Notice) {
        let listeners = lock(&self.listeners).clone();
        for listener in listeners {
            if catch_unwind(AssertUnwindSafe(|| listener(notice))).is_err() {
                tracing::error!(?notice, "a listener panicked");
            }
        }
    }

    /// Has the event store tell how it is built again.
    pub(super) fn watch(&self, store: StoreOptions) -> StoreOptions {
        let (notices, before) = (self.clone(), store.progress.clone());
        let rebuilding = Mutex::new(false);
        let progress = move |state: &StoreState, done: u64, total: u64| {
            if let Some(before) = &before {
                before(state, done, total);
            }
            let mut rebuilding = lock(&rebuilding);
            match state {
                StoreState::Rebuilding(doubt) => {
                    *rebuilding = true;
                    let why = doubt.to_string();
                    notices.tell(&Notice::Rebuilding { why, done, total });
                }
                StoreState::Ready if std::mem::take(&mut *rebuilding) => {
                    notices.tell(&Notice::Rebuilt);
                }
                _ => {}
            }
        };
        StoreOptions {
            progress: Some(Arc::new(progress)),
            ..store
        }
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notices({})", lock(&self.listeners).len())
    }
}

/// Hears from the log.
#[derive(Debug)]
pub(super) struct Watch(pub(super) Notices);

impl Follower for Watch {
    fn committed(&self, _records: &[Record]) {}

    fn durability(&self, lost: Option<&str>) {
        self.0.tell(
            &lost.map_or(Notice::DurabilityRegained, |cause| Notice::DurabilityLost {
                cause: cause.to_owned(),
            }),
        );
    }
}
