//! A compressed segment is the segment: the same bytes at the same places, whatever happens to it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::*;
use proptest::prelude::*;
use recount_wal::disk::{Fault, Operation, SimulatedDisk, Survival};
use recount_wal::{
    AppendError, Class, Content, ContentAt, Entry, NewRecord, Options, Reader, Record, State,
    Stored, StreamId, Wal,
};

fn segments(disk: &SimulatedDisk) -> Vec<String> {
    let names = disk.names().into_iter();
    names.filter(|name| name.ends_with(".seg")).collect()
}

fn is_compressed(disk: &SimulatedDisk, name: &str) -> bool {
    disk.bytes(name).unwrap()[10] == 1
}

fn compressed(disk: &SimulatedDisk) -> Vec<String> {
    let mut names = segments(disk);
    names.retain(|name| is_compressed(disk, name));
    names
}

/// Bytes that no compression makes smaller.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut chance = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        (chance >> 24) as u8
    };
    (0..length).map(next).collect()
}

fn with_contents(id: StreamId, first: u64, contents: Vec<Vec<u8>>) -> recount_wal::Batch {
    let contents = contents.into_iter().map(|bytes| Content {
        salt: [3; 16],
        bytes: bytes.into(),
    });
    let record = NewRecord {
        contents: contents.collect(),
        ..record("with contents")
    };
    recount_wal::Batch {
        records: vec![record],
        ..batch(id, first, 1)
    }
}

/// A log of three streams over several segments, closed.
fn written() -> (SimulatedDisk, Vec<Vec<Record>>) {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for step in 0..40_u64 {
        let id = stream((step % 3) as u8);
        let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
        append(&wal, id, first, 1 + step % 3);
    }
    let whole = (0..3).map(|id| records(&wal, stream(id))).collect();
    wal.close().unwrap();
    (disk, whole)
}

fn all(wal: &Wal) -> Vec<Vec<Record>> {
    (0..3).map(|id| records(wal, stream(id))).collect()
}

#[test]
fn compressed_segments_are_read_verified_and_written_behind() {
    let (disk, whole) = written();
    let (wal, _) = open(&disk);
    let before = wal.stats();
    assert_eq!((before.compressed, before.stored), (0, before.bytes));
    let count = wal.compress_now().unwrap();
    assert_eq!(
        count as usize,
        segments(&disk).len() - 1,
        "the newest is written on"
    );
    assert_eq!(compressed(&disk).len() as u64, count);
    let after = wal.stats();
    assert_eq!((after.compressed, after.bytes), (count, before.bytes));
    assert!(after.stored < after.bytes * 3 / 4, "{after:?}");
    let on_disk: usize = segments(&disk)
        .iter()
        .map(|name| disk.bytes(name).unwrap().len())
        .sum();
    assert_eq!(after.stored, on_disk as u64);
    assert_eq!(wal.compress_now().unwrap(), 0);
    assert_eq!(all(&wal), whole);
    assert_eq!(wal.verify().unwrap().state, State::Clean);
    append(&wal, stream(0), whole[0].len() as u64, 3);
    assert_eq!(wal.tags(stream(1)).unwrap().len(), 13);
    wal.close().unwrap();
    let reader = Reader::open_on(Arc::new(disk.clone())).unwrap();
    assert_eq!(reader.verify().unwrap().state, State::Clean);
    let (wal, recovered) = open(&disk);
    assert_eq!((recovered.state, recovered.closed), (State::Clean, true));
    assert_eq!(wal.stats().stored, reader_bytes(&disk));
    assert_eq!(all(&wal)[1..], whole[1..]);
}

fn reader_bytes(disk: &SimulatedDisk) -> u64 {
    let files = segments(disk);
    files
        .iter()
        .map(|name| disk.bytes(name).unwrap().len() as u64)
        .sum()
}

#[test]
fn a_crash_at_any_operation_leaves_every_segment_whole() {
    let (disk, whole) = written();
    let begun = {
        let copy = disk.crashed(Survival::Kept);
        let (wal, _) = open(&copy);
        let begun = copy.operations();
        wal.compress_now().unwrap();
        let ended = copy.operations();
        kill(wal);
        begun..ended
    };
    assert!(begun.clone().count() > 40);
    let mut images = 0;
    for halt in begun {
        let disk = disk.crashed(Survival::Kept);
        let (wal, _) = open(&disk);
        disk.halt_at(halt);
        let _ = wal.compress_now();
        kill(wal);
        let survivals = [Survival::Kept, Survival::Lost].into_iter();
        for survival in survivals.chain((1..4).map(|seed| Survival::Torn(seed * 7919 + halt))) {
            let context = format!("halt={halt} survival={survival:?}");
            let crashed = disk.crashed(survival);
            let reader = Reader::open_on(Arc::new(crashed.clone())).unwrap();
            assert_eq!(reader.verify().unwrap().state, State::Clean, "{context}");
            let (wal, recovered) = open(&crashed);
            assert_eq!(recovered.state, State::Clean, "{context}: {recovered:?}");
            assert_eq!(all(&wal), whole, "{context}");
            assert!(
                !crashed.names().iter().any(|name| name.ends_with(".new")),
                "{context}"
            );
            append(&wal, stream(0), whole[0].len() as u64, 3);
            wal.compress_now().unwrap();
            kill(wal);
            for _ in 0..2 {
                let (wal, recovered) = open(&crashed.crashed(Survival::Lost));
                assert_eq!(recovered.state, State::Clean, "{context}");
                assert_eq!(
                    records(&wal, stream(0)).len(),
                    whole[0].len() + 3,
                    "{context}"
                );
                assert_eq!(all(&wal)[1..], whole[1..], "{context}");
                kill(wal);
            }
            images += 1;
        }
    }
    println!("crash images of compression: {images}");
}

#[test]
fn a_full_disk_leaves_segments_as_they_are_until_there_is_space() {
    for operation in [Operation::Create, Operation::Write, Operation::Sync] {
        let (disk, whole) = written();
        let (wal, _) = open(&disk);
        let fault = Fault {
            operation,
            after: 2,
            times: u64::MAX,
            kind: std::io::ErrorKind::StorageFull,
            short: 100,
        };
        disk.fail(fault);
        let refused = wal.compress_now();
        assert!(
            matches!(refused, Err(AppendError::Io { .. })),
            "{operation:?} {refused:?}"
        );
        disk.heal();
        assert!(!disk.names().iter().any(|name| name.ends_with(".new")));
        assert_eq!(all(&wal), whole);
        assert!(wal.compress_now().unwrap() > 3);
        assert_eq!(all(&wal), whole);
        assert_eq!(wal.verify().unwrap().state, State::Clean);
    }
}

#[test]
fn what_does_not_read_back_is_not_put_in_a_segments_place() {
    let (disk, whole) = written();
    let (wal, _) = open(&disk);
    let reads = Fault {
        operation: Operation::Read,
        after: 25,
        times: 1,
        kind: std::io::ErrorKind::Other,
        short: 0,
    };
    disk.fail(reads);
    assert!(wal.compress_now().is_err());
    disk.heal();
    assert_eq!(all(&wal), whole);
    assert_eq!(wal.verify().unwrap().state, State::Clean);
}

#[test]
fn a_content_is_erased_in_a_compressed_segment_and_no_crash_brings_it_back() {
    let secret = noise(5, 3000);
    let prepared = || {
        let disk = SimulatedDisk::new();
        let (wal, _) = open(&disk);
        for seq in 0..6 {
            let contents = vec![noise(100 + seq, 500), secret.clone(), noise(200 + seq, 500)];
            wal.append(with_contents(stream(1), seq, contents), Class::Synced)
                .unwrap();
        }
        wal.compress_now().unwrap();
        (disk, wal)
    };
    let targets: Vec<ContentAt> = (0..6)
        .map(|seq| ContentAt {
            stream: stream(1),
            seq,
            index: 1,
        })
        .collect();
    let stands = |disk: &SimulatedDisk| {
        let files = disk.names();
        let holds = |name: &String| {
            disk.bytes(name)
                .unwrap()
                .windows(64)
                .any(|window| window == &secret[..64])
        };
        files.iter().any(holds)
    };
    let (disk, wal) = prepared();
    let begun = disk.operations();
    assert!(stands(&disk));
    assert_eq!(wal.erase(&targets).unwrap(), 6);
    let ended = disk.operations();
    assert!(!stands(&disk));
    assert!(compressed(&disk).len() > 4);
    assert_eq!(wal.erase(&targets).unwrap(), 0);
    let check = |wal: &Wal, context: &str| -> usize {
        let read = records(wal, stream(1));
        assert_eq!(read.len(), 6, "{context}");
        let erased = read
            .iter()
            .filter(|record| record.contents[1] == Stored::Erased);
        let erased = erased.count();
        for record in &read {
            for (index, seed) in [(0, 100), (2, 200)] {
                let Stored::Here(content) = &record.contents[index] else {
                    panic!("{context}: {:?}", record.contents)
                };
                assert_eq!(*content.bytes, noise(seed + record.seq, 500), "{context}");
            }
        }
        erased
    };
    assert_eq!(check(&wal, "at once"), 6);
    let verification = wal.verify().unwrap();
    assert_eq!(
        (verification.state, verification.erased.len()),
        (State::Clean, 6)
    );
    kill(wal);
    let mut images = 0;
    for halt in begun..ended {
        let (disk, wal) = prepared();
        disk.halt_at(halt);
        let erased = wal.erase(&targets);
        kill(wal);
        for survival in [
            Survival::Kept,
            Survival::Lost,
            Survival::Torn(halt + 1),
            Survival::Torn(halt * 31 + 7),
        ] {
            let context = format!("halt={halt} survival={survival:?}");
            let crashed = disk.crashed(survival);
            let (wal, recovered) = open(&crashed);
            assert!(recovered.state <= State::Torn, "{context}: {recovered:?}");
            let found = check(&wal, &context);
            assert!(
                found == 6 || (found == 0 && erased.is_err()),
                "{context}: {found}"
            );
            assert_eq!(stands(&crashed), found == 0, "{context}");
            images += 1;
            kill(wal);
        }
    }
    println!("crash images of erasure in compressed segments: {images}");
}

/// One segment of several blocks, some of them compressed and some not, and a second segment.
fn blocks() -> (SimulatedDisk, Vec<Record>) {
    let disk = SimulatedDisk::new();
    let options = Options::default()
        .segment_size(300 << 10)
        .ahead(0)
        .compress(false);
    let (wal, _) = Wal::open_on(Arc::new(disk.clone()), options).unwrap();
    for seq in 0..34 {
        let contents = if seq % 2 == 0 {
            vec![noise(seq, 9000)]
        } else {
            vec![vec![seq as u8; 11_000], noise(seq, 40)]
        };
        wal.append(with_contents(stream(1), seq, contents), Class::Synced)
            .unwrap();
    }
    assert!(wal.compress_now().unwrap() >= 1);
    let whole = records(&wal, stream(1));
    wal.close().unwrap();
    (disk, whole)
}

const FIRST: &str = "segments/0000000000000000.seg";

/// How a damaged log reads: records that are not there, contents that are lost; what is there must be true.
fn compare(disk: &SimulatedDisk, whole: &[Record], context: &str) -> (usize, usize, State) {
    let reader = Reader::open_on(Arc::new(disk.clone())).unwrap();
    let mut read = Vec::new();
    for entry in reader.read(stream(1), 0, u64::MAX) {
        if let Entry::Record(record) = entry.unwrap() {
            read.push(*record);
        }
    }
    let mut lost = 0;
    for record in &read {
        let original = &whole[record.seq as usize];
        assert_eq!(
            (&record.body, record.digest),
            (&original.body, original.digest),
            "{context}"
        );
        for (stored, was) in record.contents.iter().zip(&original.contents) {
            assert!(stored == was || *stored == Stored::Lost, "{context}");
            lost += usize::from(*stored == Stored::Lost);
        }
    }
    let verification = reader.verify().unwrap();
    (whole.len() - read.len(), lost, verification.state)
}

#[test]
fn damage_of_a_compressed_file_is_found_and_costs_only_what_its_block_holds() {
    let (disk, whole) = blocks();
    let bytes = disk.bytes(FIRST).unwrap();
    let length = bytes.len();
    // Header, first head, table and end byte by byte; the rest in steps.
    let edges = (0..200).chain(length - 64 - 8 * 5..length);
    let inside = (200..length - 104).step_by(149);
    let mut flips = 0;
    let mut found = 0;
    for at in edges.chain(inside) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let broken = disk.crashed(Survival::Kept);
        broken.put(FIRST, flipped);
        let context = format!("flipped at={at} of={length}");
        let (missing, lost, state) = compare(&broken, &whole, &context);
        assert!(missing <= 8, "{context}: missing={missing}");
        flips += 1;
        // Nothing is harmless: every byte is covered by something.
        assert_eq!(
            state,
            State::Damaged,
            "{context} missing={missing} lost={lost}"
        );
        found += 1;
    }
    println!("bytes of compressed segments flipped: {flips}, found: {found}");
    assert!(flips > 900);
}

#[test]
fn holes_and_cuts_of_a_compressed_file_are_found() {
    let (disk, whole) = blocks();
    let bytes = disk.bytes(FIRST).unwrap();
    let length = bytes.len();
    for (from, size) in (0..length)
        .step_by(7919)
        .zip([16, 512, 4096, 70_000].into_iter().cycle())
    {
        let mut holed = bytes.clone();
        let end = length.min(from + size);
        if holed[from..end].iter().all(|byte| *byte == 0) {
            continue;
        }
        holed[from..end].fill(0);
        let broken = disk.crashed(Survival::Kept);
        broken.put(FIRST, holed);
        let context = format!("zeros from={from} to={end} of={length}");
        let (missing, _, state) = compare(&broken, &whole, &context);
        assert_eq!(state, State::Damaged, "{context}");
        assert!(missing <= 24, "{context}: {missing}");
    }
    for cut in (0..length).step_by(4001).chain(length - 110..length) {
        let broken = disk.crashed(Survival::Kept);
        broken.put(FIRST, bytes[..cut].to_vec());
        let context = format!("cut at={cut} of={length}");
        let (_, _, state) = compare(&broken, &whole, &context);
        assert!(state >= State::Truncated, "{context}: {state:?}");
        // It goes on, and nothing that was read is lost by that.
        if cut % 3 == 0 {
            let (wal, _) = open(&broken);
            let there = seqs(&wal, stream(1));
            append(&wal, stream(1), whole.len() as u64, 1);
            wal.close().unwrap();
            let (wal, _) = open(&broken);
            assert_eq!(seqs(&wal, stream(1)).len(), there.len() + 1, "{context}");
            kill(wal);
        }
    }
}

#[test]
fn segments_are_compressed_in_the_background_and_readers_do_not_notice() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::default().segment_size(64 << 10);
    let (wal, _) = Wal::open_with(directory.path(), options, None).unwrap();
    let ended = AtomicBool::new(false);
    let (wal, ended) = (&wal, &ended);
    append(wal, stream(0), 0, 1);
    append(wal, stream(1), 0, 1);
    let early = Reader::open(directory.path()).unwrap();
    std::thread::scope(|scope| {
        for number in 0..2 {
            scope.spawn(move || {
                let mut reads = 0;
                while !ended.load(Ordering::Acquire) || reads == 0 {
                    for (record, seq) in records(wal, stream(number)).iter().zip(0..) {
                        assert_eq!((record.stream, record.seq), (stream(number), seq));
                        assert!(matches!(record.contents[0], Stored::Here(_)));
                    }
                    reads += 1;
                }
            });
        }
        for seq in 1..600 {
            append(wal, stream(0), seq, 1);
            append(wal, stream(1), seq, 1);
        }
        ended.store(true, Ordering::Release);
    });
    let started = Instant::now();
    let segments = wal.stats().segments;
    while wal.stats().compressed + 1 < segments {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{:?}",
            wal.stats()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(wal.verify().unwrap().state, State::Clean);
    assert_eq!(early.read(stream(0), 0, u64::MAX).count(), 1);
}

#[test]
fn a_log_that_closes_does_not_wait_for_compression() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::default().segment_size(4 << 20);
    let (wal, _) = Wal::open_with(directory.path(), options, None).unwrap();
    for seq in 0..6 {
        let contents = vec![noise(seq, 4 << 20)];
        wal.append(with_contents(stream(1), seq, contents), Class::Synced)
            .unwrap();
    }
    let started = Instant::now();
    wal.close().unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
    let (wal, recovered) = Wal::open_with(directory.path(), options, None).unwrap();
    assert_eq!(recovered.state, State::Clean);
    assert_eq!(seqs(&wal, stream(1)), [0, 1, 2, 3, 4, 5]);
}

/// What a batch of the twin test holds: lengths of contents, and whether they can be compressed.
fn shape() -> impl Strategy<Value = Vec<(u8, Vec<(u32, bool)>)>> {
    let content = prop_oneof![
        6 => (0..400_u32, any::<bool>()),
        2 => (0..9000_u32, any::<bool>()),
        1 => (60_000..140_000_u32, any::<bool>()),
    ];
    let batch = (0..3_u8, prop::collection::vec(content, 0..4));
    prop::collection::vec(batch, 4..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_compressed_log_reads_as_its_twin(
        shape in shape(),
        size in prop_oneof![Just(4096_u64), Just(100_000), Just(400_000)],
        from in 0..20_u64,
        span in 0..20_u64,
    ) {
        let disk = SimulatedDisk::new();
        let options = Options::default().segment_size(size).ahead(0).compress(false);
        let (wal, _) = Wal::open_on(Arc::new(disk.clone()), options).unwrap();
        for (step, (number, contents)) in (0_u64..).zip(&shape) {
            let id = stream(*number);
            let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
            let contents = contents.iter().map(|(length, random)| match random {
                true => noise(step, *length as usize),
                false => vec![step as u8; *length as usize],
            });
            wal.append(with_contents(id, first, contents.collect()), Class::Synced).unwrap();
        }
        wal.close().unwrap();
        let twin = disk.crashed(Survival::Kept);
        let (packed, _) = Wal::open_on(Arc::new(twin.clone()), options).unwrap();
        packed.compress_now().unwrap();
        prop_assert_eq!(compressed(&twin).len() + 1, segments(&twin).len());
        let (plain, _) = Wal::open_on(Arc::new(disk.clone()), options).unwrap();
        let reader = Reader::open_on(Arc::new(twin.clone())).unwrap();
        prop_assert_eq!(packed.streams(), plain.streams());
        prop_assert_eq!(reader.streams(), plain.streams());
        for number in 0..3 {
            let id = stream(number);
            prop_assert_eq!(entries(&packed, id), entries(&plain, id));
            let read: Vec<_> = reader.read(id, from, from + span).map(Result::unwrap).collect();
            let expected: Vec<_> = plain.read(id, from, from + span).map(Result::unwrap).collect();
            prop_assert_eq!(read, expected);
            prop_assert_eq!(packed.tags(id).unwrap(), plain.tags(id).unwrap());
        }
        prop_assert_eq!(packed.verify().unwrap(), plain.verify().unwrap());
        kill(packed);
        kill(plain);
    }
}
