//! Reading positions of a stream: events, records that are none, and gaps.

use crate::{Error, ErrorKind};
use recount_events::{Event, Found};
use recount_wal::{Entry, Gap, Record, Stored, StreamId, Wal};

/// A position as it was read.
pub(super) enum Read {
    /// An event and its record.
    Event(Box<Event>, Box<Record>),
    /// A record that is no event.
    Unreadable(Box<Record>),
    /// Positions that are not there.
    Gap(Gap),
}

/// Reads a part of a stream.
pub(super) fn read(
    log: &Wal,
    stream: StreamId,
    from: u64,
    to: u64,
) -> impl Iterator<Item = Result<Read, Error>> + use<> {
    log.read(stream, from, to).map(|entry| match entry {
        Ok(Entry::Record(record)) => Ok(decode(record)),
        Ok(Entry::Gap(gap)) => Ok(Read::Gap(gap)),
        Err(cause) => Err(Error::new(
            ErrorKind::Io,
            format!("the log cannot be read: {cause}"),
        )),
    })
}

fn decode(record: Box<Record>) -> Read {
    let contents = record.contents.iter().cloned().map(found).collect();
    match Event::decode(record.kind, record.schema, &record.body, contents) {
        Ok(event) => Read::Event(Box::new(event), record),
        Err(_) => Read::Unreadable(record),
    }
}

/// A content of a record, as an event takes it.
pub(crate) fn found(stored: Stored) -> Found {
    match stored {
        Stored::Here(content) => Found::Here {
            salt: content.salt,
            bytes: content.bytes,
        },
        Stored::Lost => Found::Lost,
        Stored::Erased => Found::Erased,
    }
}
