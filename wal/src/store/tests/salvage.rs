//! Records that the segments lost are served from the store, and reported.

use super::*;

#[test]
fn lost_records_are_served() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    let all = log.grow(2, 800);
    assert!(ready(directory.path(), &log).close());
    log.lose(id(1), 90, 310);
    let store = ready(directory.path(), &log);
    let status = store.status();
    assert_eq!(status.rebuilt, None);
    let lost: u64 = status
        .salvaged
        .iter()
        .map(|span| span.last - span.first + 1)
        .sum();
    assert_eq!(lost, 221, "{:?}", status.salvaged);
    let expected: Vec<Record> = all
        .into_iter()
        .filter(|record| record.stream == id(1))
        .collect();
    assert_eq!(read(&store, &log, id(1)), (expected, 400));
}

#[test]
fn a_store_built_after_the_loss_leaves_the_hole() {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    log.grow(2, 800);
    log.lose(id(1), 90, 310);
    let store = ready(directory.path(), &log);
    assert_eq!(store.status().salvaged, []);
    assert_equal(&store, &log, 800 - 221);
    assert_eq!(store.part(id(1), 90, 399), Part::Elsewhere(310));
    assert!(store.close());
    let store = ready(directory.path(), &log);
    assert_eq!(store.status().rebuilt, None);
    assert_equal(&store, &log, 800 - 221);
}

#[test]
fn a_record_that_its_digest_does_not_prove_is_not_served() {
    use super::super::chunk::{Chunk, encode_record};
    use super::super::layout::{TermsOf, chunk_key, rows_of};
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    log.grow(1, 300);
    assert!(ready(directory.path(), &log).close());
    let sled = OnSled::default()
        .open(&directory.path().join("store/0000000001"))
        .unwrap();
    let value = sled
        .get(Table::Chunk, &chunk_key(id(0), 100))
        .unwrap()
        .unwrap();
    let old = Chunk::decode(&value).unwrap();
    let mut forged = Chunk::empty(old.stream, old.first, old.previous);
    for index in 0..old.count() {
        let mut record = old.whole(index).unwrap().unwrap();
        if index == 30 {
            record.body = b"forged".to_vec();
        }
        forged.push(&encode_record(&record).unwrap(), record.digest);
    }
    sled.put(&rows_of(&forged, &TermsOf::default()).unwrap())
        .unwrap();
    drop(sled);
    log.lose(id(0), 130, 130);
    let store = ready(directory.path(), &log);
    assert!(matches!(
        store.status().rebuilt,
        Some(Doubt::Differs { .. })
    ));
    assert_equal(&store, &log, 299);
}
