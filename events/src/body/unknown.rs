//! What this version does not know, kept as it came.

use crate::Text;
use alloc::vec::Vec;
use bincode::{Decode, Encode};

/// An event of a foreign type, kept word for word. Ledger; shows nothing.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Kept {
    /// Its type.
    pub name: Text,
    /// The whole event or foreign record: JSON where it was JSON, else its bytes.
    pub raw: Text,
}

/// An event written by a newer version. Never written by this one except as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newer {
    /// Its kind.
    pub kind: u16,
    /// The schema of its body.
    pub schema: u16,
    /// Its writer said that a session cannot be understood without it.
    pub essential: bool,
    /// Its body.
    pub body: Vec<u8>,
    /// Its contents, in the order in which they are stored.
    pub texts: Vec<Text>,
}
