//! Any bytes at all in the place of segments: nothing panics, nothing is made up, and the log goes on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::*;
use proptest::prelude::*;
use recount_wal::disk::{SimulatedDisk, Survival};
use recount_wal::{Class, Entry, Reader, Record, Stored, StreamId, Wal};

/// What happens to a segment; positions are shares of its length in 1/65536.
#[derive(Clone, Debug)]
enum Havoc {
    Overwrite {
        at: u16,
        bytes: Vec<u8>,
    },
    Zero {
        at: u16,
        length: u16,
    },
    Truncate {
        at: u16,
    },
    Extend {
        bytes: Vec<u8>,
    },
    /// One stretch copied over another: stale frames.
    Copy {
        from: u16,
        to: u16,
        length: u16,
    },
    Remove,
    Swap,
    Empty,
}

fn havoc() -> impl Strategy<Value = Havoc> {
    let bytes = || prop::collection::vec(any::<u8>(), 1..400);
    prop_oneof![
        4 => (any::<u16>(), bytes()).prop_map(|(at, bytes)| Havoc::Overwrite { at, bytes }),
        4 => (any::<u16>(), any::<u16>()).prop_map(|(at, length)| Havoc::Zero { at, length: length % 2000 }),
        2 => any::<u16>().prop_map(|at| Havoc::Truncate { at }),
        2 => bytes().prop_map(|bytes| Havoc::Extend { bytes }),
        3 => (any::<u16>(), any::<u16>(), any::<u16>()).prop_map(|(from, to, length)| Havoc::Copy { from, to, length: length % 2000 }),
        1 => Just(Havoc::Remove),
        1 => Just(Havoc::Swap),
        1 => Just(Havoc::Empty),
    ]
}

fn share(length: usize, at: u16) -> usize {
    length * usize::from(at) / 65_536
}

fn changed(mut bytes: Vec<u8>, havoc: &Havoc) -> Vec<u8> {
    let size = bytes.len();
    match havoc {
        Havoc::Overwrite { at, bytes: new } => {
            let at = share(size, *at);
            bytes
                .iter_mut()
                .skip(at)
                .zip(new)
                .for_each(|(to, from)| *to = *from);
        }
        Havoc::Zero { at, length } => {
            bytes
                .iter_mut()
                .skip(share(size, *at))
                .take(usize::from(*length))
                .for_each(|byte| *byte = 0);
        }
        Havoc::Truncate { at } => bytes.truncate(share(size, *at)),
        Havoc::Extend { bytes: new } => bytes.extend(new),
        Havoc::Copy { from, to, length } => {
            let piece: Vec<u8> = bytes
                .iter()
                .copied()
                .skip(share(size, *from) / 8 * 8)
                .take(usize::from(*length))
                .collect();
            bytes
                .iter_mut()
                .skip(share(size, *to) / 8 * 8)
                .zip(piece)
                .for_each(|(to, from)| *to = from);
        }
        Havoc::Empty => bytes.clear(),
        Havoc::Remove | Havoc::Swap => {}
    }
    bytes
}

fn strike(disk: &SimulatedDisk, segment: u8, havoc: &Havoc) -> SimulatedDisk {
    let names: Vec<String> = disk.names();
    let segments: Vec<&String> = names.iter().filter(|name| name.ends_with(".seg")).collect();
    let Some(name) = segments.get(usize::from(segment) % segments.len().max(1)) else {
        return disk.clone();
    };
    let struck = SimulatedDisk::new();
    for other in &names {
        let bytes = disk.bytes(other).unwrap();
        match (other == *name, havoc) {
            (false, _) => struck.put(other, bytes),
            (true, Havoc::Remove) => {}
            (true, Havoc::Swap) => struck.put(other, disk.bytes(segments[0]).unwrap()),
            (true, havoc) => struck.put(other, changed(bytes, havoc)),
        }
    }
    struck
}

fn written(compressed: bool) -> (SimulatedDisk, BTreeMap<(StreamId, u64), Record>) {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for step in 0..40_u64 {
        let id = stream((step % 3) as u8);
        let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
        append(&wal, id, first, 1 + step % 3);
        if step == 20 {
            wal.erase(&[recount_wal::ContentAt {
                stream: id,
                seq: 0,
                index: 0,
            }])
            .unwrap();
        }
    }
    if compressed {
        assert!(wal.compress_now().unwrap() > 5);
    }
    let all = (0..3).flat_map(|number| records(&wal, stream(number)));
    let all = all
        .map(|record| ((record.stream, record.seq), record))
        .collect();
    wal.close().unwrap();
    (disk, all)
}

/// Nothing that is read was not written, and it is in order.
fn nothing_made_up(wal: &Wal, all: &BTreeMap<(StreamId, u64), Record>) {
    for number in 0..3 {
        let mut next = 0;
        for entry in entries(wal, stream(number)) {
            let (first, last) = match &entry {
                Entry::Gap(gap) => (gap.first, gap.last),
                Entry::Record(record) => (record.seq, record.seq),
            };
            assert_eq!(first, next, "entries follow one another without holes");
            next = last + 1;
            let Entry::Record(record) = entry else {
                continue;
            };
            let original = &all[&(record.stream, record.seq)];
            assert_eq!(
                (record.digest, &record.body, record.tag),
                (original.digest, &original.body, original.tag)
            );
            for (stored, was) in record.contents.iter().zip(&original.contents) {
                assert!(stored == was || *stored == Stored::Lost);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_to_segments_the_log_opens_and_goes_on(strikes in prop::collection::vec((any::<u8>(), havoc()), 1..5), compressed in any::<bool>()) {
        let (disk, all) = written(compressed);
        let struck = strikes.iter().fold(disk, |disk, (segment, havoc)| strike(&disk, *segment, havoc));
        let reader = Reader::open_on(Arc::new(struck.clone())).unwrap();
        let (wal, recovered) = open(&struck);
        prop_assert_eq!(reader.streams(), wal.streams());
        nothing_made_up(&wal, &all);
        wal.verify().unwrap();
        let before: Vec<_> = (0..3).map(|number| seqs(&wal, stream(number))).collect();
        for number in 0..3 {
            let next = wal.heads(stream(number)).map_or(0, |heads| heads.accepted + 1);
            wal.append(batch(stream(number), next, 2), Class::Synced).unwrap();
            prop_assert!(wal.tags(stream(number)).is_ok());
        }
        kill(wal);
        // What was there, and what was added, is there again after a power cut.
        let (wal, again) = open(&struck.crashed(Survival::Lost));
        for number in 0..3 {
            let now = seqs(&wal, stream(number));
            let kept = &before[usize::from(number)];
            prop_assert_eq!(now.len(), kept.len() + 2, "{:?} then {:?}", recovered, again);
            prop_assert!(now.starts_with(kept));
        }
        prop_assert!(again.cut.is_none());
    }

    #[test]
    fn junk_in_the_place_of_a_segment_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        let disk = SimulatedDisk::new();
        disk.put("segments/0000000000000000.seg", bytes);
        let (wal, _) = open(&disk);
        prop_assert_eq!(wal.streams(), vec![]);
        append(&wal, stream(1), 0, 1);
        wal.close().unwrap();
        let (wal, _) = open(&disk);
        prop_assert_eq!(seqs(&wal, stream(1)), vec![0]);
    }
}
