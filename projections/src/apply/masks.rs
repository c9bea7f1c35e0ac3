//! What hides: masks over runs of positions, and the summaries that stand for folds.
//!
//! - Masks are monotone: applying one never shows anything but its own summary.

use crate::timeline::paint;
use crate::{Shown, Summary, Timeline};
use alloc::{sync::Arc, vec::Vec};
use recount_events::{Covered, DeleteRange, Range, Seq, Snip};

impl Timeline {
    pub(super) fn delete_range(&mut self, seq: Seq, delete: &DeleteRange) -> Option<Seq> {
        let Range::Closed { first, last } = delete.range else {
            return None;
        };
        self.mask(seq, first, last, &delete.covered)
    }

    pub(super) fn snip(&mut self, seq: Seq, snip: &Snip) -> Option<Seq> {
        let mut touched = None;
        for hidden in &snip.messages {
            touched = touched.into_iter().chain(self.key_of(*hidden)).min();
            paint(&mut self.masked, *hidden, *hidden, seq);
        }
        for hidden in &snip.messages {
            let place = self.content.get(hidden).cloned().unwrap_or_default();
            place
                .units
                .iter()
                .chain(place.own.then_some(hidden))
                .for_each(|key| {
                    self.shown.remove_mut(key);
                });
        }
        self.find_authored();
        touched
    }

    /// Shows a fold's summary where its range begins.
    pub(super) fn fold(&mut self, summary: Summary, covered: &Covered) -> Option<Seq> {
        let (first, last) = summary.range;
        self.folds.insert_mut(summary.seq, (first, last));
        let touched = self.mask(summary.seq, first, last, covered);
        self.summaries.insert_mut(first, last);
        self.shown
            .insert_mut(first, Shown::Summary(Arc::new(summary)));
        touched.into_iter().chain([first]).min()
    }

    /// Hides what is covered, and the folds in the range. What came back into the range later is not covered.
    fn mask(&mut self, mask: Seq, first: Seq, last: Seq, covered: &Covered) -> Option<Seq> {
        if first > last {
            return None;
        }
        let runs = self.runs_covered(first, last, covered);
        let hides = |key: &Seq| {
            runs.iter().any(|(from, to)| from <= key && key <= to)
                || self.summaries.contains_key(key)
        };
        let keys = self.shown.range(first..=last).map(|(key, _)| *key);
        let keys: Vec<Seq> = keys.filter(hides).collect();
        for key in &keys {
            self.shown.remove_mut(key);
            self.summaries.remove_mut(key);
        }
        for (from, to) in runs {
            paint(&mut self.masked, from, to, mask);
        }
        self.find_authored();
        keys.first().copied()
    }

    /// What of the content of a range is covered, as few runs: positions between that are no content do not matter.
    fn runs_covered(&self, first: Seq, last: Seq, covered: &Covered) -> Vec<(Seq, Seq)> {
        let mut rest = covered.0.iter().peekable();
        let mut runs: Vec<(Seq, Seq)> = Vec::new();
        let mut goes_on = false;
        for (seq, _) in self.content_in(first, last) {
            while rest.next_if(|(_, to)| *to < seq).is_some() {}
            let inside = rest.peek().is_some_and(|(from, _)| *from <= seq);
            match runs.last_mut() {
                Some((_, to)) if inside && goes_on => *to = seq,
                _ if inside => runs.push((seq, seq)),
                _ => {}
            }
            goes_on = inside;
        }
        runs
    }

    /// Looks for the newest authored message that is still shown.
    fn find_authored(&mut self) {
        let shown = |seq: &Seq| matches!(self.shown.get(seq), Some(Shown::Said(_)));
        if !self.authored_last.is_some_and(|seq| shown(&seq)) {
            self.authored_last = self.turns.keys().rev().find(|seq| shown(seq)).copied();
        }
    }
}
