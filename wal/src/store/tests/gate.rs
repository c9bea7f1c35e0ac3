//! Readers and askers that meet a comparison, a rebuild or each other at a bad moment.

use std::sync::Condvar;

use super::super::contract::Visit;
use super::follow::wait_until;
use super::*;

/// Where the first who has visited chunks waits while it is shut; others pass.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default, PartialEq)]
enum State {
    #[default]
    Open,
    Shut,
    /// Somebody waits in front of it.
    Waited,
}

impl Gate {
    fn shut(&self) {
        *self.state.lock().unwrap() = State::Shut;
    }

    fn open(&self) {
        *self.state.lock().unwrap() = State::Open;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        if *state == State::Shut {
            *state = State::Waited;
            let waited = |state: &mut State| *state == State::Waited;
            drop(self.changed.wait_while(state, waited).unwrap());
        }
    }

    fn wait_for_somebody(&self) {
        wait_until(|| *self.state.lock().unwrap() == State::Waited);
    }
}

/// Opens stores in memory with one gate behind the visits of chunks.
#[derive(Clone, Default)]
struct Gated(Arc<Gate>);

struct GatedStore {
    inner: Memory,
    gate: Arc<Gate>,
}

impl Open for Gated {
    fn open(&self, _directory: &Path) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(GatedStore {
            inner: Memory::default(),
            gate: Arc::clone(&self.0),
        }))
    }
}

impl Store for GatedStore {
    fn put(&self, rows: &[Row]) -> Result<(), StoreError> {
        self.inner.put(rows)
    }
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
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
        let outcome = self.inner.range(table, first, last, order, visit);
        if table == Table::Chunk {
            self.gate.pass();
        }
        outcome
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.inner.flush()
    }
}

/// A store that serves reads, all its records in rows, and its gate.
fn gated(directory: &Path, progress: Option<Arc<Progress>>) -> (Arc<Log>, Arc<EventLog>, Gated) {
    let log = Arc::new(Log::default());
    log.grow(2, 200);
    let opener = Gated::default();
    let options = StoreOptions {
        opener: Arc::new(opener.clone()),
        progress,
        ..options()
    };
    let store = Arc::new(start(directory, &log, options));
    assert!(store.wait_ready(LONG), "{:?}", store.status());
    wait_until(|| store.shared.live().next_from(id(0), 0).is_none());
    (log, store, opener)
}

#[test]
fn all_who_ask_for_a_comparison_hear_of_one() {
    let directory = tempfile::tempdir().unwrap();
    let (_log, store, gated) = gated(directory.path(), None);
    gated.0.shut();
    let (sender, answers) = crossbeam_channel::unbounded();
    let ask = || {
        let (store, sender) = (Arc::clone(&store), sender.clone());
        std::thread::spawn(move || sender.send(store.verify()).unwrap());
    };
    ask();
    gated.0.wait_for_somebody();
    ask();
    ask();
    wait_until(|| store.shared.askers().len() == 2);
    gated.0.open();
    for _ in 0..3 {
        assert_eq!(answers.recv_timeout(LONG), Ok(Some(Ok(200))));
    }
}

#[test]
fn who_asks_for_a_comparison_does_not_wait_for_a_worker_that_was_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let (_log, store, gated) = gated(directory.path(), None);
    gated.0.shut();
    let (sender, answers) = crossbeam_channel::bounded(1);
    let asking = Arc::clone(&store);
    std::thread::spawn(move || sender.send(asking.verify()).unwrap());
    gated.0.wait_for_somebody();
    // As the supervisor does it; the next worker serves before the asker looks again.
    let worker = store.shared.serving().unwrap();
    store.shared.live().epoch = worker + 1;
    assert_eq!(answers.recv_timeout(LONG), Ok(None));
    gated.0.open();
}

#[test]
fn once_a_rebuild_is_asked_for_nothing_old_is_served() {
    let directory = tempfile::tempdir().unwrap();
    let reader: Arc<Mutex<Option<Arc<EventLog>>>> = Arc::default();
    let parts: Arc<Mutex<Vec<Part>>> = Arc::default();
    let (reading, into) = (Arc::clone(&reader), Arc::clone(&parts));
    let progress = move |state: &StoreState, _: u64, _: u64| {
        let store = reading.lock().unwrap().clone();
        if let (StoreState::Rebuilding(_), Some(store)) = (state, store) {
            into.lock().unwrap().push(store.part(id(0), 0, 9));
        }
    };
    let (_log, store, _gated) = gated(directory.path(), Some(Arc::new(progress)));
    assert!(matches!(store.part(id(0), 0, 9), Part::Records(_)));
    *reader.lock().unwrap() = Some(Arc::clone(&store));
    store.rebuild();
    wait_until(|| store.status().rebuilt == Some(Doubt::Asked) && store.wait_ready(LONG));
    *reader.lock().unwrap() = None;
    let parts = parts.lock().unwrap();
    let nothing = |part: &Part| *part == Part::Elsewhere(9);
    assert!(!parts.is_empty() && parts.iter().all(nothing), "{parts:?}");
}

#[test]
fn what_a_reader_brings_from_an_old_generation_is_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let (log, store, gated) = gated(directory.path(), None);
    gated.0.shut();
    let reading = Arc::clone(&store);
    let reader = std::thread::spawn(move || reading.part(id(0), 0, 9));
    gated.0.wait_for_somebody();
    // Damage takes a record; the generation that is built now does not have it.
    log.lose(id(0), 5, 5);
    store.rebuild();
    wait_until(|| store.status().rebuilt == Some(Doubt::Asked) && store.wait_ready(LONG));
    wait_until(|| store.shared.live().next_from(id(0), 0).is_none());
    gated.0.open();
    assert!(matches!(reader.join().unwrap(), Part::Records(_)));
    assert_eq!(store.part(id(0), 5, 5), Part::Elsewhere(5));
    assert!(matches!(store.part(id(0), 6, 9), Part::Records(_)));
}
