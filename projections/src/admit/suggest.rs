//! What would fit instead of a refused range: the smallest legal one around it, else the largest inside.

use super::Door;
use crate::Suggest;
use alloc::vec::Vec;
use recount_events::Seq;

/// Neighbours that can only go together, from the first position to the last.
#[derive(Clone, Copy)]
struct Atom {
    first: Seq,
    last: Seq,
    size: usize,
    open: bool,
}

impl Door<'_> {
    /// The nearest legal range.
    pub(super) fn nearest(&self, first: Seq, last: Seq) -> Option<Suggest> {
        if self.mode != super::Mode::Live {
            return None;
        }
        let around = self
            .around(first, last)
            .filter(|(first, last)| self.legal(*first, *last).is_ok());
        let (first, last) = around.or_else(|| self.inside(first, last))?;
        Some(Suggest::Range { first, last })
    }

    /// Widens a range until nothing is cut.
    fn around(&self, mut first: Seq, mut last: Seq) -> Option<(Seq, Seq)> {
        loop {
            let wide = self.widen(first, last)?;
            if wide == (first, last) {
                return Some(wide);
            }
            (first, last) = wide;
        }
    }

    fn widen(&self, first: Seq, last: Seq) -> Option<(Seq, Seq)> {
        let timeline = self.timeline;
        let units = timeline
            .content_in(first, last)
            .flat_map(|(_, place)| &place.units);
        let hulls = units.filter_map(|key| timeline.units.get(key).map(|hull| (*key, hull.last)));
        let fold = |at: Seq| {
            timeline
                .summaries
                .range(..=at)
                .next_back()
                .map(|(from, to)| (*from, *to))
                .filter(|(_, to)| *to >= at)
        };
        let (mut low, mut high) = (first, last);
        for (from, to) in hulls.chain(fold(first)).chain(fold(last)) {
            low = low.min(from);
            high = high.max(to);
        }
        Some((self.start_at(low)?, self.end_at(high)?))
    }

    /// The nearest position at or before this one at which a range may begin.
    fn start_at(&self, low: Seq) -> Option<Seq> {
        let timeline = self.timeline;
        let content = timeline
            .content_in(Seq(0), low)
            .rev()
            .map(|(seq, _)| seq)
            .find(|seq| timeline.visible(*seq));
        let fold = timeline
            .summaries
            .range(..=low)
            .next_back()
            .map(|(first, _)| *first);
        content.into_iter().chain(fold).max()
    }

    /// The nearest position at or after this one at which a range may end.
    fn end_at(&self, high: Seq) -> Option<Seq> {
        let timeline = self.timeline;
        let content = timeline
            .content_in(high, Seq(u64::MAX))
            .map(|(seq, _)| seq)
            .find(|seq| timeline.visible(*seq));
        let fold = timeline
            .summaries
            .values()
            .find(|last| **last >= high)
            .copied();
        content.into_iter().chain(fold).min()
    }

    /// The largest legal range inside: the longest row of neighbours without an open call.
    fn inside(&self, first: Seq, last: Seq) -> Option<(Seq, Seq)> {
        let mut best: Option<Atom> = None;
        let mut row: Option<Atom> = None;
        for atom in self.atoms() {
            let fits = first <= atom.first && atom.last <= last && !atom.open;
            row = match row {
                _ if !fits => None,
                Some(row) => Some(Atom {
                    last: atom.last,
                    size: row.size + atom.size,
                    ..row
                }),
                None => Some(atom).filter(|atom| atom.size > 0),
            };
            best = match (best, row) {
                (Some(best), Some(row)) if row.size <= best.size => Some(best),
                (best, row) => row.or(best),
            };
        }
        let found = best.map(|atom| (atom.first, atom.last));
        found.filter(|(first, last)| self.legal(*first, *last).is_ok())
    }

    /// What is shown, as neighbours that can only go together.
    fn atoms(&self) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = Vec::new();
        for hull in self.hulls() {
            match atoms.last_mut() {
                Some(before) if hull.first <= before.last => {
                    before.last = before.last.max(hull.last);
                    before.size += hull.size;
                    before.open |= hull.open;
                }
                _ => atoms.push(hull),
            }
        }
        atoms
    }

    /// Units, visible or not, folds, and what stands for itself, by first position.
    fn hulls(&self) -> Vec<Atom> {
        let timeline = self.timeline;
        let open = |first: Seq| timeline.open.values().any(|key| *key == first);
        let units = timeline.units.iter().map(|(first, hull)| {
            let size = usize::from(timeline.shows_unit(*first));
            Atom {
                first: *first,
                last: hull.last,
                size,
                open: open(*first),
            }
        });
        let others = timeline
            .shown
            .keys()
            .filter(|key| !timeline.shows_unit(**key))
            .map(|first| {
                let last = timeline.summaries.get(first).copied().unwrap_or(*first);
                Atom {
                    first: *first,
                    last,
                    size: 1,
                    open: false,
                }
            });
        let mut hulls: Vec<Atom> = units.chain(others).collect();
        hulls.sort_by_key(|atom| atom.first);
        hulls
    }
}
