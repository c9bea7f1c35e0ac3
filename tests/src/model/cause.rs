//! Why something is not shown: one cause, looked for in a fixed order.

use super::blocks::blocks;
use super::fold::is_content;
use super::{Bind, Model, Place};

/// Why an event is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The rollback after which it was last missing.
    Rollback(usize),
    /// The undo that took it out, or took out what caused it.
    Undo(usize),
    /// The newest mask over it.
    Mask(usize),
    /// What took its place.
    Superseded(usize),
    /// What is shown instead of all its blocks.
    Replaced(usize),
}

pub(super) fn cause(model: &Model, seq: usize) -> Option<Cause> {
    let head = model.len().checked_sub(1)?;
    let line = model.line(Some(head));
    if !line.contains(&seq) {
        let lost = (seq + 1..=head).rev().find(|at| {
            model.line(at.checked_sub(1)).contains(&seq) && !model.line(Some(*at)).contains(&seq)
        });
        return lost.map(Cause::Rollback);
    }
    let fold = model.fold_of(&line, None);
    let entry = model.log.get(seq)?;
    if fold.get(seq).is_none() {
        return undone(model, &line, seq).map(Cause::Undo);
    }
    if is_content(&entry.event) {
        // A result that only says again what was said is hidden with its response.
        let unit = fold
            .units()
            .into_iter()
            .find(|unit| fold.positions(unit).contains(&seq));
        let with = unit.and_then(|unit| fold.mask_over(*unit.parts.first()?));
        if let Some(mask) = fold.mask_over(seq).or(with) {
            return Some(Cause::Mask(mask));
        }
    }
    if let Some(by) = superseded(model, seq) {
        return Some(Cause::Superseded(by));
    }
    let places = (0..blocks(&entry.event).len()).map(|index| (seq, index));
    let results = entry.event["type"] == "tool_result";
    let places: Vec<Place> = if results {
        vec![(seq, 0)]
    } else {
        places.collect()
    };
    let by: Option<Vec<usize>> = places
        .into_iter()
        .map(|place| fold.replaced(place).map(|entry| entry.seq))
        .collect();
    by.and_then(|by| by.into_iter().max())
        .filter(|_| is_content(&entry.event) || entry.event["type"] == "inject")
        .map(Cause::Replaced)
}

/// The newest undo in force of an event, or of what caused it: it has to be undone first.
fn undone(model: &Model, line: &[usize], seq: usize) -> Option<usize> {
    let mut chain = vec![seq];
    while let Some(cause) = chain
        .last()
        .and_then(|seq| model.log.get(*seq)?.event["because"].as_u64())
    {
        chain.push(cause as usize);
    }
    let fold = model.fold_of(line, None);
    let undo = fold.of("undo").into_iter().rev().find(|entry| {
        model
            .undoes(entry.seq)
            .is_some_and(|target| chain.contains(&target))
    });
    undo.map(|entry| entry.seq)
}

/// A newer header, tail or injection, or the result that took an interim one's place.
fn superseded(model: &Model, seq: usize) -> Option<usize> {
    let fold = model.fold_at(model.len().checked_sub(1));
    let entry = fold.get(seq)?;
    let kind = entry.event["type"].as_str()?;
    match kind {
        "profile" | "policy" | "system" | "tools" | "rendering" => fold
            .newest(kind)
            .map(|newest| newest.seq)
            .filter(|newest| *newest != seq),
        "inject" if entry.event["lifetime"] == "tail" => {
            let slot = fold
                .of("inject")
                .into_iter()
                .filter(|other| other.event["slot"] == entry.event["slot"]);
            slot.filter(|other| other.seq > seq && other.event["lifetime"] == "tail")
                .map(|other| other.seq)
                .next_back()
        }
        "inject" => fold.superseded(seq),
        "tool_result" => {
            let (Bind::To(call) | Bind::Repeats(call)) = entry.got.binds.first()?.1;
            let shown = fold.call(call)?.answer().map(|((at, _), _)| *at);
            shown.filter(|at| *at != seq)
        }
        _ => None,
    }
}
