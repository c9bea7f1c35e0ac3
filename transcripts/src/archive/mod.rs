//! Recount's own lossless archive: logged events as lines, with all that their digests cover. The format is `FORMAT-ARCHIVE.md`.
//!
//! - What is written is what was logged: bodies byte for byte, contents with their salts. Commitments and record digests of
//!   an imported session are therefore those of the exported one; who imports computes them and compares.
//! - Reading is total: a line that cannot be read is damage with its place, and the lines around it are read.

mod hex;
mod read;
mod write;

pub use read::{Archive, Archived, ArchivedSession, read};
pub use write::{header, line, trailer};

use recount_events::{Digest, Found, Seq};

/// The version that is written, and the newest that is read.
pub const VERSION: u64 = 1;

/// The first line: what the archive holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The session's name.
    pub session: String,
    /// The position of the first event; not 0 for a fork exported without what it inherits.
    pub first: Seq,
}

/// An event as it is logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its position.
    pub seq: Seq,
    /// Its record digest.
    pub digest: Digest,
    /// The number of its kind.
    pub kind: u16,
    /// The schema of its body.
    pub schema: u16,
    /// Its body.
    pub body: Vec<u8>,
    /// The contents of its texts, in order.
    pub contents: Vec<Found>,
}

/// The last line: what must have come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// The number of events.
    pub count: u64,
    /// The record digest of the last one; of an archive without events, none.
    pub head: Option<Digest>,
}
