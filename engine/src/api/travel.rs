//! Checkpoints, rollbacks, undos, forks.

use super::{At, To, Tokens};
use serde::{Deserialize, Serialize};

/// `v1.session.checkpoint`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The label; the newest of a label on the timeline wins.
    pub label: String,
    /// The host's reference to its workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// The answer to [`Checkpoint`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpointed {
    /// Its position.
    pub seq: u64,
    /// Its time, in ms.
    pub at: u64,
    /// The newest position.
    pub head: u64,
    /// The newest position that is on disk.
    pub durable: Option<u64>,
}

/// `v1.session.rollback`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rollback {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// Where to.
    pub to: To,
    /// Idempotency key: a repeated `{turns: 1}` must not roll back twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// The answer to [`Rollback`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RolledBack {
    /// The rollback's own position.
    pub event: u64,
    /// The position whose timeline it is again.
    pub to: u64,
    /// Time of that position, in ms.
    pub at: u64,
    /// Later-stamped events before that position, when a time was asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// What the caller should know: clocks that ran backwards, a profile that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The newest position.
    pub head: u64,
    /// The newest position that is on disk.
    pub durable: Option<u64>,
    /// Digest of the prompt now; none without a profile.
    pub digest: Option<String>,
    /// Tokens of the prompt now, by estimate; none without a profile.
    pub tokens: Option<Tokens>,
}

/// `v1.session.undo`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The event whose effect is taken out.
    pub event: u64,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// The answer to [`Undo`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Undone {
    /// The undo's own position.
    pub event: u64,
    /// The newest position.
    pub head: u64,
    /// The newest position that is on disk.
    pub durable: Option<u64>,
    /// Digest of the prompt now; none without a profile.
    pub digest: Option<String>,
    /// Tokens of the prompt now, by estimate; none without a profile.
    pub tokens: Option<Tokens>,
}

/// `v1.session.fork`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// The session that is continued.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The last position that the fork inherits; default: the head.
    #[serde(default)]
    pub at: At,
    /// The fork's name.
    pub new: String,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects of the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
}

/// The answer to [`Fork`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forked {
    /// The fork's name.
    pub session: String,
    /// The fork's newest position.
    pub head: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the serializer hands out a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
