//! Names of places in a log: positions, blocks, times, digests.

use bincode::{Decode, Encode};
use core::fmt;
use serde::{Deserialize, Serialize};

/// A position in a session's log: 0, 1, 2 … dense, given once, never moved.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Encode,
    Decode,
    Serialize,
    Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The position after this one; the last position of all has none after it and answers itself.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The position before this one; none before 0.
    #[must_use]
    pub const fn prev(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(before) => Some(Self(before)),
            None => None,
        }
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A block of content, named for ever by the event that brought it and its place in it. JSON: `[seq, index]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct BlockId {
    /// The event.
    pub seq: Seq,
    /// The block's place in the event's content, from 0. A string content is block 0.
    pub index: u32,
}

impl Serialize for BlockId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.seq, self.index).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BlockId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (seq, index) = Deserialize::deserialize(deserializer)?;
        Ok(Self { seq, index })
    }
}

/// Milliseconds since the Unix epoch by the caller's clock. Data only: it never orders anything.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Encode,
    Decode,
    Serialize,
    Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

/// A blake3 digest. JSON: 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of 64 hexadecimal digits; `None` for anything else.
    #[must_use]
    pub fn from_hex(digits: &str) -> Option<Self> {
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let start = at.checked_mul(2)?;
            *byte = u8::from_str_radix(digits.get(start..start.checked_add(2)?)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
