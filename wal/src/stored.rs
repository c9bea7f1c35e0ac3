//! Reading and searching through the store where it knows, through the segments where it does not.
//!
//! - The answers are those of the segments; only records that damage took from them may come from the store alone.
//! - Contents always come from the segments, each checked against its own checksum.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use crate::commit::Shared;
use crate::error::ReadError;
use crate::feed::Feed;
use crate::follow::Follower;
use crate::read::{self, Entries};
use crate::record::{ContentPlace, Entry, Record, Stored, StreamId};
use crate::recovered::{Damage, Recovered};
use crate::store::{EventLog, Part, StoreOptions, StoreState};
use crate::verify::ContentAt;

/// Tells the store of commits.
pub(crate) struct ToStore(pub(crate) Arc<EventLog>);

impl std::fmt::Debug for ToStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ToStore")
    }
}

impl Follower for ToStore {
    fn committed(&self, records: &[Record]) {
        self.0.committed(records);
    }

    fn forgotten(&self, _streams: &[StreamId]) {
        // Rows that are taken away leave their bytes behind; a new store does not.
        self.0.rebuild();
    }
}

/// The key-derivation context of a directory's identity in its store; part of the store's format.
pub(crate) const IDENTITY: &str = "recount wal 2026-11-29 store identity v1";

/// Up to so many bytes of segments a comparison with the store takes moments, and is waited for.
const SOON: u64 = 64 << 20;

/// Starts the store of an open log, waits for its comparison if that is short, and adds to the report what that found.
pub(crate) fn start(
    shared: &Arc<Shared>,
    directory: &Path,
    options: StoreOptions,
    recovered: &mut Recovered,
) -> Arc<EventLog> {
    let derived = blake3::derive_key(IDENTITY, &shared.keys.directory);
    let [identity, _] = split(derived);
    let (wait, evidence) = (options.wait, options.evidence);
    let feed = Arc::new(Feed(Arc::clone(shared)));
    let log = Arc::new(EventLog::start(directory, identity, feed, options));
    shared.follow(Arc::new(ToStore(Arc::clone(&log))));
    // Nobody appends before it is known which positions were given to records that are lost now.
    log.wait_weighed(evidence);
    // A long comparison goes on behind; reads go to the segments meanwhile.
    if shared.counters.stats(0).bytes <= SOON {
        log.wait_compared(wait);
    }
    let lost = shared.proven().clone();
    report(&log, lost, recovered);
    log
}

fn split(bytes: [u8; 32]) -> [[u8; 16]; 2] {
    let (halves, _) = bytes.as_chunks::<16>();
    [
        halves.first().copied().unwrap_or_default(),
        halves.get(1).copied().unwrap_or_default(),
    ]
}

fn report(log: &EventLog, lost: Vec<Damage>, recovered: &mut Recovered) {
    let status = log.status();
    recovered.no_evidence = (!status.weighed).then(|| match (&status.rebuilt, &status.state) {
        (Some(doubt), _) | (None, StoreState::Off(doubt)) => doubt.to_string(),
        _ => "the store did not open in time".to_owned(),
    });
    recovered.rebuilt = status.rebuilt.map(|doubt| doubt.to_string());
    recovered.salvaged = status.salvaged;
    let worst = lost.iter().map(Damage::state).max();
    recovered.state = recovered.state.max(worst.unwrap_or_default());
    recovered.damaged.extend(lost);
}

/// Whether contents are fetched from the segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    Read,
    Left,
}

/// The entries of a stream, in order.
pub(crate) struct StoredEntries {
    shared: Arc<Shared>,
    log: Option<Arc<EventLog>>,
    stream: StreamId,
    next: Option<u64>,
    to: u64,
    ready: VecDeque<Record>,
    contents: Contents,
    /// A stretch that is read from the segments.
    stretch: Option<Entries<Arc<Shared>>>,
}

impl StoredEntries {
    pub(crate) fn new(
        shared: Arc<Shared>,
        log: Option<Arc<EventLog>>,
        stream: StreamId,
        from: u64,
        to: u64,
    ) -> StoredEntries {
        StoredEntries {
            shared,
            log,
            stream,
            next: Some(from),
            to,
            ready: VecDeque::new(),
            contents: Contents::Read,
            stretch: None,
        }
    }

    /// The same entries with their contents left where they are.
    pub(crate) fn without_contents(self) -> StoredEntries {
        StoredEntries {
            contents: Contents::Left,
            ..self
        }
    }

    /// Finds the next stretch; false at the end.
    fn advance(&mut self) -> bool {
        let Some(from) = self.next.filter(|from| *from <= self.to) else {
            return false;
        };
        let part = self.log.as_ref().map_or(Part::Elsewhere(self.to), |log| {
            log.part(self.stream, from, self.to)
        });
        let last = match part {
            Part::Records(records) => {
                let last = records.last().map_or(from, |record| record.seq);
                self.ready = records.into();
                last
            }
            Part::Elsewhere(last) => {
                let shared = Arc::clone(&self.shared);
                let entries = Entries::new(shared, self.stream, from, last);
                self.stretch = Some(match self.contents {
                    Contents::Read => entries,
                    Contents::Left => entries.without_contents(),
                });
                last
            }
        };
        self.next = last.checked_add(1);
        true
    }

    fn entry(&mut self, mut record: Record) -> Result<Entry, ReadError> {
        if self.contents == Contents::Read {
            record.contents = contents(&self.shared, &record).inspect_err(|_| self.next = None)?;
        }
        Ok(Entry::Record(Box::new(record)))
    }
}

impl Iterator for StoredEntries {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Some(self.entry(record));
            }
            if let Some(entry) = self.stretch.as_mut().and_then(Iterator::next) {
                if entry.is_err() {
                    self.next = None;
                }
                return Some(entry);
            }
            self.stretch = None;
            if !self.advance() {
                return None;
            }
        }
    }
}

fn contents(shared: &Shared, record: &Record) -> Result<Vec<Stored>, ReadError> {
    let one = |(index, at): (u32, &ContentPlace)| {
        let of = ContentAt {
            stream: record.stream,
            seq: record.seq,
            index,
        };
        read::content(&shared.handles, &shared.keys, of, *at)
    };
    (0..).zip(&record.content_places).map(one).collect()
}
