//! What an open found: the report, in the words of the protocol.

use crate::record::{RecordDigest, StreamId};
use crate::store::Span;

/// The worst that was found, from good to bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Nothing is missing.
    #[default]
    Clean,
    /// A last group that was never acknowledged (or was damaged at the very tail) was cut off.
    Torn,
    /// Acknowledged records are missing at the end of a segment, or a segment is missing.
    Truncated,
    /// Bytes that were once durable cannot be read.
    Damaged,
}

/// What was cut off the end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The segment that was cut.
    pub segment: u64,
    /// Its length after the cut.
    pub offset: u64,
    /// How many bytes were cut.
    pub bytes: u64,
    /// The streams that are known to have had records there, and the last seq that each kept; none if it kept nothing.
    pub after: Vec<(StreamId, Option<u64>)>,
}

/// A stretch of damage, as far as its owner is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The stream whose records are missing and their first and last seq; none when nobody can say.
    pub lost: Option<(StreamId, u64, u64)>,
    /// The segment.
    pub segment: u64,
    /// Where the damaged bytes begin.
    pub offset: u64,
    /// How many bytes are damaged; 0 when what is lost is not there at all: the end of a segment, or a whole one.
    pub bytes: u64,
}

impl Damage {
    /// Bytes that nobody can read are damage; bytes that are not there were cut off.
    pub(crate) fn state(&self) -> State {
        if self.bytes == 0 {
            State::Truncated
        } else {
            State::Damaged
        }
    }
}

/// How far a stream is known to have reached by somebody other than the segments: the store, or a head that was exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownHead {
    /// The stream.
    pub stream: StreamId,
    /// Its first seq; used only when the segments do not know the stream.
    pub begin: u64,
    /// The last seq that was durable.
    pub last: u64,
    /// The time of that record; 0 when it is not known.
    pub time: u64,
    /// The digest of that record; zeros when it is not known.
    pub digest: RecordDigest,
}

/// What an open found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The worst of what follows.
    pub state: State,
    /// Whether the last writer closed the log.
    pub closed: bool,
    /// What was cut now.
    pub cut: Option<Cut>,
    /// What is damaged; the same at every open.
    pub damaged: Vec<Damage>,
    /// Records whose seq an earlier record of their stream has already, the first of each row: two hands wrote. The earlier
    /// ones count.
    pub doubled: Vec<(StreamId, u64)>,
    /// Why what is derived from the segments was built again, if it was.
    pub rebuilt: Option<String>,
    /// Records that damage took from the segments and that the store still serves; they are in `damaged` all the same.
    pub salvaged: Vec<Span>,
    /// Why nothing but the segments themselves could say whether their end is missing; none when the store was asked, or
    /// the log was opened without one.
    pub no_evidence: Option<String>,
    /// Whether the directory's key was made again from a segment.
    pub key_restored: bool,
}
