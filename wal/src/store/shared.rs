//! What the worker, the supervisor, the readers and the writers of a store share.
//!
//! - Only the worker whose epoch is current changes anything; one that was given up is refused at its next step.
//! - Locks are taken in one order: what is in memory, then the status; a store is never called under either.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::chunk::Chunk;
use super::contract::Store;
use super::layout::TermsOf;
use super::live::Live;
use super::query::Cache;
use super::source::Segments;
use super::status::{Doubt, StoreOptions, StoreState, StoreStatus};
use super::worker::Start;

/// Records between two calls of the progress callback.
const PROGRESS_STEP: u64 = 4_096;

/// Who waits to hear how a comparison ended.
pub(super) type Asker = Sender<Result<u64, Doubt>>;

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
    askers: Mutex<Vec<Asker>>,
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
            askers: Mutex::default(),
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
            }
            if matches!(state, StoreState::Rebuilding(_) | StoreState::Comparing) {
                // What only the old directory had is not carried over; what this one has is found again.
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
        // The last handle may flush on drop and hang in it, so it never dies under the lock.
        drop(self.replace_published(store));
    }

    /// What is kept of a store goes with it.
    fn replace_published(&self, store: Option<Arc<dyn Store>>) -> Option<Arc<dyn Store>> {
        let mut published = self
            .published
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *published, store);
        self.cache.clear();
        before
    }

    pub(super) fn published(&self) -> Option<Arc<dyn Store>> {
        self.published
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Keeps a chunk that was read from a store, if that is still the one that readers use.
    pub(super) fn keep(&self, store: &Arc<dyn Store>, chunk: &Arc<Chunk>) {
        let published = self
            .published
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if published
            .as_ref()
            .is_some_and(|published| Arc::ptr_eq(published, store))
        {
            self.cache.keep(Arc::clone(chunk));
        }
    }

    /// Takes the store away from readers at once, and has it rebuilt.
    pub(super) fn raise(&self, doubt: Doubt) {
        self.raised().get_or_insert(doubt);
        self.work.notify_all();
    }

    /// What was raised and not dealt with yet; until then nothing is read from the store.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        self.raised().clone()
    }

    pub(super) fn is_doubted(&self) -> bool {
        self.raised().is_some()
    }

    fn raised(&self) -> MutexGuard<'_, Option<Doubt>> {
        self.doubt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker that serves reads, by its epoch; none while nobody does.
    pub(super) fn serving(&self) -> Option<u64> {
        let live = self.live();
        (self.status().state == StoreState::Ready).then_some(live.epoch)
    }

    /// Has the worker compare the store once more; one comparison answers all who asked before it began.
    pub(super) fn ask_to_verify(&self) -> Receiver<Result<u64, Doubt>> {
        let (sender, receiver) = bounded(1);
        self.askers().push(sender);
        let _live = self.live();
        self.work.notify_all();
        receiver
    }

    /// Those who ask for a comparison and were not taken yet.
    pub(super) fn askers(&self) -> MutexGuard<'_, Vec<Asker>> {
        self.askers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something to do, or it is time to settle.
    pub(super) fn rest(&self) {
        self.resting.store(true, Ordering::Release);
        let live = self.live();
        let idle = live.next_pending().is_none()
            && !live.is_behind()
            && !self.closing.load(Ordering::Acquire)
            && !self.is_doubted()
            && self.askers().is_empty();
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
        self.unflushed.store(0, Ordering::Relaxed);
        if let Start::Fresh(_) = start {
            // It was about what came before.
            *self.raised() = None;
        } else {
            // The epoch was set a line above, so this cannot be refused.
            let _ = self.enter_state(epoch, StoreState::Comparing);
        }
    }

    /// Gives a worker up: readers and writers go on without the store.
    pub(super) fn give_up(&self, epoch: u64, state: StoreState) {
        self.live().reset(epoch);
        // Before anybody hears of it: who does must not read from it any more.
        let published = self.replace_published(None);
        *self.raised() = None;
        let _ = self.enter_state(epoch, state);
        self.room.notify_all();
        // A hung store's last handle may be this one; dropping it must not hang the supervisor.
        if let Some(store) = published {
            let dropping = thread::Builder::new().name("recount-store-drop".into());
            let _ = dropping.spawn(move || drop(store));
        }
    }
}
