//! The body of a lost frame: ends of streams that were durable once and that the segments do not hold any more.
//!
//! - What is named here was never given again, and is not: the next record of the stream follows `last`, chained to `digest`.
//! - A body that does not decode to its last byte is treated as absent.

use super::cursor::{Cursor, Put};
use crate::record::{RecordDigest, StreamId};

/// Bytes of a tail in the body.
const TAIL: usize = 80;

/// The missing end of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostTail {
    pub(crate) stream: StreamId,
    /// The stream's first seq.
    pub(crate) begin: u64,
    /// The first seq that is missing.
    pub(crate) first: u64,
    /// The last seq that was ever given.
    pub(crate) last: u64,
    /// Time of the last one; 0 when it is not known.
    pub(crate) time: u64,
    /// Record digest of the last one; zeros when it is not known.
    pub(crate) digest: RecordDigest,
}

/// The body of a lost frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) tails: Vec<LostTail>,
}

impl Lost {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_count(self.tails.len());
        for tail in &self.tails {
            out.put(&tail.stream.0);
            for number in [tail.begin, tail.first, tail.last, tail.time] {
                out.put_u64(number);
            }
            out.put(&tail.digest.0);
        }
        out
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Lost> {
        let mut cursor = Cursor(body);
        let count = cursor.count(TAIL)?;
        let tails = (0..count)
            .map(|_| tail(&mut cursor))
            .collect::<Option<_>>()?;
        cursor.0.is_empty().then_some(Lost { tails })
    }
}

fn tail(cursor: &mut Cursor<'_>) -> Option<LostTail> {
    let tail = LostTail {
        stream: StreamId(cursor.array()?),
        begin: cursor.u64()?,
        first: cursor.u64()?,
        last: cursor.u64()?,
        time: cursor.u64()?,
        digest: RecordDigest(cursor.array()?),
    };
    (tail.begin <= tail.first && tail.first <= tail.last).then_some(tail)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

    use super::*;

    fn documented() -> Lost {
        Lost {
            tails: vec![LostTail {
                stream: StreamId([2; 16]),
                begin: 0,
                first: 5,
                last: 9,
                time: 1000,
                digest: RecordDigest([3; 32]),
            }],
        }
    }

    #[test]
    fn the_body_is_the_documented_one_and_is_read_back() {
        let bytes = documented().encode();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(
            include_str!("../../FORMAT.md").contains(&format!("`{hex}`")),
            "{hex}"
        );
        assert_eq!(Lost::decode(&bytes), Some(documented()));
    }

    #[test]
    fn what_makes_no_sense_is_absent() {
        let bytes = documented().encode();
        for length in 0..bytes.len() {
            assert_eq!(Lost::decode(bytes.get(..length).unwrap()), None);
        }
        let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
        assert_eq!(Lost::decode(&longer), None);
        let mut upside_down = documented();
        upside_down.tails.first_mut().unwrap().first = 10;
        assert_eq!(Lost::decode(&upside_down.encode()), None);
    }
}
