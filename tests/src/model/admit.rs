//! Whether an event fits, and what is decided about it.

use super::fold::Fold;
use super::{Bind, Entry, Got, Model, Refused, life, range, rejected, results, travel};
use serde_json::Value;

/// An event for the next position.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn admit(model: &Model, seq: usize, event: &Value) -> Result<Got, Refused> {
    let fold = &model.fold_at(seq.checked_sub(1));
    if let Some(cause) = event["because"].as_u64() {
        let ledger = model
            .log
            .get(cause as usize)
            .is_some_and(|entry| travel::is_ledger(&entry.event));
        (ledger || fold.get(cause as usize).is_some())
            .then_some(())
            .ok_or(rejected("no such cause"))?;
    }
    match event["type"].as_str().unwrap_or("") {
        "message" => results::message(model, fold, event),
        "tool_result" => results::result(model, fold, event),
        "delete_range" => range::mask(fold, seq, event, false),
        "snip" => range::snip(fold, event),
        "collapse_stage" => life::stage(fold, seq, event),
        "collapse_commit" => life::collapse(fold, seq, event),
        "collapse_discard" => life::discard(fold, event),
        "compact_plan" => life::plan(fold, seq, event),
        "compact_chunk" => life::chunk(fold, event),
        "compact_commit" => life::compact(fold, seq, event),
        "compact_abandon" => life::abandon(fold, event),
        "replace" => life::replace(fold, seq, event),
        "cache_edit" | "cache_ack" => life::cache(fold, event),
        "budget" | "file_read" | "memory" | "forked" => life::note(fold, seq, event),
        "rollback" => travel::rollback(model, seq, event),
        "undo" => travel::undo(model, seq, event),
        _ => Ok(Got::default()),
    }
}

/// The event in one form: a Chat message of role tool is a result.
pub(crate) fn normal(event: &Value) -> Value {
    let mut result = event.clone();
    if event["type"] != "message" || event["role"] != "tool" {
        return result;
    }
    result["type"] = "tool_result".into();
    result["call"] = event["tool_call_id"].clone();
    result
}

/// A logged event still fits behind other events than it once came behind.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn still(before: &Fold<'_>, now: &Fold<'_>, entry: &Entry) -> Result<(), Refused> {
    let event = &entry.event;
    let range = entry.got.range;
    match event["type"].as_str().unwrap_or("") {
        "delete_range" => range.map_or(Ok(()), |range| range::legal(before, range)),
        "snip" => range::still_snip(before, &entry.got.covered),
        "collapse_stage" => life::stage(before, entry.seq, &explicit(entry)).map(drop),
        "collapse_commit" => life::collapse(before, entry.seq, &explicit(entry)).map(drop),
        "collapse_discard" => life::discard(before, event).map(drop),
        "compact_plan" => life::still_plan(before, now, entry),
        "compact_chunk" | "compact_abandon" => life::still_told(before, event),
        "compact_commit" => life::compact(before, entry.seq, &explicit(entry)).map(drop),
        "replace" => life::replace(before, entry.seq, event).map(drop),
        "cache_edit" | "cache_ack" => life::cache(before, event).map(drop),
        "budget" | "file_read" => life::note(before, entry.seq, event).map(drop),
        "message" | "tool_result" => still_said(before, entry),
        _ => Ok(()),
    }
}

/// The event with the range that was decided.
fn explicit(entry: &Entry) -> Value {
    let mut event = entry.event.clone();
    if let (Some((first, last)), Some(object)) = (entry.got.range, event.as_object_mut()) {
        object.remove("keep_from");
        object.insert("first".to_owned(), first.into());
        object.insert("last".to_owned(), last.into());
        if let Some(summary) = &entry.got.summary {
            object.insert("summary".to_owned(), summary.as_str().into());
        }
    }
    event
}

/// What came in between may not part a response again; what a result answers has to be there.
fn still_said(before: &Fold<'_>, entry: &Entry) -> Result<(), Refused> {
    if entry.got.joins.is_some() && results::joins(before, &entry.event) != entry.got.joins {
        return Err(rejected("something stands between the parts"));
    }
    let mut binds = entry.got.binds.iter();
    binds.try_for_each(|(_, bind)| still_bound(before, *bind))
}

fn still_bound(before: &Fold<'_>, bind: Bind) -> Result<(), Refused> {
    let (Bind::To(place) | Bind::Repeats(place)) = bind;
    let call = before.call(place).ok_or(rejected("no call"))?;
    let fits = matches!(bind, Bind::Repeats(_)) || call.open();
    if fits {
        Ok(())
    } else {
        Err(rejected("call is closed"))
    }
}
