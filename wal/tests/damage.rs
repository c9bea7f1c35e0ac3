//! Damage is told apart from a torn end, placed, and takes nothing with it that it did not touch.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use common::*;
use recount_wal::disk::{SimulatedDisk, Survival};
use recount_wal::{ContentAt, Damage, Entry, Reader, Record, State, Stored};
use std::sync::Arc;

fn segments(disk: &SimulatedDisk) -> Vec<String> {
    disk.names()
        .into_iter()
        .filter(|name| name.ends_with(".seg"))
        .collect()
}

/// A closed log of two streams, and what it holds.
fn closed(count: u64) -> (SimulatedDisk, Vec<Record>) {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for seq in 0..count {
        append(&wal, stream(1 + (seq % 2) as u8), seq / 2, 1);
    }
    let mut all = records(&wal, stream(1));
    all.extend(records(&wal, stream(2)));
    wal.close().unwrap();
    (disk, all)
}

#[test]
fn any_flipped_byte_is_noticed_and_costs_only_what_it_touches() {
    let (disk, all) = closed(14);
    let (mut noticed, mut flips) = (0, 0);
    for name in segments(&disk) {
        let bytes = disk.bytes(&name).unwrap();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            let broken = disk.crashed(Survival::Kept);
            broken.put(&name, flipped);
            flips += 1;
            noticed += check(&broken, &all, &format!("{name} at {at}"));
        }
    }
    println!(
        "bytes flipped in segments: flips={flips} found={noticed} harmless={}",
        flips - noticed
    );
    assert!(noticed > 1000 && flips > 2_000);
}

fn check(broken: &SimulatedDisk, all: &[Record], context: &str) -> u64 {
    let (wal, _) = open(broken);
    let mut read = records(&wal, stream(1));
    read.extend(records(&wal, stream(2)));
    let missing = all
        .iter()
        .filter(|record| !read.iter().any(|other| other.digest == record.digest))
        .count();
    assert!(missing <= 1, "{context}: {missing} are missing");
    for record in &read {
        let original = all
            .iter()
            .find(|other| (other.stream, other.seq) == (record.stream, record.seq))
            .unwrap();
        assert_eq!(record.body, original.body, "{context}");
        let wrong = |(stored, was): (&Stored, &Stored)| *stored != Stored::Lost && stored != was;
        assert!(
            !record.contents.iter().zip(&original.contents).any(wrong),
            "{context}"
        );
    }
    let lost = read
        .iter()
        .flat_map(|record| &record.contents)
        .any(|stored| *stored == Stored::Lost);
    let verification = wal.verify().unwrap();
    if missing == 1 || lost {
        assert_eq!(
            verification.state,
            State::Damaged,
            "{context}: {verification:?}"
        );
        return 1;
    }
    0
}

#[test]
fn a_damaged_record_leaves_a_gap_with_its_place() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for seq in 0..4 {
        append(&wal, stream(1), seq, 1);
    }
    let place = records(&wal, stream(1))[2].place.unwrap();
    wal.close().unwrap();
    let name = &segments(&disk)[0];
    let mut bytes = disk.bytes(name).unwrap();
    for byte in &mut bytes[place.offset as usize..place.offset as usize + 40] {
        *byte = 0xee;
    }
    disk.put(name, bytes);
    let (wal, recovered) = open(&disk);
    assert_eq!(recovered.state, State::Damaged);
    let [
        Damage {
            lost,
            segment,
            offset,
            bytes,
        },
    ] = recovered.damaged[..]
    else {
        panic!("{recovered:?}")
    };
    assert_eq!(
        (lost, segment, offset),
        (Some((stream(1), 2, 2)), place.segment, place.offset)
    );
    assert!(bytes > 300);
    let shapes: Vec<_> = entries(&wal, stream(1))
        .iter()
        .map(|entry| matches!(entry, Entry::Gap(_)))
        .collect();
    assert_eq!(shapes, [false, false, true, false]);
}

/// Damage that ends somewhere in a group that was never acknowledged must not keep the rest of that group.
#[test]
fn a_torn_batch_directly_behind_damage_leaves_nothing() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    append(&wal, stream(1), 0, 1);
    append(&wal, stream(1), 1, 1);
    append(&wal, stream(2), 0, 3);
    let last = records(&wal, stream(1))[1].place.unwrap().offset as usize;
    let torn = [0, 1].map(|seq| records(&wal, stream(2))[seq].place.unwrap().offset as usize);
    kill(wal);
    let name = &segments(&disk)[0];
    let mut bytes = disk.bytes(name).unwrap();
    bytes[last + 20] ^= 1;
    bytes[torn[0]..torn[1]].fill(0);
    disk.put(name, bytes);
    let (wal, recovered) = open(&disk);
    assert_eq!(wal.heads(stream(2)), None, "{recovered:?}");
    assert_eq!(seqs(&wal, stream(1)), [0]);
    assert_eq!(recovered.state, State::Damaged, "{recovered:?}");
    let [Damage { offset, bytes, .. }] = recovered.damaged[..] else {
        panic!("{recovered:?}")
    };
    assert_eq!((offset, bytes), (last as u64, (torn[0] - last) as u64));
    assert_eq!(recovered.cut.unwrap().offset, torn[0] as u64);
    append(&wal, stream(2), 0, 1);
    assert_eq!(seqs(&open(&disk).0, stream(2)), [0]);
}

#[test]
fn a_lost_seq_is_never_given_again() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    append(&wal, stream(1), 0, 1);
    append(&wal, stream(1), 1, 1);
    append(&wal, stream(2), 0, 1);
    let place = records(&wal, stream(1))[1].place.unwrap();
    wal.close().unwrap();
    let name = &segments(&disk)[0];
    let mut bytes = disk.bytes(name).unwrap();
    bytes[place.offset as usize..place.offset as usize + 320].fill(0);
    disk.put(name, bytes);
    // Only the record behind it, of another stream, still knows who stood there.
    let (wal, recovered) = open(&disk);
    assert_eq!(
        recovered.damaged.first().and_then(|damage| damage.lost),
        Some((stream(1), 1, 1))
    );
    assert_eq!(wal.heads(stream(1)).unwrap().accepted, 1);
    append(&wal, stream(1), 2, 1);
    wal.close().unwrap();
    let (wal, _) = open(&disk);
    assert_eq!(seqs(&wal, stream(1)), [0, 2]);
    assert_eq!(wal.verify().unwrap().unchained, []);
}

#[test]
fn a_missing_segment_is_reported_and_the_rest_is_served() {
    let (disk, all) = closed(60);
    let names = segments(&disk);
    assert!(names.len() > 4);
    let without = SimulatedDisk::new();
    for name in disk.names().iter().filter(|name| **name != names[1]) {
        without.put(name, disk.bytes(name).unwrap());
    }
    let (wal, recovered) = open(&without);
    assert_eq!(recovered.state, State::Truncated);
    let there = all
        .iter()
        .filter(|record| record.place.unwrap().segment != 1)
        .count();
    assert_eq!(
        seqs(&wal, stream(1)).len() + seqs(&wal, stream(2)).len(),
        there
    );
    assert_eq!(wal.heads(stream(1)).unwrap().accepted, 29);
}

#[test]
fn a_lost_key_is_made_again_from_the_segments() {
    let (disk, _) = closed(4);
    let key = open(&disk.crashed(Survival::Kept)).0.key();
    disk.put("key", vec![1, 2, 3]);
    let (wal, recovered) = open(&disk);
    assert!(recovered.key_restored);
    assert_eq!((wal.key(), seqs(&wal, stream(1))), (key, vec![0, 1]));
    assert_eq!(disk.bytes("key").unwrap(), key);
}

#[test]
fn a_reader_needs_no_lock_and_changes_nothing() {
    let (disk, all) = closed(30);
    let name = segments(&disk).pop().unwrap();
    let mut bytes = disk.bytes(&name).unwrap();
    bytes.truncate(bytes.len() - 10);
    disk.put(&name, bytes.clone());
    let reader = Reader::open_on(Arc::new(disk.clone())).unwrap();
    assert_eq!(reader.recovered().state, State::Torn);
    let read: Vec<_> = reader
        .read(stream(1), 0, u64::MAX)
        .map(Result::unwrap)
        .collect();
    assert_eq!(read.len(), 15);
    assert_eq!(read[3], Entry::Record(Box::new(all[3].clone())));
    assert_eq!(reader.tags(stream(1)).unwrap().len(), 15);
    assert_eq!(reader.verify().unwrap().records, 30);
    assert_eq!(disk.bytes(&name).unwrap(), bytes);
}

#[test]
fn erased_contents_are_gone_from_the_bytes_and_the_chain_holds() {
    let (disk, _) = closed(30);
    let (wal, _) = open(&disk);
    let targets = [0, 9].map(|seq| ContentAt {
        stream: stream(1),
        seq,
        index: 0,
    });
    assert_eq!(wal.erase(&targets).unwrap(), 2);
    assert_eq!(wal.erase(&targets).unwrap(), 0);
    let states: Vec<_> = records(&wal, stream(1))
        .iter()
        .map(|record| record.contents[0] == Stored::Erased)
        .collect();
    assert_eq!(states.iter().filter(|erased| **erased).count(), 2);
    let verification = wal.verify().unwrap();
    assert_eq!(
        (verification.state, verification.erased.as_slice()),
        (State::Clean, &targets[..])
    );
    wal.close().unwrap();
    let secret = format!("content of {} 9", stream(1)).into_bytes();
    for name in segments(&disk) {
        let bytes = disk.bytes(&name).unwrap();
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret),
            "{name}"
        );
    }
}

#[test]
fn tags_are_handed_back() {
    let (disk, _) = closed(30);
    let (wal, _) = open(&disk);
    append(&wal, stream(1), 15, 3);
    let tags = wal.tags(stream(1)).unwrap();
    assert_eq!(tags.len(), 16);
    assert_eq!(
        tags.last().map(|tagged| (tagged.first, tagged.last)),
        Some((15, 17))
    );
    let mut key = [0; 16];
    key[0] = 4;
    assert_eq!(
        wal.find_tag(stream(1), key)
            .unwrap()
            .map(|tagged| tagged.first),
        Some(4)
    );
    key[0] = 99;
    assert_eq!(wal.find_tag(stream(1), key).unwrap(), None);
}

/// Two hands that wrote on from one state, and their segments in one directory: a fork that is told of, not a dead log.
#[test]
fn a_seq_that_stands_twice_is_a_reported_fork() {
    let (disk, _) = closed(20);
    let other = disk.crashed(Survival::Kept);
    for (disk, more, beside) in [(&disk, 6, 0), (&other, 40, 1)] {
        let (wal, _) = open(disk);
        for seq in 10..10 + more {
            append(&wal, stream(1), seq, 1);
            // What one of them writes besides moves its positions into later segments.
            (0..beside).for_each(|_| append(&wal, stream(2), seq, 1));
        }
        wal.close().unwrap();
    }
    let ours = segments(&disk);
    let theirs = segments(&other);
    let next = &theirs[ours.len()];
    disk.put(next, other.bytes(next).unwrap());
    let before = seqs(&open(&disk.crashed(Survival::Kept)).0, stream(2));
    let (wal, recovered) = open(&disk);
    let first = recovered.doubled.first().copied();
    assert!(
        first.is_some_and(|(id, seq)| id == stream(1) && (10..16).contains(&seq)),
        "{recovered:?}"
    );
    assert_eq!(recovered.state, State::Damaged, "{recovered:?}");
    let verification = wal.verify().unwrap();
    assert_eq!(verification.doubled, recovered.doubled);
    assert_eq!(verification.state, State::Damaged);
    // Everything that stood first is read, and the log goes on behind the last position of both.
    let behind = records(&open(&other).0, stream(1)).into_iter();
    let behind = behind.filter(|record| record.place.unwrap().segment == ours.len() as u64);
    let behind: Vec<u64> = behind
        .map(|record| record.seq)
        .filter(|seq| *seq > 15)
        .collect();
    assert!(behind.first() == Some(&16), "{behind:?}");
    let all: Vec<u64> = (0..16).chain(behind).collect();
    assert_eq!(seqs(&wal, stream(1)), all);
    assert_eq!(seqs(&wal, stream(2)), before);
    let head = wal.heads(stream(1)).unwrap().accepted;
    append(&wal, stream(1), head + 1, 1);
}

/// A segment of another directory in the first one's place must not make the whole log unreadable.
#[test]
fn a_foreign_segment_does_not_bring_its_key() {
    let (disk, all) = closed(40);
    let (other, _) = closed(40);
    let names = segments(&disk);
    let key = open(&disk.crashed(Survival::Kept)).0.key();
    disk.put(&names[0], other.bytes(&names[0]).unwrap());
    for lost_key in [false, true] {
        let struck = disk.crashed(Survival::Kept);
        if lost_key {
            struck.put("key", vec![9; 32]);
        }
        let (wal, recovered) = open(&struck);
        assert_eq!(wal.key(), key);
        assert_eq!(recovered.state, State::Damaged);
        let rest = all
            .iter()
            .filter(|record| record.place.unwrap().segment > 0)
            .count();
        let there = seqs(&wal, stream(1)).len() + seqs(&wal, stream(2)).len();
        assert_eq!(there, rest);
    }
}
