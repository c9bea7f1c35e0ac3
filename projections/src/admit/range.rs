//! Ranges: which are legal, and what they cover.
//!
//! - A range is all content of the timeline between its ends, hidden content included.
//! - It is legal iff something in it is visible, each end is visible content or lies in a visible fold that is wholly inside, every
//!   visible fold is wholly inside or wholly outside, no unit is split, and no call in it is open.

use super::{Door, Mode};
use crate::{Misfit, Problem, Suggest};
use recount_events::{Covered, DeleteRange, Range, Seq};

/// A legal range and its content.
pub(super) struct Span {
    pub(super) first: Seq,
    pub(super) last: Seq,
    pub(super) covered: Covered,
}

impl Span {
    pub(super) fn range(&self) -> Range {
        Range::Closed {
            first: self.first,
            last: self.last,
        }
    }
}

impl Door<'_> {
    pub(super) fn delete_range(&self, delete: &mut DeleteRange) -> Result<(), Misfit> {
        let span = self.span(delete.range)?;
        delete.range = span.range();
        delete.covered = self.covered(&delete.covered, span.covered);
        Ok(())
    }

    /// Live, what is covered is resolved now; later, what was resolved is kept.
    pub(super) fn covered(&self, kept: &Covered, now: Covered) -> Covered {
        if self.mode == Mode::Live || kept.0.is_empty() {
            now
        } else {
            kept.clone()
        }
    }

    /// Resolves a range that must not be a marker.
    pub(super) fn span(&self, range: Range) -> Result<Span, Misfit> {
        match range {
            Range::Marker => Err(Misfit::invalid(Problem::MarkerForbidden)),
            Range::Closed { first, last } => self.closed(first, last),
            Range::KeepFrom(keep) => self.keep_from(keep),
        }
    }

    fn closed(&self, first: Seq, last: Seq) -> Result<Span, Misfit> {
        if first > last {
            return Err(Misfit::invalid(Problem::RangeReversed { first, last }));
        }
        self.written(last)?;
        match self.legal(first, last) {
            Ok(()) => Ok(Span {
                first,
                last,
                covered: self.runs(first, last),
            }),
            Err(problem) => Err(Misfit::rejected(problem).suggest(self.nearest(first, last))),
        }
    }

    /// The hull of what is visible before a position.
    fn keep_from(&self, keep: Seq) -> Result<Span, Misfit> {
        if keep > self.seq {
            return Err(Misfit::rejected(Problem::Future(keep)));
        }
        let Some((first, last)) = self.hull_before(keep) else {
            return Err(Misfit::rejected(Problem::NothingVisible));
        };
        let blocked = self.blocked_before(keep).or_else(|| {
            self.legal(first, last)
                .err()
                .map(|problem| (first, problem))
        });
        match blocked {
            None => Ok(Span {
                first,
                last,
                covered: self.runs(first, last),
            }),
            Some((from, problem)) => {
                Err(Misfit::rejected(problem).suggest(Suggest::KeepFrom(from)))
            }
        }
    }

    fn hull_before(&self, keep: Seq) -> Option<(Seq, Seq)> {
        let before = keep.prev()?;
        let timeline = self.timeline;
        let first = timeline
            .shown
            .keys()
            .next()
            .copied()
            .filter(|first| *first <= before)?;
        let content = timeline
            .content_in(first, before)
            .rev()
            .map(|(seq, _)| seq)
            .find(|seq| timeline.visible(*seq));
        let fold = timeline
            .summaries
            .range(..=before)
            .next_back()
            .map(|(_, last)| *last);
        Some((first, content.into_iter().chain(fold).max()?))
    }

    /// The first unit before a position that cannot go: it reaches beyond, or waits for a result.
    fn blocked_before(&self, keep: Seq) -> Option<(Seq, Problem)> {
        let timeline = self.timeline;
        let open = timeline
            .open
            .iter()
            .filter(|(_, key)| **key < keep && timeline.shows_unit(**key));
        let open = open.map(|(block, key)| (*key, Problem::OpenCall(*block)));
        let later = timeline
            .content_in(keep, Seq(u64::MAX))
            .flat_map(|(_, place)| place.units.iter().copied());
        let split = later
            .filter(|key| *key < keep && timeline.shows_unit(*key))
            .map(|key| (key, Problem::SplitsUnit(key)));
        let fold = timeline
            .summaries
            .range(..keep)
            .next_back()
            .filter(|(_, last)| **last >= keep);
        let fold = fold.map(|(first, _)| (*first, Problem::CutsFold(*first)));
        open.chain(split).chain(fold).min_by_key(|(key, _)| *key)
    }

    /// The rules of a range, in order.
    pub(super) fn legal(&self, first: Seq, last: Seq) -> Result<(), Problem> {
        self.something_visible(first, last)?;
        self.folds_whole(first, last)?;
        self.ends_shown(first, last)?;
        self.units_whole(first, last)?;
        self.calls_closed(first, last)
    }

    fn something_visible(&self, first: Seq, last: Seq) -> Result<(), Problem> {
        let timeline = self.timeline;
        let entry = timeline.shown.range(first..=last).next().is_some();
        let visible = entry
            || timeline
                .content_in(first, last)
                .any(|(seq, _)| timeline.visible(seq));
        if visible {
            Ok(())
        } else {
            Err(Problem::NothingVisible)
        }
    }

    fn ends_shown(&self, first: Seq, last: Seq) -> Result<(), Problem> {
        let ends = [first, last];
        let bad = ends.into_iter().find(|end| !self.is_end(*end, first, last));
        bad.map_or(Ok(()), |end| Err(Problem::EndNotShown(end)))
    }

    /// An end is visible content, or lies in a visible fold that is wholly inside. What damage took away may be one.
    fn is_end(&self, end: Seq, first: Seq, last: Seq) -> bool {
        let fold = self.timeline.summaries.range(..=end).next_back();
        self.timeline.visible(end)
            || fold.is_some_and(|(from, to)| first <= *from && end <= *to && *to <= last)
            || (self.mode == Mode::Logged && self.is_damaged(end))
    }

    /// Nothing counts there, or a result whose call was lost.
    fn is_damaged(&self, end: Seq) -> bool {
        let place = self.timeline.content.get(&end);
        self.is_missing(end) || place.is_some_and(|place| !place.own && place.units.is_empty())
    }

    fn folds_whole(&self, first: Seq, last: Seq) -> Result<(), Problem> {
        let summaries = &self.timeline.summaries;
        let before = summaries
            .range(..first)
            .next_back()
            .filter(|(_, end)| **end >= first);
        let at_end = summaries
            .range(..=last)
            .next_back()
            .filter(|(_, end)| **end > last);
        match before.or(at_end) {
            Some((fold, _)) => Err(Problem::CutsFold(*fold)),
            None => Ok(()),
        }
    }

    fn units_whole(&self, first: Seq, last: Seq) -> Result<(), Problem> {
        let mut keys = self
            .timeline
            .content_in(first, last)
            .flat_map(|(_, place)| &place.units);
        let split = keys.find(|key| !self.unit_inside(**key, first, last));
        split.map_or(Ok(()), |key| Err(Problem::SplitsUnit(*key)))
    }

    pub(super) fn unit_inside(&self, key: Seq, first: Seq, last: Seq) -> bool {
        self.timeline
            .units
            .get(&key)
            .is_none_or(|hull| first <= key && hull.last <= last)
    }

    /// Damage may have taken the result of a call that was closed when the range was made.
    fn calls_closed(&self, first: Seq, last: Seq) -> Result<(), Problem> {
        let mut open = self.timeline.open.keys();
        match open.find(|block| first <= block.seq && block.seq <= last) {
            Some(block) if self.mode != Mode::Logged => Err(Problem::OpenCall(*block)),
            _ => Ok(()),
        }
    }

    /// All content between the ends, as runs.
    pub(super) fn runs(&self, first: Seq, last: Seq) -> Covered {
        runs(self.timeline.content_in(first, last).map(|(seq, _)| seq))
    }
}

/// Positions in ascending order as runs.
pub(super) fn runs(positions: impl Iterator<Item = Seq>) -> Covered {
    let mut runs: alloc::vec::Vec<(Seq, Seq)> = alloc::vec::Vec::new();
    for seq in positions {
        match runs.last_mut() {
            Some((_, last)) if last.next() == seq => *last = seq,
            _ => runs.push((seq, seq)),
        }
    }
    Covered(runs)
}
