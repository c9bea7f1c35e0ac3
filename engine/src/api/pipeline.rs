//! The pipeline: compactions, refusals for size, what the host has to do.

use super::{Request, Spec};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a tier did in a `prepare`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierReport {
    /// `budget`, `snip`, `micro`, `collapse`, `compact`, `cline`, `block`, `assembly` or `overflow`.
    pub tier: String,
    /// What it did, in words; why it did nothing, where that is worth a word.
    pub did: String,
    /// Tokens that it freed, by estimate.
    pub freed: u64,
    /// The events that it logged.
    pub events: Vec<u64>,
}

/// Something only the host can do. Repeated until it is answered, also after a restart: at least once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Action {
    /// Its name: made of the event that caused it.
    pub id: String,
    /// `summarise` (have a model answer `request`, report by `summarised`), `resize` (make the picture `block` smaller, put it in its
    /// place by a `replace`, then `done`) or `tell` (show `text` to the person, then `done`).
    pub kind: String,
    /// Of summarise: the compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<String>,
    /// Of summarise: which piece of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u32>,
    /// Of summarise: the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// Of summarise: the first position that is summed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// Of summarise: the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
    /// Of resize: the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<(u64, u32)>,
    /// Of resize: most pixels a side; 0: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<u64>,
    /// Of resize: most bytes as it travels; 0: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Of tell: what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of tell: `info`, `warning` or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
}

/// `v1.session.actions`: what is pending, also from before a restart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actions {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// How bodies are handed out.
    #[serde(default, rename = "as")]
    pub form: super::As,
}

/// The answer to [`Actions`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ActionList {
    /// The actions, oldest first.
    pub actions: Vec<Action>,
}

/// `v1.session.done`: an action was carried out, or could not be.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// Its name.
    pub action: String,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
}

/// `v1.session.compact`: by force, whatever the threshold.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compact {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// Instruction of the person: behind the request's own, or in its place, as the policy says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instruction: Option<String>,
    /// First event summarised; what stands before it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// First event kept; what stands before it is summarised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to: Option<u64>,
    /// At once, without a model.
    #[serde(default)]
    pub model_free: bool,
    /// How bodies are handed out.
    #[serde(default, rename = "as")]
    pub form: super::As,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
}

/// One request of a compaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChunkRequest {
    /// Which piece.
    pub chunk: u32,
    /// The request to have a model answer.
    pub request: Request,
    /// The first position that it sums up.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// The answer to [`Compact`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compacted {
    /// The compaction.
    pub compaction: String,
    /// `planned` (answer the requests by `summarised`) or `committed` (without a model).
    pub outcome: String,
    /// What is to be summarised, in order.
    pub requests: Vec<ChunkRequest>,
    /// Tokens before, by estimate.
    pub before: u64,
    /// Tokens after, by estimate, where it is committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The newest position.
    pub head: u64,
}

/// `v1.session.summarised`: a model's answer to a request of a compaction, or its error.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summarised {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The compaction.
    pub compaction: String,
    /// Which piece.
    #[serde(default)]
    pub chunk: u32,
    /// What the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The provider's words instead: a string or `{status?, code?, body}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RawValue>>,
    /// Why the model stopped (`end_turn`, `tool_use`, `max_tokens` …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// What the call cost, with the fields of a `usage` event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Box<RawValue>>,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// How bodies are handed out.
    #[serde(default, rename = "as")]
    pub form: super::As,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
}

/// The answer to [`Summarised`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SummarisedAnswer {
    /// `next` (more requests are open), `committed`, `rejected` (it does not shrink, or it is void), `retry` (send the request again),
    /// `model_free` (committed without a model) or `abandoned`.
    pub outcome: String,
    /// The compaction that the requests belong to: another one where it was planned again in smaller chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<String>,
    /// Why, where it was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The requests that are open.
    pub requests: Vec<ChunkRequest>,
    /// Tokens before, by estimate.
    pub before: u64,
    /// Tokens after, by estimate, where it is committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The newest position.
    pub head: u64,
}

/// `v1.session.abandon`: a compaction is given up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abandon {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The compaction.
    pub compaction: String,
    /// Why.
    pub reason: String,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
}

/// The answer to [`Abandon`] and [`Done`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// The newest position.
    pub head: u64,
}

/// `v1.session.overflowed`: a provider refused a prompt.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overflowed {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The provider's words: a string or `{status?, code?, body}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RawValue>>,
    /// Digest of the prompt; default: the one that was issued last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// Instead of the session's profile; not merged. As in the `prepare` that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Spec>,
    /// Request parameters, as in the `prepare` that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Box<RawValue>>,
    /// How bodies are handed out.
    #[serde(default, rename = "as")]
    pub form: super::As,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
}

/// The answer to [`Overflowed`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OverflowAnswer {
    /// `retry` (send `request`), `summarise` (answer `requests` by `summarised`, then `prepare`) or `surface` (show the error).
    pub outcome: String,
    /// Whether the host's hooks for the end of a turn may run: never after a refusal for size, since feedback makes the prompt longer.
    pub run_stop_hooks: bool,
    /// What the provider's words meant: `tokens`, `bytes`, `images`, or `none` where they are about something else.
    pub refused_for: String,
    /// How much it was, where the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<u64>,
    /// How much is allowed, where the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The level without a model that was reached, 0 to 3.
    pub level: u8,
    /// What each step did.
    pub tiers: Vec<TierReport>,
    /// The prompt to send instead, as `prepare` answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Box<super::Prepared>>,
    /// The compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<String>,
    /// What is to be summarised, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<ChunkRequest>,
    /// Why the error surfaces, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The newest position.
    pub head: u64,
}
