//! From a range of messages to ranges of the log.
//!
//! - What a range adds is hidden: whole responses with their results, and what was said. A response of the first pair keeps its results.
//! - Neighbours that can only go together (a call, what was said while it ran, its result) go when all of them lie in the range, else none.
//! - What waits for a result stays, and what stands on its other side goes by itself.

use super::View;
use crate::Situation;
use crate::compact::atoms::Atom;
use crate::compact::range::{Span, trimmed};
use alloc::vec::Vec;
use recount_cline::Range;
use recount_events::Seq;

/// The rows of atoms that a range of messages may hide, oldest first.
pub(super) fn rows(at: &Situation<'_>, atoms: &[Atom], view: &View, range: Range) -> Vec<Span> {
    let Some((first, last)) = keys(view, range) else {
        return Vec::new();
    };
    let shown = &at.timeline().shown;
    let goes = |atom: &Atom| {
        let mut keys = shown.range(atom.first..=atom.last).map(|(key, _)| *key);
        atom.open.is_none() && keys.all(|key| first <= key && key <= last)
    };
    let mut rows: Vec<Span> = Vec::new();
    let mut from = None;
    for index in 0..=atoms.len() {
        match (atoms.get(index).is_some_and(goes), from) {
            (true, None) => from = Some(index),
            (false, Some(begin)) => {
                let row = Span {
                    from: begin,
                    to: index,
                };
                rows.extend(trimmed(atoms, row).filter(|row| shows(atoms, *row)));
                from = None;
            }
            _ => {}
        }
    }
    rows
}

/// The first and the last entry whose message lies in a range.
fn keys(view: &View, range: Range) -> Option<(Seq, Seq)> {
    let inside = |index: usize| {
        i64::try_from(index).is_ok_and(|index| range.start <= index && index <= range.end)
    };
    let mut keys = view.places.iter().filter(|(_, index)| inside(*index));
    let first = keys.next()?.0;
    Some((first, keys.next_back().map_or(first, |(key, _)| *key)))
}

fn shows(atoms: &[Atom], row: Span) -> bool {
    row.of(atoms).iter().any(|atom| atom.shown > 0)
}
