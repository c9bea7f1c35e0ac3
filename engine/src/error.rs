//! What can go wrong, and what the caller does about it.
//!
//! - [`ErrorKind`] is for branching: each kind says what to do next. [`Error::message`] is for reading: facts last.
//! - An error can travel: [`Error::to_json`] and [`Error::from_json`] carry it over a pipe or a socket.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// What the caller should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The rules of the log refuse it; nothing changed. Tell them, or take what [`Error::suggest`] offers.
    Rejected,
    /// The head or the key is not what the caller thought. Look again, then decide.
    Conflict,
    /// Another process holds the directory and cannot be reached. Wait, or end the holder.
    Locked,
    /// The disk refused and nothing was left behind. Try again.
    Io,
    /// It may or may not have been written. Try again with the same key.
    Unknown,
    /// Earlier events still wait for the disk; this one left nothing. Make space, try again.
    NotDurable,
    /// The log will not be written again by this process. Reopen it.
    Poisoned,
    /// Bytes on disk are damaged. Read up to the damage, export.
    Damaged,
    /// Written by a newer version. Upgrade.
    Newer,
    /// Too much at once. Wait a little, try again.
    Busy,
    /// Larger than a limit. Send less.
    TooLarge,
    /// There is no such thing.
    NotFound,
    /// The request makes no sense as it stands. Mend it.
    Invalid,
    /// The caller gave up.
    Cancelled,
}

impl ErrorKind {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Conflict => "conflict",
            Self::Locked => "locked",
            Self::Io => "io",
            Self::Unknown => "unknown",
            Self::NotDurable => "not_durable",
            Self::Poisoned => "poisoned",
            Self::Damaged => "damaged",
            Self::Newer => "newer",
            Self::Busy => "busy",
            Self::TooLarge => "too_large",
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::Cancelled => "cancelled",
        }
    }

    /// What to do next, when nothing better is known.
    const fn next(self) -> &'static str {
        match self {
            Self::Rejected => {
                "nothing was changed; correct the event, or use the suggestion if there is one"
            }
            Self::Conflict => "read the session's head and log, then decide again",
            Self::Locked => "wait for the process that holds the directory, or end it",
            Self::Io => "nothing was written; see to the disk and try again",
            Self::Unknown => "send the same request again with the same key",
            Self::NotDurable => {
                "make space on the disk; what is pending is written first, then try again"
            }
            Self::Poisoned => "close and reopen the data directory",
            Self::Damaged => "run verify, and export what is still whole",
            Self::Newer => "use a version of Recount at least as new as the one that wrote this",
            Self::Busy => "wait a moment and try again",
            Self::TooLarge => "send less at once",
            Self::NotFound => {
                "check what was named; `list` shows the sessions, `log` what one holds"
            }
            Self::Invalid => "correct the request",
            Self::Cancelled => "nothing to do",
        }
    }

    /// The JSON-RPC code; callers branch on the kind, not on this.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Invalid => -32602,
            Self::Rejected => -32001,
            Self::Conflict => -32002,
            Self::Locked => -32003,
            Self::Io => -32004,
            Self::Unknown => -32005,
            Self::NotDurable => -32006,
            Self::Poisoned => -32007,
            Self::Damaged => -32008,
            Self::Newer => -32009,
            Self::Busy => -32010,
            Self::TooLarge => -32011,
            Self::NotFound => -32012,
            Self::Cancelled => -32013,
        }
    }
}

/// An operation that did not happen.
///
/// Clone, Send, Sync. `Display` is the message alone; [`Error::next`] is the sentence that says what to do.
#[derive(Clone, Debug)]
pub struct Error {
    facts: Box<Facts>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Facts {
    code: i64,
    message: String,
    data: Data,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Data {
    kind: ErrorKind,
    next: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suggest: Option<Box<RawValue>>,
}

impl Error {
    /// An error of a kind, with its message (lower case, facts last as `key=value`).
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let data = Data {
            kind,
            next: kind.next().to_owned(),
            index: None,
            field: None,
            since: None,
            head: None,
            holder: None,
            suggest: None,
        };
        Self {
            facts: Box::new(Facts {
                code: kind.code(),
                message: message.into(),
                data,
            }),
        }
    }

    /// A request that makes no sense.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// The same with another sentence on what to do.
    #[must_use]
    pub fn with_next(mut self, next: impl Into<String>) -> Self {
        self.facts.data.next = next.into();
        self
    }

    /// The same with another JSON-RPC code.
    #[must_use]
    pub fn with_code(mut self, code: i64) -> Self {
        self.facts.code = code;
        self
    }

    /// The same, naming the event of a batch that did not fit.
    #[must_use]
    pub fn with_index(mut self, index: u64) -> Self {
        self.facts.data.index = Some(index);
        self
    }

    /// The same, naming the field that is wrong.
    #[must_use]
    pub fn with_field(mut self, field: impl Into<String>) -> Self {
        self.facts.data.field = Some(field.into());
        self
    }

    /// The same, naming the first position that is not durable.
    #[must_use]
    pub fn with_since(mut self, since: u64) -> Self {
        self.facts.data.since = Some(since);
        self
    }

    /// The same, naming the session's head.
    #[must_use]
    pub fn with_head(mut self, head: Option<u64>) -> Self {
        self.facts.data.head = head;
        self
    }

    /// The same, naming who holds the directory.
    #[must_use]
    pub fn with_holder(mut self, holder: impl Into<String>) -> Self {
        self.facts.data.holder = Some(holder.into());
        self
    }

    /// The same with a proposal: a JSON object with the fields of the refused event.
    #[must_use]
    pub fn with_suggest(mut self, suggest: Box<RawValue>) -> Self {
        self.facts.data.suggest = Some(suggest);
        self
    }

    /// What the caller should do, for branching.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.facts.data.kind
    }

    /// What happened; facts last as `key=value`.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.facts.message
    }

    /// A sentence that says what to do.
    #[must_use]
    pub fn next(&self) -> &str {
        &self.facts.data.next
    }

    /// The place in the batch of the event that did not fit.
    #[must_use]
    pub fn index(&self) -> Option<u64> {
        self.facts.data.index
    }

    /// The field that is wrong.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.facts.data.field.as_deref()
    }

    /// The first position that is not durable.
    #[must_use]
    pub fn since(&self) -> Option<u64> {
        self.facts.data.since
    }

    /// The session's head, where it matters.
    #[must_use]
    pub fn head(&self) -> Option<u64> {
        self.facts.data.head
    }

    /// Who holds the directory.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        self.facts.data.holder.as_deref()
    }

    /// A proposal: a JSON object with the fields of the refused event, or the word `null`.
    #[must_use]
    pub fn suggest(&self) -> Option<&str> {
        self.facts.data.suggest.as_deref().map(RawValue::get)
    }

    /// The JSON-RPC code.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.facts.code
    }

    /// The error object of JSON-RPC: `{code, message, data: {kind, next, …}}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&*self.facts).unwrap_or_else(|_| {
            r#"{"code":-32603,"message":"error","data":{"kind":"invalid","next":"report this"}}"#.to_owned()
        })
    }

    /// Reads what [`Error::to_json`] wrote; anything else becomes an error of kind `unknown` that shows it.
    #[must_use]
    pub fn from_json(json: &str) -> Self {
        match serde_json::from_str(json) {
            Ok(facts) => Self {
                facts: Box::new(facts),
            },
            Err(_) => Self::new(
                ErrorKind::Unknown,
                format!("unreadable error; answer={json}"),
            ),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.facts.message)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(cause: std::io::Error) -> Self {
        let kind = match cause.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::Io,
        };
        Self::new(kind, format!("the system refused: {cause}"))
    }
}
