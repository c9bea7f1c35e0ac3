//! Reads that the disk refuses: an error that names the place, never a gap, never a shorter log.

use std::sync::Arc;

use crate::common::*;
use crate::{KINDS, fault};
use recount_wal::disk::{Operation, SimulatedDisk, Survival};
use recount_wal::{Class, Entry, OpenError, Options, ReadError, Reader, Wal};

fn filled() -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for seq in 0..30 {
        append(&wal, stream(1 + (seq % 2) as u8), seq / 2, 1);
    }
    wal.close().unwrap();
    disk
}

fn options() -> Options {
    Options::default().segment_size(SMALL).ahead(0)
}

#[test]
fn an_open_that_cannot_read_fails_and_changes_nothing() {
    let mut refused = 0;
    for kind in KINDS {
        for (after, times) in (0..80).flat_map(|after| [(after, 1), (after, u64::MAX)]) {
            let disk = filled().crashed(Survival::Kept);
            let before: Vec<_> = disk.names().iter().map(|name| disk.bytes(name)).collect();
            disk.fail(fault(Operation::Read, kind, after, times));
            let opened = Wal::open_on(Arc::new(disk.clone()), options());
            disk.heal();
            match opened {
                Err(OpenError::Io { .. }) => {
                    refused += 1;
                    let now: Vec<_> = disk.names().iter().map(|name| disk.bytes(name)).collect();
                    assert_eq!(before, now, "after={after}");
                }
                Err(other) => panic!("{other:?}"),
                // The fault came too late, or was survived: then nothing may be missing.
                Ok((wal, _)) => assert_eq!(seqs(&wal, stream(1)).len(), 15, "after={after}"),
            }
            let (wal, _) = open(&disk);
            for number in [1, 2] {
                assert_eq!(seqs(&wal, stream(number)).len(), 15, "after={after}");
            }
        }
    }
    println!("reads refused at open: injected={refused}");
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_read_that_is_refused_says_so_and_ends() {
    let disk = filled();
    let (wal, _) = open(&disk);
    let reader = Reader::open_on(Arc::new(disk.clone())).unwrap();
    let mut refused = 0;
    for kind in KINDS {
        for after in 0..60 {
            for verb in 0..4 {
                disk.fail(fault(Operation::Read, kind, after, 1));
                let failed = match verb {
                    0 => cut_off(wal.read(stream(1), 0, u64::MAX)),
                    1 => cut_off(reader.read(stream(1), 0, u64::MAX)),
                    2 => wal.tags(stream(1)).is_err(),
                    _ => wal.verify().is_err(),
                };
                disk.heal();
                refused += u32::from(failed);
            }
        }
    }
    println!("reads refused in read, tags and verify: injected={refused}");
    assert!(refused > 100, "{refused}");
    // And what is appended meanwhile is not disturbed.
    disk.fail(fault(Operation::Read, KINDS[1], 0, u64::MAX));
    wal.append(batch(stream(1), 15, 1), Class::Synced).unwrap();
    disk.heal();
    assert_eq!(seqs(&wal, stream(1)).len(), 16);
}

/// Whether an error came; before it there are only records, without a gap, and behind it nothing.
fn cut_off(mut entries: impl Iterator<Item = Result<Entry, ReadError>>) -> bool {
    let mut next = 0;
    while let Some(entry) = entries.next() {
        match entry {
            Ok(Entry::Record(record)) => {
                assert_eq!(record.seq, next);
                next += 1;
            }
            Ok(Entry::Gap(gap)) => panic!("a refusal is no damage: {gap:?}"),
            Err(ReadError::Io { .. }) => {
                assert!(entries.next().is_none());
                return true;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(next, 15);
    false
}

/// The key in the header of the only segment is damaged, so the file is all there is: that it cannot be read for a moment is no reason
/// to make another one.
#[test]
fn a_key_that_cannot_be_read_for_a_moment_is_not_replaced() {
    let mut refused = 0;
    for operation in [Operation::Open, Operation::Read] {
        for (kind, after) in KINDS
            .iter()
            .flat_map(|kind| (0..12).map(move |n| (*kind, n)))
        {
            let disk = SimulatedDisk::new();
            let (wal, _) = open(&disk);
            append(&wal, stream(1), 0, 3);
            wal.close().unwrap();
            let name = "segments/0000000000000000.seg";
            let mut bytes = disk.bytes(name).unwrap();
            bytes[30] ^= 1;
            disk.put(name, bytes);
            let key = disk.bytes("key").unwrap();
            disk.fail(fault(operation, kind, after, 1));
            let opened = Wal::open_on(Arc::new(disk.clone()), options());
            disk.heal();
            match opened {
                Err(OpenError::Io { .. }) => refused += 1,
                Err(other) => panic!("{other:?}"),
                Ok((wal, _)) => assert_eq!(seqs(&wal, stream(1)), [0, 1, 2], "after={after}"),
            }
            assert_eq!(disk.bytes("key").unwrap(), key, "{operation:?} {after}");
            assert_eq!(seqs(&open(&disk).0, stream(1)), [0, 1, 2]);
        }
    }
    assert!(refused > 3, "{refused}");
}
