//! A segment cut at any byte, and a group with a hole.

use std::sync::Arc;

use crate::common::*;
use recount_wal::disk::{SimulatedDisk, Survival};
use recount_wal::{Entry, Options, Record, State, StreamId, Wal};

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
