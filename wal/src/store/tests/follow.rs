//! A store that follows the commits reads like the segments.

use super::super::chunk::{MAX_INLINE, MAX_RECORDS};
use super::*;

fn directories(path: &Path) -> usize {
    std::fs::read_dir(path.join("store")).unwrap().count()
}

#[test]
fn follows_commits_and_is_not_rebuilt_when_reopened() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let store = ready(directory.path(), &log);
    for _ in 0..10 {
        let records = log.grow(3, 101);
        store.committed(&records);
        assert_equal(&store, &log, log.all().len());
    }
    assert!(store.close());
    let store = ready(directory.path(), &log);
    assert_eq!(store.status().rebuilt, None);
    assert_equal(&store, &log, 1_010);
    // What was in the store already was compared, not fetched.
    assert_eq!(directories(directory.path()), 1);
}

#[test]
fn small_steps_end_in_few_rows() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    for _ in 0..12 {
        let store = ready(directory.path(), &log);
        store.committed(&log.grow(1, 20));
        assert!(store.close());
    }
    let store = ready(directory.path(), &log);
    assert_equal(&store, &log, 240);
    let rows = count_rows(&store);
    assert!(rows <= 2 * 240 / MAX_RECORDS + 1, "{rows} chunks");
}

fn count_rows(store: &EventLog) -> usize {
    let published = store.shared.published().unwrap();
    let mut rows = 0;
    published
        .range(
            Table::Chunk,
            &[],
            &[0xff; 32],
            Order::Ascending,
            &mut |_, _| {
                rows += 1;
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    rows
}

#[test]
fn catches_up_with_what_it_did_not_hear_of() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let store = ready(directory.path(), &log);
    log.grow(2, 50);
    let unheard = log.grow(2, 300);
    store.committed(&unheard[298..]);
    wait_until(|| read(&store, &log, id(0)).1 == 175 && read(&store, &log, id(1)).1 == 175);
    assert_equal(&store, &log, 350);
    drop(store);
    log.grow(2, 77);
    let store = ready(directory.path(), &log);
    assert_eq!(store.status().rebuilt, None);
    assert_equal(&store, &log, 427);
}

pub(super) fn wait_until(mut fits: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !fits() {
        assert!(started.elapsed() < LONG, "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn large_records_are_read_from_the_segments() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let store = ready(directory.path(), &log);
    for n in 0..40_usize {
        let record = log.next(
            id(1),
            vec![n as u8; if n % 5 == 4 { MAX_INLINE + n } else { 3_000 }],
        );
        log.append(record.clone());
        store.committed([&record]);
    }
    assert_equal(&store, &log, 32);
    assert!(store.close());
    assert_equal(&ready(directory.path(), &log), &log, 32);
}

#[test]
fn a_stream_may_begin_above_zero() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let mut record = log.next(id(1), b"fork".to_vec());
    record.seq = 41;
    record.batch = (41, 41);
    record.previous = RecordDigest([3; 32]);
    log.append(record.clone());
    let store = ready(directory.path(), &log);
    let next = log.next(id(1), b"after".to_vec());
    log.append(next.clone());
    store.committed([&next]);
    wait_until(|| read(&store, &log, id(1)).1 == 2);
    assert_eq!(store.part(id(1), 0, 50), Part::Elsewhere(40));
    assert!(store.close());
    assert_equal(&ready(directory.path(), &log), &log, 2);
}

#[test]
fn commits_during_a_rebuild_are_not_missed() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    log.grow(4, 4_000);
    let store = start(directory.path(), &log, options());
    for _ in 0..200 {
        store.committed(&log.grow(5, 7));
    }
    assert!(store.wait_ready(LONG));
    store.committed(&log.grow(5, 7));
    wait_until(|| {
        log.streams()
            .iter()
            .all(|info| read(&store, &log, info.stream).1 as u64 == info.heads.accepted + 1)
    });
    assert_equal(&store, &log, 5_407);
    assert_eq!(store.status().rebuilt, Some(Doubt::Absent));
}

#[test]
fn a_full_backlog_slows_down_and_ends() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let small = StoreOptions {
        backlog: 4_000,
        flush_bytes: 10_000,
        open_bytes: 2_000,
        ..options()
    };
    let store = start(directory.path(), &log, small);
    assert!(store.wait_ready(LONG));
    for _ in 0..60 {
        store.committed(&log.grow(3, 100));
        assert!(store.status().backlog <= 4_000 + 100 * 300);
    }
    assert_equal(&store, &log, 6_000);
}

#[test]
fn both_stores_end_with_equal_rows() {
    let log = Arc::new(Log::default());
    log.grow(3, 1_000);
    let digests: Vec<[u8; 32]> = [
        Arc::new(OnSled::default()) as Arc<dyn Open>,
        Arc::new(InMemory),
    ]
    .into_iter()
    .map(|opener| {
        let directory = tempfile::tempdir().unwrap();
        let store = start(
            directory.path(),
            &log,
            StoreOptions {
                opener,
                ..options()
            },
        );
        assert!(store.wait_ready(LONG));
        wait_until(|| store.status().backlog == 0 && !store.shared.live().has_open());
        assert_equal(&store, &log, 1_000);
        digest(&*store.shared.published().unwrap()).unwrap()
    })
    .collect();
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn no_content_enters_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let store = ready(directory.path(), &log);
    let mut record = log.next(id(1), b"a body that is kept".to_vec());
    let bytes = b"what a person wrote".to_vec().into();
    record.contents = vec![crate::record::Stored::Here(crate::record::Content {
        salt: [9; 16],
        bytes,
    })];
    log.append(record.clone());
    store.committed([&record]);
    assert!(store.close());
    let contains = |needle: &[u8]| {
        files(directory.path())
            .iter()
            .any(|file| find(&std::fs::read(file).unwrap(), needle))
    };
    assert!(contains(b"a body that is kept"));
    assert!(!contains(b"what a person wrote"));
}

pub(super) fn files(path: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path))
        } else {
            all.push(path)
        }
    }
    all
}

fn find(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
