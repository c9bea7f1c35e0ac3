//! Forgetting streams: they are gone for every reader, everything else keeps its place, and no crash leaves it half done.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::sync::Arc;

use common::*;
use recount_wal::disk::{SimulatedDisk, Survival};
use recount_wal::{
    AppendError, Class, Entry, ForgetError, OnDamage, Options, Reader, Record, State, StreamId, Wal,
};

/// Three streams over several segments, closed or not.
fn written(disk: &SimulatedDisk) -> Wal {
    let (wal, _) = open(disk);
    for step in 0..36_u64 {
        let id = stream((step % 3) as u8);
        let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
        append(&wal, id, first, 1 + step % 3);
    }
    wal
}

fn segments(disk: &SimulatedDisk) -> Vec<String> {
    disk.names()
        .into_iter()
        .filter(|name| name.ends_with(".seg"))
        .collect()
}

/// Whether bytes stand in any segment as they are.
fn stands(disk: &SimulatedDisk, bytes: &[u8]) -> bool {
    let files = segments(disk);
    let found = |name: &String| {
        let file = disk.bytes(name).unwrap();
        file.windows(bytes.len()).any(|window| window == bytes)
    };
    files.iter().any(found)
}

#[test]
fn a_forgotten_stream_is_gone_and_the_others_keep_everything() {
    let disk = SimulatedDisk::new();
    let wal = written(&disk);
    let kept: Vec<Vec<Record>> = [0, 2].map(|id| records(&wal, stream(id))).into();
    let gone = records(&wal, stream(1));
    let forgotten = wal.forget(&[stream(1), stream(9)]).unwrap();
    assert_eq!((forgotten.streams, forgotten.left), (1, 0));
    assert_eq!(forgotten.records, gone.len() as u64);
    assert!(forgotten.bytes > gone.len() as u64 * 288);
    assert!(
        forgotten.disk_after < forgotten.disk_before,
        "{forgotten:?}"
    );
    let check = |wal: &Wal| {
        assert_eq!(wal.heads(stream(1)), None);
        let last = gone.last().unwrap();
        let known = wal.forgotten(stream(1)).unwrap();
        assert_eq!((known.last, known.digest), (last.seq, last.digest));
        assert_eq!(wal.forgotten(stream(0)), None);
        assert_eq!(entries(wal, stream(1)), vec![]);
        assert_eq!(records(wal, stream(0)), kept[0]);
        assert_eq!(records(wal, stream(2)), kept[1]);
        let verification = wal.verify().unwrap();
        assert_eq!(
            (verification.state, verification.streams),
            (State::Clean, 2),
            "{verification:?}"
        );
        assert_eq!(verification.records, (kept[0].len() + kept[1].len()) as u64);
    };
    check(&wal);
    wal.close().unwrap();
    let (wal, recovered) = open(&disk);
    assert_eq!(
        (
            recovered.state,
            recovered.damaged.as_slice(),
            recovered.closed
        ),
        (State::Clean, &[][..], true)
    );
    check(&wal);
    // Its name is free again.
    append(&wal, stream(1), 0, 2);
    append(&wal, stream(0), kept[0].len() as u64, 1);
    assert_eq!(seqs(&wal, stream(1)), [0, 1]);
    wal.close().unwrap();
    let (wal, recovered) = open(&disk);
    assert_eq!(recovered.state, State::Clean);
    assert_eq!(seqs(&wal, stream(1)), [0, 1]);
    assert_eq!(wal.verify().unwrap().state, State::Clean);
    let reader = Reader::open_on(Arc::new(disk)).unwrap();
    assert_eq!(reader.streams(), wal.streams());
    assert_eq!(reader.verify().unwrap().state, State::Clean);
}

#[test]
fn what_was_forgotten_stands_in_no_file_any_more() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    // Random enough that compression leaves them as they are.
    let secret: Vec<u8> = (0..6000_u32)
        .map(|at| blake(at).wrapping_add(at as u8))
        .collect();
    for seq in 0..5 {
        let mut batch = batch(stream(1), seq, 1);
        batch.records[0].contents[0].bytes = secret.clone().into();
        wal.append(batch, Class::Synced).unwrap();
        append(&wal, stream(2), seq, 1);
    }
    assert!(stands(&disk, &secret[..64]));
    wal.compress_now().unwrap();
    assert!(stands(&disk, &secret[..64]));
    wal.forget(&[stream(1)]).unwrap();
    for piece in secret.chunks(64) {
        assert!(!stands(&disk, piece));
    }
    assert_eq!(seqs(&wal, stream(2)), [0, 1, 2, 3, 4]);
}

fn blake(at: u32) -> u8 {
    let mut chance = u64::from(at).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for _ in 0..3 {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
    }
    (chance >> 32) as u8
}

#[test]
fn damage_of_others_is_looked_at_before_anything_is_given_up() {
    let disk = SimulatedDisk::new();
    let wal = written(&disk);
    let place = records(&wal, stream(0))[1].place.unwrap();
    wal.close().unwrap();
    let name = format!("segments/{:016x}.seg", place.segment);
    let mut bytes = disk.bytes(&name).unwrap();
    bytes[place.offset as usize + 260] ^= 1;
    disk.put(&name, bytes);
    let (wal, _) = open(&disk);
    let before: Vec<_> = segments(&disk)
        .iter()
        .map(|name| disk.bytes(name))
        .collect();
    let refused = wal.forget(&[stream(1)]);
    let Err(ForgetError::Damaged { damaged }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(damaged[0].lost, Some((stream(0), 1, 1)));
    assert_eq!(
        (damaged[0].segment, damaged[0].offset),
        (place.segment, place.offset)
    );
    let after: Vec<_> = segments(&disk)
        .iter()
        .map(|name| disk.bytes(name))
        .collect();
    assert!(before == after, "nothing was changed");
    // Its own damage is in nobody's way, and told otherwise it goes on; what is damaged stays reported.
    let kept = wal.verify().unwrap().damaged;
    wal.forget_with(&[stream(1)], OnDamage::GiveUp).unwrap();
    let verification = wal.verify().unwrap();
    assert_eq!(verification.damaged, kept);
    assert_eq!(entries(&wal, stream(1)), vec![]);
    wal.forget(&[stream(0)]).unwrap();
    let verification = wal.verify().unwrap();
    assert_eq!(
        (verification.state, verification.damaged),
        (State::Clean, vec![])
    );
}

#[test]
fn a_stream_that_is_appended_to_meanwhile_is_forgotten_whole_or_begins_again() {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    let wal = &wal;
    std::thread::scope(|scope| {
        for number in 0..3 {
            scope.spawn(move || {
                let mut next = 0;
                for _ in 0..200 {
                    match wal.append(batch(stream(number), next, 1), Class::Synced) {
                        Ok(_) => next += 1,
                        Err(AppendError::Conflict { next: other }) => next = other,
                        Err(AppendError::Busy) => std::thread::yield_now(),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        let disk = &disk;
        scope.spawn(move || {
            for _ in 0..12 {
                let verification = wal.verify().unwrap();
                assert_eq!(verification.state, State::Clean, "{verification:?}");
                let reader = Reader::open_on(Arc::new(disk.clone())).unwrap();
                let recovered = reader.recovered();
                assert!(recovered.damaged.is_empty(), "{recovered:?}");
                wal.compress_now().unwrap();
            }
        });
        scope.spawn(move || {
            for _ in 0..10 {
                match wal.forget(&[stream(1)]) {
                    Ok(_) | Err(ForgetError::Busy) => {}
                    Err(error) => panic!("{error}"),
                }
                for number in 0..3 {
                    let read = entries(wal, stream(number));
                    for (entry, seq) in read.iter().zip(0..) {
                        let Entry::Record(record) = entry else {
                            panic!("{entry:?}")
                        };
                        assert_eq!((record.stream, record.seq), (stream(number), seq));
                    }
                }
            }
        });
    });
    for number in 0..3 {
        // Stream 1 may have been forgotten after its last append.
        let count = wal
            .heads(stream(number))
            .map_or(0, |heads| heads.accepted + 1);
        assert!(count > 0 || number == 1);
        assert_eq!(seqs(wal, stream(number)), (0..count).collect::<Vec<_>>());
    }
    assert_eq!(wal.verify().unwrap().state, State::Clean);
    let (again, recovered) = open(&disk.crashed(Survival::Lost));
    assert_eq!(recovered.state, State::Clean, "{recovered:?}");
    assert_eq!(again.streams().len(), wal.streams().len());
    kill(again);
}

/// Forgets one of three streams on a disk that halts; the other records, and whether it was acknowledged.
struct Run {
    disk: SimulatedDisk,
    whole: Vec<Vec<Record>>,
    acknowledged: bool,
    begun: u64,
}

fn run(halt: Option<u64>, compressed: bool) -> Run {
    let disk = SimulatedDisk::new();
    let wal = written(&disk);
    if compressed {
        wal.compress_now().unwrap();
    }
    let whole = (0..3).map(|id| records(&wal, stream(id))).collect();
    let begun = disk.operations();
    if let Some(halt) = halt {
        disk.halt_at(halt);
    }
    let forgotten = wal.forget(&[stream(1)]);
    let acknowledged = forgotten.is_ok();
    kill(wal);
    Run {
        disk,
        whole,
        acknowledged,
        begun,
    }
}

#[test]
fn a_crash_at_any_operation_leaves_it_done_or_undone() {
    let mut images = 0;
    for compressed in [false, true] {
        let clean = run(None, compressed);
        let (begun, ended) = (clean.begun, clean.disk.operations());
        assert!(ended - begun > 20, "{begun} {ended}");
        let mut outcomes = [0; 2];
        for halt in begun..ended {
            let run = run(Some(halt), compressed);
            let survivals = [Survival::Kept, Survival::Lost]
                .into_iter()
                .chain((1..4).map(|seed| Survival::Torn(seed * 104_729 + halt)));
            for survival in survivals {
                let context = format!("compressed={compressed} halt={halt} survival={survival:?}");
                outcomes[usize::from(crashed(&run, survival, &context))] += 1;
                images += 1;
            }
        }
        assert!(outcomes[0] > 10 && outcomes[1] > 10, "{outcomes:?}");
    }
    println!("crash images of forgetting: {images}");
}

/// Whether the stream is gone after the crash.
fn crashed(run: &Run, survival: Survival, context: &str) -> bool {
    let disk = run.disk.crashed(survival);
    let (wal, recovered) = open(&disk);
    assert!(recovered.state <= State::Torn, "{context}: {recovered:?}");
    assert_eq!(recovered.damaged, vec![], "{context}");
    assert_eq!(records(&wal, stream(0)), run.whole[0], "{context}");
    assert_eq!(records(&wal, stream(2)), run.whole[2], "{context}");
    let left = entries(&wal, stream(1));
    let gone = left.is_empty();
    assert!(
        gone || records(&wal, stream(1)) == run.whole[1],
        "{context}"
    );
    assert!(gone || !run.acknowledged, "{context}");
    let verification = wal.verify().unwrap();
    assert!(
        verification.state <= State::Torn,
        "{context}: {verification:?}"
    );
    if gone {
        assert!(
            !disk.names().iter().any(|name| name.ends_with(".new")),
            "{context}"
        );
        // Nothing of it is left where a tool could find it.
        for segment in 0..10 {
            assert!(!holds(&wal, stream(1), &run.whole[1], segment), "{context}");
        }
    }
    let next = if gone { 0 } else { run.whole[1].len() as u64 };
    append(&wal, stream(1), next, 3);
    kill(wal);
    for _ in 0..2 {
        let (wal, recovered) = open(&disk.crashed(Survival::Lost));
        assert!(recovered.state <= State::Torn, "{context}: {recovered:?}");
        assert_eq!(
            seqs(&wal, stream(1)),
            (0..next + 3).collect::<Vec<_>>(),
            "{context}"
        );
        assert_eq!(records(&wal, stream(0)), run.whole[0], "{context}");
        kill(wal);
    }
    gone
}

/// Whether a record of a stream can still be read at its place.
fn holds(wal: &Wal, id: StreamId, whole: &[Record], segment: u64) -> bool {
    let there = whole
        .iter()
        .filter(|record| record.place.unwrap().segment == segment);
    there
        .flat_map(|record| {
            record.content_places.iter().map(|at| {
                let of = recount_wal::ContentAt {
                    stream: id,
                    seq: record.seq,
                    index: 0,
                };
                wal.content(of, *at).unwrap()
            })
        })
        .any(|stored| matches!(stored, recount_wal::Stored::Here(_)))
}

#[test]
fn a_full_disk_puts_it_off_and_it_is_finished_later() {
    use recount_wal::disk::{Fault, Operation};
    let disk = SimulatedDisk::new();
    let wal = written(&disk);
    let whole = [0, 2].map(|id| records(&wal, stream(id)));
    disk.fail(Fault {
        operation: Operation::Create,
        after: 1, // the next segment can be made
        times: u64::MAX,
        kind: std::io::ErrorKind::StorageFull,
        short: 0,
    });
    let forgotten = wal.forget(&[stream(1)]).unwrap();
    assert!(forgotten.left > 0, "{forgotten:?}");
    assert_eq!(entries(&wal, stream(1)), vec![]);
    disk.heal();
    let again = wal.forget(&[]).unwrap();
    assert_eq!((again.streams, again.left), (0, 0));
    assert!(again.disk_after < again.disk_before);
    assert_eq!([0, 2].map(|id| records(&wal, stream(id))), whole);
    assert_eq!(wal.verify().unwrap().state, State::Clean);
}

#[test]
fn readers_that_began_before_end_quietly() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::default().segment_size(SMALL);
    let (wal, _) = Wal::open_with(directory.path(), options, None).unwrap();
    for seq in 0..40 {
        append(&wal, stream(1), seq, 1);
        append(&wal, stream(2), seq, 1);
    }
    let reader = Reader::open(directory.path()).unwrap();
    let mut begun = wal.read(stream(1), 0, u64::MAX);
    let mut elsewhere = reader.read(stream(1), 0, u64::MAX);
    let first = begun.next().unwrap().unwrap();
    assert!(elsewhere.next().unwrap().is_ok());
    wal.forget(&[stream(1)]).unwrap();
    append(&wal, stream(1), 0, 5);
    assert!(matches!(first, Entry::Record(record) if record.seq == 0));
    assert_eq!(begun.count(), 0, "the new stream is not the old one");
    // Files that were open are read on; what is opened again has nothing of it.
    for entry in elsewhere {
        let Entry::Record(record) = entry.unwrap() else {
            panic!("a gap")
        };
        assert_eq!(record.stream, stream(1));
    }
    assert_eq!(reader.read(stream(2), 0, u64::MAX).count(), 40);
    let fresh = Reader::open(directory.path()).unwrap();
    assert_eq!(fresh.heads(stream(1)).unwrap().accepted, 4);
    assert_eq!(fresh.recovered().state, State::Clean);
}

#[test]
fn what_is_finished_is_not_begun_again() {
    use recount_wal::disk::{Fault, Operation};
    let disk = SimulatedDisk::new();
    let wal = written(&disk);
    wal.forget(&[stream(1)]).unwrap();
    wal.close().unwrap();
    disk.fail(Fault {
        operation: Operation::Create,
        after: 0,
        times: u64::MAX,
        kind: std::io::ErrorKind::StorageFull,
        short: 0,
    });
    let (wal, _) = open(&disk);
    assert_eq!(
        wal.forget(&[]).unwrap().left,
        0,
        "no segment names the stream any more"
    );
}

#[test]
fn a_note_that_is_damaged_later_makes_nothing_look_lost() {
    let disk = SimulatedDisk::new();
    let wal = written(&disk);
    // The last record of the log is one of the stream's.
    let last = wal.heads(stream(1)).unwrap().accepted;
    append(&wal, stream(1), last + 1, 1);
    wal.forget(&[stream(1)]).unwrap();
    let next = wal.heads(stream(0)).unwrap().accepted + 1;
    append(&wal, stream(0), next, 2);
    append(
        &wal,
        stream(2),
        wal.heads(stream(2)).unwrap().accepted + 1,
        1,
    );
    let place = records(&wal, stream(0))[next as usize].place.unwrap();
    wal.close().unwrap();
    let name = format!("segments/{:016x}.seg", place.segment);
    let bytes = disk.bytes(&name).unwrap();
    for at in (128..place.offset as usize).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 4;
        let broken = disk.crashed(Survival::Kept);
        broken.put(&name, flipped);
        let (wal, recovered) = open(&broken);
        assert_eq!(wal.heads(stream(1)), None, "at={at} {recovered:?}");
        assert!(
            recovered.damaged.iter().all(|damage| damage.lost.is_none()),
            "at={at} {recovered:?}"
        );
        kill(wal);
    }
}

/// A log of one large segment, in which what follows each record of the stream says so.
#[test]
fn damage_beside_what_was_forgotten_is_not_taken_for_it() {
    let disk = SimulatedDisk::new();
    let options = Options::default()
        .segment_size(1 << 20)
        .ahead(0)
        .compress(false);
    let (wal, _) = Wal::open_on(Arc::new(disk.clone()), options).unwrap();
    for seq in 0..60 {
        append(&wal, stream(1), seq, 1);
        let mut batch = batch(stream(2), seq, 1);
        batch.records[0].contents[0].bytes = (0..6000_u32).map(blake).collect::<Vec<_>>().into();
        wal.append(batch, Class::Synced).unwrap();
    }
    wal.forget(&[stream(1)]).unwrap();
    wal.close().unwrap();
    let name = segments(&disk)[0].clone();
    let bytes = disk.bytes(&name).unwrap();
    for at in (128 + 57..bytes.len() - 200).step_by(40_009) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 4;
        let broken = disk.crashed(Survival::Kept);
        broken.put(&name, flipped);
        let reader = Reader::open_on(Arc::new(broken)).unwrap();
        let verification = reader.verify().unwrap();
        assert_eq!(verification.state, State::Damaged, "at={at}");
        let named = verification.damaged.iter().filter_map(|damage| damage.lost);
        for (id, ..) in named {
            assert_eq!(id, stream(2), "at={at}");
        }
        assert_eq!(reader.heads(stream(1)), None);
    }
}
