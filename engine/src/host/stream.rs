//! Reading a session's positions in order, inherited ones from its parents.

use super::directory::Directory;
use super::read::{Read, read};
use crate::{Error, ErrorKind};
use recount_events::Body;
use recount_wal::{StreamId, Wal};

/// How many forks of forks are followed.
const DEPTH: usize = 100_000;

/// A stream and the first and last position that it holds of a session.
pub(super) type Part = (StreamId, u64, u64);

/// Visits the positions `from ..= to` of a session, in order.
pub(super) fn visit(
    dir: &Directory,
    log: &Wal,
    stream: StreamId,
    from: u64,
    to: u64,
    take: &mut dyn FnMut(Read) -> Result<(), Error>,
) -> Result<(), Error> {
    for (stream, first, last) in parts(dir, log, stream, from, to)? {
        for entry in read(log, stream, first, last) {
            take(entry?)?;
        }
    }
    Ok(())
}

/// Which streams hold the positions, oldest first.
pub(super) fn parts(
    dir: &Directory,
    log: &Wal,
    stream: StreamId,
    from: u64,
    to: u64,
) -> Result<Vec<Part>, Error> {
    let mut found = Vec::new();
    let (mut stream, mut to) = (stream, to);
    while found.len() < DEPTH {
        let origin = origin(dir, log, stream)?;
        let first = origin.map_or(0, |(_, inherited)| inherited.saturating_add(1));
        if to >= first {
            found.push((stream, first.max(from), to));
        }
        match origin {
            Some((parent, inherited)) if from < first => {
                stream = parent;
                to = to.min(inherited);
            }
            _ => {
                found.reverse();
                return Ok(found);
            }
        }
    }
    Err(Error::new(
        ErrorKind::Damaged,
        "forks that continue each other in a circle",
    ))
}

/// The parent's stream and the last inherited position, of a fork whose parent is there.
pub(super) fn origin(
    dir: &Directory,
    log: &Wal,
    stream: StreamId,
) -> Result<Option<(StreamId, u64)>, Error> {
    let Some(entry) = read(log, stream, 0, u64::MAX).next() else {
        return Ok(None);
    };
    let Read::Event(event, record) = entry? else {
        return Ok(None);
    };
    let Body::Forked(forked) = &event.body else {
        return Ok(None);
    };
    let parent = dir.stream(forked.from.as_str().unwrap_or_default());
    let there = log.heads(parent).is_some() && forked.seq.0.checked_add(1) == Some(record.seq);
    Ok(there.then_some((parent, forked.seq.0)))
}
