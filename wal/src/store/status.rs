//! What the store reports about itself, why it was rebuilt, and its settings.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::contract::{Open, StoreError};
use super::layout::Terms;
use super::on_sled::OnSled;
use super::source::SourceError;
use crate::record::StreamId;

/// Why a store is not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// There is none, or it is empty although the segments are not.
    Absent,
    /// It belongs to another data directory, or to another version of the layout or of the terms.
    Foreign,
    /// It does not say what the segments say.
    Differs {
        /// The stream, when it is about one.
        stream: Option<StreamId>,
        /// What differs.
        what: &'static str,
    },
    /// It holds records that the segments do not have: they were cut, or replaced by an older copy.
    Ahead,
    /// It failed.
    Failed(StoreError),
    /// It did not answer in time.
    Hung,
    /// The segments could not be read to compare.
    Unread(SourceError),
    /// The caller asked for it.
    Asked,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Absent => f.write_str("absent"),
            Doubt::Foreign => f.write_str("foreign"),
            Doubt::Differs {
                stream: Some(stream),
                what,
            } => write!(f, "differs: {what} stream={stream}"),
            Doubt::Differs { stream: None, what } => write!(f, "differs: {what}"),
            Doubt::Ahead => f.write_str("ahead of the segments"),
            Doubt::Failed(error) => write!(f, "failed: {error}"),
            Doubt::Hung => f.write_str("hung"),
            Doubt::Unread(error) => write!(f, "not compared: {error}"),
            Doubt::Asked => f.write_str("asked for"),
        }
    }
}

impl From<StoreError> for Doubt {
    fn from(error: StoreError) -> Doubt {
        Doubt::Failed(error)
    }
}

impl From<SourceError> for Doubt {
    fn from(error: SourceError) -> Doubt {
        Doubt::Unread(error)
    }
}

/// What the store is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreState {
    /// It is opened and compared with the segments; reads go to the segments.
    Comparing,
    /// A new one is filled from the segments; reads go to the segments.
    Rebuilding(Doubt),
    /// It serves reads and follows the commits.
    Ready,
    /// It is not used; reads go to the segments.
    Off(Doubt),
    /// It was closed.
    Closed,
}

/// A stream of which the store knew more than the segments: evidence that durable records are missing at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The stream.
    pub stream: StreamId,
    /// The last seq in the segments; none when they do not know the stream.
    pub segments: Option<u64>,
    /// The last seq in the store.
    pub store: u64,
}

/// Records of one stream from `first` to `last`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The stream.
    pub stream: StreamId,
    /// The first seq.
    pub first: u64,
    /// The last seq.
    pub last: u64,
}

/// The store's state and what was found since it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStatus {
    /// What it is doing now.
    pub state: StoreState,
    /// Why it was last rebuilt in this process; none when it never was.
    pub rebuilt: Option<Doubt>,
    /// Whether the segments were held against the heads that it knew, or there was nothing to be known.
    pub weighed: bool,
    /// Streams of which it knew more than the segments.
    pub ahead: Vec<Ahead>,
    /// Records lost in the segments that the store still had, checked against the chain; it goes on serving them.
    pub salvaged: Vec<Span>,
    /// Records compared or filled in by what is being done now.
    pub done: u64,
    /// Records that there are in all, as far as known.
    pub total: u64,
    /// Bytes of chunks that wait to be written.
    pub backlog: u64,
}

/// What is called while the store is compared or rebuilt: state, records done, records in all.
pub type Progress = dyn Fn(&StoreState, u64, u64) + Send + Sync;

/// Settings of the store.
#[derive(Clone)]
pub struct StoreOptions {
    /// Which store.
    pub opener: Arc<dyn Open>,
    /// Terms to be indexed besides the tags of batches.
    pub terms: Option<Arc<dyn Terms>>,
    /// Is told how a comparison or a rebuild goes.
    pub progress: Option<Arc<Progress>>,
    /// Bytes of full chunks that may wait to be written; appends slow down at it. 16 MiB.
    pub backlog: usize,
    /// How long a full backlog may hold up one commit; then the store is left behind until it has caught up. 1 s.
    pub slow: Duration,
    /// Bytes of open chunks in memory before they are written as they are. 32 MiB.
    pub open_bytes: usize,
    /// How long the store may take without any progress before it counts as hung. 20 s.
    pub patience: Duration,
    /// How often a failing store is rebuilt before it is left off. 3.
    pub attempts: u32,
    /// Pause before a rebuild after a full disk. 30 s.
    pub pause: Duration,
    /// How long after the last commit open chunks are written and the store is flushed. 5 s.
    pub idle: Duration,
    /// Bytes put between two flushes. 32 MiB.
    pub flush_bytes: usize,
    /// How long opening waits for the comparison where the segments are small; it goes on behind after that. 2 s.
    pub wait: Duration,
    /// How long opening waits to hear how far the store knows the streams to reach, so that no position that was lost is
    /// given again. One that does not open in that time is no evidence. 5 s.
    pub evidence: Duration,
    /// How long closing waits for the store before it is left to itself. 5 s.
    pub close: Duration,
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            opener: Arc::new(OnSled::default()),
            terms: None,
            progress: None,
            backlog: 16 << 20,
            slow: Duration::from_secs(1),
            open_bytes: 32 << 20,
            patience: Duration::from_secs(20),
            attempts: 3,
            pause: Duration::from_secs(30),
            idle: Duration::from_secs(5),
            flush_bytes: 32 << 20,
            wait: Duration::from_secs(2),
            evidence: Duration::from_secs(5),
            close: Duration::from_secs(5),
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("backlog", &self.backlog)
            .field("open_bytes", &self.open_bytes)
            .field("patience", &self.patience)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without words".to_owned())
}
