//! What a log promises while nothing fails.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use common::*;
use recount_wal::disk::SimulatedDisk;
use recount_wal::{
    AppendError, Batch, Class, Content, Lock, OpenError, Options, RecordDigest, State, Stored, Wal,
};

#[test]
fn what_was_appended_is_read_back_after_a_close() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, recovered) = Wal::open(directory.path(), Options::default()).unwrap();
    assert_eq!(recovered.state, State::Clean);
    let key = wal.key();
    for first in [0, 3, 6] {
        append(&wal, stream(1), first, 3);
    }
    wal.append(batch(stream(2), 0, 1), Class::Ordered).unwrap();
    assert_eq!(wal.sync(stream(2), 0).unwrap(), 0);
    let before = records(&wal, stream(1));
    wal.close().unwrap();

    let (wal, recovered) = Wal::open(directory.path(), Options::default()).unwrap();
    assert_eq!((recovered.state, recovered.closed), (State::Clean, true));
    assert_eq!(wal.key(), key);
    assert_eq!(records(&wal, stream(1)), before);
    assert_eq!(seqs(&wal, stream(1)), (0..9).collect::<Vec<_>>());
    assert_eq!(seqs(&wal, stream(2)), [0]);
    let read = &records(&wal, stream(1))[4];
    assert_eq!(read.body, format!("{} 4", stream(1)).into_bytes());
    assert_eq!(read.batch, (3, 5));
    let content = Content {
        salt: [7; 16],
        bytes: format!("content of {} 4", stream(1)).into_bytes().into(),
    };
    assert_eq!(read.contents, [Stored::Here(content)]);
}

#[test]
fn records_are_chained() {
    let (wal, _) = open(&SimulatedDisk::new());
    append(&wal, stream(1), 0, 5);
    let records = records(&wal, stream(1));
    let mut previous = RecordDigest::ROOT;
    for record in &records {
        assert_eq!(record.previous, previous);
        assert_eq!(
            record.digest,
            RecordDigest::of(
                previous,
                record.seq,
                record.kind,
                record.schema,
                &record.body
            )
        );
        previous = record.digest;
    }
    assert_eq!(wal.heads(stream(1)).unwrap().digest, previous);
}

#[test]
fn a_wrong_expectation_is_a_conflict_and_leaves_nothing() {
    let (wal, _) = open(&SimulatedDisk::new());
    append(&wal, stream(1), 0, 2);
    for first in [0, 1, 3] {
        assert_eq!(
            wal.append(batch(stream(1), first, 1), Class::Synced),
            Err(AppendError::Conflict { next: 2 })
        );
    }
    assert_eq!(
        wal.append(batch(stream(9), 4, 1), Class::Synced),
        Err(AppendError::Conflict { next: 0 })
    );
    assert_eq!(wal.heads(stream(9)), None);
    assert_eq!(seqs(&wal, stream(1)), [0, 1]);
}

#[test]
fn a_stream_with_an_origin_begins_above_zero() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    let origin = RecordDigest([5; 32]);
    wal.append(
        Batch {
            origin: Some(origin),
            ..batch(stream(1), 7, 2)
        },
        Class::Synced,
    )
    .unwrap();
    assert_eq!(records(&wal, stream(1))[0].previous, origin);
    wal.close().unwrap();
    let (wal, _) = open(&disk);
    assert_eq!(wal.streams()[0].first, 7);
    assert_eq!(seqs(&wal, stream(1)), [7, 8]);
    append(&wal, stream(1), 9, 1);
    let again = Batch {
        origin: Some(origin),
        ..batch(stream(1), 10, 1)
    };
    assert!(matches!(
        wal.append(again, Class::Synced),
        Err(AppendError::Invalid { .. })
    ));
}

#[test]
fn segments_are_sealed_and_read_by_their_footers() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for first in 0..60 {
        append(&wal, stream(1 + (first % 2) as u8), first / 2, 1);
    }
    wal.close().unwrap();
    assert!(disk.names().len() > 4, "{:?}", disk.names());
    let (wal, recovered) = open(&disk);
    assert_eq!((recovered.state, recovered.damaged), (State::Clean, vec![]));
    for id in [stream(1), stream(2)] {
        assert_eq!(seqs(&wal, id), (0..30).collect::<Vec<_>>());
        assert_eq!(wal.heads(id).unwrap().durable, Some(29));
    }
    append(&wal, stream(1), 30, 1);
}

#[test]
fn a_directory_is_held_by_one() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = Wal::open(directory.path(), Options::default()).unwrap();
    let refused = Wal::open(directory.path(), Options::default());
    let Err(OpenError::Locked { holder }) = refused else {
        panic!("{refused:?}")
    };
    assert!(
        holder.contains(&format!("pid={}", std::process::id())),
        "{holder}"
    );
    wal.close().unwrap();
    Wal::open(directory.path(), Options::default()).unwrap();
}

#[test]
fn of_those_that_come_to_a_new_directory_at_once_each_has_it_or_is_told_who_does() {
    for _ in 0..200 {
        let directory = tempfile::tempdir().unwrap();
        let at_once = std::sync::Barrier::new(6);
        let take = || {
            at_once.wait();
            Lock::take(directory.path())
        };
        let taken: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..6).map(|_| scope.spawn(take)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for one in taken {
            assert!(
                matches!(one, Ok(_) | Err(OpenError::Locked { .. })),
                "{one:?}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn deleting_the_lock_file_lets_no_second_writer_in() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = Wal::open(directory.path(), Options::default()).unwrap();
    std::fs::remove_file(directory.path().join("lock")).unwrap();
    let refused = Wal::open(directory.path(), Options::default());
    assert!(
        matches!(refused, Err(OpenError::Locked { .. })),
        "{refused:?}"
    );
    wal.close().unwrap();
    Wal::open(directory.path(), Options::default()).unwrap();
}

#[test]
fn many_callers_share_syncs_and_each_stream_stays_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = Wal::open(directory.path(), Options::default()).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let wal = &wal;
            scope.spawn(move || {
                for seq in 0..25 {
                    let class = if seq % 3 == 0 {
                        Class::Synced
                    } else {
                        Class::Ordered
                    };
                    let receipt = wal.append(batch(stream(number), seq, 1), class).unwrap();
                    assert!(class == Class::Ordered || receipt.durable >= Some(seq));
                }
            });
        }
    });
    assert!(wal.sync_all().unwrap());
    assert_eq!(wal.stats().backlog, 0);
    wal.close().unwrap();
    let (wal, _) = Wal::open(directory.path(), Options::default()).unwrap();
    for number in 0..8 {
        assert_eq!(seqs(&wal, stream(number)), (0..25).collect::<Vec<_>>());
    }
}

#[test]
fn limits_are_checked_before_anything_is_written() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    let mut large = batch(stream(1), 0, 1);
    large.records[0].body = vec![0; recount_wal::MAX_BODY + 1];
    assert!(matches!(
        wal.append(large, Class::Synced),
        Err(AppendError::TooLarge { .. })
    ));
    let none = Batch {
        records: vec![],
        ..batch(stream(1), 0, 1)
    };
    assert!(matches!(
        wal.append(none, Class::Synced),
        Err(AppendError::Invalid { .. })
    ));
    assert_eq!(wal.heads(stream(1)), None);
}

/// A crash right after the key was made may leave it alone in its directory.
#[test]
fn a_key_without_a_folder_of_segments_is_a_log_that_can_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = Wal::open(directory.path(), Options::default()).unwrap();
    let key = wal.key();
    wal.close().unwrap();
    std::fs::remove_dir_all(directory.path().join("segments")).unwrap();

    let (wal, recovered) = Wal::open(directory.path(), Options::default()).unwrap();
    assert_eq!((recovered.state, wal.key()), (State::Clean, key));
    append(&wal, stream(1), 0, 3);
    wal.close().unwrap();
    let (wal, _) = Wal::open(directory.path(), Options::default()).unwrap();
    assert_eq!(seqs(&wal, stream(1)), [0, 1, 2]);
}

/// What is erased is told by its salt: a content that is there must not look like it.
#[test]
fn a_content_with_the_salt_of_erased_ones_is_refused() {
    let (wal, _) = open(&SimulatedDisk::new());
    let mut doubtful = batch(stream(1), 0, 1);
    doubtful.records[0].contents[0].salt = *b"recount: erased\n";
    for class in [Class::Synced, Class::Ordered] {
        let refused = wal.append(doubtful.clone(), class);
        assert!(
            matches!(refused, Err(AppendError::Invalid { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(wal.heads(stream(1)), None);
}
