//! An event store that cannot be believed, with the real one behind it: built again in a new directory, while reads and appends
//! go on.

use crate::common::{CHAT, Fixture, answers, digest, says};
use recount::{Chance, Engine, Notice, Notices, Options, api};
use recount_wal::store::{OnSled, Open, Store, StoreError, StoreOptions};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);

/// Opens sled, but for the first time.
struct Once {
    fault: fn(),
    done: AtomicBool,
}

impl Open for Once {
    fn open(&self, directory: &Path) -> Result<Arc<dyn Store>, StoreError> {
        if !self.done.swap(true, Ordering::SeqCst) {
            (self.fault)();
        }
        OnSled::default().open(directory)
    }
}

fn options(fault: Option<fn()>) -> (Options, Arc<Mutex<Vec<Notice>>>) {
    let notices = Notices::default();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    notices.listen(move |notice| hears.lock().unwrap().push(notice.clone()));
    let mut store = StoreOptions {
        wait: Duration::from_millis(50),
        ..StoreOptions::default()
    };
    if let Some(fault) = fault {
        let done = AtomicBool::new(false);
        store.opener = Arc::new(Once { fault, done });
        store.patience = Duration::from_millis(500);
        store.evidence = Duration::from_millis(100);
    }
    let options = Options {
        chance: Chance::Seeded(9),
        store: Some(store),
        notices,
        ..Options::default()
    };
    (options, heard)
}

fn written(fixture: &Fixture, turns: u32) {
    let (options, _) = options(None);
    let engine = Engine::open(fixture.path(), options).unwrap();
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    session.append(CHAT).unwrap();
    for turn in 0..turns {
        session
            .append(&[&answers(&turn.to_string()), &says("more")])
            .unwrap();
    }
    drop(session);
    engine.close().unwrap();
}

fn generations(directory: &Path) -> Vec<String> {
    let found = fs::read_dir(directory.join("store")).unwrap();
    let mut names: Vec<String> = found
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Reads and appends at once, then waits until the store was built again; what was read is what the segments say.
fn goes_on(name: &str, fixture: &Fixture, fault: Option<fn()>, rebuilt: bool) {
    let before = generations(fixture.path());
    let (options, heard) = options(fault);
    let started = Instant::now();
    let engine = Engine::open(fixture.path(), options).unwrap();
    let session = engine.session("s").unwrap();
    let first = digest(&session);
    session
        .append(&[&answers("meanwhile"), &says("and on")])
        .unwrap();
    let opened = started.elapsed();
    assert!(opened < Duration::from_secs(20), "{name}: {opened:?}");
    let done = |heard: &[Notice]| heard.contains(&Notice::Rebuilt);
    while rebuilt && !done(&heard.lock().unwrap()) {
        assert!(
            started.elapsed() < LONG,
            "{name}: {:?}",
            heard.lock().unwrap()
        );
        session.append(&[&answers("still"), &says("here")]).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    let verified = engine.verify().unwrap();
    assert_eq!(verified.state, api::State::Clean, "{name}: {verified:?}");
    let last = digest(&session);
    drop(session);
    engine.close().unwrap();
    let bare = recount_wal::Wal::open_with(fixture.path(), recount_wal::Options::default(), None);
    bare.unwrap().0.close().unwrap();
    let told = heard.lock().unwrap();
    let progress = told
        .iter()
        .any(|notice| matches!(notice, Notice::Rebuilding { .. }));
    assert_eq!(progress, rebuilt, "{name}: {told:?}");
    if rebuilt {
        let after = generations(fixture.path());
        assert!(
            after.iter().max() > before.iter().max(),
            "{name}: {before:?} {after:?}"
        );
    }
    let engine = fixture.engine();
    assert_eq!(digest(&engine.session("s").unwrap()), last, "{name}");
    engine.close().unwrap();
    assert_ne!(first, last);
    println!("store {name}: rebuilt={rebuilt} answered after {opened:?}");
}

#[test]
fn whatever_happened_to_the_store_reads_and_appends_go_on() {
    let fixture = Fixture::new();
    written(&fixture, 30);
    let store = fixture.path().join("store");
    // An older copy is only behind.
    let older = tempfile::tempdir().unwrap();
    copy(&store, older.path());
    goes_on("whole", &fixture, None, false);
    fs::remove_dir_all(&store).unwrap();
    copy(older.path(), &store);
    goes_on("stale", &fixture, None, false);
    let newest = |fixture: &Fixture| {
        fixture
            .path()
            .join("store")
            .join(generations(fixture.path()).pop().unwrap())
    };
    fs::remove_dir_all(newest(&fixture)).unwrap();
    fs::create_dir_all(store.join("0000000050")).unwrap();
    goes_on("missing", &fixture, None, true);
    let other = Fixture::new();
    written(&other, 40);
    let place = newest(&fixture);
    fs::remove_dir_all(&place).unwrap();
    copy(&newest(&other), &place);
    goes_on("of another directory", &fixture, None, true);
    for entry in fs::read_dir(newest(&fixture)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, vec![0x5a; bytes.len().max(64)]).unwrap();
        }
    }
    goes_on("garbage", &fixture, None, true);
    goes_on(
        "panicking",
        &fixture,
        Some(|| panic!("a store that panics")),
        true,
    );
    goes_on(
        "hanging",
        &fixture,
        Some(|| std::thread::sleep(Duration::from_secs(4))),
        true,
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
