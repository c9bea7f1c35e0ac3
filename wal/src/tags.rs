//! The tags of a stream, read backwards from its newest batch.
//!
//! - Only heads of frames are read; a batch is skipped from its last record to its first.

use std::io;
use std::sync::Arc;

use crate::error::ReadError;
use crate::format::head::{FrameKind, Head};
use crate::queue::Pending;
use crate::read::Lookup;
use crate::record::{Place, StreamId, Tagged};
use crate::segment::source::Source;

/// How many tags a stream is opened with.
pub(crate) const NEWEST: usize = 1024;

enum Next {
    /// A batch in memory.
    Waiting(Option<Tagged>, u64),
    At(u64, Place),
    Lost(u64),
    End,
}

/// The newest tags, oldest first.
pub(crate) fn newest(
    lookup: &impl Lookup,
    stream: StreamId,
    limit: usize,
) -> Result<Vec<Tagged>, ReadError> {
    let mut tags = Vec::new();
    walk(lookup, stream, |tagged| {
        tags.push(tagged);
        tags.len() < limit
    })?;
    tags.reverse();
    Ok(tags)
}

/// The newest batch whose tag begins with `key`.
pub(crate) fn find(
    lookup: &impl Lookup,
    stream: StreamId,
    key: [u8; 16],
) -> Result<Option<Tagged>, ReadError> {
    let mut found = None;
    walk(lookup, stream, |tagged| {
        found = Some(tagged).filter(|tagged| tagged.tag.starts_with(&key));
        found.is_none()
    })?;
    Ok(found)
}

/// The newest batch in memory whose tag begins with `key`.
pub(crate) fn waiting(lookup: &impl Lookup, id: StreamId, key: [u8; 16]) -> Option<Tagged> {
    lookup.with_index(|index| {
        let waiting = index.streams.get(&id)?.pending.iter().rev();
        let tagged = |pending: &Arc<Pending>| {
            Some(Tagged {
                tag: pending.tag?,
                first: pending.first,
                last: pending.last,
            })
        };
        waiting
            .filter_map(tagged)
            .find(|tagged| tagged.tag.starts_with(&key))
    })
}

/// Hands over tags, newest first, until it is told to stop.
fn walk(
    lookup: &impl Lookup,
    stream: StreamId,
    mut more: impl FnMut(Tagged) -> bool,
) -> Result<(), ReadError> {
    let mut seq = u64::MAX;
    loop {
        let (tagged, first) = match next(lookup, stream, seq) {
            Next::End => return Ok(()),
            Next::Lost(seq) => (None, seq),
            Next::Waiting(tagged, first) => (tagged, first),
            Next::At(at, place) => {
                let refused = |source| ReadError::Io {
                    segment: place.segment,
                    offset: place.offset,
                    source,
                };
                at_place(lookup, stream, at, place).map_err(refused)?
            }
        };
        if tagged.is_some_and(|tagged| !more(tagged)) {
            return Ok(());
        }
        match first.checked_sub(1) {
            Some(before) => seq = before,
            None => return Ok(()),
        }
    }
}

fn next(lookup: &impl Lookup, id: StreamId, seq: u64) -> Next {
    lookup.with_index(|index| {
        let Some(stream) = index.streams.get(&id).filter(|stream| seq >= stream.first) else {
            return Next::End;
        };
        let seq = seq.min(stream.head);
        let inside = |pending: &&Arc<Pending>| (pending.first..=pending.last).contains(&seq);
        if let Some(pending) = stream.pending.iter().find(inside) {
            let tagged = pending.tag.map(|tag| Tagged {
                tag,
                first: pending.first,
                last: pending.last,
            });
            return Next::Waiting(tagged, pending.first);
        }
        match stream.place(seq) {
            Some(place) => Next::At(seq, place),
            None => Next::Lost(seq),
        }
    })
}

/// The tag of the batch that ends here or, when its first record is elsewhere, where that is.
fn at_place(
    lookup: &impl Lookup,
    stream: StreamId,
    seq: u64,
    place: Place,
) -> io::Result<(Option<Tagged>, u64)> {
    let file = match lookup.handles().get(place.segment) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((None, seq)),
        other => other?,
    };
    let source = Source {
        file: file.as_ref(),
        segment: place.segment,
        keys: lookup.keys(),
    };
    let ours =
        |head: &Head| head.frame == FrameKind::Record && head.stream == stream && head.seq == seq;
    let Some(head) = source.head(place.offset)?.filter(ours) else {
        return Ok((None, seq));
    };
    if head.seq > head.batch.0 {
        return Ok((None, head.batch.0.saturating_add(1)));
    }
    let tagged = head.tag.map(|tag| Tagged {
        tag,
        first: head.batch.0,
        last: head.batch.1,
    });
    Ok((tagged, seq))
}
