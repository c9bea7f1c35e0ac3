//! Opens a directory that a crash left with the real binary, three times.
//!
//! - The first opening shows every acknowledged event and nothing else than was issued; three more appends succeed; then it is killed.
//! - Two more openings show the same, and are not asked to mend anything.

use crate::child::Rpc;
use crate::logs::{self, Logs};
use crate::marks::Marks;
use crate::{Failure, Outcome, files, reading};
use serde_json::{Value, json};
use std::path::Path;

/// The session that a verifier makes.
const AFTER: &str = "after the crash";

/// Says what was found, or what does not hold.
pub(crate) fn verify(recount: &Path, dir: &Path, marks: &Marks) -> Outcome<String> {
    let read = reading::check(dir, marks)?;
    let files = files::read(dir);
    let mut rpc = Rpc::start(recount, dir)?;
    let found = logs::read(&mut rpc)?;
    logs::check(&found, marks)?;
    let named = files::check(&found, &files)?;
    let state = sound(&mut rpc)?;
    append(&mut rpc, &found)?;
    let grown = logs::read(&mut rpc)?;
    grows(&found, &grown)?;
    // Three appends were acknowledged: they must stand a kill as all others.
    rpc.kill()?;
    for opening in ["second", "third"] {
        let mut rpc = Rpc::start(recount, dir)?;
        same(opening, &grown, &logs::read(&mut rpc)?)?;
        sound(&mut rpc)?;
        rpc.close()?;
    }
    reading::check(dir, marks)?;
    Ok(format!("{state}; {read}; {named} files"))
}

/// The binary's own verdict.
fn sound(rpc: &mut Rpc) -> Outcome<String> {
    let verdict = rpc.result("v1.verify", &json!({}))?;
    match verdict["state"].as_str() {
        Some(state @ ("clean" | "torn")) => Ok(state.to_owned()),
        _ => Err(Failure::new("VERIFY", verdict)),
    }
}

fn append(rpc: &mut Rpc, found: &Logs) -> Outcome<()> {
    let message = |role: &str| json!({"type": "message", "role": role, "content": format!("{role} after the crash")});
    rpc.result(
        "v1.session.open",
        &json!({"session": AFTER, "create": true}),
    )?;
    let old = found.keys().next().map_or(AFTER, String::as_str);
    for (session, role) in [(AFTER, "user"), (old, "user"), (old, "assistant")] {
        let receipt = rpc.result(
            "v1.session.append",
            &json!({"session": session, "events": [message(role)]}),
        )?;
        let head = receipt["head"].as_u64();
        let durable = if role == "assistant" {
            rpc.result("v1.session.sync", &json!({"session": session}))?["durable"].as_u64()
        } else {
            receipt["durable"].as_u64()
        };
        if head.is_none() || durable < head {
            return Err(Failure::new("APPEND", format!("{session:?}: {receipt}")));
        }
    }
    Ok(())
}

fn grows(before: &Logs, after: &Logs) -> Outcome<()> {
    for (session, lines) in before {
        let now = after.get(session).map(Vec::as_slice).unwrap_or_default();
        if !now.starts_with(lines) {
            return Err(differs("after three appends", session, lines, now));
        }
    }
    let count = |logs: &Logs| logs.values().map(Vec::len).sum::<usize>();
    // Three messages, and that the new session was opened.
    let more = count(after) - count(before);
    if more == 4 {
        return Ok(());
    }
    Err(Failure::new(
        "APPEND",
        format!("three appends and an opening added {more} events"),
    ))
}

fn same(opening: &str, before: &Logs, now: &Logs) -> Outcome<()> {
    for (session, lines) in before {
        let found = now.get(session).map(Vec::as_slice).unwrap_or_default();
        if found != lines.as_slice() {
            return Err(differs(opening, session, lines, found));
        }
    }
    if before.len() == now.len() {
        return Ok(());
    }
    Err(Failure::new("REOPEN", format!("{opening}: more sessions")))
}

fn differs(when: &str, session: &str, before: &[Value], now: &[Value]) -> Failure {
    let at = before
        .iter()
        .zip(now)
        .take_while(|(one, other)| one == other)
        .count();
    Failure::new(
        "REOPEN",
        format!(
            "{when}: {session:?} differs at {at}; events={} before={}",
            now.len(),
            before.len()
        ),
    )
}
