//! Output commit as types: a prompt to send leaves the engine only when everything that it depends on is on disk.
//!
//! - A [`Durable`] is made from a receipt of the log and from nothing else.
//! - A [`Pending`] prompt opens for a token that reaches far enough.

use recount_events::Seq;
use recount_projections::Projection;

/// A position up to which the log said: on disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Durable {
    upto: u64,
}

impl Durable {
    /// From the receipt of an append; `None` when nothing of the stream is on disk yet.
    pub(crate) fn receipt(receipt: &recount_wal::Receipt) -> Option<Self> {
        receipt.durable.map(|upto| Self { upto })
    }

    /// From the answer to a wait for the disk.
    pub(crate) fn synced(
        log: &recount_wal::Wal,
        stream: recount_wal::StreamId,
        seq: Seq,
    ) -> Result<Self, recount_wal::AppendError> {
        log.sync(stream, seq.0).map(|upto| Self { upto })
    }

    /// It reaches this position.
    pub(crate) fn reaches(self, seq: Seq) -> bool {
        self.upto >= seq.0
    }
}

/// A prompt whose decisions are logged but perhaps not yet on disk.
#[derive(Debug)]
pub(crate) struct Pending {
    projection: Projection,
    needs: Seq,
}

/// A prompt that may be sent.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The prompt.
    pub(crate) projection: Projection,
}

impl Pending {
    /// A prompt that depends on everything up to a position.
    pub(crate) fn new(projection: Projection, needs: Seq) -> Self {
        Self { projection, needs }
    }

    /// The position that it needs on disk.
    pub(crate) fn needs(&self) -> Seq {
        self.needs
    }

    /// Opens it, or gives it back when the token does not reach far enough.
    pub(crate) fn open(self, token: Durable) -> Result<Prepared, Box<Self>> {
        if token.reaches(self.needs) {
            Ok(Prepared {
                projection: self.projection,
            })
        } else {
            Err(Box::new(self))
        }
    }
}
