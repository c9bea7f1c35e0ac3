//! Names of the sessions of a log that is only read.

use crate::host::found;
use recount_events::Event;
use recount_wal::{Entry, Reader, Record, StreamId};
use std::collections::BTreeMap;

/// How many records are looked at for a name: an archive that was imported under another one says so behind its events.
const WITHIN: usize = 10_000;

/// The names of the streams, with something to call those whose names cannot be read.
pub(super) struct Names {
    names: BTreeMap<StreamId, String>,
}

impl Names {
    /// Reads them.
    pub(super) fn of(reader: &Reader) -> Self {
        let named = |stream: StreamId| Some((stream, name(reader, stream)?));
        let streams = reader.streams().into_iter();
        Self {
            names: streams.filter_map(|info| named(info.stream)).collect(),
        }
    }

    /// What a stream is called.
    pub(super) fn get(&self, stream: StreamId) -> String {
        let unnamed = || format!("(unnamed {stream})");
        self.names.get(&stream).cloned().unwrap_or_else(unnamed)
    }
}

fn name(reader: &Reader, stream: StreamId) -> Option<String> {
    let key = reader.key();
    reader
        .read(stream, 0, u64::MAX)
        .take(WITHIN)
        .filter_map(|entry| match entry {
            Ok(Entry::Record(record)) => event(&record),
            _ => None,
        })
        .filter_map(|event| crate::host::name_in(&event))
        .find(|name| crate::host::stream_of(&key, name) == stream)
}

/// The event of a record.
pub(super) fn event(record: &Record) -> Option<Event> {
    let contents = record.contents.iter().cloned().map(found).collect();
    Event::decode(record.kind, record.schema, &record.body, contents).ok()
}
