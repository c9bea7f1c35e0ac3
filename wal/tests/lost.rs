//! The newest segment cut short: what is missing at its end is named for ever, and its positions are never given again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::*;
use recount_wal::store::StoreOptions;
use recount_wal::{Class, Damage, Entry, Options, Reader, Record, Recovered, State, StreamId, Wal};

const STREAMS: u8 = 3;

fn opened(directory: &Path) -> (Wal, Recovered) {
    Wal::open_with(
        directory,
        Options::default()
            .segment_size(16 << 10)
            .ahead(0)
            .compress(false),
        Some(StoreOptions::default()),
    )
    .unwrap()
}

/// A log that was closed cleanly, and every record that it held.
fn closed(batches: u64) -> (tempfile::TempDir, Vec<Record>) {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = opened(directory.path());
    for step in 0..batches {
        let id = stream(1 + (step % u64::from(STREAMS)) as u8);
        let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
        append(&wal, id, first, 1 + step % 2);
    }
    let all = all(&wal);
    wal.close().unwrap();
    (directory, all)
}

fn all(wal: &Wal) -> Vec<Record> {
    (1..=STREAMS)
        .flat_map(|number| records(wal, stream(number)))
        .collect()
}

fn newest(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory.join("segments")).unwrap();
    entries.map(|entry| entry.unwrap().path()).max().unwrap()
}

fn heads(all: &[Record], id: StreamId) -> (u64, recount_wal::RecordDigest) {
    let last = all.iter().rfind(|record| record.stream == id).unwrap();
    (last.seq, last.digest)
}

fn lost(damaged: &[Damage], id: StreamId) -> Vec<(u64, u64)> {
    let of = damaged.iter().filter_map(|damage| damage.lost);
    of.filter(|(owner, ..)| *owner == id)
        .map(|(_, first, last)| (first, last))
        .collect()
}

/// What must hold after a cut, at this open and at every later one.
fn law(directory: &Path, before: &[Record], context: &str) -> bool {
    let reader = Reader::open(directory).unwrap();
    let kept: Vec<Option<u64>> = (1..=STREAMS)
        .map(|number| reader.heads(stream(number)).map(|heads| heads.accepted))
        .collect();
    let (wal, recovered) = opened(directory);
    let mut any = false;
    for (number, kept) in (1..=STREAMS).zip(&kept) {
        let id = stream(number);
        let (last, digest) = heads(before, id);
        let first = kept.map_or(0, |kept| kept + 1);
        let expected: Vec<(u64, u64)> = (first <= last)
            .then_some((first, last))
            .into_iter()
            .collect();
        any |= !expected.is_empty();
        assert_eq!(
            lost(&recovered.damaged, id),
            expected,
            "{context}: {recovered:?}"
        );
        let now = wal.heads(id).unwrap();
        assert_eq!((now.accepted, now.digest), (last, digest), "{context}");
    }
    if any {
        assert_eq!(
            recovered.state,
            State::Truncated,
            "{context}: {recovered:?}"
        );
        let of = recovered
            .damaged
            .iter()
            .filter(|damage| damage.lost.is_some());
        assert!(
            of.clone()
                .all(|damage| damage.offset > 0 && damage.bytes == 0),
            "{context}: {recovered:?}"
        );
    }
    // The next append follows the last position ever given, and says by its digest what it follows.
    let mut following = Vec::new();
    for number in 1..=STREAMS {
        let id = stream(number);
        let (last, digest) = heads(before, id);
        let early = wal.append(batch(id, last, 1), Class::Synced);
        assert!(early.is_err(), "{context}: a lost position was given again");
        append(&wal, id, last + 1, 2);
        let added = records(&wal, id);
        let added = added.iter().find(|record| record.seq == last + 1).unwrap();
        assert_eq!(added.previous, digest, "{context}");
        following.push(added.clone());
    }
    let verification = wal.verify().unwrap();
    assert_eq!(verification.unchained, [], "{context}");
    if any {
        assert_eq!(
            verification.state,
            State::Truncated,
            "{context}: {verification:?}"
        );
    }
    wal.close().unwrap();
    // Also without the store, and however often it is opened.
    for round in 0..3 {
        if round == 1 {
            fs::remove_dir_all(directory.join("store")).unwrap();
        }
        let (wal, again) = opened(directory);
        assert_eq!(
            again.state, recovered.state,
            "{context} round {round}: {again:?}"
        );
        for (number, kept) in (1..=STREAMS).zip(&kept) {
            let id = stream(number);
            let (last, _) = heads(before, id);
            let first = kept.map_or(0, |kept| kept + 1);
            let expected: Vec<(u64, u64)> = (first <= last)
                .then_some((first, last))
                .into_iter()
                .collect();
            assert_eq!(
                lost(&again.damaged, id),
                expected,
                "{context} round {round}"
            );
            assert_eq!(
                lost(&wal.verify().unwrap().damaged, id),
                expected,
                "{context} round {round}"
            );
            assert_eq!(wal.heads(id).unwrap().accepted, last + 2, "{context}");
            let there = records(&wal, id);
            assert!(
                there.contains(&following[usize::from(number) - 1]),
                "{context}"
            );
        }
        wal.close().unwrap();
    }
    any
}

#[test]
fn positions_that_a_cut_took_are_never_given_again() {
    let (directory, before) = closed(24);
    let whole = fs::read(newest(directory.path())).unwrap();
    let mut cut_short = 0;
    // At frames' ends and in their middles, down to an empty file.
    for (at, context) in (0..12).map(|step| (whole.len() * step / 12, format!("cut at {step}/12")))
    {
        let copied = tempfile::tempdir().unwrap();
        copy(directory.path(), copied.path());
        fs::write(newest(copied.path()), &whole[..at]).unwrap();
        cut_short += u64::from(law(copied.path(), &before, &context));
    }
    assert!(cut_short > 5, "{cut_short}");
}

#[test]
fn a_segment_that_is_gone_with_whole_streams_is_told_of() {
    let (directory, before) = closed(3);
    fs::remove_file(newest(directory.path())).unwrap();
    assert!(law(directory.path(), &before, "the only segment is gone"));
}

#[test]
fn what_the_store_still_has_of_a_lost_end_is_served_and_still_reported() {
    let (directory, before) = closed(24);
    let name = newest(directory.path());
    let bytes = fs::read(&name).unwrap();
    fs::write(&name, &bytes[..bytes.len() / 2]).unwrap();
    let (wal, recovered) = opened(directory.path());
    assert_eq!(recovered.rebuilt, None, "{recovered:?}");
    assert!(!recovered.salvaged.is_empty(), "{recovered:?}");
    assert!(
        wal.store()
            .unwrap()
            .wait_ready(std::time::Duration::from_secs(20))
    );
    let bodies = |wal: &Wal| -> Vec<(u64, Vec<u8>)> {
        wal.read_bodies(stream(1), 0, u64::MAX)
            .filter_map(|entry| match entry.unwrap() {
                Entry::Record(record) => Some((record.seq, record.body)),
                Entry::Gap(_) => None,
            })
            .collect()
    };
    let expected: Vec<(u64, Vec<u8>)> = before
        .iter()
        .filter(|record| record.stream == stream(1))
        .map(|record| (record.seq, record.body.clone()))
        .collect();
    assert_eq!(bodies(&wal), expected);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}
