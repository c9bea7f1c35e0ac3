//! Where content belongs: under its own key, to units, or both; and what can be asked about it.
//!
//! - The positions of a unit (parts and results) are exactly those whose place names it.

use crate::{Answer, Call, Map, Shown, Timeline, Unit};
use alloc::{sync::Arc, vec::Vec};
use recount_events::{BlockId, Seq};

/// Where the content of a position belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// It stands under its own key when visible: words, an injection.
    pub own: bool,
    /// The units that it is a part of or holds results for.
    pub units: Vec<Seq>,
}

/// A unit and how far it reaches.
#[derive(Clone, Debug)]
pub struct Hull {
    /// The unit; none when it is hidden, its calls are closed, and the state was cooled since.
    pub unit: Option<Arc<Unit>>,
    /// Its last position.
    pub last: Seq,
}

impl Timeline {
    /// Content that is shown, or belongs to a unit that is.
    #[must_use]
    pub fn visible(&self, seq: Seq) -> bool {
        self.key_of(seq).is_some()
    }

    /// Words or an injection are shown under their own key.
    fn shows_own(&self, seq: Seq) -> bool {
        matches!(
            self.shown.get(&seq),
            Some(Shown::Said(_) | Shown::Inject(_))
        )
    }

    /// A unit is shown.
    #[must_use]
    pub fn shows_unit(&self, key: Seq) -> bool {
        matches!(self.shown.get(&key), Some(Shown::Unit(_)))
    }

    /// The summary of a fold is shown.
    #[must_use]
    pub fn shows_fold(&self, commit: Seq) -> bool {
        let key = self.folds.get(&commit).map(|(first, _)| first);
        let shown = key.and_then(|key| self.shown.get(key));
        matches!(shown, Some(Shown::Summary(summary)) if summary.seq == commit)
    }

    /// The last mask over a position.
    #[must_use]
    pub fn mask_over(&self, seq: Seq) -> Option<Seq> {
        let (_, (last, mask)) = self.masked.range(..=seq).next_back()?;
        (seq <= *last).then_some(*mask)
    }

    /// The unit to which a message belongs.
    #[must_use]
    pub fn unit_of(&self, message: Seq) -> Option<&Hull> {
        let key = self.content.get(&message)?.units.first()?;
        self.units.get(key)
    }

    /// What is known of a call of this unit is not in memory.
    pub(crate) fn is_cold(&self, block: BlockId) -> bool {
        self.unit_of(block.seq)
            .is_some_and(|hull| hull.unit.is_none())
    }

    /// A call on the timeline, visible or not.
    #[must_use]
    pub fn call(&self, block: BlockId) -> Option<&Call> {
        let unit = self.unit_of(block.seq)?.unit.as_ref()?;
        unit.calls.iter().find(|call| call.block == block)
    }

    /// The result that closed a call.
    #[must_use]
    pub fn closing(&self, block: BlockId) -> Option<&Answer> {
        self.call(block)?
            .answer
            .as_ref()
            .filter(|answer| answer.status.closes())
    }

    /// The lowest key of `shown` under which something of this position stands.
    #[must_use]
    pub fn key_of(&self, seq: Seq) -> Option<Seq> {
        let place = self.content.get(&seq)?;
        let own = (place.own && self.shows_own(seq)).then_some(seq);
        let units = place
            .units
            .iter()
            .copied()
            .filter(|key| self.shows_unit(*key));
        own.into_iter().chain(units).min()
    }

    /// The positions of a unit, in order.
    #[must_use]
    pub fn positions_of(&self, key: Seq) -> Vec<Seq> {
        let Some(hull) = self.units.get(&key) else {
            return Vec::new();
        };
        let inside = self.content.range(key..=hull.last);
        inside
            .filter(|(_, place)| place.units.contains(&key))
            .map(|(seq, _)| *seq)
            .collect()
    }

    /// Content in a range, inclusive; nothing when the range is reversed.
    pub(crate) fn content_in(
        &self,
        first: Seq,
        last: Seq,
    ) -> impl DoubleEndedIterator<Item = (Seq, &Place)> {
        let some = (first <= last).then(|| self.content.range(first..=last));
        some.into_iter().flatten().map(|(seq, place)| (*seq, place))
    }
}

/// Covers a run with a mask: what was below it there is cut away.
pub(crate) fn paint(masked: &mut Map<Seq, (Seq, Seq)>, first: Seq, last: Seq, mask: Seq) {
    let inside: Vec<Seq> = masked
        .range(first..=last)
        .map(|(start, _)| *start)
        .collect();
    let before = masked
        .range(..first)
        .next_back()
        .map(|(start, run)| (*start, *run));
    if let Some((start, (end, below))) = before
        && let Some(cut) = first.prev()
        && end >= first
    {
        masked.insert_mut(start, (cut, below));
        keep_rest(masked, last, end, below);
    }
    for start in inside {
        let run = masked.get(&start).copied();
        masked.remove_mut(&start);
        if let Some((end, below)) = run {
            keep_rest(masked, last, end, below);
        }
    }
    masked.insert_mut(first, (last, mask));
}

/// What of a run reaches beyond the painted one.
fn keep_rest(masked: &mut Map<Seq, (Seq, Seq)>, last: Seq, end: Seq, below: Seq) {
    if end > last {
        masked.insert_mut(last.next(), (end, below));
    }
}

#[cfg(test)]
mod tests {
    use super::paint;
    use crate::Map;
    use recount_events::Seq;

    /// Every pair of runs over a third, against a list of positions.
    #[test]
    fn the_last_mask_over_a_position_is_the_last_one_painted() {
        let runs: alloc::vec::Vec<(u64, u64)> = (0..7)
            .flat_map(|first| (first..7).map(move |last| (first, last)))
            .collect();
        for under in &runs {
            for over in &runs {
                let mut masked = Map::default();
                let mut naive = [None; 8];
                for (mask, (first, last)) in (0u64..).zip([&(1, 5), under, over]) {
                    paint(&mut masked, Seq(*first), Seq(*last), Seq(mask));
                    (*first..=*last).for_each(|seq| naive[seq as usize] = Some(Seq(mask)));
                }
                let timeline = crate::Timeline {
                    masked,
                    ..crate::Timeline::default()
                };
                for (seq, mask) in (0u64..).zip(naive) {
                    assert_eq!(
                        timeline.mask_over(Seq(seq)),
                        mask,
                        "{under:?} {over:?} {seq}"
                    );
                }
            }
        }
    }
}
