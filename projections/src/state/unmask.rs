//! The undo of a mask on which nothing rests: what it hid comes back, without folding anything again.
//!
//! - Equal to folding the line again without it (a law); its cost is that of what it hid, however much came later.
//! - Only when no later event looked at what is shown, none was undone, and nothing falls with it.

use super::State;
use crate::timeline::paint;
use crate::{Logged, Misfit, Shown, Timeline};
use alloc::vec::Vec;
use recount_events::{Body, Range, Seq};

/// A timeline without a mask, and the lowest key that comes or goes.
type Unmasked = (Timeline, Option<Seq>);

impl State {
    /// The timeline without a mask, and the lowest key that comes or goes; `None` when the line must be folded again.
    ///
    /// # Errors
    /// What it hid is not in memory.
    pub(super) fn unmask(&self, mask: &Logged) -> Result<Option<Unmasked>, Misfit> {
        let Some(range) = range_of(&mask.event.body) else {
            return Ok(None);
        };
        let runs = self.now.runs_under(mask.seq, range);
        let line = &self.now.line;
        let undone_later = line.undos.last().is_some_and(|(undo, _)| *undo > mask.seq);
        if self.now.relied != Some(mask.seq) || undone_later || line.causes(mask.seq) {
            return Ok(None);
        }
        let Some(there) = self.at(mask.seq) else {
            return Ok(None);
        };
        if there.is_cold() {
            return Err(self.log.cold_misfit());
        }
        let before = self.fold_to(there.prev())?;
        let mut timeline = self.now.clone();
        timeline.line.fallen.insert_mut(mask.seq, self.next);
        timeline.work = before.work.clone();
        timeline.relied = before.relied;
        let folded = timeline.unfold(mask.seq);
        timeline.uncover(&runs, &before);
        let shown = timeline.show_again(&runs, &before);
        timeline.authored_last = timeline.authored_last.max(before.authored_last);
        Ok(Some((timeline, folded.into_iter().chain(shown).min())))
    }
}

impl Timeline {
    /// The runs that a mask covers.
    fn runs_under(&self, mask: Seq, range: Option<(Seq, Seq)>) -> Vec<(Seq, Seq)> {
        let inside = range.map(|(first, last)| self.masked.range(first..=last));
        let runs = inside
            .into_iter()
            .flatten()
            .filter(|(_, (_, over))| *over == mask);
        runs.map(|(first, (last, _))| (*first, *last)).collect()
    }

    /// Takes a fold's summary away.
    fn unfold(&mut self, commit: Seq) -> Option<Seq> {
        let (first, _) = self.folds.get(&commit).copied()?;
        self.folds.remove_mut(&commit);
        self.summaries.remove_mut(&first);
        self.shown.remove_mut(&first);
        Some(first)
    }

    /// Takes a mask away; the masks below it are the last ones again.
    fn uncover(&mut self, runs: &[(Seq, Seq)], before: &Self) {
        for (first, last) in runs.iter().copied() {
            self.masked.remove_mut(&first);
            let cut = before.masked.range(..first).next_back();
            let inside = before.masked.range(first..=last);
            for (start, (end, below)) in cut
                .into_iter()
                .chain(inside)
                .filter(|(_, (end, _))| *end >= first)
            {
                paint(&mut self.masked, first.max(*start), last.min(*end), *below);
            }
        }
    }

    /// Shows what was shown before, as it is now.
    fn show_again(&mut self, runs: &[(Seq, Seq)], before: &Self) -> Option<Seq> {
        let keys = runs
            .iter()
            .flat_map(|(first, last)| before.keys_between(*first, *last));
        let gone = |key: &Seq| {
            matches!(before.shown.get(key), Some(Shown::Inject(_)))
                && self.superseded.contains_key(key)
        };
        let keys: Vec<Seq> = keys.filter(|key| !gone(key)).collect();
        for key in &keys {
            let Some(shown) = before.shown.get(key) else {
                continue;
            };
            if let Shown::Summary(summary) = shown {
                self.summaries.insert_mut(*key, summary.range.1);
            }
            let unit = self
                .units
                .get(key)
                .filter(|_| matches!(shown, Shown::Unit(_)));
            // Its mask is warm: it was shown when the state was last cooled, so its unit is held.
            let unit = unit.and_then(|hull| hull.unit.clone());
            let shown = unit.map_or_else(|| shown.clone(), Shown::Unit);
            self.shown.insert_mut(*key, shown);
        }
        keys.into_iter().min()
    }

    /// The keys of what is shown of the positions of a run.
    fn keys_between(&self, first: Seq, last: Seq) -> impl Iterator<Item = Seq> + '_ {
        self.shown.range(first..=last).map(|(key, _)| *key)
    }
}

/// Where a mask may cover something, a marker nowhere; `None` for what is no mask.
fn range_of(body: &Body) -> Option<Option<(Seq, Seq)>> {
    let range = match body {
        Body::Snip(snip) => {
            let ends = snip.messages.iter().min().zip(snip.messages.iter().max());
            return Some(ends.map(|(first, last)| (*first, *last)));
        }
        Body::DeleteRange(delete) => delete.range,
        Body::CollapseCommit(commit) => commit.range?,
        Body::CompactCommit(commit) => commit.range,
        _ => return None,
    };
    match range {
        Range::Closed { first, last } => Some((first <= last).then_some((first, last))),
        Range::Marker => Some(None),
        Range::KeepFrom(_) => None,
    }
}
