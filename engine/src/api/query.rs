//! Questions: status, explanations, differences, the log itself.

use super::{At, Spec, Tokens, TokensBy};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// `v1.session.status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
}

/// What was used, over all branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Input that was neither read from nor written to a cache.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
    /// Requests.
    pub requests: u64,
}

/// The lines that a policy draws in the window, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// What of the window the prompt may fill.
    pub effective: u64,
    /// From here on the prompt is made smaller.
    pub trigger: u64,
    /// From here on people are warned.
    pub warning: u64,
    /// From here on it is urgent.
    pub error: u64,
    /// From here on nothing is sent while nothing may be compacted by itself.
    pub blocking: u64,
}

/// A compaction that is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionLine {
    /// Its commit.
    pub event: u64,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The first position that it covers; none for a marker.
    pub first: Option<u64>,
    /// The last.
    pub last: Option<u64>,
    /// What asked for it: `manual`, `auto` or `overflow`; none where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// How hard it cut: 0, then 1 to 3.
    #[serde(default)]
    pub level: u8,
    /// Who made the summary: `model`, `memory`, `rule` or `host`; none where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Tokens before, by estimate.
    pub before: Option<u64>,
    /// Tokens after, by estimate.
    pub after: Option<u64>,
    /// Tokens of the first prompt behind it, as the provider counted them.
    pub counted: Option<u64>,
    /// Messages that its summary stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// From the plan to the commit, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
    /// What stayed as it was behind the summary: the first and the last position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<(u64, u64)>,
}

/// How far an estimate from words alone was off, at the newest prompt of the model that the provider counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EstimatorLine {
    /// What was estimated, with the factor that was known before.
    pub estimated: u64,
    /// What the provider counted.
    pub counted: u64,
    /// The difference in thousandths of the count; below zero: too little was estimated.
    pub error_milli: i64,
}

/// Where less was read from the provider's cache than by the call before, unannounced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheBreakLine {
    /// The `cache_break` event.
    pub event: u64,
    /// The usage that shows it.
    pub usage: u64,
    /// Tokens read by the call before.
    pub before: u64,
    /// Tokens read by this one.
    pub after: u64,
    /// `changed`, `expired` or `unexplained`.
    pub cause: String,
}

/// What no compaction can take away: tools, system prompt, what the provider adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// Tokens, by estimate.
    pub tokens: u64,
    /// It was found to be above the trigger; compaction by itself is stopped.
    pub latched: bool,
}

/// A breaker as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerLine {
    /// Which.
    pub name: String,
    /// `counts`, `trips` or `releases`.
    pub state: String,
    /// Its count, level or floor.
    pub value: u64,
}

/// The answer to [`Status`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StatusReport {
    /// The session.
    pub session: String,
    /// The newest position.
    pub head: u64,
    /// The newest position that is on disk.
    pub durable: Option<u64>,
    /// The first position that could not be written yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_durable_since: Option<u64>,
    /// The model.
    pub model: Option<String>,
    /// The prompt's tokens: measured where `source` says so.
    pub tokens: Tokens,
    /// `measured` (the provider's own count of exactly this prompt) or `estimated`.
    pub source: String,
    /// Of `tokens`, those that the provider counted.
    pub measured: u64,
    /// The context window; none without a profile.
    pub window: Option<u64>,
    /// Tokens at which the prompt is made smaller.
    pub trigger: Option<u64>,
    /// Tokens / trigger × 100.
    pub compression_progress: u64,
    /// The trigger.
    pub compression_threshold: Option<u64>,
    /// Rounds until then by the moving average; -1 when over, none when no round is known.
    pub rounds_until_compression: Option<i64>,
    /// Tokens that the next round will add, by the moving average.
    pub estimated_next_round_tokens: u64,
    /// Bytes of the body.
    pub bytes: u64,
    /// Pictures in the prompt.
    pub images: u64,
    /// What was used, over all branches.
    pub usage: Spent,
    /// What no compaction can take away.
    pub floor: Floor,
    /// What keeps a tier from running in a circle.
    pub breaker: Vec<BreakerLine>,
    /// Compactions that wait for a summary.
    pub pending: Vec<String>,
    /// Authored messages on the timeline.
    pub turns: u64,
    /// Calls without a closing result.
    pub open_calls: u64,
    /// The estimator's factor for this model, in thousandths.
    pub factor_milli: u64,
    /// The policy in force, by the name of its preset; none where none is.
    #[serde(default)]
    pub policy: Option<String>,
    /// Tokens that are compared with the lines: all, or those of messages alone where the policy has a limit of its own.
    #[serde(default)]
    pub weighed: u64,
    /// The lines that the policy draws; without a policy those of the preset `none`.
    #[serde(default)]
    pub lines: Lines,
    /// `normal`, `warning`, `error` or `blocked`.
    #[serde(default)]
    pub level: String,
    /// The prompt was made smaller since the provider counted last: no warning until it counts again.
    #[serde(default)]
    pub suppressed: bool,
    /// The estimate's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimator: Option<EstimatorLine>,
    /// Cache edits whose effect no answer has told yet, by name.
    #[serde(default)]
    pub pending_edits: Vec<String>,
    /// Bytes of the pieces by category; of `status` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_by: Option<TokensBy>,
    /// Compactions that are in force, oldest first; of `status` alone.
    #[serde(default)]
    pub compactions: Vec<CompactionLine>,
    /// What the calls that compactions made for themselves cost, over all branches; in `usage` as well.
    #[serde(default)]
    pub compaction_calls: Spent,
    /// The newest falls of the provider's cache that nothing announced, oldest first; of `status` alone.
    #[serde(default)]
    pub cache_breaks: Vec<CacheBreakLine>,
}

/// `v1.session.explain`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The cut.
    #[serde(default)]
    pub at: At,
    /// Only this block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<(u64, u32)>,
}

/// A piece that is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shown {
    /// The event that it shows.
    pub event: Option<u64>,
    /// The block.
    pub block: Option<(u64, u32)>,
    /// `tool`, `system`, `user`, `assistant` or `result`.
    pub role: String,
    /// Why it looks as it does.
    pub why: String,
    /// Its tokens.
    pub tokens: u64,
    /// Its bytes.
    pub bytes: u64,
    /// A cache breakpoint stands behind it: how long the provider keeps what is before, `5m` or `1h`. Costs no tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// Content that is not shown: an event, or one block of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Absent {
    /// The event.
    pub event: u64,
    /// The block; none: all of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<(u64, u32)>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The one cause, in words.
    pub cause: String,
    /// The event that is the cause.
    pub by: Option<u64>,
    /// The request that brings it back: a method's name and its parameters.
    pub back: Option<Box<RawValue>>,
}

/// The answer to [`Explain`]: the sum over `shown` is the total.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Explained {
    /// The position that it explains.
    pub cut: u64,
    /// Digest of the prompt.
    pub digest: String,
    /// Tokens of the prompt, as counted: the sum over `shown` where all of it is asked for.
    pub tokens: Tokens,
    /// What the provider adds and no piece shows, in its tokens.
    #[serde(default)]
    pub overhead_tokens: u64,
    /// Tokens of the whole prompt as the provider counts them: what it measured before, and the rest times `factor_milli`; overhead
    /// included.
    #[serde(default)]
    pub metered: u64,
    /// Of those, what the provider counted.
    #[serde(default)]
    pub measured: u64,
    /// The provider's tokens for a thousand counted ones.
    #[serde(default)]
    pub factor_milli: u64,
    /// Bytes of the body.
    #[serde(default)]
    pub bytes: u64,
    /// Of those, what stands around the pieces: separators, names, parameters, cache markers.
    #[serde(default)]
    pub frame_bytes: u64,
    /// What is shown, in order.
    pub shown: Vec<Shown>,
    /// What is not.
    pub absent: Vec<Absent>,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// The cut.
    #[serde(default)]
    pub at: At,
    /// Instead of the session's profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Spec>,
    /// Instead of the profile's dialect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
    /// As the tiers of this policy would make it, without a model's summaries. Positions behind the head are those that their events
    /// would take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Spec>,
}

/// `v1.session.diff`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diff {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The one.
    pub a: Side,
    /// The other.
    pub b: Side,
}

/// A piece that differs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Difference {
    /// Its place in the prompt, from 0.
    pub piece: u64,
    /// The event.
    pub event: Option<u64>,
    /// The block.
    pub block: Option<(u64, u32)>,
    /// `tool`, `system`, `user`, `assistant` or `result`.
    pub role: String,
    /// Its tokens.
    pub tokens: u64,
}

/// Where two bodies part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FirstDifference {
    /// The first byte of the body, without cache markers, that differs.
    pub byte: u64,
    /// The piece.
    pub piece: u64,
    /// The event behind it: what hid or replaced the piece, else the event that it shows.
    pub event: Option<u64>,
}

/// The answer to [`Diff`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Differed {
    /// Nothing differs.
    pub equal: bool,
    /// Digest of the one.
    pub a: String,
    /// Digest of the other.
    pub b: String,
    /// Only in `b`.
    pub added: Vec<Difference>,
    /// Only in `a`.
    pub removed: Vec<Difference>,
    /// The same block, other bytes.
    pub changed: Vec<Difference>,
    /// Where they part.
    pub first: Option<FirstDifference>,
    /// Tokens by category of `a`.
    pub tokens_a: TokensBy,
    /// Tokens by category of `b`.
    pub tokens_b: TokensBy,
}

/// `v1.session.log`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The first position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// At most so many; default 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// The answer to [`Log`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogPage {
    /// The events, as JSON objects.
    pub events: Vec<Box<RawValue>>,
    /// Where to go on.
    pub next: Option<u64>,
}
