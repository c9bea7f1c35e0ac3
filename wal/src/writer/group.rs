//! Encoding a group of frames.

use std::collections::HashMap;

use super::{Placed, placed_head};
use crate::format::frame::{encode, frame_length};
use crate::format::head::{FrameKind, Head};
use crate::format::{AROUND_CONTENT, DIGEST, HEAD, Keys};
use crate::queue::{Chained, Pending};
use crate::record::{ContentPlace, Place, StreamId};

/// A group on its way to the disk.
#[derive(Debug)]
pub(crate) struct Group {
    keys: Keys,
    number: u64,
    start: Place,
    pub(crate) bytes: Vec<u8>,
    pub(crate) heads: Vec<Head>,
    pub(crate) placed: Vec<Placed>,
    pub(crate) links: HashMap<StreamId, Place>,
    pub(crate) before: Option<(StreamId, u64)>,
}

impl Group {
    pub(crate) fn new(keys: Keys, number: u64, start: Place) -> Group {
        Group {
            keys,
            number,
            start,
            bytes: Vec::new(),
            heads: Vec::new(),
            placed: Vec::new(),
            links: HashMap::new(),
            before: None,
        }
    }

    pub(crate) fn batch(&mut self, batch: &Pending) {
        batch
            .records
            .iter()
            .for_each(|record| self.record(batch, record));
    }

    pub(crate) fn control(&mut self, frame: FrameKind, body: &[u8]) {
        let head = Head {
            before: self.before,
            ..Head::control(frame)
        };
        let head = placed_head(head, self.here(), self.number, self.start.offset);
        encode(head, body, &[], &self.keys, &mut self.bytes);
    }

    fn record(&mut self, batch: &Pending, record: &Chained) {
        let first = record.seq == batch.first;
        let head = Head {
            origin: batch.origin && first,
            stream: batch.stream,
            seq: record.seq,
            batch: (batch.first, batch.last),
            time: record.new.time,
            kind: record.new.kind,
            schema: record.new.schema,
            link: self.links.get(&batch.stream).copied(),
            before: self.before,
            previous: record.previous,
            digest: record.digest,
            tag: batch.tag.filter(|_| first),
            ..Head::control(FrameKind::Record)
        };
        let place = self.here();
        let head = placed_head(head, place, self.number, self.start.offset);
        encode(
            head,
            &record.new.body,
            &record.new.contents,
            &self.keys,
            &mut self.bytes,
        );
        self.links.insert(batch.stream, place);
        self.before = Some((batch.stream, record.seq));
        self.heads.push(head);
        self.placed.push(Placed {
            place,
            contents: content_places(place, record),
        });
    }

    fn here(&self) -> Place {
        Place {
            segment: self.start.segment,
            offset: self.start.offset.saturating_add(self.bytes.len() as u64),
        }
    }
}

fn content_places(place: Place, record: &Chained) -> Vec<ContentPlace> {
    let contents = &record.new.contents;
    let fixed = (HEAD + DIGEST + record.new.body.len()) as u64 + 4 * contents.len() as u64;
    let mut offset = place.offset.saturating_add(fixed);
    debug_assert!(
        fixed
            <= frame_length(
                record.new.body.len(),
                contents.iter().map(|content| content.bytes.len())
            )
    );
    let mut places = Vec::with_capacity(contents.len());
    for content in contents {
        let length = u32::try_from(content.bytes.len()).unwrap_or(u32::MAX);
        places.push(ContentPlace {
            place: Place {
                segment: place.segment,
                offset,
            },
            length,
        });
        offset = offset.saturating_add(u64::from(length) + AROUND_CONTENT);
    }
    places
}
