//! What the worker, the supervisor, the readers and the writers of a store share.
//!
//! - Only the worker whose epoch is current changes anything; one that was given up is refused at its next step.
//! - Locks are taken in one order: what is in memory, then the status; a store is never called under either.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::contract::Store;
use super::layout::TermsOf;
use super::live::Live;
use super::query::Cache;
use super::source::Segments;
use super::status::{Doubt, StoreOptions, StoreState, StoreStatus};
use super::worker::Start;

/// Records between two calls of the progress callback.
const PROGRESS_STEP: u64 = 4_096;

/// What the worker, the supervisor, the readers and the writers share.
pub(super) struct Shared {
    pub(super) options: StoreOptions,
    pub(super) segments: Arc<dyn Segments>,
    pub(super) identity: [u8; 16],
    pub(super) terms: TermsOf,
    pub(super) cache: Cache,
    pub(super) live: Mutex<Live>,
    /// There is something to do.
    pub(super) work: Condvar,
    /// The backlog became smaller.
    pub(super) room: Condvar,
    pub(super) closing: AtomicBool,
    pub(super) beat: AtomicU64,
    pub(super) unflushed: AtomicUsize,
    pub(super) resting: AtomicBool,
    published: RwLock<Option<Arc<dyn Store>>>,
    status: Mutex<StoreStatus>,
    changed: Condvar,
    doubt: Mutex<Option<Doubt>>,
    asked: Mutex<Option<Sender<Result<u64, Doubt>>>>,
    last_commit: AtomicU64,
    started: Instant,
}

impl Shared {
    pub(super) fn new(
        identity: [u8; 16],
        segments: Arc<dyn Segments>,
        options: StoreOptions,
    ) -> Shared {
        let status = StoreStatus {
            state: StoreState::Comparing,
            rebuilt: None,
            weighed: false,
            ahead: Vec::new(),
            salvaged: Vec::new(),
            done: 0,
            total: 0,
            backlog: 0,
        };
        Shared {
            terms: TermsOf(options.terms.clone()),
            options,
            segments,
            identity,
            cache: Cache::default(),
            live: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            closing: AtomicBool::new(false),
            beat: AtomicU64::new(0),
            unflushed: AtomicUsize::new(0),
            resting: AtomicBool::new(false),
            published: RwLock::new(None),
            status: Mutex::new(status),
            changed: Condvar::new(),
            doubt: Mutex::new(None),
            asked: Mutex::new(None),
            last_commit: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self) -> MutexGuard<'_, StoreStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn status_now(&self) -> StoreStatus {
        let backlog = self.live().pending_bytes as u64;
        let mut status = self.status().clone();
        status.backlog = backlog;
        status
    }

    /// Changes what is in memory, unless the worker was given up.
    pub(super) fn with_live<T>(
        &self,
        epoch: u64,
        change: impl FnOnce(&mut Live) -> T,
    ) -> Result<T, Doubt> {
        let mut live = self.live();
        if live.epoch == epoch {
            Ok(change(&mut live))
        } else {
            Err(Doubt::Hung)
        }
    }

    /// Changes the status, unless the worker was given up.
    pub(super) fn with_status(
        &self,
        epoch: u64,
        change: impl FnOnce(&mut StoreStatus),
    ) -> Result<(), Doubt> {
        self.with_live(epoch, |_| change(&mut self.status()))
    }

    /// From here on it is known what the segments lost at their ends.
    pub(super) fn weighed(&self, epoch: u64) -> Result<(), Doubt> {
        self.with_status(epoch, |status| status.weighed = true)?;
        self.changed.notify_all();
        Ok(())
    }

    pub(super) fn enter_state(&self, epoch: u64, state: StoreState) -> Result<(), Doubt> {
        let total = self.total();
        self.with_status(epoch, |status| {
            if let StoreState::Rebuilding(doubt) = &state {
                status.rebuilt = Some(doubt.clone());
                // What only the old directory had is not carried over.
                status.salvaged.clear();
            }
            status.state = state;
            status.done = 0;
            status.total = total;
        })?;
        self.changed.notify_all();
        self.report();
        Ok(())
    }

    /// Lets readers use a store, or takes it away from them.
    pub(super) fn publish(&self, epoch: u64, store: Option<Arc<dyn Store>>) -> Result<(), Doubt> {
        let ready = store.is_some();
        self.with_live(epoch, |_| self.set_published(store))?;
        if ready {
            self.enter_state(epoch, StoreState::Ready)
        } else {
            Ok(())
        }
    }

    fn set_published(&self, store: Option<Arc<dyn Store>>) {
        let before = {
            let mut published = self
                .published
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *published, store)
        };
        self.cache.clear();
        // The last handle may flush on drop and hang in it, so it never dies under the lock.
        drop(before);
    }

    pub(super) fn published(&self) -> Option<Arc<dyn Store>> {
        self.published
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Takes the store away from readers at once, and has it rebuilt.
    pub(super) fn raise(&self, doubt: Doubt) {
        self.doubt
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(doubt);
        self.work.notify_all();
    }

    pub(super) fn doubted(&self, _epoch: u64) -> Option<Doubt> {
        self.doubt
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    pub(super) fn is_doubted(&self) -> bool {
        self.doubt
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// Has the worker compare the store once more; one request at a time, a second one takes the first one's place.
    pub(super) fn ask_to_verify(&self) -> Receiver<Result<u64, Doubt>> {
        let (sender, receiver) = bounded(1);
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        let _live = self.live();
        self.work.notify_all();
        receiver
    }

    /// The request to compare, if there is one.
    pub(super) fn asked(&self) -> Option<Sender<Result<u64, Doubt>>> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn is_asked(&self) -> bool {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// Waits until there is something to do, or it is time to settle.
    pub(super) fn rest(&self) {
        self.resting.store(true, Ordering::Release);
        let live = self.live();
        let idle = live.next_pending().is_none()
            && !live.is_behind()
            && !self.closing.load(Ordering::Acquire)
            && !self.is_doubted()
            && !self.is_asked();
        if idle {
            let pause = self
                .options
                .idle
                .clamp(Duration::from_millis(1), Duration::from_secs(1));
            drop(self.work.wait_timeout(live, pause));
        }
        self.resting.store(false, Ordering::Release);
    }

    pub(super) fn touch(&self) {
        self.last_commit.store(self.elapsed(), Ordering::Relaxed);
    }

    pub(super) fn idle(&self) -> bool {
        let since = self
            .elapsed()
            .saturating_sub(self.last_commit.load(Ordering::Relaxed));
        u128::from(since) >= self.options.idle.as_millis()
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn advance(&self, epoch: u64, records: u64) {
        let mut due = false;
        let counted = self.with_status(epoch, |status| {
            status.done = status.done.saturating_add(records);
            due = status.done % PROGRESS_STEP == 0;
        });
        if counted.is_ok() && due {
            self.report();
        }
    }

    fn report(&self) {
        if let Some(progress) = &self.options.progress {
            let (state, done, total) = {
                let status = self.status();
                (status.state.clone(), status.done, status.total)
            };
            progress(&state, done, total);
        }
    }

    fn total(&self) -> u64 {
        let count = |info: &crate::record::StreamInfo| {
            info.heads.durable.map_or(0, |durable| {
                durable.saturating_add(1).saturating_sub(info.first)
            })
        };
        self.segments
            .streams()
            .iter()
            .map(count)
            .fold(0, u64::saturating_add)
    }

    /// Waits until the state fits, at most that long.
    pub(super) fn wait_for(&self, limit: Duration, fits: impl Fn(&StoreStatus) -> bool) -> bool {
        let status = self.status();
        let waited = self
            .changed
            .wait_timeout_while(status, limit, |status| !fits(status));
        waited.is_ok_and(|(status, _)| fits(&status))
    }

    pub(super) fn begin(&self, epoch: u64, start: &Start) {
        self.live().reset(epoch);
        self.doubted(epoch);
        self.unflushed.store(0, Ordering::Relaxed);
        if *start == Start::Current {
            // The epoch was set a line above, so this cannot be refused.
            let _ = self.enter_state(epoch, StoreState::Comparing);
        }
    }

    /// Gives a worker up: readers and writers go on without the store.
    pub(super) fn give_up(&self, epoch: u64, state: StoreState) {
        self.live().reset(epoch);
        let _ = self.enter_state(epoch, state);
        self.room.notify_all();
        // A hung store's last handle may be this one; dropping it must not hang the supervisor.
        let published = {
            let mut published = self
                .published
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            published.take()
        };
        self.cache.clear();
        if let Some(store) = published {
            let dropping = thread::Builder::new().name("recount-store-drop".into());
            let _ = dropping.spawn(move || drop(store));
        }
    }
}
