//! Prompts: asked for, shown, issued.

use super::{Action, At, Spec, StatusReport, TierReport};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How the body of a request is handed out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum As {
    /// A string that holds exactly the bytes which the digest covers.
    #[default]
    Text,
    /// A JSON object; who parses and writes it again has other bytes.
    Object,
    /// The name of a file with exactly the bytes, in the data directory's `out` folder.
    File,
    /// No body.
    None,
}

/// `v1.session.project`: changes nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The cut.
    #[serde(default)]
    pub at: At,
    /// `anthropic`, `openai_chat` …; default: the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
    /// Instead of the session's profile; not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Spec>,
    /// List the pieces.
    #[serde(default)]
    pub pieces: bool,
    /// Show a placeholder for every open call instead of waiting.
    #[serde(default)]
    pub heal: bool,
    /// Digest of a prompt that the caller has: list only pieces after what is common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// How the body is handed out.
    #[serde(default, rename = "as")]
    pub form: As,
}

/// `v1.session.prepare`: as [`Project`]; logs what it decides and answers when all is on disk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prepare {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// Request parameters that take the place of the profile's of the same name: a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Box<RawValue>>,
    /// The cut.
    #[serde(default)]
    pub at: At,
    /// `anthropic`, `openai_chat` …; default: the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
    /// Instead of the session's profile; not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Spec>,
    /// List the pieces.
    #[serde(default)]
    pub pieces: bool,
    /// Show a placeholder for every open call instead of waiting.
    #[serde(default)]
    pub heal: bool,
    /// Digest of a prompt that the caller has: list only pieces after what is common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// How the body is handed out.
    #[serde(default, rename = "as")]
    pub form: As,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
}

/// Whether a prompt can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It can.
    Ready,
    /// Someone has to say something first.
    Waiting,
    /// A policy's limit.
    Blocked,
    /// It does not fit.
    Impossible,
}

/// Who has to say something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// `person`, `results` or `summary`.
    #[serde(rename = "for")]
    pub whom: String,
    /// The calls without a result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(u64, u32)>,
    /// The compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<String>,
}

/// A large piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Large {
    /// Its event.
    pub event: Option<u64>,
    /// Its tokens.
    pub tokens: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Why a prompt does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impossible {
    /// What it needs at least.
    pub floor: u64,
    /// What there is.
    pub limit: u64,
    /// `tokens` or `bytes`.
    pub unit: String,
    /// The largest pieces.
    pub largest: Vec<Large>,
    /// What to do.
    pub next: String,
}

/// Which policy's limit holds a prompt back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// Whose limit.
    pub by: String,
    /// The limit, in tokens.
    pub limit: u64,
}

/// Tokens by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokensBy {
    /// Tools.
    pub tools: u64,
    /// The system prompt.
    pub system: u64,
    /// Messages.
    pub messages: u64,
    /// Results of tools.
    pub results: u64,
    /// Summaries.
    pub summaries: u64,
    /// Injections.
    pub injections: u64,
}

/// Tokens, by estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// All.
    pub total: u64,
    /// By category.
    pub by: TokensBy,
}

/// A request to a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The body, as the caller asked for it.
    pub body: Box<RawValue>,
    /// The headers: a JSON object.
    pub headers: Box<RawValue>,
}

/// Something that the projection mended or left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// What.
    pub kind: String,
    /// Where.
    pub event: Option<u64>,
    /// Which block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<(u64, u32)>,
}

/// The first piece of an earlier prompt that is no longer there as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// Its place, from 0.
    pub piece: u64,
    /// The event that it shows, or the one that changed it.
    pub event: Option<u64>,
}

/// A piece of a prompt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// `tool`, `system`, `user`, `assistant` or `result`.
    pub role: String,
    /// The event that it shows.
    pub event: Option<u64>,
    /// The block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<(u64, u32)>,
    /// Why it looks as it does.
    pub why: String,
    /// Its tokens.
    pub tokens: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its digest.
    pub digest: String,
}

/// The answer to [`Project`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Projected {
    /// Whether it can be sent.
    pub outcome: Outcome,
    /// For whom it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// Which policy's limit holds it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<Blocked>,
    /// Why it does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<Impossible>,
    /// The request; only when it is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// Root over the digests of its pieces.
    pub digest: String,
    /// blake3 of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_digest: Option<String>,
    /// Tokens, as counted by the engine's tokenizer.
    pub tokens: Tokens,
    /// Tokens that the provider will count, by estimate: measured where it counted before, else factor and margin; overhead included.
    #[serde(default)]
    pub estimate: u64,
    /// The answer's limit, as the body names it.
    #[serde(default)]
    pub max_tokens: u64,
    /// Bytes of the body.
    pub bytes: u64,
    /// The position that it shows.
    pub cut: u64,
    /// The newest position that is on disk.
    pub durable: Option<u64>,
    /// What was mended or left out.
    pub repairs: Vec<Repair>,
    /// Request parameters that the wire does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params_left_out: Vec<String>,
    /// Against the prompt of `since`, else against the newest issued one.
    pub first_changed: Option<Changed>,
    /// The pieces, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<Vec<Piece>>,
    /// The dialect.
    pub wire: String,
    /// The model.
    pub model: String,
}

/// The answer to [`Prepare`].
#[derive(Clone, Debug, Serialize)]
pub struct Prepared {
    /// The prompt.
    #[serde(flatten)]
    pub prompt: Projected,
    /// Position of the `issued` event; none when there is nothing to send.
    pub issued: Option<u64>,
    /// The newest position.
    pub head: u64,
    /// What each tier did.
    pub tiers: Vec<TierReport>,
    /// What the host has to do.
    pub actions: Vec<Action>,
    /// How full it is.
    pub status: StatusReport,
}

#[derive(Deserialize)]
struct Decisions {
    issued: Option<u64>,
    head: u64,
    tiers: Vec<TierReport>,
    actions: Vec<Action>,
    status: StatusReport,
}

/// Reads the object twice: raw values do not survive a flattened read.
impl<'de> Deserialize<'de> for Prepared {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let prompt = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        let rest: Decisions = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        Ok(Self {
            prompt,
            issued: rest.issued,
            head: rest.head,
            tiers: rest.tiers,
            actions: rest.actions,
            status: rest.status,
        })
    }
}
