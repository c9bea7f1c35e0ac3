//! The store behind the segments when those are compressed, and when streams are forgotten: it follows, and is never taken for evidence of loss.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{append, batch, entries, records, seqs, stream};
use recount_wal::store::StoreOptions;
use recount_wal::{Class, Options, Recovered, State, Wal};

const LONG: Duration = Duration::from_secs(60);

fn open(directory: &Path) -> (Wal, Recovered) {
    let options = Options::default().segment_size(32 << 10);
    let store = StoreOptions {
        wait: LONG,
        evidence: LONG,
        idle: Duration::from_millis(20),
        ..StoreOptions::default()
    };
    let (wal, recovered) = Wal::open_with(directory, options, Some(store)).unwrap();
    assert!(wal.store().unwrap().wait_ready(LONG), "{:?}", wal.store());
    (wal, recovered)
}

/// Three streams of 100 records.
fn fill(wal: &Wal) {
    for seq in 0..100 {
        for number in 0..3 {
            wal.append(batch(stream(number), seq, 1), Class::Ordered)
                .unwrap();
        }
        // Groups that are small enough for several segments.
        assert!(seq % 10 != 9 || wal.sync_all().unwrap());
    }
    assert!(wal.sync_all().unwrap());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn nothing_is_missing(recovered: &Recovered) {
    assert_eq!(
        (recovered.state, recovered.damaged.len()),
        (State::Clean, 0),
        "{recovered:?}"
    );
}

#[test]
fn a_store_fits_segments_that_were_compressed_since() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = open(directory.path());
    fill(&wal);
    let whole = records(&wal, stream(1));
    wal.compress_now().unwrap();
    assert!(wal.stats().compressed > 1, "{:?}", wal.stats());
    assert!(wal.verify_store().unwrap().is_ok());
    assert_eq!(records(&wal, stream(1)), whole);
    wal.close().unwrap();
    let (wal, recovered) = open(directory.path());
    nothing_is_missing(&recovered);
    assert_eq!(recovered.rebuilt, None);
    assert!(wal.verify_store().unwrap().is_ok());
    assert_eq!(records(&wal, stream(1)), whole);
    // From the segments alone it can be built again.
    wal.close().unwrap();
    fs::remove_dir_all(directory.path().join("store")).unwrap();
    let (wal, recovered) = open(directory.path());
    nothing_is_missing(&recovered);
    assert!(wal.verify_store().unwrap().is_ok());
    assert_eq!(records(&wal, stream(1)), whole);
}

#[test]
fn a_store_forgets_with_the_segments() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = open(directory.path());
    fill(&wal);
    let whole = records(&wal, stream(0));
    wal.forget(&[stream(1)]).unwrap();
    // At once, and also while the store is built again.
    assert_eq!(entries(&wal, stream(1)), vec![]);
    let mut key = [0; 16];
    key[0] = 7;
    assert_eq!(wal.find_tag(stream(1), key).unwrap(), None);
    append(&wal, stream(1), 0, 3);
    assert_eq!(seqs(&wal, stream(1)), [0, 1, 2]);
    assert!(wal.store().unwrap().wait_ready(LONG));
    assert!(wal.verify_store().unwrap().is_ok());
    assert_eq!(seqs(&wal, stream(1)), [0, 1, 2]);
    assert_eq!(records(&wal, stream(0)), whole);
    append(&wal, stream(1), 3, 2);
    wal.close().unwrap();
    let (wal, recovered) = open(directory.path());
    nothing_is_missing(&recovered);
    assert_eq!(recovered.rebuilt, None);
    assert_eq!(seqs(&wal, stream(1)), [0, 1, 2, 3, 4]);
    assert!(wal.verify_store().unwrap().is_ok());
}

#[test]
fn a_store_that_still_has_what_was_forgotten_is_no_evidence_of_loss() {
    for begins_again in [0, 3] {
        let directory = tempfile::tempdir().unwrap();
        let (wal, _) = open(directory.path());
        fill(&wal);
        let whole = records(&wal, stream(0));
        wal.close().unwrap();
        let (store, old) = (directory.path().join("store"), directory.path().join("old"));
        copy(&store, &old);
        let (wal, _) = open(directory.path());
        wal.forget(&[stream(1)]).unwrap();
        if begins_again > 0 {
            append(&wal, stream(1), 0, begins_again);
        }
        wal.close().unwrap();
        // As a crash before the new store was made would leave it.
        fs::remove_dir_all(&store).unwrap();
        fs::rename(&old, &store).unwrap();
        for _ in 0..2 {
            let (wal, recovered) = open(directory.path());
            nothing_is_missing(&recovered);
            assert_eq!(seqs(&wal, stream(1)), (0..begins_again).collect::<Vec<_>>());
            assert_eq!(records(&wal, stream(0)), whole);
            assert!(wal.verify_store().unwrap().is_ok());
            assert_eq!(wal.verify().unwrap().state, State::Clean);
            wal.close().unwrap();
        }
        let (wal, _) = open(directory.path());
        append(&wal, stream(1), begins_again, 1);
        assert_eq!(
            seqs(&wal, stream(1)),
            (0..=begins_again).collect::<Vec<_>>()
        );
    }
}
