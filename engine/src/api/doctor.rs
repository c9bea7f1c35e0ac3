//! Looking at a directory or a file from outside: what is there, what is wrong with it, what to do next.

use super::{Note, State};
use serde::{Deserialize, Serialize};

/// `v1.doctor`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doctor {
    /// A data directory, or a file; default: the engine's own directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// What something turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A data directory of Recount.
    #[default]
    Recount,
    /// A recording of another host, which can be imported.
    Transcript,
    /// An archive that `export` wrote.
    Archive,
    /// Heads that `verify` wrote.
    Heads,
    /// A directory without anything in it.
    Empty,
    /// Something else.
    Foreign,
    /// Nothing stands there.
    Missing,
}

/// The answer to [`Doctor`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Diagnosis {
    /// What was looked at.
    pub path: String,
    /// What it is.
    pub what: What,
    /// In words.
    pub summary: String,
    /// How its log stands; for a data directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Who holds it at the moment, if anybody is seen to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// What the log holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogFound>,
    /// What lies in it, part by part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The sessions, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionFound>,
    /// What is wrong, the worst first.
    #[serde(default)]
    pub problems: Vec<Ailment>,
    /// What is worth knowing and not wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Ailment>,
    /// What a repair would do, or did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// Of a recording: what is damaged in it; an import keeps its bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<Note>,
    /// Of a recording: what could be read in more than one way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubted: Vec<Note>,
}

impl Diagnosis {
    /// Nothing is wrong with it.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.problems.is_empty()
    }
}

/// What a log holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFound {
    /// Segments.
    pub segments: u64,
    /// Those that are compressed.
    pub compressed: u64,
    /// Bytes of the segments on disk.
    pub bytes: u64,
    /// Sessions that have records.
    pub sessions: u64,
    /// Records that verified.
    pub events: u64,
    /// Contents that were erased on purpose.
    pub erased: u64,
    /// The last writer closed it.
    pub closed: bool,
}

/// A part of a data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its name in the directory.
    pub name: String,
    /// What it is.
    pub what: String,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// It can be made again from the rest.
    pub derived: bool,
}

/// A session of a directory that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFound {
    /// Its name.
    pub session: String,
    /// Its first own position.
    pub first: u64,
    /// Its newest position.
    pub head: u64,
    /// Time of its newest event, in ms.
    pub at: u64,
    /// The record digest at its head.
    pub digest: String,
    /// Positions that damage took.
    pub lost: u64,
}

/// Something that is wrong, or worth knowing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ailment {
    /// In words, facts last.
    pub what: String,
    /// The file, in the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The first position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// The last position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
    /// What to do next.
    pub next: String,
}

/// Something that a repair does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// `remove` or `restore`.
    pub act: Act,
    /// The path in the directory.
    pub file: String,
    /// Why it is safe.
    pub why: String,
    /// It was done.
    #[serde(default)]
    pub done: bool,
    /// Why it could not be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// What a remedy does to its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Takes it away: it is left over, or is made again.
    #[default]
    Remove,
    /// Writes it again from what the segments hold.
    Restore,
}
