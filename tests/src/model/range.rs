//! Ranges: what they hold, when they are legal.

use super::fold::Fold;
use super::{Got, Refused, invalid, rejected};
use serde_json::Value;

/// The range of an event: `first` and `last`, or `keep_from`; `None` for a marker.
///
/// # Errors
/// Neither is given, or it keeps from nothing.
pub(crate) fn range(
    fold: &Fold<'_>,
    seq: usize,
    event: &Value,
    marker: bool,
) -> Result<Option<(usize, usize)>, Refused> {
    let number = |key: &str| event[key].as_u64().map(|n| n as usize);
    match (number("first"), number("last"), number("keep_from")) {
        (Some(first), Some(last), _) if last < first => Err(invalid("reversed")),
        (Some(_), Some(last), _) if last >= seq => Err(rejected("future")),
        (Some(first), Some(last), _) => Ok(Some((first, last))),
        (_, _, Some(keep)) => hull(fold, seq, keep).map(Some),
        _ if event.get("first").is_some_and(Value::is_null) && marker => Ok(None),
        _ => Err(invalid("no range")),
    }
}

/// What is visible before a position, from its first to its last.
fn hull(fold: &Fold<'_>, seq: usize, keep: usize) -> Result<(usize, usize), Refused> {
    if keep > seq {
        return Err(rejected("future"));
    }
    let mut ends: Vec<(usize, usize)> = fold
        .contents()
        .into_iter()
        .filter(|p| *p < keep && fold.visible(*p))
        .map(|p| (p, p))
        .collect();
    ends.extend(
        fold.visible_folds()
            .into_iter()
            .map(|(_, range)| range)
            .filter(|(first, _)| *first < keep),
    );
    if ends.iter().any(|(_, last)| *last >= keep) {
        return Err(rejected("cuts a fold"));
    }
    let first = ends.iter().map(|(first, _)| *first).min();
    let last = ends.iter().map(|(_, last)| *last).max();
    first.zip(last).ok_or(rejected("nothing visible"))
}

/// All content in a range, hidden or not.
pub(crate) fn covered(fold: &Fold<'_>, (first, last): (usize, usize)) -> Vec<usize> {
    fold.contents()
        .into_iter()
        .filter(|p| (first..=last).contains(p))
        .collect()
}

/// Whether a range may be masked.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn legal(fold: &Fold<'_>, (first, last): (usize, usize)) -> Result<(), Refused> {
    let inside = |p: usize| (first..=last).contains(&p);
    let folds = fold.visible_folds();
    let whole = |(f, l): (usize, usize)| inside(f) && inside(l);
    let content = covered(fold, (first, last));
    let shown =
        content.iter().any(|p| fold.visible(*p)) || folds.iter().any(|(_, range)| whole(*range));
    if !shown {
        return Err(rejected("nothing visible"));
    }
    if folds
        .iter()
        .any(|(_, (f, l))| *f <= last && first <= *l && !whole((*f, *l)))
    {
        return Err(rejected("cuts a fold"));
    }
    for end in [first, last] {
        let visible = content.contains(&end) && fold.visible(end);
        let folded = folds.iter().any(|(_, (f, l))| (*f..=*l).contains(&end));
        if !visible && !folded {
            return Err(rejected("end not shown"));
        }
    }
    for unit in fold.units() {
        let positions = fold.positions(&unit);
        if positions.iter().any(|p| inside(*p)) && !positions.iter().all(|p| inside(*p)) {
            return Err(rejected("splits a unit"));
        }
        if positions.iter().any(|p| inside(*p)) && unit.calls.iter().any(super::fold::Call::open) {
            return Err(rejected("open call"));
        }
    }
    Ok(())
}

/// The resolved form of an event with a range.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn mask(
    fold: &Fold<'_>,
    seq: usize,
    event: &Value,
    marker: bool,
) -> Result<Got, Refused> {
    let Some(range) = range(fold, seq, event, marker)? else {
        return Ok(Got::default());
    };
    legal(fold, range)?;
    Ok(Got {
        range: Some(range),
        covered: covered(fold, range),
        ..Got::default()
    })
}

/// A snip: visible content, whole units, nothing twice.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn snip(fold: &Fold<'_>, event: &Value) -> Result<Got, Refused> {
    let listed: Vec<usize> = event["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|v| Some(v.as_u64()? as usize))
        .collect();
    if listed.is_empty() {
        return Err(invalid("empty"));
    }
    if listed
        .iter()
        .enumerate()
        .any(|(i, p)| listed.iter().take(i).any(|q| q == p))
    {
        return Err(invalid("repeated"));
    }
    still_snip(fold, &listed)?;
    let mut covered = listed;
    covered.sort_unstable();
    Ok(Got {
        covered,
        ..Got::default()
    })
}

/// A snip's list still fits.
///
/// # Errors
/// The rule that it breaks.
pub(crate) fn still_snip(fold: &Fold<'_>, listed: &[usize]) -> Result<(), Refused> {
    let contents = fold.contents();
    if listed
        .iter()
        .any(|p| !contents.contains(p) || !fold.visible(*p))
    {
        return Err(rejected("not shown"));
    }
    for unit in fold.units() {
        let positions = fold.positions(&unit);
        let some = positions.iter().any(|p| listed.contains(p));
        if some && !positions.iter().all(|p| listed.contains(p)) {
            return Err(rejected("splits a unit"));
        }
        if some && unit.calls.iter().any(super::fold::Call::open) {
            return Err(rejected("open call"));
        }
    }
    Ok(())
}
