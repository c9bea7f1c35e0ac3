//! What a crash may leave, and what is made of it: a prefix that ends at a batch and holds everything acknowledged.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::sync::Arc;

use common::*;
use recount_wal::disk::{SimulatedDisk, Survival};
use recount_wal::{Class, Entry, Options, Record, State, StreamId, Wal};

/// The newest segment's name.
fn newest(disk: &SimulatedDisk) -> String {
    let segments = disk
        .names()
        .into_iter()
        .filter(|name| name.ends_with(".seg"));
    segments.max().unwrap()
}

/// The records that are read are the first ones of `all`, without a hole, and end at a batch; answers how many.
fn whole_prefix(wal: &Wal, id: StreamId, all: &[Record]) -> usize {
    let read = entries(wal, id);
    assert!(read.len() <= all.len());
    for (entry, expected) in read.iter().zip(all) {
        let Entry::Record(record) = entry else {
            panic!("a gap: {entry:?}")
        };
        assert_eq!((record.seq, record.digest), (expected.seq, expected.digest));
        assert_eq!(record.contents, expected.contents);
    }
    if let Some(last) = read.len().checked_sub(1) {
        assert_eq!(
            all[last].seq, all[last].batch.1,
            "a batch was recovered in part"
        );
    }
    read.len()
}

#[test]
fn a_segment_cut_at_any_byte_keeps_whole_batches_and_goes_on() {
    let disk = SimulatedDisk::new();
    let (wal, _) = Wal::open_on(Arc::new(disk.clone()), Options::default().ahead(0)).unwrap();
    let mut ends = Vec::new();
    for (first, count) in [(0, 1), (1, 3), (4, 2)] {
        append(&wal, stream(1), first, count);
        ends.push((
            disk.bytes(&newest(&disk)).unwrap().len(),
            (first + count) as usize,
        ));
    }
    let all = records(&wal, stream(1));
    let (name, header) = (newest(&disk), 128);
    let opening = all[0].place.unwrap().offset as usize;
    ends.extend([(0, 0), (header, 0), (opening, 0)]);
    ends.sort_unstable();
    let bytes = disk.bytes(&name).unwrap();
    for length in 0..=bytes.len() {
        let cut = disk.crashed(Survival::Kept);
        cut.put(&name, bytes[..length].to_vec());
        let (wal, recovered) = open(&cut);
        let kept = whole_prefix(&wal, stream(1), &all);
        let expected = ends
            .iter()
            .rev()
            .find(|(end, _)| *end <= length)
            .map_or(0, |(_, count)| *count);
        assert_eq!(kept, expected, "cut at {length}");
        let clean = ends.iter().any(|(end, _)| *end == length);
        assert_eq!(
            recovered.state,
            if clean { State::Clean } else { State::Torn },
            "cut at {length}"
        );
        append(&wal, stream(1), kept as u64, 1);
        wal.close().unwrap();
        let (wal, recovered) = open(&cut);
        assert_eq!(recovered.state, State::Clean);
        assert_eq!(seqs(&wal, stream(1)), (0..=kept as u64).collect::<Vec<_>>());
        // A cut is told for ever.
        assert_eq!(
            wal.verify().unwrap().state,
            if clean { State::Clean } else { State::Torn }
        );
    }
    kill(wal);
}

#[test]
fn a_group_torn_in_the_middle_is_cut_back_to_its_start() {
    let disk = SimulatedDisk::new();
    let (wal, _) = Wal::open_on(Arc::new(disk.clone()), Options::default().ahead(0)).unwrap();
    append(&wal, stream(1), 0, 2);
    let name = newest(&disk);
    let synced = disk.bytes(&name).unwrap().len();
    append(&wal, stream(1), 2, 6);
    let all = records(&wal, stream(1));
    let mut bytes = disk.bytes(&name).unwrap();
    // The second record of the group is lost, those behind it are not.
    let second = all[3].place.unwrap().offset as usize;
    bytes[second..second + 300].fill(0);
    let torn = disk.crashed(Survival::Kept);
    torn.put(&name, bytes);
    let (wal_again, recovered) = open(&torn);
    assert_eq!(recovered.state, State::Torn);
    let cut = recovered.cut.unwrap();
    assert_eq!(
        (cut.offset, cut.after),
        (synced as u64, vec![(stream(1), Some(1))])
    );
    assert_eq!(whole_prefix(&wal_again, stream(1), &all), 2);
    kill(wal);
}

/// A workload in which each step says what it was promised.
struct Run {
    disk: SimulatedDisk,
    acknowledged: [u64; 3],
    accepted: Vec<Vec<Record>>,
}

fn run(halt: Option<u64>, ahead: u64) -> Run {
    let disk = SimulatedDisk::new();
    if let Some(halt) = halt {
        disk.halt_at(halt);
    }
    let mut run = Run {
        disk: disk.clone(),
        acknowledged: [0; 3],
        accepted: vec![Vec::new(); 3],
    };
    let Ok((wal, _)) = Wal::open_on(
        Arc::new(disk),
        Options::default().segment_size(SMALL).ahead(ahead),
    ) else {
        return run;
    };
    for step in 0..24_u64 {
        let number = (step % 3) as usize;
        let id = stream(number as u8);
        let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
        let batch = batch(id, first, 1 + step % 4);
        let last = first + step % 4;
        // An ordered batch that is awaited at once keeps the run the same every time.
        let class = if step % 5 == 0 {
            Class::Ordered
        } else {
            Class::Synced
        };
        let receipt = wal.append(batch, class);
        if receipt.is_ok() && (class == Class::Synced || wal.sync(id, last).is_ok()) {
            run.acknowledged[number] = last + 1;
        }
    }
    for number in (0..3).filter(|_| halt.is_none()) {
        run.accepted[number] = records(&wal, stream(number as u8));
    }
    kill(wal);
    run
}

#[test]
fn after_a_power_cut_at_any_operation_everything_acknowledged_is_there() {
    power_cuts(0);
}

#[test]
fn so_it_is_with_zeros_written_ahead() {
    power_cuts(1500);
}

fn power_cuts(ahead: u64) {
    let operations = run(None, ahead).disk.operations();
    assert!(operations > 60, "{operations}");
    let whole = run(None, ahead).accepted;
    for halt in 0..operations {
        let run = run(Some(halt), ahead);
        let survivals = [Survival::Kept, Survival::Lost]
            .into_iter()
            .chain((1..8).map(|seed| Survival::Torn(seed * 7919 + halt)));
        for survival in survivals {
            check(&run, &whole, halt, survival);
        }
    }
}

fn check(run: &Run, whole: &[Vec<Record>], halt: u64, survival: Survival) {
    let context = format!("halt={halt} survival={survival:?}");
    let disk = run.disk.crashed(survival);
    let (wal, recovered) = open(&disk);
    assert!(recovered.state <= State::Torn, "{context}: {recovered:?}");
    for number in 0..3_u8 {
        let kept = whole_prefix(&wal, stream(number), &whole[usize::from(number)]);
        assert!(
            kept as u64 >= run.acknowledged[usize::from(number)],
            "{context}: stream={number} kept={kept}"
        );
    }
    // What a recovery shows is as durable as if it had been synced.
    let (shown, _) = open(&disk.crashed(Survival::Lost));
    for number in 0..3 {
        assert_eq!(
            seqs(&shown, stream(number)),
            seqs(&wal, stream(number)),
            "{context}"
        );
    }
    kill(shown);
    let next = wal.heads(stream(0)).map_or(0, |heads| heads.accepted + 1);
    append(&wal, stream(0), next, 2);
    kill(wal);
    // A crash of the recovered log loses nothing either.
    let (wal, recovered) = open(&disk.crashed(Survival::Lost));
    assert_eq!(recovered.state, State::Clean, "{context}: {recovered:?}");
    assert_eq!(
        wal.heads(stream(0)).unwrap().durable,
        Some(next + 1),
        "{context}"
    );
}

#[test]
fn a_crash_in_recovery_is_recovered_from() {
    for halt in (10..90).step_by(7) {
        let run = run(Some(halt), 700 * (halt % 2));
        let torn = run.disk.crashed(Survival::Torn(halt));
        let kept = {
            let (wal, _) = open(&torn.crashed(Survival::Kept));
            [0, 1, 2].map(|number| seqs(&wal, stream(number)))
        };
        for second in 0..12 {
            let disk = torn.crashed(Survival::Kept);
            disk.halt_at(second);
            if let Ok((wal, _)) = Wal::open_on(
                Arc::new(disk.clone()),
                Options::default().segment_size(SMALL).ahead(0),
            ) {
                kill(wal);
            }
            let (wal, _) = open(&disk.crashed(Survival::Torn(second + 1)));
            assert_eq!(
                [0, 1, 2].map(|number| seqs(&wal, stream(number))),
                kept,
                "halt={halt} second={second}"
            );
        }
    }
}
