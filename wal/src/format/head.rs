//! The fixed head of a frame: what it is, where it stands, what it follows.
//!
//! - Its own checksum lets a frame with a damaged body still say whose it was and where the next one begins.
//! - A head that decodes was written by this directory, at this very place.

use super::cursor::{Cursor, Put};
use super::{ALIGN, AROUND_CONTENT, DIGEST, FRAME_MAGIC, HEAD, Keys, MAX_CONTROL};
use crate::record::{MAX_BODY, MAX_CONTENTS, Place, RecordDigest, StreamId};

/// What stands where there is no segment, offset or seq.
const NONE: u64 = u64::MAX;
const HAS_TAG: u8 = 1;
const HAS_ORIGIN: u8 = 2;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FrameKind {
    /// A record of a stream.
    Record = 1,
    /// The first frame of a segment; says up to where earlier segments are valid.
    Opening = 2,
    /// A clean close.
    Closing = 3,
    /// The list of what a sealed segment holds.
    Footer = 4,
    /// What a recovery cut off.
    Cut = 5,
    /// Contents that are about to be erased.
    Erasing = 6,
    /// Ends of streams that were durable and are not in the segments any more.
    Lost = 7,
    /// Streams that are forgotten: what segments before this one hold of them does not count.
    Pruning = 8,
    /// Where a record of a forgotten stream stood.
    Void = 9,
}

impl FrameKind {
    fn of(byte: u8) -> Option<FrameKind> {
        Some(match byte {
            1 => FrameKind::Record,
            2 => FrameKind::Opening,
            3 => FrameKind::Closing,
            4 => FrameKind::Footer,
            5 => FrameKind::Cut,
            6 => FrameKind::Erasing,
            7 => FrameKind::Lost,
            8 => FrameKind::Pruning,
            9 => FrameKind::Void,
            _ => return None,
        })
    }
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) frame: FrameKind,
    pub(crate) origin: bool,
    /// Bytes of the whole frame, contents and padding included.
    pub(crate) length: u64,
    pub(crate) place: Place,
    pub(crate) group: u64,
    /// The offset up to which the segment was synced before this frame's group was written: where the group begins.
    pub(crate) base: u64,
    pub(crate) stream: StreamId,
    pub(crate) seq: u64,
    pub(crate) batch: (u64, u64),
    pub(crate) time: u64,
    pub(crate) kind: u16,
    pub(crate) schema: u16,
    /// The frame before this one in its stream.
    pub(crate) link: Option<Place>,
    /// Stream and seq of the record before this one in the directory: names it should it be damaged.
    pub(crate) before: Option<(StreamId, u64)>,
    pub(crate) previous: RecordDigest,
    pub(crate) digest: RecordDigest,
    pub(crate) tag: Option<[u8; 32]>,
    pub(crate) body: u32,
    pub(crate) contents: u32,
}

impl Head {
    /// A head of a control frame; place, group, base and lengths are filled in when it is written.
    pub(crate) fn control(frame: FrameKind) -> Head {
        Head {
            frame,
            origin: false,
            length: 0,
            place: Place::default(),
            group: 0,
            base: 0,
            stream: StreamId([0; 16]),
            seq: 0,
            batch: (0, 0),
            time: 0,
            kind: 0,
            schema: 0,
            link: None,
            before: None,
            previous: RecordDigest::ROOT,
            digest: RecordDigest::ROOT,
            tag: None,
            body: 0,
            contents: 0,
        }
    }

    /// Bytes of table and body, which stand behind the head and before the frame's digest.
    pub(crate) fn middle(&self) -> u64 {
        u64::from(self.contents) * 4 + u64::from(self.body)
    }

    pub(crate) fn encode(&self, keys: &Keys, out: &mut Vec<u8>) {
        let start = out.len();
        let (link_segment, link_offset) = self
            .link
            .map_or((NONE, NONE), |link| (link.segment, link.offset));
        let (before, before_seq) = self.before.unwrap_or((StreamId([0; 16]), NONE));
        let tag_flag = if self.tag.is_some() { HAS_TAG } else { 0 };
        let origin_flag = if self.origin { HAS_ORIGIN } else { 0 };
        out.put(&FRAME_MAGIC);
        out.put(&[self.frame as u8, tag_flag | origin_flag, 0, 0]);
        for number in [
            self.length,
            self.place.segment,
            self.place.offset,
            self.group,
            self.base,
        ] {
            out.put_u64(number);
        }
        out.put(&self.stream.0);
        for number in [self.seq, self.batch.0, self.batch.1, self.time] {
            out.put_u64(number);
        }
        out.put_u16(self.kind);
        out.put_u16(self.schema);
        out.put_u32(0); // key id: contents and bodies are not encrypted
        out.put_u64(link_segment);
        out.put_u64(link_offset);
        out.put(&before.0);
        out.put_u64(before_seq);
        out.put(&self.previous.0);
        out.put(&self.digest.0);
        out.put(&self.tag.unwrap_or_default());
        out.put_u32(self.body);
        out.put_u32(self.contents);
        let checksum = keys.checksum(out.get(start..).unwrap_or_default());
        out.put_u64(checksum);
    }

    /// Decodes a head that is expected at a place; none when the bytes are anything else.
    pub(crate) fn decode(bytes: &[u8], place: Place, keys: &Keys) -> Option<Head> {
        let bytes: &[u8; HEAD] = bytes.first_chunk()?;
        let (covered, checksum) = bytes.split_last_chunk::<8>()?;
        if !bytes.starts_with(&FRAME_MAGIC)
            || keys.checksum(covered) != u64::from_le_bytes(*checksum)
        {
            return None;
        }
        let head = Head::fields(covered)?;
        (head.place == place && head.lengths_hold()).then_some(head)
    }

    fn fields(covered: &[u8]) -> Option<Head> {
        let mut cursor = Cursor(covered.get(4..)?);
        let frame = FrameKind::of(cursor.u8()?)?;
        let flags = cursor.u8()?;
        let reserved = cursor.u16()?;
        let length = cursor.u64()?;
        let place = Place {
            segment: cursor.u64()?,
            offset: cursor.u64()?,
        };
        let (group, base) = (cursor.u64()?, cursor.u64()?);
        let stream = StreamId(cursor.array()?);
        let seq = cursor.u64()?;
        let batch = (cursor.u64()?, cursor.u64()?);
        let time = cursor.u64()?;
        let (kind, schema) = (cursor.u16()?, cursor.u16()?);
        let key_id = cursor.u32()?;
        let link = (cursor.u64()?, cursor.u64()?);
        let before = (StreamId(cursor.array()?), cursor.u64()?);
        let (previous, digest) = (RecordDigest(cursor.array()?), RecordDigest(cursor.array()?));
        let tag: [u8; 32] = cursor.array()?;
        let (body, contents) = (cursor.u32()?, cursor.u32()?);
        let known = flags & !(HAS_TAG | HAS_ORIGIN) == 0 && reserved == 0 && key_id == 0;
        known.then_some(Head {
            frame,
            origin: flags & HAS_ORIGIN != 0,
            length,
            place,
            group,
            base,
            stream,
            seq,
            batch,
            time,
            kind,
            schema,
            link: (link.0 != NONE).then_some(Place {
                segment: link.0,
                offset: link.1,
            }),
            before: (before.1 != NONE).then_some(before),
            previous,
            digest,
            tag: (flags & HAS_TAG != 0).then_some(tag),
            body,
            contents,
        })
    }

    fn lengths_hold(&self) -> bool {
        let limit = if self.frame == FrameKind::Record {
            MAX_BODY as u64
        } else {
            u64::from(MAX_CONTROL)
        };
        let least =
            (HEAD + DIGEST) as u64 + self.middle() + u64::from(self.contents) * AROUND_CONTENT;
        u64::from(self.body) <= limit
            && self.contents as usize <= MAX_CONTENTS
            && self.length >= least
            && self.length.is_multiple_of(ALIGN)
            && self.place.offset.is_multiple_of(ALIGN)
            && self.place.offset.checked_add(self.length).is_some()
            && self.base <= self.place.offset
            && (self.batch.0..=self.batch.1).contains(&self.seq)
    }
}
