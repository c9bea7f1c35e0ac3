//! Appending events.

use super::{Changed, OpenCall};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a receipt promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Accepted; will be written in order, before anything later.
    Ordered,
    /// On disk.
    Synced,
}

/// `v1.session.append`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The events, as JSON objects; exactly these bytes are kept.
    pub events: Vec<Box<RawValue>>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What the receipt shall promise; default: the strongest default of the events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// `keep`: events of unknown types are kept word for word. Otherwise they are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Time of events that name none, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// The answer to [`Append`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appended {
    /// Position of the first event; head + 1 when there was nothing to log (drafts).
    pub first: u64,
    /// The newest position.
    pub head: u64,
    /// The newest position that is on disk.
    pub durable: Option<u64>,
    /// It had been done before under this key; then `head` is the last position of what was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// The first piece of the prompt, as it was before, that these events changed or took away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_changed: Option<Changed>,
}

/// `v1.session.sync`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// Wait until this position is on disk; default: the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// The answer to [`Sync`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synced {
    /// The newest position that is on disk.
    pub durable: Option<u64>,
}

/// `v1.session.interrupt`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interrupt {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The time, in ms; default: the clock.
    #[serde(default, alias = "at", skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The answer to [`Interrupt`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupted {
    /// Position of the first event; head + 1 when nothing was open.
    pub first: u64,
    /// The newest position.
    pub head: u64,
    /// The newest position that is on disk.
    pub durable: Option<u64>,
    /// The calls that were closed.
    pub closed: Vec<OpenCall>,
    /// A draft became a message.
    pub draft: bool,
}
