//! Writes that stop at every byte, and syncs that fail after them.

use std::io::ErrorKind;

use crate::common::*;
use crate::{KINDS, fault};
use recount_wal::disk::{Fault, Operation, SimulatedDisk, Survival};
use recount_wal::{AppendError, Class, State, Wal};

fn started() -> (SimulatedDisk, Wal) {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    append(&wal, stream(1), 0, 2);
    (disk, wal)
}

/// Bytes that a batch of two records takes.
fn length() -> usize {
    let (disk, wal) = started();
    let size = |disk: &SimulatedDisk| {
        let name = "segments/0000000000000000.seg";
        disk.bytes(name).unwrap().len()
    };
    let before = size(&disk);
    append(&wal, stream(1), 2, 2);
    size(&disk) - before
}

fn found(disk: &SimulatedDisk, survival: Survival) -> (Vec<u64>, State) {
    let (wal, recovered) = open(&disk.crashed(survival));
    (seqs(&wal, stream(1)), recovered.state)
}

fn short(kind: ErrorKind, bytes: usize, times: u64) -> Fault {
    Fault {
        short: bytes,
        ..fault(Operation::Write, kind, 0, times)
    }
}

#[test]
fn a_write_refused_at_any_byte_is_io_and_leaves_nothing() {
    let length = length();
    let mut injected = 0;
    for kind in KINDS {
        let (disk, wal) = started();
        for bytes in 0..=length {
            disk.fail(short(kind, bytes, 1));
            let refused = wal.append(batch(stream(1), 2, 2), Class::Synced);
            assert!(
                matches!(refused, Err(AppendError::Io { .. })),
                "{bytes}: {refused:?}"
            );
            let heads = wal.heads(stream(1)).unwrap();
            assert_eq!((heads.accepted, heads.durable), (1, Some(1)), "{bytes}");
            assert_eq!(seqs(&wal, stream(1)), [0, 1], "{bytes}");
            injected += 1;
            if bytes % 8 == 0 || bytes == length {
                for survival in [Survival::Lost, Survival::Kept] {
                    assert_eq!(
                        found(&disk, survival),
                        (vec![0, 1], State::Clean),
                        "{bytes}"
                    );
                }
            }
        }
        append(&wal, stream(1), 2, 2);
        assert_eq!(found(&disk, Survival::Lost).0, [0, 1, 2, 3]);
    }
    println!("writes refused at every byte of a batch: injected={injected} bytes={length}");
    assert!(injected > 1_000, "{injected}");
}

#[test]
fn what_waits_is_written_in_order_wherever_the_disk_was_full() {
    let length = length();
    let mut injected = 0;
    for bytes in (0..=length).step_by(5) {
        let (disk, wal) = started();
        disk.fail(short(ErrorKind::StorageFull, bytes, u64::MAX));
        let mut next = 2;
        for _ in 0..4 {
            match wal.append(batch(stream(1), next, 2), Class::Ordered) {
                Ok(receipt) => next = receipt.last + 1,
                Err(error) => assert_eq!(error, AppendError::NotDurable { since: 2 }, "{bytes}"),
            }
        }
        assert!(next > 2);
        assert_eq!(
            wal.sync(stream(1), next - 1),
            Err(AppendError::NotDurable { since: 2 })
        );
        let heads = wal.heads(stream(1)).unwrap();
        assert_eq!((heads.accepted, heads.durable), (next - 1, Some(1)));
        assert_eq!(wal.not_durable_since(stream(1)), Some(2));
        // Both what is durable and what waits is read meanwhile.
        assert_eq!(seqs(&wal, stream(1)), (0..next).collect::<Vec<_>>());
        assert_eq!(found(&disk, Survival::Lost).0, [0, 1], "{bytes}");
        disk.heal();
        assert_eq!(wal.sync(stream(1), next - 1), Ok(next - 1), "{bytes}");
        let (there, state) = found(&disk, Survival::Lost);
        assert_eq!(
            (there, state),
            ((0..next).collect::<Vec<_>>(), State::Clean),
            "{bytes}"
        );
        injected += 1;
    }
    println!("queues held back by a full disk and written in order: injected={injected}");
}

/// A sync that fails may have written everything or nothing; the answer is `unknown`, and the same tag settles it.
#[test]
fn a_sync_refused_at_any_step_is_unknown_or_leaves_nothing() {
    let mut census = [0_u32; 3];
    for operation in [Operation::Sync, Operation::SyncDir, Operation::Truncate] {
        for kind in KINDS {
            for (after, times) in (0..12).flat_map(|after| [(after, 1), (after, 3)]) {
                let (disk, wal) = started();
                disk.fail(fault(operation, kind, after, times));
                if operation == Operation::Truncate {
                    disk.fail(short(kind, 100, times));
                }
                let mut acknowledged = 1;
                for _ in 0..14 {
                    let next = wal.heads(stream(1)).unwrap().accepted + 1;
                    match wal.append(batch(stream(1), next, 3), Class::Synced) {
                        Ok(receipt) => acknowledged = receipt.last,
                        Err(AppendError::Io { .. }) => {
                            census[0] += 1;
                            let there = found(&disk, Survival::Kept).0.len() as u64;
                            assert_eq!(there, next, "{operation:?} after={after}: a trace");
                        }
                        Err(AppendError::Unknown { .. }) => census[1] += 1,
                        Err(AppendError::NotDurable { .. }) => census[2] += 1,
                        Err(other) => panic!("{operation:?} after={after}: {other:?}"),
                    }
                    let there = found(&disk, Survival::Lost).0.len() as u64;
                    assert!(there > acknowledged, "{operation:?} after={after}");
                }
                disk.heal();
                assert_eq!(wal.sync_all(), Ok(true));
                let head = wal.heads(stream(1)).unwrap().accepted;
                let there = found(&disk, Survival::Lost);
                assert_eq!(there, ((0..=head).collect(), State::Clean));
            }
        }
    }
    let [io, unknown, not_durable] = census;
    println!(
        "syncs, syncs of folders and cuts refused: io={io} unknown={unknown} not_durable={not_durable}"
    );
    assert!(census.iter().all(|count| *count > 0), "{census:?}");
}
