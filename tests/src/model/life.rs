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
        let summary = event["summary"].as_str().ok_or(if own {
            invalid("no summary")
        } else {
            rejected("nothing staged")
        })?;
        let got = mask(fold, seq, event, true)?;
        return Ok(Got {
            summary: got.range.map(|_| summary.to_owned()),
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
    let got = mask(fold, seq, event, true)?;
    let planned = named(fold, "compact_plan", event).and_then(|plan| plan.got.range);
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
pub(crate) fn replace(fold: &Fold<'_>, event: &Value) -> Result<Got, Refused> {
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
    if with
        .iter()
        .any(|block| matches!(block.what, What::Call | What::Result))
    {
        return Err(invalid("calls or results in the replacement"));
    }
    targets
        .iter()
        .try_for_each(|place| replaceable(fold, *place))?;
    Ok(Got::default())
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
        _ => Err(rejected("no such block")),
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
            let all = calls.map(|at| fold.call(at)).all(|call| call.is_some());
            if all {
                Ok(Got::default())
            } else {
                Err(rejected("not a call"))
            }
        }
        _ => named(fold, "cache_edit", event)
            .map(|_| Got::default())
            .ok_or(rejected("no such edit")),
    }
}
