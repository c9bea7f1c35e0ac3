//! What is derived from the log learns of new records here.

use std::fmt::Debug;

use crate::record::{Record, StreamId};

/// Somebody who is told of every group once it is durable.
pub trait Follower: Send + Sync + Debug {
    /// Called after each durable group, in order, with places; called while the writer waits, so it should only hand over.
    fn committed(&self, records: &[Record]);

    /// Called when streams were forgotten: nothing of them is to be served any more. They may begin again.
    fn forgotten(&self, _streams: &[StreamId]) {}

    /// Called when the disk refuses what was accepted, with the cause, and when all of it is durable again.
    fn durability(&self, _lost: Option<&str>) {}
}
