//! A disk that refuses: what each answer promises, and what happens when the disk takes writes again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::io::ErrorKind;

use common::*;
use recount_wal::disk::{Fault, Operation, SimulatedDisk, Survival};
use recount_wal::{
    AppendError, Class, CloseError, ContentAt, KnownHead, RecordDigest, State, Stored, Wal,
};

fn fault(operation: Operation, after: u64, times: u64) -> Fault {
    Fault {
        operation,
        after,
        times,
        kind: ErrorKind::StorageFull,
        short: 0,
    }
}

fn started(disk: &SimulatedDisk) -> Wal {
    let (wal, _) = open(disk);
    append(&wal, stream(1), 0, 2);
    wal
}

/// What a process that opens the disk now would find of a stream.
fn found(disk: &SimulatedDisk, number: u8) -> Vec<u64> {
    seqs(&open(&disk.crashed(Survival::Lost)).0, stream(number))
}

#[test]
fn a_write_that_fails_leaves_nothing() {
    for short in [0, 1, 100, 400, 100_000] {
        let disk = SimulatedDisk::new();
        let wal = started(&disk);
        disk.fail(Fault {
            short,
            ..fault(Operation::Write, 0, 1)
        });
        let refused = wal.append(batch(stream(1), 2, 3), Class::Synced);
        assert!(
            matches!(refused, Err(AppendError::Io { .. })),
            "{refused:?}"
        );
        assert_eq!(wal.heads(stream(1)).unwrap().accepted, 1);
        assert_eq!(
            (found(&disk, 1), seqs(&wal, stream(1))),
            (vec![0, 1], vec![0, 1])
        );
        let (_, recovered) = open(&disk.crashed(Survival::Kept));
        assert_eq!(recovered.state, State::Clean, "short={short}");
        append(&wal, stream(1), 2, 3);
        assert_eq!(found(&disk, 1), [0, 1, 2, 3, 4]);
    }
}

#[test]
fn the_first_write_of_a_stream_can_fail_and_leaves_no_stream() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for operation in [
        Operation::Create,
        Operation::Write,
        Operation::Sync,
        Operation::SyncDir,
    ] {
        disk.fail(fault(operation, 0, 1));
        let refused = wal.append(batch(stream(1), 0, 1), Class::Synced);
        assert!(
            matches!(refused, Err(AppendError::Io { .. })),
            "{operation:?} {refused:?}"
        );
        assert_eq!(wal.heads(stream(1)), None);
    }
    append(&wal, stream(1), 0, 1);
    assert_eq!(found(&disk, 1), [0]);
}

#[test]
fn a_sync_that_fails_is_unknown_and_is_never_tried_again() {
    let disk = SimulatedDisk::new();
    let wal = started(&disk);
    disk.fail(fault(Operation::Sync, 0, 1));
    let unknown = wal.append(batch(stream(1), 2, 1), Class::Synced);
    assert!(
        matches!(unknown, Err(AppendError::Unknown { .. })),
        "{unknown:?}"
    );
    // It stays accepted, and reads show it.
    assert_eq!(wal.heads(stream(1)).unwrap().accepted, 2);
    assert_eq!(wal.sync(stream(1), 2), Ok(2));
    assert_eq!(wal.heads(stream(1)).unwrap().durable, Some(2));
    // It was written again, to a segment that says where the first one ends.
    assert_eq!(records(&wal, stream(1))[2].place.unwrap().segment, 1);
    for survival in [Survival::Lost, Survival::Kept] {
        let (wal, recovered) = open(&disk.crashed(survival));
        assert_eq!(
            (recovered.state, seqs(&wal, stream(1))),
            (State::Clean, vec![0, 1, 2])
        );
        assert_eq!(wal.verify().unwrap().state, State::Clean);
    }
}

/// The system tells of a failed sync once, and takes the bytes for written from then on: whoever finds them in memory after a kill
/// must write them again before a sync of his means anything.
#[test]
fn what_a_failed_sync_left_in_memory_is_written_again_by_the_next_process() {
    for (sealing, before) in [(false, 0), (false, 2), (true, 2)] {
        let context = format!("sealing={sealing} before={before}");
        let disk = SimulatedDisk::new();
        let (wal, _) = open(&disk);
        if before > 0 {
            append(&wal, stream(1), 0, before);
        }
        if sealing {
            fill_segment(&wal, before);
        }
        // The first group in a directory is behind the sync of its segment's making.
        disk.fail(fault(Operation::Sync, u64::from(before == 0), 1));
        disk.fail(fault(Operation::Create, u64::from(before == 0), u64::MAX));
        let head = wal.heads(stream(1)).map_or(0, |heads| heads.accepted + 1);
        let refused = wal.append(batch(stream(1), head, 2), Class::Synced);
        assert!(refused.is_err(), "{context}");
        kill(wal);

        let next = disk.crashed(Survival::Kept);
        let (wal, _) = open(&next);
        let durable = wal.heads(stream(1)).unwrap().durable.unwrap();
        assert_eq!(
            durable + 1,
            if sealing { head } else { head + 2 },
            "{context}"
        );
        let (found, recovered) = open(&next.crashed(Survival::Lost));
        assert_eq!(recovered.state, State::Clean, "{context}");
        assert_eq!(
            seqs(&found, stream(1)),
            (0..=durable).collect::<Vec<_>>(),
            "{context}"
        );

        append(&wal, stream(1), durable + 1, 1);
        let (found, recovered) = open(&next.crashed(Survival::Lost));
        assert_eq!(recovered.state, State::Clean, "{context}: {recovered:?}");
        assert_eq!(
            seqs(&found, stream(1)),
            (0..=durable + 1).collect::<Vec<_>>(),
            "{context}"
        );
    }
}

/// A process that cannot make durable what it found does not say that it is; it reads it, and tries again before it writes.
#[test]
fn what_was_found_is_durable_only_when_it_was_synced() {
    for operation in [Operation::Write, Operation::Sync, Operation::SyncDir] {
        let disk = SimulatedDisk::new();
        let wal = started(&disk);
        append(&wal, stream(2), 0, 2);
        kill(wal);
        disk.fail(fault(operation, 0, u64::MAX));
        let (wal, recovered) = open(&disk);
        assert_eq!(recovered.state, State::Clean, "{operation:?}");
        let heads = |number| wal.heads(stream(number)).unwrap();
        assert_eq!((heads(1).accepted, heads(1).durable), (1, Some(1)));
        assert_eq!((heads(2).accepted, heads(2).durable), (1, None));
        assert_eq!(seqs(&wal, stream(2)), [0, 1]);
        let waits = Err(AppendError::NotDurable { since: 1 });
        assert_eq!(wal.sync(stream(2), 1), waits, "{operation:?}");
        assert_eq!(wal.sync_all(), Ok(false), "{operation:?}");
        let refused = wal.append(batch(stream(2), 2, 1), Class::Synced);
        assert!(
            matches!(refused, Err(AppendError::Io { .. })),
            "{refused:?}"
        );
        wal.append(batch(stream(2), 2, 1), Class::Ordered).unwrap();
        assert_eq!(found(&disk, 2), [0, 1]);
        disk.heal();
        assert!(wal.sync(stream(2), 1).unwrap() >= 1, "{operation:?}");
        assert_eq!(wal.sync(stream(2), 2), Ok(2), "{operation:?}");
        assert_eq!(found(&disk, 2), [0, 1, 2], "{operation:?}");
        assert_eq!(records(&wal, stream(2))[2].place.unwrap().segment, 0);
    }
}

/// Appends single records until the next batch of two has no room in the segment.
fn fill_segment(wal: &Wal, from: u64) {
    let mut seq = from;
    let mut end = 0;
    while end + 2 * 360 < SMALL {
        append(wal, stream(1), seq, 1);
        end = records(wal, stream(1))
            .last()
            .unwrap()
            .place
            .unwrap()
            .offset
            + 360;
        seq += 1;
    }
}

#[test]
fn what_was_accepted_waits_for_the_disk_and_is_written_in_order() {
    let disk = SimulatedDisk::new();
    let wal = started(&disk);
    disk.fail(fault(Operation::Write, 0, u64::MAX));
    for first in 2..5 {
        // The writer may notice in between; then it refuses.
        match wal.append(batch(stream(1), first, 1), Class::Ordered) {
            Ok(_) => {}
            Err(error) => assert_eq!(error, AppendError::NotDurable { since: 2 }),
        }
    }
    let refused = wal.append(batch(stream(1), 5, 1), Class::Synced);
    assert!(
        matches!(
            refused,
            Err(AppendError::NotDurable { since: 2 } | AppendError::Conflict { .. })
        ),
        "{refused:?}"
    );
    let refused = wal.append(batch(stream(2), 0, 1), Class::Ordered);
    assert_eq!(refused, Err(AppendError::NotDurable { since: 0 }));
    assert_eq!(
        wal.sync(stream(1), 2),
        Err(AppendError::NotDurable { since: 2 })
    );
    let heads = wal.heads(stream(1)).unwrap();
    assert_eq!(heads.durable, Some(1));
    assert!(heads.accepted >= 2);
    assert_eq!(wal.not_durable_since(stream(1)), Some(2));
    assert_eq!(
        seqs(&wal, stream(1)),
        (0..=heads.accepted).collect::<Vec<_>>()
    );

    disk.heal();
    append(&wal, stream(1), heads.accepted + 1, 1);
    assert_eq!(wal.not_durable_since(stream(1)), None);
    assert_eq!(
        found(&disk, 1),
        (0..=heads.accepted + 1).collect::<Vec<_>>()
    );
}

#[test]
fn close_never_hangs_and_says_what_is_lost() {
    let disk = SimulatedDisk::new();
    let wal = started(&disk);
    disk.fail(fault(Operation::Write, 0, u64::MAX));
    wal.append(batch(stream(1), 2, 1), Class::Ordered).unwrap();
    assert_eq!(wal.close(), Err(CloseError::NotDurable { batches: 1 }));
    disk.heal();
    assert_eq!(found(&disk, 1), [0, 1]);
}

#[test]
fn no_single_fault_breaks_a_promise() {
    let operations = [
        Operation::Create,
        Operation::Write,
        Operation::Sync,
        Operation::SyncDir,
        Operation::Truncate,
    ];
    for operation in operations {
        for after in 0..24 {
            for times in [1, 2, 3] {
                one_fault(operation, after, times);
            }
        }
    }
}

fn one_fault(operation: Operation, after: u64, times: u64) {
    let context = format!("{operation:?} after={after} times={times}");
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    disk.fail(Fault {
        short: 200,
        ..fault(operation, after, times)
    });
    if operation == Operation::Truncate {
        disk.fail(Fault {
            short: 200,
            ..fault(Operation::Write, after / 3, times)
        });
    }
    let mut acknowledged = 0;
    for step in 0..20_u64 {
        let next = wal.heads(stream(1)).map_or(0, |heads| heads.accepted + 1);
        let class = if step % 4 == 3 {
            Class::Ordered
        } else {
            Class::Synced
        };
        match wal.append(batch(stream(1), next, 2), class) {
            Ok(receipt) if class == Class::Synced => acknowledged = receipt.last + 1,
            Err(AppendError::Io { .. }) => {
                let (after_crash, _) = open(&disk.crashed(Survival::Kept));
                let there = after_crash
                    .heads(stream(1))
                    .map_or(0, |heads| heads.accepted + 1);
                assert_eq!(there, next, "{context}: a refusal left a trace");
            }
            Ok(_) | Err(_) => {}
        }
        if step % 7 == 0 {
            assert!(
                found(&disk, 1).len() as u64 >= acknowledged,
                "{context}: an acknowledged record is gone"
            );
        }
    }
    disk.heal();
    assert_eq!(wal.sync_all(), Ok(true), "{context}");
    let head = wal.heads(stream(1)).unwrap().accepted;
    assert_eq!(
        seqs(&wal, stream(1)),
        (0..=head).collect::<Vec<_>>(),
        "{context}"
    );
    wal.close().unwrap();
    for survival in [Survival::Lost, Survival::Kept] {
        let (wal, recovered) = open(&disk.crashed(survival));
        assert_eq!(recovered.state, State::Clean, "{context} {recovered:?}");
        assert_eq!(
            seqs(&wal, stream(1)),
            (0..=head).collect::<Vec<_>>(),
            "{context}"
        );
        let verification = wal.verify().unwrap();
        assert_eq!(
            verification.state,
            State::Clean,
            "{context} {verification:?}"
        );
    }
}

#[test]
fn a_log_on_a_full_disk_opens_and_is_read() {
    let disk = SimulatedDisk::new();
    let wal = started(&disk);
    kill(wal);
    let name = disk
        .names()
        .into_iter()
        .find(|name| name.ends_with(".seg"))
        .unwrap();
    let mut bytes = disk.bytes(&name).unwrap();
    bytes.extend([9; 100]);
    disk.put(&name, bytes);
    for operation in [
        Operation::Create,
        Operation::Write,
        Operation::SyncDir,
        Operation::Truncate,
    ] {
        disk.fail(fault(operation, 0, u64::MAX));
    }
    let (wal, recovered) = open(&disk);
    assert_eq!(recovered.state, State::Torn);
    assert_eq!(seqs(&wal, stream(1)), [0, 1]);
    assert!(wal.append(batch(stream(1), 2, 1), Class::Synced).is_err());
    disk.heal();
    append(&wal, stream(1), 2, 1);
    assert_eq!(found(&disk, 1), [0, 1, 2]);
}

fn content_of(number: u8, seq: u64) -> ContentAt {
    ContentAt {
        stream: stream(number),
        seq,
        index: 0,
    }
}

/// Whether a record's content stands anywhere in the segments.
fn stands(disk: &SimulatedDisk, number: u8, seq: u64) -> bool {
    let text = format!("content of {} {seq}", stream(number)).into_bytes();
    let names = disk.names().into_iter();
    let mut segments = names.filter(|name| name.ends_with(".seg"));
    segments.any(|name| {
        let bytes = disk.bytes(&name).unwrap();
        bytes.windows(text.len()).any(|window| window == text)
    })
}

/// What was overwritten in memory and not synced reads as erased; whoever erases it again wants it gone from the disk.
#[test]
fn an_erasure_that_was_unknown_is_carried_out_when_it_is_repeated() {
    for killed in [false, true] {
        let disk = SimulatedDisk::new();
        let (mut wal, _) = open(&disk);
        append(&wal, stream(1), 0, 4);
        let (one, two) = (content_of(1, 0), content_of(1, 1));
        // The note's sync first, then the sync of what was overwritten.
        disk.fail(fault(Operation::Sync, 1, 1));
        let unknown = wal.erase(&[one, two]);
        assert!(
            matches!(unknown, Err(AppendError::Unknown { .. })),
            "{unknown:?}"
        );
        if killed {
            kill(wal);
            (wal, _) = open(&disk);
        } else {
            assert_eq!(wal.erase(&[one]), Ok(1));
            assert!(!stands(&disk.crashed(Survival::Lost), 1, 0));
            // Only the one that was asked for again is settled.
            assert_eq!(wal.erase(&[one, two]), Ok(1));
            assert_eq!(wal.erase(&[one, two]), Ok(0));
        }
        for seq in 0..12 {
            append(&wal, stream(2), seq, 1);
        }
        let after = disk.crashed(Survival::Lost);
        assert!(!stands(&after, 1, 0) && !stands(&after, 1, 1), "{killed}");
        assert_eq!(open(&after).1.state, State::Clean);
        kill(wal);
    }
}

#[test]
fn an_interrupted_erasure_is_finished_where_it_can_be() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for seq in 0..30 {
        append(&wal, stream(1), seq, 1);
    }
    let last = records(&wal, stream(1))[29].place.unwrap().segment;
    assert!(last > 1);
    disk.fail(fault(Operation::Write, 1, u64::MAX));
    let unknown = wal.erase(&[content_of(1, 0), content_of(1, 29)]);
    assert!(
        matches!(unknown, Err(AppendError::Unknown { .. })),
        "{unknown:?}"
    );
    kill(wal);
    disk.heal();
    let rest = SimulatedDisk::new();
    for name in disk.names() {
        if name != "segments/0000000000000000.seg" {
            rest.put(&name, disk.bytes(&name).unwrap());
        }
    }
    let (wal, _) = open(&rest);
    let there = records(&wal, stream(1));
    assert_eq!(there.last().unwrap().seq, 29);
    assert_eq!(there.last().unwrap().contents[0], Stored::Erased);
}

#[test]
fn an_erasure_that_waits_names_the_first_record_that_waits() {
    let disk = SimulatedDisk::new();
    let wal = started(&disk);
    disk.fail(fault(Operation::Write, 0, u64::MAX));
    wal.append(batch(stream(1), 2, 1), Class::Ordered).unwrap();
    let refused = wal.erase(&[content_of(1, 0)]);
    assert_eq!(refused, Err(AppendError::NotDurable { since: 2 }));
}

/// What is known to be lost of a stream is owed to the log until the stream is forgotten indeed.
#[test]
fn a_forgetting_that_was_refused_leaves_what_was_lost_to_be_written_down() {
    let disk = SimulatedDisk::new();
    let wal = started(&disk);
    disk.fail(fault(Operation::Write, 0, 1));
    let known = KnownHead {
        stream: stream(1),
        begin: 0,
        last: 9,
        time: 0,
        digest: RecordDigest::ROOT,
    };
    assert_eq!(wal.hold_against(&[known]).unwrap().len(), 1);
    // The footer, the next segment's opening, then the note.
    disk.fail(fault(Operation::Write, 2, 1));
    wal.forget(&[stream(1)]).unwrap_err();
    wal.close().unwrap();
    let (wal, _) = open(&disk);
    assert_eq!(wal.heads(stream(1)).unwrap().accepted, 9);
}
