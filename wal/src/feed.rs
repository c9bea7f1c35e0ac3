//! The segments as the store sees them: intact durable records, without their contents.
//!
//! - Places are looked up under the index's lock, files are read without it; the writer's lock is never needed.
//! - A scan reads each segment from front to back.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::commit::Shared;
use crate::disk::SegmentFile;
use crate::format::ALIGN;
use crate::format::frame::Frame;
use crate::format::head::FrameKind;
use crate::index::{Index, Stream};
use crate::record::{Place, Record, StreamId, StreamInfo};
use crate::recovered::KnownHead;
use crate::segment::source::Source;
use crate::segment::window::Window;
use crate::store::{Segments, SourceError, VisitRecord};

/// Places looked up at once by a read.
const LOOKED_UP: usize = 256;

/// The segments of an open log.
#[derive(Debug)]
pub(crate) struct Feed(pub(crate) Arc<Shared>);

impl Segments for Feed {
    fn streams(&self) -> Vec<StreamInfo> {
        let durable = |info: &StreamInfo| info.heads.durable.is_some();
        self.0.look().infos().into_iter().filter(durable).collect()
    }

    fn durable(&self, stream: StreamId) -> Option<u64> {
        self.0.look().streams.get(&stream)?.durable
    }

    fn ahead(&self, known: &[KnownHead]) {
        match self.0.hold_against(known) {
            Ok(lost) => self.0.proven().extend(lost),
            Err(error) => {
                tracing::warn!(%error, "what the store knows to be lost was not taken in")
            }
        }
    }

    fn read(
        &self,
        stream: StreamId,
        from: u64,
        to: u64,
        visit: &mut VisitRecord<'_>,
    ) -> Result<(), SourceError> {
        let mut next = Some(from);
        while let Some(from) = next.filter(|from| *from <= to) {
            let places = {
                let index = self.0.look();
                index
                    .streams
                    .get(&stream)
                    .map_or_else(Vec::new, |stream| placed(stream, from, to))
            };
            let Some(last) = places.last() else { break };
            next = last.0.checked_add(1);
            for (seq, place) in places {
                if self.record(stream, seq, place, None, visit)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn scan(&self, visit: &mut VisitRecord<'_>) -> Result<(), SourceError> {
        let mut segment = Some(0);
        while let Some(number) = segment.and_then(|from| next_segment(&self.0.look(), from)) {
            let frames = in_segment(&self.0.look(), number);
            let Some(file) = self.file(number)? else {
                segment = number.checked_add(1);
                continue;
            };
            let refused = |error| SourceError(format!("{error} segment={number}"));
            let window = Window::new(file).map_err(refused)?;
            for (offset, stream, seq) in frames {
                let place = Place {
                    segment: number,
                    offset,
                };
                if self
                    .record(stream, seq, place, Some(&window), visit)?
                    .is_break()
                {
                    return Ok(());
                }
            }
            segment = number.checked_add(1);
        }
        Ok(())
    }
}

impl Feed {
    /// A segment's file; none when it is gone, which is damage and not a refusal.
    fn file(&self, segment: u64) -> Result<Option<Arc<dyn SegmentFile>>, SourceError> {
        match self.0.handles.get(segment) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SourceError(format!("{error} segment={segment}"))),
        }
    }

    fn record(
        &self,
        stream: StreamId,
        seq: u64,
        place: Place,
        window: Option<&Window>,
        visit: &mut VisitRecord<'_>,
    ) -> Result<ControlFlow<()>, SourceError> {
        let direct;
        let file: &dyn SegmentFile = match window {
            Some(window) => window,
            None => match self.file(place.segment)? {
                Some(file) => {
                    direct = file;
                    direct.as_ref()
                }
                None => return Ok(ControlFlow::Continue(())),
            },
        };
        let source = Source {
            file,
            segment: place.segment,
            keys: &self.0.keys,
        };
        let read = source.frame(place.offset);
        let refused = |error| {
            SourceError(format!(
                "{error} segment={} offset={}",
                place.segment, place.offset
            ))
        };
        let ours = |frame: &Frame| {
            frame.head.frame == FrameKind::Record
                && frame.head.stream == stream
                && frame.head.seq == seq
        };
        Ok(match read.map_err(refused)?.filter(ours) {
            Some(frame) => visit(&without_contents(frame, place)),
            None => ControlFlow::Continue(()),
        })
    }
}

fn without_contents(frame: Frame, place: Place) -> Record {
    let Frame {
        head,
        body,
        contents: content_places,
    } = frame;
    Record {
        stream: head.stream,
        seq: head.seq,
        time: head.time,
        kind: head.kind,
        schema: head.schema,
        body,
        contents: Vec::new(),
        digest: head.digest,
        previous: head.previous,
        tag: head.tag,
        batch: head.batch,
        place: Some(place),
        content_places,
    }
}

/// Seqs from `from` on that have places, in order.
fn placed(stream: &Stream, from: u64, to: u64) -> Vec<(u64, Place)> {
    let mut places = Vec::new();
    let mut next = stream.next_placed(from);
    while let Some(seq) = next.filter(|seq| *seq <= to && places.len() < LOOKED_UP) {
        let Some(place) = stream.place(seq) else {
            break;
        };
        places.push((seq, place));
        next = seq.checked_add(1).and_then(|seq| stream.next_placed(seq));
    }
    places
}

/// The first segment from `from` on that holds records.
fn next_segment(index: &Index, from: u64) -> Option<u64> {
    let first = |stream: &Stream| {
        let at = stream
            .stretches
            .partition_point(|stretch| stretch.segment < from);
        stream.stretches.get(at).map(|stretch| stretch.segment)
    };
    index.streams.values().filter_map(first).min()
}

/// Offset, stream and seq of all records of a segment, by offset.
fn in_segment(index: &Index, segment: u64) -> Vec<(u64, StreamId, u64)> {
    let mut frames = Vec::new();
    for (id, stream) in &index.streams {
        let at = stream
            .stretches
            .partition_point(|stretch| stretch.segment < segment);
        let stretches = stream.stretches.iter().skip(at);
        for stretch in stretches.take_while(|stretch| stretch.segment == segment) {
            let offsets = (stretch.run.first..).zip(&stretch.run.offsets);
            frames.extend(offsets.map(|(seq, offset)| (u64::from(*offset) * ALIGN, *id, seq)));
        }
    }
    frames.sort_unstable();
    frames
}
