//! Upkeep of a directory: sizes and counters, heads to keep elsewhere, forgetting of sessions.

use super::{Cut, State};
use serde::{Deserialize, Serialize};

/// `v1.stats`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stats {
    /// Also the size of each session: reads the bodies of the whole log.
    #[serde(default)]
    pub sessions: bool,
    /// Only sessions whose names begin so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// At most so many sessions, the largest; default 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// The answer to [`Stats`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StatsReport {
    /// The data directory.
    pub directory: String,
    /// Sessions in it.
    pub sessions: u64,
    /// Positions that were given and are durable, what damage took included.
    pub events: u64,
    /// Sessions in memory.
    pub in_memory: u64,
    /// Bytes on disk.
    pub disk: DiskUse,
    /// What is accepted and not durable yet.
    pub backlog: Backlog,
    /// Syncs since this process opened the directory.
    pub syncs: Syncs,
    /// The event store behind the segments.
    pub store: StoreLine,
    /// What this process found when it opened the directory.
    pub recovered: Found,
    /// Each session, the largest first; only when asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_session: Vec<SessionSize>,
}

/// Bytes on disk, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskUse {
    /// All of it.
    pub total: u64,
    /// Segments, as they lie on disk.
    pub segments: u64,
    /// Number of segments.
    pub segment_files: u64,
    /// Bytes of the segments before compression.
    pub segments_raw: u64,
    /// The directory's key.
    pub key: u64,
    /// The event store; derived.
    pub store: u64,
    /// State checkpoints; derived.
    pub states: u64,
    /// Prompt bodies that were written to files.
    pub out: u64,
    /// Results too large for a prompt, as files.
    #[serde(default)]
    pub spills: u64,
    /// Everything else.
    pub other: u64,
}

/// What waits for the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Batches that are accepted and not durable.
    pub batches: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes that wait to be taken in by the event store.
    pub store_bytes: u64,
}

/// Syncs that returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Syncs {
    /// How many.
    pub count: u64,
    /// Time in all of them, in microseconds.
    pub micros: u64,
    /// The longest one, in microseconds.
    pub slowest_micros: u64,
}

/// How the event store stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreLine {
    /// `comparing`, `rebuilding`, `ready`, `off`, `closed`, or `none` when the directory is used without one.
    pub state: String,
    /// Why it is rebuilt or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Records compared or filled in by what is being done.
    pub done: u64,
    /// Records there are in all, as far as known.
    pub total: u64,
}

/// What opening a directory found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The worst of it.
    pub state: State,
    /// The last writer closed the log.
    pub closed: bool,
    /// What was cut off the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// Stretches of damage.
    pub damaged: u64,
    /// Positions that damage took.
    pub lost: u64,
    /// Why the event store was built again, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilt: Option<String>,
    /// Why the event store could not say whether the end of the log is missing: positions that were lost there may be given again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_evidence: Option<String>,
    /// The directory's key was made again from a segment.
    #[serde(default)]
    pub key_restored: bool,
}

/// The size of one session: of its own records, without what a fork inherits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSize {
    /// Its name.
    pub session: String,
    /// Its newest position.
    pub head: u64,
    /// Time of its newest event, in ms.
    pub at: u64,
    /// Its own events that can be read.
    pub events: u64,
    /// Bytes of their bodies.
    pub bodies: u64,
    /// Their contents: texts, results, pictures.
    pub contents: u64,
    /// Bytes of the contents.
    pub content_bytes: u64,
    /// Positions that damage took.
    pub lost: u64,
    /// The first position that is not durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_durable_since: Option<u64>,
}

/// `v1.heads`: what the sessions end in, to be kept elsewhere as evidence.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heads {
    /// Only names that begin so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// The answer to [`Heads`]: all of it is durable.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HeadsReport {
    /// The sessions by name.
    pub heads: Vec<Head>,
}

/// A position of a session and the digest of its record, which covers everything before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The session.
    pub session: String,
    /// The position.
    pub head: u64,
    /// The record digest there: 64 hexadecimal digits.
    pub digest: String,
}

/// How a session stands to what was known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The record is there, and is the same one.
    #[default]
    Holds,
    /// The log says that the session was forgotten on purpose.
    Pruned,
    /// The session, or its end, is not there.
    Truncated,
    /// The record was damaged; what stands around it does not contradict.
    Damaged,
    /// Another record stands there: the history is another one.
    Differs,
}

/// A session held against what was known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Against {
    /// The session.
    pub session: String,
    /// The newest position that was known.
    pub head: u64,
    /// How it stands.
    pub standing: Standing,
    /// Its newest position now; none when it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// The newest position that was known and is the same, with everything before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agrees: Option<u64>,
    /// The first position that is not there although one that was known behind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
}

/// `v1.prune`: forgets whole sessions for ever. What is named narrows: a session goes when all of it applies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prune {
    /// Sessions whose newest event is older than so many ms at `now`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than: Option<u64>,
    /// Only these sessions; those that are not there are told of, and are no error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<String>>,
    /// Only sessions of these kinds: `main`, `sub`, `side`; a fork is of the kind of what it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
    /// Of what the rest names, the newest so many stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<u64>,
    /// The time, in ms: sessions that were written to later stay. Default: the engine's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// Only says what would go.
    #[serde(default)]
    pub dry_run: bool,
    /// First writes all that goes to this file, as archives one behind the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Goes on although segments that are written again are damaged; damaged bytes whose owner nobody knows are given up too.
    #[serde(default)]
    pub give_up_damage: bool,
    /// Idempotency key: the same request again gets the same answer, while the process lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The answer to [`Prune`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Nothing was done.
    pub dry_run: bool,
    /// What goes, or is gone.
    pub pruned: Vec<PrunedSession>,
    /// What the policy names and what stays all the same.
    pub kept: Vec<KeptSession>,
    /// Named sessions that are not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// Events given up.
    pub events: u64,
    /// Bytes of their bodies and contents.
    pub bytes: u64,
    /// Bytes of the segments on disk before.
    pub disk_before: u64,
    /// Bytes of the segments on disk now; the same as before in a dry run.
    pub disk_after: u64,
    /// Segments that could not be written again yet: bytes of what was forgotten still stand in them. Tried again at the next
    /// prune and at the next open.
    pub left: u64,
    /// Where the archives are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Damage that stands in the way; only of a dry run: a real one is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// A session that goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrunedSession {
    /// Its name.
    pub session: String,
    /// `main`, `sub` or `side`.
    pub kind: String,
    /// Its newest position.
    pub head: u64,
    /// The record digest there.
    pub digest: String,
    /// Time of its newest event, in ms.
    pub at: u64,
    /// Its own events.
    pub events: u64,
    /// Bytes of their bodies and contents.
    pub bytes: u64,
}

/// A session that stays although the policy names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSession {
    /// Its name.
    pub session: String,
    /// Why.
    pub why: String,
}
