//! Counters of a log.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a log has done since it was opened, and how it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes of all segments as they were written, before compression.
    pub bytes: u64,
    /// Bytes that they take on disk.
    pub stored: u64,
    /// Segments that are compressed.
    pub compressed: u64,
    /// Number of segments.
    pub segments: u64,
    /// Syncs that returned since the open.
    pub syncs: u64,
    /// Time spent in them, in microseconds.
    pub sync_micros: u64,
    /// The longest of them, in microseconds.
    pub slowest_sync_micros: u64,
    /// Batches that are accepted and not durable.
    pub backlog: u64,
    /// Bytes of their frames.
    pub backlog_bytes: u64,
    /// Number of streams.
    pub streams: u64,
}

/// How large the segments are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) segments: u64,
    /// As they were written.
    pub(crate) bytes: u64,
    /// On disk.
    pub(crate) stored: u64,
    pub(crate) compressed: u64,
}

/// The running counters.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) bytes: AtomicU64,
    pub(crate) stored: AtomicU64,
    pub(crate) segments: AtomicU64,
    compressed: AtomicU64,
    syncs: AtomicU64,
    micros: AtomicU64,
    slowest: AtomicU64,
    backlog: AtomicU64,
    backlog_bytes: AtomicU64,
}

impl Counters {
    pub(crate) fn synced(&self, took: Duration, bytes: u64) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        self.slowest.fetch_max(micros, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.stored.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A segment was written again; the pairs are before and after.
    pub(crate) fn replaced(&self, raw: (u64, u64), stored: (u64, u64), compressed: bool) {
        for (counter, (before, after)) in [(&self.bytes, raw), (&self.stored, stored)] {
            counter.fetch_add(after, Ordering::Relaxed);
            counter.fetch_sub(before, Ordering::Relaxed);
        }
        self.compressed
            .fetch_add(u64::from(compressed), Ordering::Relaxed);
    }

    pub(crate) fn found(&self, found: Sizes) {
        self.segments.store(found.segments, Ordering::Relaxed);
        self.bytes.store(found.bytes, Ordering::Relaxed);
        self.stored.store(found.stored, Ordering::Relaxed);
        self.compressed.store(found.compressed, Ordering::Relaxed);
    }

    pub(crate) fn segment(&self) {
        self.segments.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn queued(&self, bytes: u64) {
        self.backlog.fetch_add(1, Ordering::Relaxed);
        self.backlog_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn left(&self, bytes: u64) {
        self.backlog.fetch_sub(1, Ordering::Relaxed);
        self.backlog_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn stats(&self, streams: u64) -> Stats {
        Stats {
            bytes: self.bytes.load(Ordering::Relaxed),
            stored: self.stored.load(Ordering::Relaxed),
            compressed: self.compressed.load(Ordering::Relaxed),
            segments: self.segments.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
            sync_micros: self.micros.load(Ordering::Relaxed),
            slowest_sync_micros: self.slowest.load(Ordering::Relaxed),
            backlog: self.backlog.load(Ordering::Relaxed),
            backlog_bytes: self.backlog_bytes.load(Ordering::Relaxed),
            streams,
        }
    }
}
