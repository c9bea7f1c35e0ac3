//! An event: when, what, and what this version does not know about it.

use crate::{Body, Millis, Seq, Text};

/// Something that happened in a session. Immutable once logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, by the caller's clock.
    pub at: Millis,
    /// What.
    pub body: Body,
    /// The event that caused this one; it falls with its cause, by undo and by rollback.
    pub because: Option<Seq>,
    /// Fields that this version does not know: the bytes of one JSON object, in the order in which they came.
    pub extra: Option<Text>,
}
