//! Shared by the tests of the log: small batches, a way to read everything back.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::Arc;

use recount_wal::disk::SimulatedDisk;
use recount_wal::{
    Batch, Class, Content, Entry, NewRecord, Options, Record, Recovered, StreamId, Wal,
};

pub(crate) const SMALL: u64 = 4096;

pub(crate) fn stream(number: u8) -> StreamId {
    StreamId([number; 16])
}

pub(crate) fn record(text: &str) -> NewRecord {
    let content = Content {
        salt: [7; 16],
        bytes: format!("content of {text}").into_bytes().into(),
    };
    NewRecord {
        time: 42,
        kind: 3,
        schema: 1,
        body: text.as_bytes().to_vec(),
        contents: vec![content],
    }
}

/// A batch of `count` records from `first` on; its tag is made of its first seq.
pub(crate) fn batch(id: StreamId, first: u64, count: u64) -> Batch {
    let records = (first..first + count)
        .map(|seq| record(&format!("{id} {seq}")))
        .collect();
    let mut tag = [0; 32];
    tag[..8].copy_from_slice(&first.to_le_bytes());
    Batch {
        stream: id,
        first,
        records,
        tag: Some(tag),
        origin: None,
    }
}

pub(crate) fn open(disk: &SimulatedDisk) -> (Wal, Recovered) {
    Wal::open_on(
        Arc::new(disk.clone()),
        Options::default()
            .segment_size(SMALL)
            .ahead(0)
            .compress(false),
    )
    .unwrap()
}

pub(crate) fn append(wal: &Wal, id: StreamId, first: u64, count: u64) {
    wal.append(batch(id, first, count), Class::Synced).unwrap();
}

pub(crate) fn entries(wal: &Wal, id: StreamId) -> Vec<Entry> {
    wal.read(id, 0, u64::MAX).map(Result::unwrap).collect()
}

pub(crate) fn records(wal: &Wal, id: StreamId) -> Vec<Record> {
    let only = |entry| match entry {
        Entry::Record(record) => Some(*record),
        Entry::Gap(_) => None,
    };
    entries(wal, id).into_iter().filter_map(only).collect()
}

pub(crate) fn seqs(wal: &Wal, id: StreamId) -> Vec<u64> {
    records(wal, id).iter().map(|record| record.seq).collect()
}

/// Leaves a log as a killed process does: nothing more is written.
pub(crate) fn kill(wal: Wal) {
    std::mem::forget(wal);
}
