//! What the store needs of the segments.
//!
//! - Only durable records whose frames verified are handed out, each with its place.
//! - These calls must not need a lock that is held while [`EventLog::committed`](super::EventLog::committed) is called.

use std::ops::ControlFlow;

use thiserror::Error;

use crate::record::{Record, StreamId, StreamInfo};
use crate::recovered::KnownHead;

/// The segments could not be read; nothing is known about the store then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("segments cannot be read: {0}")]
pub struct SourceError(pub String);

/// What is called for each record.
pub type VisitRecord<'a> = dyn FnMut(&Record) -> ControlFlow<()> + 'a;

/// The segments, as the store sees them.
pub trait Segments: Send + Sync {
    /// All streams, each with the seq of its first record and how far it reaches.
    fn streams(&self) -> Vec<StreamInfo>;

    /// The durable head of one stream; none when it has none.
    fn durable(&self, stream: StreamId) -> Option<u64> {
        let streams = self.streams();
        streams
            .iter()
            .find(|info| info.stream == stream)
            .and_then(|info| info.heads.durable)
    }

    /// Is told of streams that the store knows to reach further than the segments say: what is missing was lost.
    fn ahead(&self, _known: &[KnownHead]) {}

    /// Visits the intact durable records of one stream from `from` to `to`, both inclusive, in order of seq, until the
    /// visitor breaks. Contents need not be read: only their places are used.
    ///
    /// # Errors
    /// When a file cannot be read; damage is no error, it is left out.
    fn read(
        &self,
        stream: StreamId,
        from: u64,
        to: u64,
        visit: &mut VisitRecord<'_>,
    ) -> Result<(), SourceError>;

    /// Visits all intact durable records, those of one stream in order of seq; streams may be mixed. Reading the files
    /// from front to back is cheapest.
    ///
    /// # Errors
    /// When a file cannot be read; damage is no error, it is left out.
    fn scan(&self, visit: &mut VisitRecord<'_>) -> Result<(), SourceError> {
        for info in self.streams() {
            let mut stop = false;
            self.read(info.stream, info.first, u64::MAX, &mut |record| {
                let flow = visit(record);
                stop = flow.is_break();
                flow
            })?;
            if stop {
                break;
            }
        }
        Ok(())
    }
}
