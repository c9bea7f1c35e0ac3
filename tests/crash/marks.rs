//! What a writer says on its standard output: requests before they are made, receipts when they are durable.
//!
//! - A mark is one line: `ISSUE` or `ACK`, a space, a JSON object. A line feed stands before it as well, since a recording of system calls may
//!   have half a line of another process in front of it.
//! - An issue names the events that it may add to a session, an ack the positions that they got and a digest of the log lines there.

use crate::{Outcome, Trying as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write as _;

/// What a request may add to a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Issue {
    /// Its number; numbers rise.
    pub(crate) n: u64,
    /// Which process of the binary it goes to: what an earlier one did not acknowledge need not be there.
    pub(crate) run: u64,
    /// The session.
    pub(crate) session: String,
    /// Signatures of the events, in order.
    pub(crate) events: Vec<String>,
    /// Some of them, in order, may be all that is there; otherwise all or none.
    #[serde(default)]
    pub(crate) loose: bool,
    /// The session is forgotten: whole or not at all.
    #[serde(default)]
    pub(crate) forgets: bool,
    /// For a fork: the session and the position up to which it is the same.
    #[serde(default)]
    pub(crate) inherits: Option<(String, u64)>,
}

/// What was acknowledged as durable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ack {
    /// The number of the issue.
    pub(crate) n: u64,
    /// The session.
    pub(crate) session: String,
    /// Positions of the events.
    pub(crate) first: u64,
    pub(crate) head: u64,
    /// Of the log lines at these positions.
    pub(crate) lines: String,
    /// Record digests at these positions.
    pub(crate) records: Vec<String>,
}

/// What was issued and acknowledged before a crash.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// By session, in order.
    pub(crate) issues: BTreeMap<String, Vec<Issue>>,
    /// By number of the issue.
    pub(crate) acks: BTreeMap<u64, Ack>,
    /// Sessions that may be forgotten, and whether that was acknowledged.
    pub(crate) forgotten: BTreeMap<String, bool>,
}

impl Marks {
    /// Reads files of one mark a line, without its first word.
    pub(crate) fn read(acks: &str, issued: &str) -> Outcome<Marks> {
        let mut marks = Marks::default();
        for line in std::fs::read_to_string(issued)
            .trying("read what was issued")?
            .lines()
        {
            let issue: Issue = serde_json::from_str(line).trying("read an issue")?;
            if issue.forgets {
                marks.forgotten.insert(issue.session, false);
                continue;
            }
            marks
                .issues
                .entry(issue.session.clone())
                .or_default()
                .push(issue);
        }
        for line in std::fs::read_to_string(acks)
            .trying("read what was acknowledged")?
            .lines()
        {
            let ack: Ack = serde_json::from_str(line).trying("read an ack")?;
            // Nothing has fewer lines than none: only a session that was forgotten.
            if ack.records.is_empty() {
                marks.forgotten.insert(ack.session, true);
                continue;
            }
            marks.acks.insert(ack.n, ack);
        }
        Ok(marks)
    }
}

/// Prints a mark.
pub(crate) fn say(word: &str, mark: &impl Serialize) -> Outcome<()> {
    let line = serde_json::to_string(mark).trying("write a mark")?;
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{word} {line}\n").as_bytes())
        .trying("write a mark")?;
    out.flush().trying("write a mark")
}

/// What an event is known by, as it was sent and as the log shows it.
pub(crate) fn signature(event: &Value) -> String {
    const SAYING: &[&str] = &[
        "role", "content", "call", "label", "to", "event", "request", "first", "last", "summary",
    ];
    let kind = event["type"].as_str().unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    for name in SAYING.iter().filter(|name| event.get(name).is_some()) {
        hasher.update(name.as_bytes());
        hasher.update(event[*name].to_string().as_bytes());
    }
    let digest = hasher.finalize().to_hex();
    format!("{kind}:{}", digest.get(..16).unwrap_or_default())
}

/// A digest over log lines.
pub(crate) fn digest(lines: &[Value]) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in lines {
        hasher.update(line.to_string().as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}

/// The record digest of a log line.
pub(crate) fn record_digest(line: &Value) -> String {
    let digest = line.get("record_digest").unwrap_or(&line["digest"]);
    digest.as_str().unwrap_or_default().to_owned()
}
