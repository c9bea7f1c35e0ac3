//! Reading a stream in order, from memory where it is not durable yet, from the segments where it is.
//!
//! - Every frame is checked when it is read; what does not verify is a gap with its place.
//! - A reader holds no lock while it reads the disk.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::{Disk, SegmentFile};
use crate::error::ReadError;
use crate::format::Keys;
use crate::format::frame::{Frame, Owner};
use crate::format::head::FrameKind;
use crate::index::{Index, Stream};
use crate::queue::Pending;
use crate::record::{ContentPlace, Entry, Gap, Place, Record, Stored, StreamId};
use crate::segment::scan::unreadable;
use crate::segment::source::Source;
use crate::segment::view;
use crate::verify::ContentAt;

/// Open files at most; more are closed and opened again.
const OPEN: usize = 64;

/// Segments opened for reading.
#[derive(Debug)]
pub(crate) struct Handles {
    disk: Arc<dyn Disk>,
    keys: Keys,
    open: Mutex<HashMap<u64, Arc<dyn SegmentFile>>>,
}

impl Handles {
    pub(crate) fn new(disk: Arc<dyn Disk>, keys: Keys) -> Handles {
        Handles {
            disk,
            keys,
            open: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn get(&self, segment: u64) -> io::Result<Arc<dyn SegmentFile>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(&segment) {
            return Ok(Arc::clone(file));
        }
        if open.len() >= OPEN {
            open.clear();
        }
        let file = view::open(self.disk.as_ref(), &self.keys, segment)?.file;
        open.insert(segment, Arc::clone(&file));
        Ok(file)
    }

    /// Has a segment opened again, since another file has its name now; who reads the old one goes on.
    pub(crate) fn forget(&self, segment: u64) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&segment);
    }
}

/// One step of a read, decided under the index's lock and carried out without it.
#[derive(Debug)]
enum Step {
    At(u64, Place),
    Waiting(Arc<Pending>, u64),
    Gap(Gap),
    End,
}

/// What a read needs to know at each step.
pub(crate) trait Lookup {
    /// Looks at the index.
    fn with_index<T>(&self, look: impl FnOnce(&Index) -> T) -> T;
    /// The segments.
    fn handles(&self) -> &Handles;
    /// The directory's keys.
    fn keys(&self) -> &Keys;
}

/// The entries of a stream, in order.
#[derive(Debug)]
pub(crate) struct Entries<L> {
    lookup: L,
    stream: StreamId,
    next: Option<u64>,
    to: u64,
    contents: Contents,
    /// Which of the streams that had this id is read: one that was forgotten is not continued by the next.
    life: Option<u64>,
}

/// Whether contents are read along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    Read,
    Left,
}

impl<L: Lookup> Entries<L> {
    pub(crate) fn new(lookup: L, stream: StreamId, from: u64, to: u64) -> Entries<L> {
        let life = lookup.with_index(|index| index.life(stream));
        Entries {
            life,
            lookup,
            stream,
            next: Some(from),
            to,
            contents: Contents::Read,
        }
    }

    /// The same entries with their contents left where they are.
    pub(crate) fn without_contents(self) -> Entries<L> {
        Entries {
            contents: Contents::Left,
            ..self
        }
    }

    fn step(&mut self) -> Step {
        let Some(seq) = self.next.filter(|seq| *seq <= self.to) else {
            return Step::End;
        };
        let to = self.to;
        self.lookup
            .with_index(|index| match index.streams.get(&self.stream) {
                _ if index.life(self.stream) != self.life => Step::End,
                Some(stream) => step(index, stream, seq.max(stream.first), to),
                None => Step::End,
            })
    }

    fn entry(&mut self, step: Step) -> Option<Result<Entry, ReadError>> {
        match step {
            Step::End => None,
            Step::Gap(gap) => {
                self.next = gap.last.checked_add(1);
                Some(Ok(Entry::Gap(gap)))
            }
            Step::Waiting(pending, seq) => {
                self.next = seq.checked_add(1);
                let index = usize::try_from(seq.checked_sub(pending.first)?).ok()?;
                pending
                    .records
                    .get(index)
                    .map(|record| Ok(Entry::Record(Box::new(pending.record(record)))))
            }
            Step::At(seq, place) => {
                let read = self.lookup.handles().get(place.segment).and_then(|file| {
                    let source = Source {
                        file: file.as_ref(),
                        segment: place.segment,
                        keys: self.lookup.keys(),
                    };
                    entry(source, self.stream, seq, place, self.contents)
                });
                match read {
                    Ok(None) => {
                        self.next = None;
                        None
                    }
                    Ok(Some(entry)) => {
                        self.next = seq.checked_add(1);
                        Some(Ok(entry))
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        // The whole segment is gone: that is damage, not a refusal.
                        self.next = seq.checked_add(1);
                        Some(Ok(Entry::Gap(lost(seq, place, 0))))
                    }
                    Err(source) => {
                        self.next = None;
                        Some(Err(ReadError::Io {
                            segment: place.segment,
                            offset: place.offset,
                            source,
                        }))
                    }
                }
            }
        }
    }
}

impl<L: Lookup> Iterator for Entries<L> {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        self.entry(step)
    }
}

fn step(index: &Index, stream: &Stream, seq: u64, to: u64) -> Step {
    if seq > to || seq > stream.head {
        return Step::End;
    }
    if let Some(place) = stream.place(seq) {
        return Step::At(seq, place);
    }
    if stream.durable.is_none_or(|durable| seq > durable) {
        let waiting = stream
            .pending
            .iter()
            .find(|pending| (pending.first..=pending.last).contains(&seq));
        return waiting.map_or(Step::End, |pending| Step::Waiting(Arc::clone(pending), seq));
    }
    let durable = stream.durable.unwrap_or(seq);
    let last = stream
        .next_placed(seq)
        .map_or(durable, |next| next.saturating_sub(1).min(durable));
    let gap = index.gap(stream, seq, last);
    Step::Gap(Gap {
        last: gap.last.min(to),
        ..gap
    })
}

fn entry(
    source: Source<'_>,
    stream: StreamId,
    seq: u64,
    place: Place,
    contents: Contents,
) -> io::Result<Option<Entry>> {
    let frame = source.frame(place.offset)?;
    if frame
        .as_ref()
        .is_some_and(|frame| frame.head.frame == FrameKind::Void)
    {
        // The stream was forgotten since its place was looked up.
        return Ok(None);
    }
    let ours = |frame: &Frame| {
        frame.head.frame == FrameKind::Record
            && frame.head.stream == stream
            && frame.head.seq == seq
    };
    let Some(frame) = frame.filter(ours) else {
        let bytes = unreadable(source, place.offset)?;
        return Ok(Some(Entry::Gap(lost(seq, place, bytes))));
    };
    let contents = match contents {
        Contents::Read => source.contents(&frame)?,
        Contents::Left => Vec::new(),
    };
    let Frame {
        head,
        body,
        contents: content_places,
    } = frame;
    Ok(Some(Entry::Record(Box::new(Record {
        stream,
        seq,
        time: head.time,
        kind: head.kind,
        schema: head.schema,
        body,
        contents,
        digest: head.digest,
        previous: head.previous,
        tag: head.tag,
        batch: head.batch,
        place: Some(place),
        content_places,
    }))))
}

fn lost(seq: u64, place: Place, bytes: u64) -> Gap {
    Gap {
        first: seq,
        last: seq,
        segment: place.segment,
        offset: place.offset,
        bytes,
    }
}

/// Reads one content where its record says that it stands.
pub(crate) fn content(
    handles: &Handles,
    keys: &Keys,
    of: ContentAt,
    at: ContentPlace,
) -> Result<Stored, ReadError> {
    let Place { segment, offset } = at.place;
    let read = handles.get(segment).and_then(|file| {
        let source = Source {
            file: file.as_ref(),
            segment,
            keys,
        };
        source.content(
            Owner {
                stream: of.stream,
                seq: of.seq,
                index: of.index,
            },
            at,
        )
    });
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Stored::Lost),
        other => other.map_err(|source| ReadError::Io {
            segment,
            offset,
            source,
        }),
    }
}
