//! Opening, listing, verifying; what the engine says of itself.

use super::{Against, Head, Spec};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// `v1.session.open`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The session's name: 1 to 512 bytes of UTF-8 without NUL.
    #[serde(alias = "session_id")]
    pub session: String,
    /// The profile; when it differs from the session's, it is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Spec>,
    /// The policy; when it differs from the session's, it is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Spec>,
    /// `main` (default), `sub` or `side`; for a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `{session, seq}` of what started it; for a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<RawValue>>,
    /// Directory of spilled results, shown exactly so; for a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill_root: Option<String>,
    /// The host's name and version; for a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Make it when it is not there.
    #[serde(default)]
    pub create: bool,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
    /// Time of what is appended, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// The answer to [`Open`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opened {
    /// The session's name.
    pub session: String,
    /// The newest position.
    pub head: u64,
    /// The newest position that is on disk.
    pub durable: Option<u64>,
    /// It was made by this call.
    pub created: bool,
    /// What this process found when it opened the log.
    pub recovered: Recovered,
    /// Calls without a closing result.
    pub open_calls: Vec<OpenCall>,
}

/// How a log or a directory was found; the worst word is the one that is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Whole.
    #[default]
    Clean,
    /// Whole but for what was erased on purpose.
    #[serde(rename = "erased with receipts")]
    Erased,
    /// The last group, which was not synced, was cut.
    Torn,
    /// Events that were acknowledged are missing at the end.
    Truncated,
    /// Bytes inside are damaged.
    Damaged,
    /// The history is another one than what was known of it says; only where it was held against something.
    Replaced,
}

/// What was cut off the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// How many bytes.
    pub bytes: u64,
    /// After which position; `None` when it is not known.
    pub after: Option<u64>,
}

/// Events that damage took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damaged {
    /// The first position.
    pub first: u64,
    /// The last position.
    pub last: u64,
    /// The segment's number.
    pub segment: u64,
    /// Where in the segment.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// An event that is in the log but does not fit, and shows nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its position.
    pub seq: u64,
    /// Why.
    pub why: String,
}

/// What was found at open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovered {
    /// The worst of it.
    pub state: State,
    /// What was cut off the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// What is damaged.
    #[serde(default)]
    pub damaged: Vec<Damaged>,
    /// Why the event store was built again, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilt: Option<String>,
    /// Why the event store could not say whether the end of the log is missing: positions that were lost there may be given again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_evidence: Option<String>,
    /// Events that do not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// A call without a closing result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// `[seq, index]`.
    pub block: (u64, u32),
    /// The provider's id.
    pub call: String,
    /// The tool's name.
    pub tool: String,
    /// When it was made, in ms.
    pub since: u64,
}

/// `v1.session.verify`; without a session it is `v1.verify`, see [`VerifyAll`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// What was known of it; heads of other sessions are passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Head>,
}

/// `v1.verify`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyAll {
    /// What was known of the sessions; of one session several heads may be given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Head>,
}

/// What a check of one session found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Verified {
    /// The session's name.
    pub session: String,
    /// The worst of it.
    pub state: State,
    /// The newest position.
    #[serde(default)]
    pub head: u64,
    /// Events read.
    pub events: u64,
    /// Digest of the newest record: what the whole chain ends in.
    pub digest: String,
    /// Contents checked against their commitments.
    pub contents: u64,
    /// Recorded prompt digests that were computed again and hold.
    pub prompts: u64,
    /// What was cut off the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// What is damaged.
    #[serde(default)]
    pub damaged: Vec<Damaged>,
    /// Events that do not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// What else does not hold, in words, facts last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// How it stands to what was known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
}

/// What a check of the whole directory found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DirectoryVerified {
    /// The worst of it.
    pub state: State,
    /// Each session.
    pub sessions: Vec<Verified>,
    /// What was cut off the end of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// Why the event store was built again, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilt: Option<String>,
    /// What does not hold and belongs to no session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// How the sessions stand to what was known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Against>,
}

/// `v1.sessions.list`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Only names that begin so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// At most so many; default 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// The answer to [`List`], newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Listed {
    /// The sessions.
    pub sessions: Vec<SessionLine>,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLine {
    /// Its name.
    pub session: String,
    /// Its newest position.
    pub head: u64,
    /// Time of its newest event, in ms.
    pub at: u64,
    /// A few words of how it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Sizes past which a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of a request line.
    pub line_bytes: u64,
    /// Requests of one input that are under way at once; further ones are not read until one of them is answered.
    pub queue: u64,
    /// Bytes of a session's name.
    pub name_bytes: u64,
    /// Bytes of one content.
    pub content_bytes: u64,
    /// Bytes of a record's body, contents not counted.
    pub body_bytes: u64,
}

/// `v1.hello`: what this engine is and can do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// `recount`.
    pub name: String,
    /// The engine's version.
    pub version: String,
    /// Versions of the protocol.
    pub protocol: Vec<String>,
    /// Versions of fold, repair and render.
    pub rendering: Vec<u32>,
    /// Methods.
    pub methods: Vec<String>,
    /// Dialects of requests.
    pub wires: Vec<String>,
    /// Shipped profiles.
    pub profiles: Vec<String>,
    /// Policies by name.
    pub presets: Vec<String>,
    /// The numbers of each preset: its name to the `params` of its event.
    #[serde(default)]
    pub preset_params: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>>,
    /// Foreign formats that `import` reads.
    pub formats: Vec<String>,
    /// Sizes past which a request is refused.
    pub limits: Limits,
}
