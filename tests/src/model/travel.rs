//! Travel in time: rollbacks and undos.

use super::{Got, Model, Refused, admit, invalid, not_found, rejected};
use serde_json::Value;

/// Where a rollback goes.
///
/// # Errors
/// Nothing is there.
pub(crate) fn rollback(model: &Model, seq: usize, event: &Value) -> Result<Got, Refused> {
    let to = target(model, seq, &event["to"])?;
    Ok(Got {
        to: Some(to),
        ..Got::default()
    })
}

fn target(model: &Model, seq: usize, to: &Value) -> Result<usize, Refused> {
    let line = model.line(seq.checked_sub(1));
    let fold = model.fold_of(&line, None);
    if let Some(at) = to["seq"].as_u64() {
        return if (at as usize) < seq {
            Ok(at as usize)
        } else {
            Err(rejected("future"))
        };
    }
    if let Some(time) = to["time"].as_u64() {
        let old = line.iter().filter(|p| {
            model.log.get(**p).is_some_and(|entry| {
                entry.got.to.is_none() && entry.event["at"].as_u64().unwrap_or(0) <= time
            })
        });
        return old.max().copied().ok_or(not_found("nothing that old"));
    }
    if let Some(label) = to["checkpoint"].as_str() {
        let there = fold
            .of("checkpoint")
            .into_iter()
            .rev()
            .find(|entry| entry.event["label"] == label);
        return there
            .map(|entry| entry.seq)
            .ok_or(not_found("no such checkpoint"));
    }
    let turns = to["turns"].as_u64().ok_or(invalid("no target"))? as usize;
    let authored: Vec<usize> = fold
        .items
        .iter()
        .filter(|entry| entry.got.authored)
        .map(|entry| entry.seq)
        .collect();
    if turns == 0 {
        return Err(invalid("no turns"));
    }
    let turn = authored
        .len()
        .checked_sub(turns)
        .and_then(|i| authored.get(i))
        .ok_or(not_found("fewer turns"))?;
    turn.checked_sub(1)
        .ok_or(not_found("nothing before the first event"))
}

/// Kinds that may be undone.
const UNDOABLE: [&str; 19] = [
    "profile",
    "policy",
    "system",
    "tools",
    "inject",
    "replace",
    "delete_range",
    "snip",
    "collapse_stage",
    "collapse_commit",
    "collapse_discard",
    "compact_commit",
    "file_read",
    "memory",
    "todo",
    "checkpoint",
    "undo",
    "breaker",
    "rollback",
];

/// Kinds that only the ledger keeps.
const LEDGER: [&str; 11] = [
    "opened",
    "closed",
    "forked",
    "counted",
    "issued",
    "usage",
    "overflow",
    "breaker",
    "erased",
    "cache_break",
    "done",
];

/// Only the ledger keeps it.
pub(crate) fn is_ledger(event: &Value) -> bool {
    LEDGER.iter().any(|kind| event["type"] == *kind)
}

/// An undo.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn undo(model: &Model, seq: usize, event: &Value) -> Result<Got, Refused> {
    let target = event["event"].as_u64().ok_or(invalid("no event"))? as usize;
    let entry = model.log.get(target).ok_or(rejected("future"))?;
    if entry.got.to.is_some() {
        return undo_rollback(model, target);
    }
    let line = model.line(seq.checked_sub(1));
    let now = model.fold_of(&line, None);
    if now.get(target).is_none() {
        return Err(rejected("not in force on the timeline"));
    }
    let breaker = entry.event["type"] == "breaker" && entry.event["state"] != "releases";
    if breaker || !UNDOABLE.iter().any(|kind| entry.event["type"] == *kind) {
        return Err(rejected("cannot be undone"));
    }
    let without = model.fold_of(&line, Some(target));
    for item in &without.items {
        admit::still(&without.before(item.seq), &now, item)
            .map_err(|_| rejected("later events rest on it"))?;
    }
    Ok(Got::default())
}

fn undo_rollback(model: &Model, target: usize) -> Result<Got, Refused> {
    let since = model.log.iter().skip(target + 1);
    let quiet = since.into_iter().all(|entry| is_ledger(&entry.event));
    let before = target
        .checked_sub(1)
        .filter(|_| quiet)
        .ok_or(rejected("went on"))?;
    Ok(Got {
        to: Some(before),
        ..Got::default()
    })
}
