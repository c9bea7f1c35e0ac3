//! What hides: masks over runs of positions, and the summaries that stand for folds.
//!
//! - Masks are monotone: applying one never shows anything but its own summary.

use crate::timeline::paint;
use crate::{Shown, Summary, Timeline};
use alloc::{sync::Arc, vec::Vec};
use recount_events::{DeleteRange, Range, Seq, Snip};

impl Timeline {
    pub(super) fn delete_range(&mut self, seq: Seq, delete: &DeleteRange) -> Option<Seq> {
        let Range::Closed { first, last } = delete.range else {
            return None;
        };
        self.mask(seq, first, last)
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
    pub(super) fn fold(&mut self, summary: Summary) -> Option<Seq> {
        let (first, last) = summary.range;
        self.folds.insert_mut(summary.seq, (first, last));
        let touched = self.mask(summary.seq, first, last);
        self.summaries.insert_mut(first, last);
        self.shown
            .insert_mut(first, Shown::Summary(Arc::new(summary)));
        touched.into_iter().chain([first]).min()
    }

    /// Hides everything in a range.
    fn mask(&mut self, mask: Seq, first: Seq, last: Seq) -> Option<Seq> {
        if first > last {
            return None;
        }
        let keys: Vec<Seq> = self
            .shown
            .range(first..=last)
            .map(|(key, _)| *key)
            .collect();
        for key in &keys {
            self.shown.remove_mut(key);
            self.summaries.remove_mut(key);
        }
        paint(&mut self.masked, first, last, mask);
        self.find_authored();
        keys.first().copied()
    }

    /// Looks for the newest authored message that is still shown.
    fn find_authored(&mut self) {
        let shown = |seq: &Seq| matches!(self.shown.get(seq), Some(Shown::Said(_)));
        if !self.authored_last.is_some_and(|seq| shown(&seq)) {
            self.authored_last = self.turns.keys().rev().find(|seq| shown(seq)).copied();
        }
    }
}
