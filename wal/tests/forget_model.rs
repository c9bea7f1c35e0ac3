//! Forgetting, erasing, compressing, closing and crashing in any order: the log is what a list of lists says.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::*;
use proptest::prelude::*;
use recount_wal::disk::{SimulatedDisk, Survival};
use recount_wal::{Class, ContentAt, Reader, State, Stored, Wal};

/// What happens to a log.
#[derive(Clone, Debug)]
enum Step {
    Append(u8, u8, u16),
    Forget(Vec<u8>),
    Erase(u8, u8),
    Compress,
    Reopen,
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..4_u8, 1..4_u8, 0..3000_u16).prop_map(|(id, count, size)| Step::Append(id, count, size)),
        2 => prop::collection::vec(0..5_u8, 0..3).prop_map(Step::Forget),
        1 => (0..4_u8, 0..8_u8).prop_map(|(id, seq)| Step::Erase(id, seq)),
        1 => Just(Step::Compress),
        1 => Just(Step::Reopen),
        1 => Just(Step::Crash),
    ]
}

/// The log without disk, segments or index: for each stream its contents, none once it is erased.
type Model = BTreeMap<u8, Vec<Option<Vec<u8>>>>;

fn contents(seq: u64, size: u16) -> Vec<u8> {
    (0..u32::from(size))
        .map(|at| blake(at / 3).wrapping_add(seq as u8))
        .collect()
}

fn agrees(wal: &Wal, model: &Model) {
    let ids: Vec<_> = wal.streams().iter().map(|info| info.stream).collect();
    assert_eq!(ids, model.keys().map(|id| stream(*id)).collect::<Vec<_>>());
    for id in 0..5 {
        let read: Vec<_> = records(wal, stream(id))
            .into_iter()
            .map(|record| match &record.contents[0] {
                Stored::Here(content) => Some(content.bytes.to_vec()),
                Stored::Erased => None,
                Stored::Lost => panic!("a content is lost"),
            })
            .collect();
        assert_eq!(
            read,
            model.get(&id).cloned().unwrap_or_default(),
            "stream={id}"
        );
    }
}

fn carry_out(wal: &Wal, model: &mut Model, step: &Step) {
    match step {
        Step::Append(id, count, size) => {
            let stored = model.entry(*id).or_default();
            let first = stored.len() as u64;
            let mut batch = batch(stream(*id), first, u64::from(*count));
            for (record, seq) in batch.records.iter_mut().zip(first..) {
                record.contents[0].bytes = contents(seq, *size).into();
                stored.push(Some(contents(seq, *size)));
            }
            wal.append(batch, Class::Synced).unwrap();
        }
        Step::Forget(ids) => {
            let streams: Vec<_> = ids.iter().map(|id| stream(*id)).collect();
            let there: BTreeSet<_> = ids.iter().filter(|id| model.contains_key(id)).collect();
            let forgotten = wal.forget(&streams).unwrap();
            assert_eq!((forgotten.streams, forgotten.left), (there.len() as u64, 0));
            let records: usize = there.iter().map(|id| model[id].len()).sum();
            assert_eq!(forgotten.records, records as u64);
            ids.iter().for_each(|id| drop(model.remove(id)));
        }
        Step::Erase(id, seq) => {
            let target = ContentAt {
                stream: stream(*id),
                seq: u64::from(*seq),
                index: 0,
            };
            let there = model
                .get_mut(id)
                .and_then(|stored| stored.get_mut(usize::from(*seq)));
            let erased = wal.erase(&[target]).unwrap();
            assert_eq!(
                erased,
                u64::from(there.as_ref().is_some_and(|content| content.is_some()))
            );
            there.into_iter().for_each(|content| *content = None);
        }
        Step::Compress => drop(wal.compress_now().unwrap()),
        Step::Reopen | Step::Crash => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_forgotten_erased_compressed_and_reopened_the_log_is_its_model(steps in prop::collection::vec(step(), 1..50)) {
        let mut disk = SimulatedDisk::new();
        let mut model = Model::new();
        let (mut wal, _) = open(&disk);
        for step in &steps {
            carry_out(&wal, &mut model, step);
            if matches!(step, Step::Reopen | Step::Crash) {
                if matches!(step, Step::Reopen) {
                    wal.close().unwrap();
                } else {
                    kill(wal);
                    disk = disk.crashed(Survival::Lost);
                }
                let (again, recovered) = open(&disk);
                prop_assert_eq!(recovered.state, State::Clean, "{:?}", recovered);
                wal = again;
            }
            agrees(&wal, &model);
        }
        let verification = wal.verify().unwrap();
        prop_assert_eq!(verification.state, State::Clean, "{:?}", verification);
        let reader = Reader::open_on(Arc::new(disk.clone())).unwrap();
        prop_assert_eq!(reader.streams(), wal.streams());
        wal.close().unwrap();
    }
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
