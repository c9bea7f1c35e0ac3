//! Compression of sealed segments: a file of blocks in the place of the file that was written.
//!
//! - Offsets stay those of the segment as it was written, so frames, links, footers and everything that names a place stay as they are.
//! - A segment's file is replaced whole, by a rename, and only by one that was read back and found equal.

pub(crate) mod overlay;
pub(crate) mod pack;
pub(crate) mod packed;
pub(crate) mod upkeep;
