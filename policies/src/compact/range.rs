//! The range that may be folded: whole atoms, earlier folds wholly inside, no open call, ends that are shown.

use super::atoms::Atom;
use super::limits::limits;
use super::{Ask, Refusal, keep};
use crate::{Situation, cline};
use recount_events::Seq;

/// A range of atoms, the second one excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Span {
    /// Its atoms.
    pub(crate) fn of<'a>(&self, atoms: &'a [Atom]) -> &'a [Atom] {
        atoms.get(self.from..self.to).unwrap_or_default()
    }

    /// Its positions.
    pub(crate) fn ends(&self, atoms: &[Atom]) -> Option<(Seq, Seq)> {
        let inside = self.of(atoms);
        Some((inside.first()?.first, inside.last()?.last))
    }

    /// Counted tokens that it shows.
    pub(crate) fn tokens(&self, atoms: &[Atom]) -> u64 {
        super::atoms::sum(self.of(atoms).iter().map(|atom| atom.tokens))
    }
}

/// The range that an ask means.
pub(crate) fn resolve(at: &Situation<'_>, atoms: &[Atom], ask: &Ask<'_>) -> Result<Span, Refusal> {
    if ask.from.is_some() || ask.up_to.is_some() {
        return partial(at, atoms, ask);
    }
    if cline::applies(at, (ask.trigger, ask.level)) {
        return cline::span(at, atoms, ask).ok_or(Refusal::Nothing);
    }
    let tail = keep::tail(at, atoms, &limits(at, ask.level));
    let whole = ask
        .whole
        .then(|| foldable(atoms, keep::last_turn(atoms)))
        .flatten();
    whole
        .or_else(|| foldable(atoms, tail))
        .ok_or(Refusal::Nothing)
}

/// The largest legal range before an atom that is worth a fold.
pub(crate) fn foldable(atoms: &[Atom], before: usize) -> Option<Span> {
    let mut best: Option<Span> = None;
    let mut from = 0;
    for to in 0..=before.min(atoms.len()) {
        let closed = to < before && atoms.get(to).is_some_and(|atom| atom.open.is_none());
        if closed {
            continue;
        }
        let row = trimmed(atoms, Span { from, to }).filter(|row| is_worth(atoms, *row));
        best = match (best, row) {
            (Some(best), Some(row)) if row.tokens(atoms) <= best.tokens(atoms) => Some(best),
            (best, row) => row.or(best),
        };
        from = to.saturating_add(1);
    }
    best
}

/// A row without what it may not begin or end with.
pub(crate) fn trimmed(atoms: &[Atom], row: Span) -> Option<Span> {
    let inside = row.of(atoms);
    let first = inside.iter().position(|atom| atom.starts)?;
    let last = inside.iter().rposition(|atom| atom.ends)?;
    (first <= last).then_some(Span {
        from: row.from.saturating_add(first),
        to: row.from.saturating_add(last).saturating_add(1),
    })
}

/// More than summaries: folding those alone says the same again.
fn is_worth(atoms: &[Atom], row: Span) -> bool {
    row.of(atoms)
        .iter()
        .any(|atom| atom.shown > 0 && !atom.boundary)
}

/// From a position on, or up to one.
fn partial(at: &Situation<'_>, atoms: &[Atom], ask: &Ask<'_>) -> Result<Span, Refusal> {
    let from = match ask.from {
        Some(seq) => cut(at, atoms, seq)?,
        None => 0,
    };
    let to = match ask.up_to {
        Some(seq) => cut(at, atoms, seq)?,
        None => unanswered(atoms),
    };
    let asked = Span { from, to };
    if let Some((index, call)) = (from..to)
        .filter_map(|index| Some((index, atoms.get(index)?.open?)))
        .next()
    {
        let nearest = match ask.up_to {
            Some(_) => atoms.get(index).map(|atom| atom.first),
            None => (index..to)
                .rev()
                .find(|index| atoms.get(*index).is_some_and(|atom| atom.open.is_some()))
                .and_then(|last| atoms.get(last.saturating_add(1)))
                .map(|atom| atom.first),
        };
        return Err(Refusal::Open { call, nearest });
    }
    trimmed(atoms, asked)
        .filter(|row| row.of(atoms).iter().any(|atom| atom.shown > 0))
        .ok_or(Refusal::Nothing)
}

/// The first atom at or behind a position that cuts none.
fn cut(at: &Situation<'_>, atoms: &[Atom], seq: Seq) -> Result<usize, Refusal> {
    if seq > at.next() {
        return Err(Refusal::Future(seq));
    }
    let index = atoms.partition_point(|atom| atom.last < seq);
    match atoms.get(index) {
        Some(atom) if atom.first < seq => Err(Refusal::Splits {
            at: seq,
            nearest: Some(atom.first),
        }),
        _ => Ok(index),
    }
}

/// The first atom of what nobody answered yet: the newest words of the person stay, and open calls do.
fn unanswered(atoms: &[Atom]) -> usize {
    let open = atoms.iter().position(|atom| atom.open.is_some());
    let answered = atoms
        .iter()
        .rposition(|atom| atom.response || atom.boundary)
        .map_or(0, |index| index.saturating_add(1));
    open.unwrap_or(atoms.len()).min(answered)
}
