//! A store that fails, panics, hangs or is full never takes the log with it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use super::super::contract::Visit;
use super::follow::wait_until;
use super::*;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Fail,
    Full,
    Panic,
    Hang,
    Lie,
}

/// Opens stores in memory whose n-th operation goes wrong; `bad` of them, then good ones.
struct Faulty {
    fault: Fault,
    at: u32,
    bad: AtomicU32,
    opened: AtomicU32,
}

struct FaultyStore {
    inner: Memory,
    fault: Fault,
    left: AtomicU32,
}

impl Faulty {
    fn new(fault: Fault, at: u32, bad: u32) -> Arc<Faulty> {
        Arc::new(Faulty {
            fault,
            at,
            bad: AtomicU32::new(bad),
            opened: AtomicU32::new(0),
        })
    }
}

impl Open for Faulty {
    fn open(&self, _directory: &Path) -> Result<Arc<dyn Store>, StoreError> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        let bad = self
            .bad
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |bad| bad.checked_sub(1))
            .is_ok();
        let left = AtomicU32::new(if bad { self.at } else { u32::MAX });
        let store = FaultyStore {
            inner: Memory::default(),
            fault: self.fault,
            left,
        };
        store.step()?;
        Ok(Arc::new(store))
    }
}

impl FaultyStore {
    /// Whether the operation goes wrong without saying so.
    fn step(&self) -> Result<bool, StoreError> {
        let left = self.left.load(Ordering::SeqCst);
        if left == u32::MAX {
            return Ok(false);
        }
        if left > 0 {
            self.left.store(left - 1, Ordering::SeqCst);
            return Ok(false);
        }
        match self.fault {
            Fault::Fail => Err(StoreError::Io("simulated".into())),
            Fault::Full => Err(StoreError::Full("simulated".into())),
            Fault::Panic => panic!("simulated"),
            Fault::Hang => loop {
                std::thread::sleep(Duration::from_secs(1));
            },
            Fault::Lie => Ok(true),
        }
    }
}

impl Store for FaultyStore {
    fn put(&self, rows: &[Row]) -> Result<(), StoreError> {
        if self.step()? {
            Ok(())
        } else {
            self.inner.put(rows)
        }
    }
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        // A reader may be on its own thread, where a hang or a panic would be the caller's: those of sled are caught.
        if matches!(self.fault, Fault::Fail | Fault::Full) && self.step()? {
            return Ok(None);
        }
        self.inner.get(table, key)
    }
    fn range(
        &self,
        table: Table,
        first: &[u8],
        last: &[u8],
        order: Order,
        visit: &mut Visit<'_>,
    ) -> Result<(), StoreError> {
        if matches!(self.fault, Fault::Fail | Fault::Full) {
            self.step()?;
        }
        self.inner.range(table, first, last, order, visit)
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.step().map(drop)
    }
}

fn quick(opener: Arc<Faulty>) -> StoreOptions {
    StoreOptions {
        opener,
        // On a busy machine a good store may stand still for a while, and count as hung now and then.
        patience: Duration::from_millis(500),
        attempts: 100,
        pause: Duration::from_millis(50),
        close: Duration::from_millis(500),
        ..options()
    }
}

/// Appends all the time while the store goes wrong at its n-th operation: reads stay equal, and a good one serves in the end.
fn survives(fault: Fault, at: u32) {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    log.grow(2, 150);
    let opener = Faulty::new(fault, at, 1);
    let store = start(directory.path(), &log, quick(Arc::clone(&opener)));
    for _ in 0..12 {
        store.committed(&log.grow(2, 60));
        assert_equal(&store, &log, 0);
        std::thread::sleep(Duration::from_millis(1));
    }
    let lies = fault == Fault::Lie;
    if !lies {
        wait_until(|| opener.opened.load(Ordering::SeqCst) > 1);
        assert!(store.wait_ready(LONG), "{:?}", store.status());
        let served = |store: &EventLog| read(store, &log, id(0)).1 + read(store, &log, id(1)).1;
        wait_until(|| served(&store) == 870);
    }
    assert_equal(&store, &log, 0);
}

#[test]
fn a_failing_store_is_rebuilt() {
    (0..12).for_each(|at| survives(Fault::Fail, at));
}

#[test]
fn a_panicking_store_is_rebuilt() {
    (0..8).for_each(|at| survives(Fault::Panic, at));
}

#[test]
fn a_hanging_store_is_rebuilt() {
    (0..6).for_each(|at| survives(Fault::Hang, at));
}

#[test]
fn a_lost_write_reads_from_the_segments() {
    (1..8).for_each(|at| survives(Fault::Lie, at));
}

#[test]
fn a_full_disk_is_waited_for() {
    (0..6).for_each(|at| survives(Fault::Full, at));
}

#[test]
fn while_the_disk_is_full_reads_come_from_the_segments() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let store = start(
        directory.path(),
        &log,
        quick(Faulty::new(Fault::Full, 0, u32::MAX)),
    );
    wait_until(|| {
        matches!(
            store.status().state,
            StoreState::Off(Doubt::Failed(StoreError::Full(_)))
        )
    });
    store.committed(&log.grow(3, 300));
    assert_equal(&store, &log, 0);
    assert!(store.close());
}

#[test]
fn one_that_never_works_is_left_off() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let opener = Faulty::new(Fault::Fail, 3, u32::MAX);
    let store = start(
        directory.path(),
        &log,
        StoreOptions {
            attempts: 2,
            ..quick(Arc::clone(&opener))
        },
    );
    for _ in 0..50 {
        store.committed(&log.grow(1, 30));
        std::thread::sleep(Duration::from_millis(2));
    }
    wait_until(|| matches!(store.status().state, StoreState::Off(_)));
    assert_eq!(opener.opened.load(Ordering::SeqCst), 3);
    assert_equal(&store, &log, 0);
    assert!(store.close());
}

#[test]
fn closing_a_hung_store_ends() {
    for at in [0, 1, 3, 4] {
        let directory = tempfile::tempdir().unwrap();
        let log = Arc::new(Log::default());
        log.grow(2, 150);
        let store = start(
            directory.path(),
            &log,
            StoreOptions {
                patience: LONG,
                ..quick(Faulty::new(Fault::Hang, at, 9))
            },
        );
        std::thread::sleep(Duration::from_millis(30));
        let started = Instant::now();
        store.close();
        assert!(started.elapsed() < Duration::from_secs(5), "at {at}");
    }
}

#[test]
fn appends_wait_for_a_hung_store_only_so_long() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let store = start(
        directory.path(),
        &log,
        StoreOptions {
            backlog: 1_000,
            ..quick(Faulty::new(Fault::Hang, 4, 9))
        },
    );
    let started = Instant::now();
    for _ in 0..20 {
        store.committed(&log.grow(1, 120));
    }
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_equal(&store, &log, 0);
}

#[test]
fn progress_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    log.grow(2, 10_000);
    let seen: Arc<Mutex<Vec<(StoreState, u64, u64)>>> = Arc::default();
    let into = Arc::clone(&seen);
    let progress = move |state: &StoreState, done: u64, total: u64| {
        into.lock().unwrap().push((state.clone(), done, total))
    };
    let store = start(
        directory.path(),
        &log,
        StoreOptions {
            progress: Some(Arc::new(progress)),
            ..options()
        },
    );
    assert!(store.wait_ready(LONG));
    let seen = seen.lock().unwrap();
    assert!(
        seen.contains(&(StoreState::Rebuilding(Doubt::Absent), 4_096, 10_000)),
        "{seen:?}"
    );
}
