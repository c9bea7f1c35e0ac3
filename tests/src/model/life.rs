//! Stages, plans, and their names; what else must be there before an event.

use super::blocks::{What, blocks};
use super::fold::{Fold, place, targets};
use super::range::{covered, legal, mask, range};
use super::{Entry, Got, Place, Refused, invalid, rejected};
use serde_json::Value;

fn id(event: &Value) -> Option<&str> {
    event["id"].as_str()
}

fn named<'m>(fold: &Fold<'m>, kind: &str, event: &Value) -> Option<&'m Entry> {
    fold.of(kind)
        .into_iter()
        .find(|entry| id(&entry.event).is_some() && id(&entry.event) == id(event))
}

/// A collapse is staged.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn stage(fold: &Fold<'_>, seq: usize, event: &Value) -> Result<Got, Refused> {
    if ["collapse_stage", "collapse_commit"]
        .iter()
        .any(|kind| named(fold, kind, event).is_some())
    {
        return Err(rejected("name used"));
    }
    let got = mask(fold, seq, event, false)?;
    Ok(Got {
        covered: Vec::new(),
        summary: event["summary"].as_str().map(str::to_owned),
        ..got
    })
}

/// A collapse is committed.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn collapse(fold: &Fold<'_>, seq: usize, event: &Value) -> Result<Got, Refused> {
    if named(fold, "collapse_commit", event).is_some()
        || named(fold, "collapse_discard", event).is_some()
    {
        return Err(rejected("name used"));
    }
    let own = ["first", "last", "keep_from"]
        .iter()
        .any(|key| event.get(*key).is_some());
    let Some(stage) = named(fold, "collapse_stage", event) else {
        if !own {
            let told = event.get("summary").is_some();
            return Err(if told {
                invalid("no range")
            } else {
                rejected("nothing staged")
            });
        }
        let got = mask(fold, seq, event, true)?;
        let summary = event["summary"].as_str().map(str::to_owned);
        if got.range.is_some() && summary.is_none() {
            return Err(invalid("no summary"));
        }
        return Ok(Got {
            summary: summary.filter(|_| got.range.is_some()),
            ..got
        });
    };
    let range = stage.got.range.ok_or(rejected("nothing staged"))?;
    if own && self::range(fold, seq, event, true)? != Some(range) {
        return Err(rejected("range differs"));
    }
    legal(fold, range)?;
    let summary = event["summary"]
        .as_str()
        .map(str::to_owned)
        .or_else(|| stage.got.summary.clone());
    Ok(Got {
        range: Some(range),
        covered: covered(fold, range),
        summary,
        ..Got::default()
    })
}

/// A stage is given up.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn discard(fold: &Fold<'_>, event: &Value) -> Result<Got, Refused> {
    if named(fold, "collapse_commit", event).is_some() {
        return Err(rejected("committed"));
    }
    let pending = named(fold, "collapse_stage", event).is_some()
        && named(fold, "collapse_discard", event).is_none();
    if pending {
        Ok(Got::default())
    } else {
        Err(rejected("nothing staged"))
    }
}

/// The plan that waits for its commit.
fn pending<'m>(fold: &Fold<'m>) -> Option<&'m Entry> {
    let plan = fold.of("compact_plan").into_iter().last()?;
    let ended = ["compact_commit", "compact_abandon"]
        .iter()
        .any(|kind| named(fold, kind, &plan.event).is_some());
    (!ended).then_some(plan)
}

/// A compaction is planned.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn plan(fold: &Fold<'_>, seq: usize, event: &Value) -> Result<Got, Refused> {
    if ["compact_plan", "compact_commit"]
        .iter()
        .any(|kind| named(fold, kind, event).is_some())
    {
        return Err(rejected("name used"));
    }
    if pending(fold).is_some() {
        return Err(rejected("another plan is pending"));
    }
    Ok(Got {
        covered: Vec::new(),
        ..mask(fold, seq, event, false)?
    })
}

/// A plan judged again: it fits while its name is free, and, if summaries are still to come for it now, its range is legal.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn still_plan(before: &Fold<'_>, now: &Fold<'_>, plan: &Entry) -> Result<(), Refused> {
    if ["compact_plan", "compact_commit"]
        .iter()
        .any(|kind| named(before, kind, &plan.event).is_some())
    {
        return Err(rejected("name used"));
    }
    let chunks = plan.event["chunks"].as_array().map_or(0, Vec::len);
    let told = now.of("compact_chunk").into_iter();
    let told = told.filter(|told| told.seq > plan.seq && id(&told.event) == id(&plan.event));
    let spent = chunks > 0 && told.count() >= chunks;
    let waits = pending(now).is_some_and(|waiting| waiting.seq == plan.seq) && !spent;
    match plan.got.range.filter(|_| waits) {
        Some(range) => legal(before, range),
        None => Ok(()),
    }
}

/// What was said of a plan, judged again: where the plan is committed it has nothing left to do.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn still_told(before: &Fold<'_>, event: &Value) -> Result<(), Refused> {
    let committed = named(before, "compact_commit", event).is_some();
    match event["type"].as_str() {
        _ if committed => Ok(()),
        Some("compact_chunk") => chunk(before, event).map(drop),
        _ => abandon(before, event).map(drop),
    }
}

fn waits<'m>(fold: &Fold<'m>, event: &Value) -> Result<&'m Entry, Refused> {
    pending(fold)
        .filter(|plan| id(&plan.event) == id(event))
        .ok_or(rejected("nothing pending"))
}

/// A piece of a plan is summarised.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn chunk(fold: &Fold<'_>, event: &Value) -> Result<Got, Refused> {
    let plan = waits(fold, event)?;
    let chunks = plan.event["chunks"].as_array().map_or(0, Vec::len) as u64;
    let number = event["chunk"].as_u64().unwrap_or(u64::MAX);
    let told = fold
        .of("compact_chunk")
        .into_iter()
        .any(|entry| id(&entry.event) == id(event) && entry.event["chunk"] == event["chunk"]);
    if number < chunks && !told {
        Ok(Got::default())
    } else {
        Err(rejected("no such chunk"))
    }
}

/// A plan is given up.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn abandon(fold: &Fold<'_>, event: &Value) -> Result<Got, Refused> {
    waits(fold, event).map(|_| Got::default())
}

/// A compaction is committed.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn compact(fold: &Fold<'_>, seq: usize, event: &Value) -> Result<Got, Refused> {
    if ["compact_commit", "compact_abandon"]
        .iter()
        .any(|kind| named(fold, kind, event).is_some())
    {
        return Err(rejected("name used"));
    }
    let planned = named(fold, "compact_plan", event);
    if planned.is_some_and(|plan| pending(fold).is_none_or(|waiting| waiting.seq != plan.seq)) {
        return Err(rejected("name used"));
    }
    let got = mask(fold, seq, event, true)?;
    let planned = planned.and_then(|plan| plan.got.range);
    if planned.is_some() && planned != got.range {
        return Err(rejected("range differs"));
    }
    let summary = event["summary"].as_str().map(str::to_owned);
    if got.range.is_some() && summary.is_none() {
        return Err(invalid("no summary"));
    }
    Ok(Got {
        summary: summary.filter(|_| got.range.is_some()),
        ..got
    })
}

/// A replacement.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn replace(fold: &Fold<'_>, seq: usize, event: &Value) -> Result<Got, Refused> {
    let targets = targets(event);
    if targets.is_empty() {
        return Err(invalid("no blocks"));
    }
    if targets
        .iter()
        .enumerate()
        .any(|(i, place)| targets.iter().take(i).any(|other| other == place))
    {
        return Err(invalid("a block twice"));
    }
    let with = blocks(event);
    if with.iter().any(|block| {
        matches!(
            block.what,
            What::Call | What::Result | What::ServerCall | What::ServerResult
        )
    }) {
        return Err(invalid("calls or results in the replacement"));
    }
    targets
        .iter()
        .try_for_each(|place| written(seq, *place).and_then(|()| replaceable(fold, *place)))?;
    Ok(Got::default())
}

/// A place that is not written yet is in the future.
fn written(seq: usize, at: Place) -> Result<(), Refused> {
    if at.0 < seq {
        Ok(())
    } else {
        Err(rejected("future"))
    }
}

fn replaceable(fold: &Fold<'_>, at: Place) -> Result<(), Refused> {
    let entry = fold.get(at.0).ok_or(rejected("no such block"))?;
    match entry.event["type"].as_str() {
        Some("tool_result") if at.1 == 0 => Ok(()),
        Some("tool_result") => Err(rejected("no such block")),
        Some("message" | "inject") => match fold.block(at).map(|block| block.what) {
            Some(What::Text | What::Image | What::Result) => Ok(()),
            Some(_) => Err(rejected("not replaceable")),
            None => Err(rejected("no such block")),
        },
        _ => Err(rejected("not replaceable")),
    }
}

/// What names a block or a position names one that is there; a fork event stands at the beginning of a fork.
///
/// # Errors
/// It is not there.
pub(crate) fn note(fold: &Fold<'_>, seq: usize, event: &Value) -> Result<Got, Refused> {
    match event["type"].as_str() {
        Some("budget") => {
            let judged = event["judged"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(place);
            judged.into_iter().try_for_each(|at| there(fold, seq, at))?;
        }
        Some("file_read") => event
            .get("block")
            .and_then(place)
            .map_or(Ok(()), |at| there(fold, seq, at))?,
        Some("forked")
            if event["from"]["seq"]
                .as_u64()
                .is_none_or(|from| from as usize + 1 != seq) =>
        {
            return Err(rejected("misplaced"));
        }
        Some("memory") => match (event["covers"][0].as_u64(), event["covers"][1].as_u64()) {
            (Some(first), Some(last)) if first > last => return Err(invalid("reversed")),
            (_, Some(last)) if last as usize >= seq => return Err(rejected("future")),
            _ => {}
        },
        _ => {}
    }
    Ok(Got::default())
}

fn there(fold: &Fold<'_>, seq: usize, at: Place) -> Result<(), Refused> {
    written(seq, at)?;
    let entry = fold.get(at.0).ok_or(rejected("no such block"))?;
    let content = super::fold::is_content(&entry.event);
    let block = match entry.event["type"] == "tool_result" {
        true => at.1 == 0,
        false => content && fold.block(at).is_some(),
    };
    if block {
        Ok(())
    } else {
        Err(rejected("no such block"))
    }
}

/// Edits of the provider's cache name calls of the timeline; acknowledgements name an edit.
///
/// # Errors
/// What is named is not there.
pub(crate) fn cache(fold: &Fold<'_>, event: &Value) -> Result<Got, Refused> {
    match event["type"].as_str() {
        Some("cache_edit") => {
            let calls = event["calls"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(place);
            let shown =
                |at: Place| fold.call(at).is_some_and(|call| !call.open()) && fold.visible(at.0);
            let all = calls.into_iter().all(shown);
            if all {
                Ok(Got::default())
            } else {
                Err(rejected("not a call"))
            }
        }
        _ => {
            let reset = fold.newest("cache_reset").map_or(0, |reset| reset.seq);
            let edits = fold
                .of("cache_edit")
                .into_iter()
                .filter(|edit| edit.seq > reset);
            let there = edits.into_iter().any(|edit| id(&edit.event) == id(event));
            if there {
                Ok(Got::default())
            } else {
                Err(rejected("no such edit"))
            }
        }
    }
}
