//! The bodies of control frames.
//!
//! - A body that does not decode to its last byte is treated as absent; its frame's digest has been checked before.

use super::cursor::{Cursor, Put};
use crate::record::{RecordDigest, StreamId};

/// What an opening says: earlier segments are valid up to these offsets, whatever stands behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) ends: Vec<(u64, u64)>,
}

impl Opening {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_count(self.ends.len());
        for (segment, end) in &self.ends {
            out.put_u64(*segment);
            out.put_u64(*end);
        }
        out
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Opening> {
        let mut cursor = Cursor(body);
        let count = cursor.count(16)?;
        let ends = (0..count)
            .map(|_| Some((cursor.u64()?, cursor.u64()?)))
            .collect::<Option<_>>()?;
        cursor.0.is_empty().then_some(Opening { ends })
    }
}

/// What a recovery cut off the end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutBody {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl CutBody {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for number in [self.segment, self.offset, self.bytes] {
            out.put_u64(number);
        }
        out
    }

    pub(crate) fn decode(body: &[u8]) -> Option<CutBody> {
        let mut cursor = Cursor(body);
        let cut = CutBody {
            segment: cursor.u64()?,
            offset: cursor.u64()?,
            bytes: cursor.u64()?,
        };
        cursor.0.is_empty().then_some(cut)
    }
}

/// A content that is about to be erased: its owner, and where its salt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doomed {
    pub(crate) stream: StreamId,
    pub(crate) seq: u64,
    pub(crate) index: u32,
    pub(crate) length: u32,
    pub(crate) segment: u64,
    pub(crate) offset: u64,
}

/// The body of an erasing frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Erasing {
    pub(crate) doomed: Vec<Doomed>,
}

impl Erasing {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_count(self.doomed.len());
        for doomed in &self.doomed {
            out.put(&doomed.stream.0);
            out.put_u64(doomed.seq);
            out.put_u32(doomed.index);
            out.put_u32(doomed.length);
            out.put_u64(doomed.segment);
            out.put_u64(doomed.offset);
        }
        out
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Erasing> {
        let mut cursor = Cursor(body);
        let count = cursor.count(48)?;
        let doomed = (0..count)
            .map(|_| doomed(&mut cursor))
            .collect::<Option<_>>()?;
        cursor.0.is_empty().then_some(Erasing { doomed })
    }
}

fn doomed(cursor: &mut Cursor<'_>) -> Option<Doomed> {
    Some(Doomed {
        stream: StreamId(cursor.array()?),
        seq: cursor.u64()?,
        index: cursor.u32()?,
        length: cursor.u32()?,
        segment: cursor.u64()?,
        offset: cursor.u64()?,
    })
}

/// A stream that is forgotten, and how far it reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pruned {
    pub(crate) stream: StreamId,
    pub(crate) last: u64,
    /// Digest of its last record.
    pub(crate) digest: RecordDigest,
}

/// The body of a pruning frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruning {
    /// Whether bytes that nobody can read are given up too.
    pub(crate) damage: bool,
    pub(crate) streams: Vec<Pruned>,
}

impl Pruning {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_u32(u32::from(self.damage));
        out.put_count(self.streams.len());
        for pruned in &self.streams {
            out.put(&pruned.stream.0);
            out.put_u64(pruned.last);
            out.put(&pruned.digest.0);
        }
        out
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Pruning> {
        let mut cursor = Cursor(body);
        let flags = cursor.u32().filter(|flags| *flags <= 1)?;
        let count = cursor.count(56)?;
        let pruned = |cursor: &mut Cursor<'_>| {
            Some(Pruned {
                stream: StreamId(cursor.array()?),
                last: cursor.u64()?,
                digest: RecordDigest(cursor.array()?),
            })
        };
        let streams = (0..count)
            .map(|_| pruned(&mut cursor))
            .collect::<Option<_>>()?;
        cursor.0.is_empty().then_some(Pruning {
            damage: flags == 1,
            streams,
        })
    }
}
