//! What the binary says is in a directory, held against what was issued and acknowledged.

use crate::child::Rpc;
use crate::marks::{Ack, Issue, Marks, digest, signature};
use crate::{Failure, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The log lines of every session.
pub(crate) type Logs = BTreeMap<String, Vec<Value>>;

/// Reads every session.
pub(crate) fn read(rpc: &mut Rpc) -> Outcome<Logs> {
    let listed = rpc.result("v1.sessions.list", &json!({"limit": 1000}))?;
    let mut logs = Logs::new();
    for session in listed["sessions"].as_array().into_iter().flatten() {
        let name = session["session"].as_str().unwrap_or_default();
        logs.insert(name.to_owned(), one(rpc, name, 0)?);
    }
    Ok(logs)
}

/// The log lines of a session from a position on.
pub(crate) fn one(rpc: &mut Rpc, session: &str, from: u64) -> Outcome<Vec<Value>> {
    let (mut lines, mut from) = (Vec::new(), from);
    loop {
        let mut page = rpc.result("v1.session.log", &json!({"session": session, "from": from}))?;
        if let Value::Array(events) = page["events"].take() {
            lines.extend(events);
        }
        match page["next"].as_u64() {
            Some(next) => from = next,
            None => return Ok(lines),
        }
    }
}

/// Every acknowledged event is there and equal; every event that is there was issued, in order, and batches are whole.
pub(crate) fn check(logs: &Logs, marks: &Marks) -> Outcome<()> {
    for ack in marks.acks.values() {
        // What may be forgotten may be gone, but not in part.
        if logs.contains_key(&ack.session) || !marks.forgotten.contains_key(&ack.session) {
            acknowledged(logs, ack)?;
        }
    }
    for (session, _) in marks.forgotten.iter().filter(|(_, done)| **done) {
        if logs.contains_key(session) {
            return Err(Failure::new("RISEN", format!("{session:?} was forgotten")));
        }
    }
    for (session, lines) in logs {
        let issues = marks
            .issues
            .get(session)
            .ok_or_else(|| Failure::new("INVENTED", format!("session {session:?}")))?;
        issued(logs, session, lines, issues, marks)?;
    }
    Ok(())
}

fn acknowledged(logs: &Logs, ack: &Ack) -> Outcome<()> {
    let what = format!(
        "{:?} {}..={} (request {})",
        ack.session, ack.first, ack.head, ack.n
    );
    let lines = logs
        .get(&ack.session)
        .ok_or_else(|| Failure::new("LOST", format!("{what}: no such session")))?;
    let (first, end) = (place(ack.first), place(ack.head).saturating_add(1));
    let found = lines
        .get(first..end)
        .ok_or_else(|| Failure::new("LOST", format!("{what}: events={}", lines.len())))?;
    if digest(found) == ack.lines {
        return Ok(());
    }
    Err(Failure::new("CHANGED", what))
}

fn issued(
    logs: &Logs,
    session: &str,
    lines: &[Value],
    issues: &[Issue],
    marks: &Marks,
) -> Outcome<()> {
    for (seq, line) in (0_u64..).zip(lines) {
        if line["seq"].as_u64() != Some(seq) {
            return Err(Failure::new(
                "GAP",
                format!("{session:?} seq={seq}: {line}"),
            ));
        }
    }
    let found: Vec<String> = lines.iter().map(signature).collect();
    let mut at = 0;
    let mut absent: Option<&Issue> = None;
    for issue in issues.iter().filter(|issue| !issue.events.is_empty()) {
        let begin = match &issue.inherits {
            Some(parent) if at == 0 => inherited(logs, session, lines, parent)?,
            _ => at,
        };
        let rest = found.get(begin..).unwrap_or_default();
        let taken = taken(rest, issue);
        if taken == 0 {
            if marks.acks.contains_key(&issue.n) && !issue.loose {
                return Err(misplaced(session, begin, rest, issue));
            }
            absent = Some(issue);
            continue;
        }
        if let Some(absent) = absent.filter(|absent| absent.run == issue.run && !absent.loose) {
            let detail = format!(
                "{session:?}: request {} is there, {} before it is not",
                issue.n, absent.n
            );
            return Err(Failure::new("HOLE", detail));
        }
        at = begin + taken;
    }
    match found.get(at..) {
        Some([]) | None => Ok(()),
        Some(rest) => Err(Failure::new(
            "INVENTED",
            format!("{session:?} seq={at}: {rest:?}"),
        )),
    }
}

fn misplaced(session: &str, at: usize, rest: &[String], issue: &Issue) -> Failure {
    Failure::new(
        "MISPLACED",
        format!(
            "{session:?} seq={at}: request {} is not there but {rest:?}",
            issue.n
        ),
    )
}

/// How many events at the front are an issue's.
fn taken(found: &[String], issue: &Issue) -> usize {
    if !issue.loose {
        return if found.starts_with(&issue.events) {
            issue.events.len()
        } else {
            0
        };
    }
    let mut found = found.iter().peekable();
    issue
        .events
        .iter()
        .filter(|event| {
            found
                .next_if(|line| line.starts_with(event.as_str()))
                .is_some()
        })
        .count()
}

/// The events that a fork shares with its parent; nothing of the fork may be there without them.
fn inherited(
    logs: &Logs,
    session: &str,
    lines: &[Value],
    (parent, upto): &(String, u64),
) -> Outcome<usize> {
    let end = place(*upto).saturating_add(1);
    let theirs = logs.get(parent).and_then(|lines| lines.get(..end));
    if theirs.is_some() && theirs == lines.get(..end) {
        return Ok(end);
    }
    Err(Failure::new(
        "CHANGED",
        format!("{session:?} does not begin like {parent:?} up to {upto}"),
    ))
}

fn place(seq: u64) -> usize {
    usize::try_from(seq).unwrap_or(usize::MAX)
}
