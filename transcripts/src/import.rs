//! What a reader hands back: sessions of events, each with the place in the file that it came from.
//!
//! - The position of an event in [`ImportedSession::events`] is its seq: event 0 is `opened`, targets and ranges name positions.
//! - Every byte of the file that is not white space lies in the source of at least one event.

use crate::{FormatName, Report};
use recount_events::{Event, SessionKind};

/// Everything that was read from one transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The format that was read.
    pub format: FormatName,
    /// The sessions, the main one first, parents before their children.
    pub sessions: Vec<ImportedSession>,
    /// What was read, kept verbatim, doubted and damaged.
    pub report: Report,
}

/// One session of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSession {
    /// Its name, derived from the name of the transcript.
    pub name: String,
    /// What it was for.
    pub kind: SessionKind,
    /// The file that it was read from when that is not the transcript itself: a path beside it.
    pub file: Option<String>,
    /// The session that started it and the position of the event there that did, where that is known. The parent of a task of Roo is a
    /// task of its own, read by itself; the position is 0, its opening, where only the parent is known.
    pub parent: Option<(String, usize)>,
    /// The events, ready to be logged in this order.
    pub events: Vec<Imported>,
}

/// An event and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The event. What admission resolves is left empty.
    pub event: Event,
    /// Where it stood.
    pub source: Source,
}

/// A place in a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The line, counted from 1.
    pub line: u64,
    /// The first byte of the record.
    pub offset: u64,
    /// The number of its bytes; 0 for events that the reader made (`opened`, `profile`, rollbacks).
    pub bytes: u64,
    /// The record's own name (a uuid), where it has one.
    pub id: Option<String>,
    /// The file, when it is another one than the session's own.
    pub file: Option<String>,
}
