//! Foreign transcripts in, archives out.

use serde::{Deserialize, Serialize};

/// `v1.import`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// The file, as this process sees it; or a folder: a task of Cline or Roo, or a tree of them.
    pub path: String,
    /// Its format; default: found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Name of the session; default: what the recording says, else the file's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Something about a line of what was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The line, from 1.
    pub line: u64,
    /// The byte, from 0.
    pub offset: u64,
    /// How many bytes, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What.
    pub problem: String,
}

/// A session that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedSession {
    /// Its name.
    pub session: String,
    /// `created`, `same`, `grown` or `forked`.
    pub state: String,
    /// Its newest position.
    pub head: u64,
    /// Events written now.
    pub events: u64,
    /// Events kept word for word, without an effect.
    pub kept: u64,
    /// For `forked`: the session that it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// For `forked`: the last position that is equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// The answer to [`Import`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Imported {
    /// The format.
    pub format: String,
    /// The sessions.
    pub sessions: Vec<ImportedSession>,
    /// Records read.
    pub read: u64,
    /// Records kept word for word.
    pub kept: u64,
    /// What is doubtful.
    pub doubted: Vec<Note>,
    /// What is damaged; its bytes are kept.
    pub damaged: Vec<Note>,
}

/// `v1.session.export`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// `recount` (default): the lossless archive; `cline-task`: the files of a task of Cline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Write it to this file; default: it is in the answer. Of a task: the folder, which must not hold such files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The answer to [`Export`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Exported {
    /// The session.
    pub session: String,
    /// The format.
    pub format: String,
    /// Events written.
    pub events: u64,
    /// Bytes written.
    pub bytes: u64,
    /// The archive, when no file was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What could not be written as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
