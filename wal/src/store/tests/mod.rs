//! Laws of the store, on segments that are a list in memory.

mod again;
mod chunk;
mod doubt;
mod faults;
mod follow;
mod gate;
mod salvage;
mod search;
mod stores;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::source::VisitRecord;
use super::*;
use crate::record::{ContentPlace, Heads, Place, Record, RecordDigest, StreamId, StreamInfo};

pub(super) const LONG: Duration = Duration::from_secs(60);
pub(super) const IDENTITY: [u8; 16] = [7; 16];

/// Segments that are a list.
#[derive(Default)]
pub(super) struct Log {
    records: Mutex<Vec<Record>>,
    heads: Mutex<BTreeMap<StreamId, StreamInfo>>,
}

impl Log {
    pub(super) fn all(&self) -> Vec<Record> {
        self.records.lock().unwrap().clone()
    }

    /// The next record of a stream, not yet committed.
    pub(super) fn next(&self, stream: StreamId, body: Vec<u8>) -> Record {
        let heads = self.heads.lock().unwrap();
        let info = heads.get(&stream);
        let seq = info.map_or(0, |info| info.heads.accepted + 1);
        let previous = info.map_or(RecordDigest::ROOT, |info| info.heads.digest);
        let offset = self.records.lock().unwrap().len() as u64 * 1_000;
        let contents = seq % 3;
        Record {
            stream,
            seq,
            time: 1_000 + seq,
            kind: (seq % 7) as u16,
            schema: 1,
            digest: RecordDigest::of(previous, seq, (seq % 7) as u16, 1, &body),
            body,
            contents: Vec::new(),
            previous,
            tag: seq.is_multiple_of(2).then(|| tag(stream, seq)),
            batch: (seq, seq),
            place: Some(Place { segment: 0, offset }),
            content_places: (0..contents)
                .map(|n| ContentPlace {
                    place: Place {
                        segment: 0,
                        offset: offset + 500 + n,
                    },
                    length: 3,
                })
                .collect(),
        }
    }

    pub(super) fn append(&self, record: Record) {
        self.heads
            .lock()
            .unwrap()
            .entry(record.stream)
            .or_insert(StreamInfo {
                stream: record.stream,
                first: record.seq,
                heads: Heads {
                    accepted: 0,
                    durable: None,
                    digest: record.digest,
                    time: 0,
                },
            });
        let mut heads = self.heads.lock().unwrap();
        if let Some(info) = heads.get_mut(&record.stream) {
            info.heads = Heads {
                accepted: record.seq,
                durable: Some(record.seq),
                digest: record.digest,
                time: record.time,
            };
        }
        self.records.lock().unwrap().push(record);
    }

    /// Appends that many records of small bodies over some streams.
    pub(super) fn grow(&self, streams: u8, records: u32) -> Vec<Record> {
        let mut all = Vec::new();
        for n in 0..records {
            let stream = id((n % u32::from(streams)) as u8);
            let record = self.next(stream, format!("body {n}").into_bytes());
            self.append(record.clone());
            all.push(record);
        }
        all
    }

    /// Damage takes records; the heads stay.
    pub(super) fn lose(&self, stream: StreamId, first: u64, last: u64) {
        let lost =
            |record: &Record| record.stream == stream && (first..=last).contains(&record.seq);
        self.records.lock().unwrap().retain(|record| !lost(record));
    }

    /// An older copy of the segments comes back.
    pub(super) fn cut(&self, stream: StreamId, head: u64) {
        self.lose(stream, head + 1, u64::MAX);
        let last = self
            .all()
            .into_iter()
            .rfind(|record| record.stream == stream)
            .unwrap();
        let mut heads = self.heads.lock().unwrap();
        let info = heads.get_mut(&stream).unwrap();
        info.heads = Heads {
            accepted: head,
            durable: Some(head),
            digest: last.digest,
            time: last.time,
        };
    }
}

impl Segments for Log {
    fn streams(&self) -> Vec<StreamInfo> {
        self.heads.lock().unwrap().values().copied().collect()
    }

    fn read(
        &self,
        stream: StreamId,
        from: u64,
        to: u64,
        visit: &mut VisitRecord<'_>,
    ) -> Result<(), SourceError> {
        for record in self.all() {
            let wanted = record.stream == stream && (from..=to).contains(&record.seq);
            if wanted && visit(&record).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn scan(&self, visit: &mut VisitRecord<'_>) -> Result<(), SourceError> {
        for record in self.all() {
            if let ControlFlow::Break(()) = visit(&record) {
                break;
            }
        }
        Ok(())
    }
}

pub(super) fn id(n: u8) -> StreamId {
    StreamId([n; 16])
}

pub(super) fn tag(stream: StreamId, seq: u64) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&stream.0);
    hasher.update(&seq.to_le_bytes());
    *hasher.finalize().as_bytes()
}

pub(super) fn options() -> StoreOptions {
    StoreOptions {
        idle: Duration::from_millis(20),
        wait: LONG,
        close: LONG,
        patience: LONG,
        ..StoreOptions::default()
    }
}

pub(super) fn start(directory: &Path, log: &Arc<Log>, options: StoreOptions) -> EventLog {
    let segments: Arc<dyn Segments> = Arc::clone(log) as Arc<dyn Segments>;
    EventLog::start(directory, IDENTITY, segments, options)
}

/// Starts a store and waits until it serves reads.
pub(super) fn ready(directory: &Path, log: &Arc<Log>) -> EventLog {
    let store = start(directory, log, options());
    assert!(store.wait_ready(LONG), "{:?}", store.status());
    store
}

/// Reads a stream as the log does; also says how many records came from the store.
pub(super) fn read(store: &EventLog, log: &Log, stream: StreamId) -> (Vec<Record>, usize) {
    let (mut all, mut from_store, mut from) = (Vec::new(), 0, 0);
    let to = log.heads.lock().unwrap()[&stream].heads.accepted;
    while from <= to {
        match store.part(stream, from, to) {
            Part::Records(records) => {
                assert_eq!(records[0].seq, from);
                from = records.last().unwrap().seq + 1;
                from_store += records.len();
                all.extend(records);
            }
            Part::Elsewhere(until) => {
                assert!(until >= from && until <= to);
                log.read(stream, from, until, &mut |record| {
                    all.push(record.clone());
                    ControlFlow::Continue(())
                })
                .unwrap();
                from = until + 1;
            }
        }
    }
    (all, from_store)
}

/// Every stream reads like the segments, and from the store as far as `at_least` records.
pub(super) fn assert_equal(store: &EventLog, log: &Log, at_least: usize) {
    let mut served = 0;
    for info in log.streams() {
        let (found, from_store) = read(store, log, info.stream);
        let expected: Vec<Record> = log
            .all()
            .into_iter()
            .filter(|record| record.stream == info.stream)
            .collect();
        assert_eq!(found, expected);
        served += from_store;
    }
    assert!(
        served >= at_least,
        "only {served} records came from the store: {:?}",
        store.status()
    );
}
