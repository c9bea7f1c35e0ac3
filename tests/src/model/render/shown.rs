//! What is shown, in the order of its keys.
//!
//! - The key of a response is its first part, of a summary the start of its range, of anything else its own position.

use super::Shown;
use crate::model::blocks::{What, blocks};
use crate::model::fold::{Fold, Unit};
use serde_json::Value;

/// The entries without tail injections.
pub(super) fn shown(fold: &Fold<'_>) -> Vec<Shown> {
    let mut entries: Vec<(usize, Shown)> = Vec::new();
    for unit in fold.units() {
        let first = unit.parts.first().copied().unwrap_or(0);
        if fold.mask_over(first).is_none() {
            let Unit { parts, calls } = unit;
            entries.push((first, Shown::Unit { parts, calls }));
        }
    }
    for seq in fold.contents().into_iter().filter(|seq| fold.visible(*seq)) {
        let Some(entry) = fold.get(seq) else { continue };
        match entry.event["type"].as_str() {
            Some("message") if entry.event["role"] != "assistant" && says(&entry.event) => {
                entries.push((seq, Shown::Said(seq)))
            }
            Some("inject") => entries.push((seq, Shown::Inject(seq))),
            _ => {}
        }
    }
    for (seq, (first, _)) in fold.visible_folds() {
        entries.push((first, Shown::Summary(seq)));
    }
    entries.sort_by_key(|(key, _)| *key);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// The newest tail injection of each slot, by position; an empty one ends its slot.
pub(super) fn tails(fold: &Fold<'_>) -> Vec<Shown> {
    let tails: Vec<_> = fold
        .of("inject")
        .into_iter()
        .filter(|entry| entry.event["lifetime"] == "tail")
        .collect();
    let newest = tails.iter().filter(|entry| {
        !tails
            .iter()
            .any(|other| other.seq > entry.seq && other.event["slot"] == entry.event["slot"])
    });
    newest
        .filter(|entry| !blocks(&entry.event).is_empty() && entry.event["content"] != "")
        .map(|entry| Shown::Inject(entry.seq))
        .collect()
}

/// Something besides results.
fn says(event: &Value) -> bool {
    blocks(event).iter().any(|block| block.what != What::Result)
}
