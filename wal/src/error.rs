//! What can go wrong, as enums to branch on: each kind says what the caller should do next.
//!
//! - No kind carries authored bytes.
//! - Facts stand last in a message, as `key=value`.

use std::io;

use thiserror::Error;

/// Why a log could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process holds the directory: become its client, or wait.
    #[error("the directory is held by another process: holder={holder}")]
    Locked {
        /// What the holder wrote about itself: its process id and when it took the lock.
        holder: String,
    },
    /// A newer version wrote this directory: upgrade.
    #[error("written by a newer version: upgrade: version={version} known={known}")]
    Newer {
        /// The version found.
        version: u16,
        /// The newest version that this code reads.
        known: u16,
    },
    /// The disk refused: try again, nothing was changed that matters.
    #[error("the disk refused: what={what}")]
    Io {
        /// What was tried.
        what: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl OpenError {
    /// Whether the directory may still be read although it could not be opened to be written.
    pub(crate) fn only_reading(&self) -> bool {
        let kind = match self {
            OpenError::Io { source, .. } => source.kind(),
            _ => return false,
        };
        matches!(
            kind,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
        )
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> OpenError {
        let what = what.into();
        move |source| OpenError::Io { what, source }
    }
}

/// Why an append, or a wait for one, did not end in a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AppendError {
    /// Somebody was faster, or the expectation was wrong: read from `head` on, decide again. Nothing was written.
    #[error("another seq comes next: next={next}")]
    Conflict {
        /// The seq that would be accepted next.
        next: u64,
    },
    /// The disk refused and was cut back: nothing is left of this append. Try again when the cause is gone.
    #[error("the disk refused, nothing is left of it: cause={cause}")]
    Io {
        /// The cause, as the system names it.
        cause: String,
    },
    /// The append may have reached the disk, or may yet: it stays accepted, retry with the same tag and await `sync`.
    #[error("may have reached the disk: retry with the same tag: cause={cause}")]
    Unknown {
        /// The cause, as the system names it.
        cause: String,
    },
    /// Earlier accepted records wait for the disk; nothing of this append was kept. Retry when they are durable.
    #[error("earlier records wait for the disk: since={since}")]
    NotDurable {
        /// The first seq of the stream that is not durable.
        since: u64,
    },
    /// The directory was opened for reading only, because nothing can be written there: make it writable, then open it
    /// again. Nothing was written.
    #[error("the directory can only be read: make it writable and open it again")]
    ReadOnly,
    /// A thread died while it held the log: close it and open it again.
    #[error("a thread died while it held the log: reopen it")]
    Poisoned,
    /// Make it smaller. Nothing was written.
    #[error("too large: what={what} size={size} limit={limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size, in bytes or in pieces.
        size: u64,
        /// The limit it is held against.
        limit: u64,
    },
    /// The log is closing, its queue is full, or the stream is being forgotten: try again later. Nothing was written.
    #[error("busy: try again later")]
    Busy,
    /// The batch makes no sense in itself (no records, an origin on a stream that exists): mend the caller.
    #[error("not a batch: why={why}")]
    Invalid {
        /// What is wrong with it.
        why: &'static str,
    },
}

/// Why a read ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The disk refused: try again.
    #[error("the disk refused a read: segment={segment} offset={offset}")]
    Io {
        /// The segment that was read.
        segment: u64,
        /// The offset that was read at.
        offset: u64,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A thread died while it held the log: close it and open it again.
    #[error("a thread died while it held the log: reopen it")]
    Poisoned,
}

/// Why a log could not be closed cleanly; it is closed all the same.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CloseError {
    /// Accepted records never reached the disk and are gone with the process.
    #[error("accepted records never reached the disk: batches={batches}")]
    NotDurable {
        /// How many batches were waiting; 0 when it was only what an earlier process had left that could not be synced.
        batches: usize,
    },
    /// The closing record could not be written; everything accepted is durable.
    #[error("the closing record could not be written: cause={cause}")]
    Io {
        /// The cause, as the system names it.
        cause: String,
    },
    /// A thread died while it held the log.
    #[error("a thread died while it held the log")]
    Poisoned,
}
