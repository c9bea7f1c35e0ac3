//! What the store costs: small when run with the others, large with `RECOUNT_SCALE=1000000`.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::path::Path;
use std::time::{Duration, Instant};

use recount_wal::store::StoreOptions;
use recount_wal::{Batch, Class, NewRecord, Options, StreamId, Wal};

const LONG: Duration = Duration::from_secs(600);

fn scale() -> u64 {
    std::env::var("RECOUNT_SCALE")
        .ok()
        .and_then(|scale| scale.parse().ok())
        .unwrap_or(20_000)
}

fn stream(n: u64) -> StreamId {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&n.to_le_bytes());
    StreamId(id)
}

fn grow(wal: &Wal, records: u64, streams: u64) {
    for n in 0..records / 10 {
        let stream = stream(n % streams);
        let first = wal.heads(stream).map_or(0, |heads| heads.accepted + 1);
        let one = |k: u64| NewRecord {
            time: n,
            kind: 1,
            schema: 1,
            body: vec![k as u8; 76],
            contents: Vec::new(),
        };
        let batch = Batch {
            stream,
            first,
            records: (0..10).map(one).collect(),
            tag: Some([n as u8; 32]),
            origin: None,
        };
        wal.append(batch, Class::Ordered).unwrap();
    }
    assert!(wal.sync_all().unwrap());
}

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let value = run();
    eprintln!(
        "{what:<40} {:>10.1} ms",
        started.elapsed().as_secs_f64() * 1_000.0
    );
    value
}

fn open(directory: &Path, store: bool) -> Wal {
    let options = StoreOptions {
        wait: LONG,
        patience: LONG,
        ..StoreOptions::default()
    };
    Wal::open_with(directory, Options::default(), store.then_some(options))
        .unwrap()
        .0
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

fn bytes(folder: &Path) -> u64 {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        sum += if entry.path().is_dir() {
            bytes(&entry.path())
        } else {
            entry.metadata().unwrap().len()
        };
    }
    sum
}

#[test]
fn open_compare_rebuild_read() {
    let records = scale();
    let directory = tempfile::tempdir().unwrap();
    let wal = timed("first open", || open(directory.path(), true));
    timed("append, ordered, tens", || grow(&wal, records, 100));
    timed("close", || wal.close().unwrap());
    eprintln!(
        "segments {} store {}",
        bytes(&directory.path().join("segments")),
        bytes(&directory.path().join("store"))
    );
    for _ in 0..2 {
        let wal = timed("open without store", || open(directory.path(), false));
        wal.close().unwrap();
        let before = resident();
        let wal = timed("open and compare", || open(directory.path(), true));
        timed("until ready", || {
            assert!(wal.store().unwrap().wait_ready(LONG))
        });
        eprintln!("resident {} kB, before the open {before} kB", resident());
        let count = timed("read all", || {
            (0..100)
                .map(|n| wal.read(stream(n), 0, u64::MAX).count() as u64)
                .sum::<u64>()
        });
        assert_eq!(count, records / 10 * 10);
        timed("find an absent tag", || {
            wal.store().unwrap().find_tag(stream(3), [0xfe; 16])
        });
        timed("close", || wal.close().unwrap());
    }
    std::fs::remove_dir_all(directory.path().join("store")).unwrap();
    let wal = open(directory.path(), true);
    timed("rebuild", || assert!(wal.store().unwrap().wait_ready(LONG)));
    eprintln!("resident {} kB", resident());
    let bare = open_reader(&wal);
    assert_eq!(bare, records / 10 * 10);
    wal.close().unwrap();
}

fn open_reader(wal: &Wal) -> u64 {
    timed("read all after the rebuild", || {
        (0..100)
            .map(|n| wal.read(stream(n), 0, u64::MAX).count() as u64)
            .sum()
    })
}
