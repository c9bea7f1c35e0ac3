//! The supervisor: starts workers, gives up those that hang, panic or fail, and decides what comes next.
//!
//! - It calls nothing of the store itself, so it cannot hang with it.
//! - A worker that was given up keeps its thread and its directory; the next one gets a new directory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::contract::{Store, StoreError};
use super::generations::Generations;
use super::layout::TermsOf;
use super::live::Live;
use super::query::Cache;
use super::source::Segments;
use super::status::{Doubt, StoreOptions, StoreState, StoreStatus, panic_text};
use super::worker::{Start, Worker};

/// How often the supervisor looks whether the worker still moves.
const TICK: Duration = Duration::from_millis(50);
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
    resting: AtomicBool,
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

    pub(super) fn enter_state(&self, epoch: u64, state: StoreState) -> Result<(), Doubt> {
        let total = self.total();
        self.with_status(epoch, |status| {
            if let StoreState::Rebuilding(doubt) = &state {
                status.rebuilt = Some(doubt.clone());
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
    pub(super) fn wait_for(&self, limit: Duration, fits: impl Fn(&StoreState) -> bool) -> bool {
        let status = self.status();
        let waited = self
            .changed
            .wait_timeout_while(status, limit, |status| !fits(&status.state));
        waited.is_ok_and(|(status, _)| fits(&status.state))
    }

    fn begin(&self, epoch: u64, start: &Start) {
        self.live().reset(epoch);
        self.doubted(epoch);
        self.unflushed.store(0, Ordering::Relaxed);
        if *start == Start::Current {
            // The epoch was set a line above, so this cannot be refused.
            let _ = self.enter_state(epoch, StoreState::Comparing);
        }
    }

    /// Gives a worker up: readers and writers go on without the store.
    fn give_up(&self, epoch: u64, state: StoreState) {
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

/// Runs workers until the store is closed or given up for good.
pub(super) fn supervise(shared: &Arc<Shared>, data_directory: PathBuf) {
    let mut start = Start::Current;
    let mut epoch = 1;
    let mut failures = 0;
    loop {
        shared.begin(epoch, &start);
        let outcome = watch(shared, &run_worker(shared, epoch, &data_directory, start));
        epoch += 1;
        let closing = shared.closing.load(Ordering::Acquire);
        let doubt = match outcome {
            Ok(()) => return shared.give_up(epoch, StoreState::Closed),
            Err(_) if closing => return shared.give_up(epoch, StoreState::Closed),
            Err(doubt) => doubt,
        };
        tracing::warn!(%doubt, "the store is given up");
        let wait = matches!(doubt, Doubt::Failed(StoreError::Full(_)) | Doubt::Unread(_));
        if !wait && !matches!(doubt, Doubt::Asked | Doubt::Absent | Doubt::Foreign) {
            failures += 1;
        }
        if wait || failures > shared.options.attempts {
            shared.give_up(epoch, StoreState::Off(doubt.clone()));
            let limit = if wait {
                shared.options.pause
            } else {
                Duration::MAX
            };
            pause(shared, limit);
            if shared.closing.load(Ordering::Acquire) {
                return shared.give_up(epoch, StoreState::Closed);
            }
            epoch += 1;
        } else {
            shared.give_up(epoch, StoreState::Rebuilding(doubt.clone()));
            epoch += 1;
        }
        start = Start::Fresh(doubt);
    }
}

fn run_worker(
    shared: &Arc<Shared>,
    epoch: u64,
    data_directory: &std::path::Path,
    start: Start,
) -> Receiver<Result<(), Doubt>> {
    let (sender, receiver) = bounded(1);
    let worker = Worker {
        shared: Arc::clone(shared),
        epoch,
    };
    let generations = Generations::new(data_directory);
    let thread = thread::Builder::new()
        .name("recount-store".into())
        .spawn(move || {
            let run = AssertUnwindSafe(|| worker.run(&generations, start));
            let outcome = catch_unwind(run).unwrap_or_else(|panic| {
                Err(Doubt::Failed(StoreError::Panicked(panic_text(&*panic))))
            });
            // Nobody listens any more when this worker was given up.
            let _ = sender.send(outcome);
        });
    // Without a thread the sender is gone, which reads as a failure.
    drop(thread);
    receiver
}

/// Waits for a worker's end, or for the time when it counts as hung.
fn watch(shared: &Shared, outcome: &Receiver<Result<(), Doubt>>) -> Result<(), Doubt> {
    let mut beat = shared.beat.load(Ordering::Relaxed);
    let mut moved = Instant::now();
    loop {
        match outcome.recv_timeout(TICK.min(shared.options.patience)) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Doubt::Failed(StoreError::Io(
                    "no thread for the store".into(),
                )));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = shared.beat.load(Ordering::Relaxed);
        if now != beat || shared.resting.load(Ordering::Acquire) {
            beat = now;
            moved = Instant::now();
        }
        if moved.elapsed() > shared.options.patience {
            return Err(Doubt::Hung);
        }
    }
}

/// Waits for closing, at most that long.
fn pause(shared: &Shared, limit: Duration) {
    let started = Instant::now();
    let mut live = shared.live();
    while !shared.closing.load(Ordering::Acquire) && started.elapsed() < limit {
        let rest = limit
            .saturating_sub(started.elapsed())
            .min(Duration::from_secs(1));
        live = match shared.work.wait_timeout(live, rest) {
            Ok((live, _)) => live,
            Err(poisoned) => poisoned.into_inner().0,
        };
    }
}
