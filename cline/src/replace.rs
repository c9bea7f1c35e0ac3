//! Many mentions of one text replaced one after the other, in time that grows with the text and not with its square.
//!
//! A mention is `<file_content path="P">body</file_content>`, with no quote in `P` and no closing tag in the body. So it ends at a closing tag
//! that the text has from the beginning: replacing a body adds and takes no closing tag. The text stays as it was, bodies that were
//! replaced are spans of it, and places in it keep their order. Mentions are found by reading backwards from closing tags, all at once:
//! what is searched for is sorted by its end.

use crate::notice::READ_AGAIN;
use crate::text::{Text, expands, find, units_of};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Bound;

const QUOTE: u16 = b'"' as u16;
const LESS: u16 = b'<' as u16;
const CLOSING: &str = "</file_content>";
/// Of fewer mentions than this, each is looked for in the whole text.
const FEW: usize = 8;

/// A mention and what takes its place: the same tags around the notice.
#[derive(Clone, Debug)]
pub(crate) struct Swap {
    pub(crate) search: Text,
    pub(crate) replacement: Text,
}

/// A text after replacements, and what they took.
#[derive(Clone, Debug)]
pub(crate) struct Swapped {
    pub(crate) text: Text,
    /// How many code units were looked at.
    pub(crate) steps: usize,
}

/// Replaces the first occurrence of each in what the ones before it left, as [`Text::replace_first`] does.
pub(crate) fn swap_all(text: &Text, swaps: &[Swap]) -> Swapped {
    let mut done = Swapped {
        text: text.clone(),
        steps: 0,
    };
    let mut rest = swaps;
    while let Some(first) = rest.first() {
        let plain = rest
            .iter()
            .take_while(|swap| !expands(swap.replacement.units()));
        // One whose path holds a pattern may bring any text in: it is done in the text itself.
        let run = match plain.count() {
            run if run < FEW => 1,
            run => run,
        };
        let (now, later) = rest.split_at(run);
        if run < FEW {
            done.steps = done.steps.saturating_add(done.text.len());
            done.text = done.text.replace_first(&first.search, &first.replacement);
        } else {
            let mut index = Index::of(done.text.units(), now);
            now.iter().for_each(|swap| index.replace(swap));
            done.steps = done.steps.saturating_add(index.steps);
            done.text = index.text();
        }
        rest = later;
    }
    done
}

/// Where mentions stand in a text.
struct Index<'a> {
    /// The text as it was; places are places in it.
    base: &'a [u16],
    notice: Vec<u16>,
    closing: Vec<u16>,
    /// What is searched for, sorted from the end on, each once.
    searches: Vec<&'a [u16]>,
    /// For each of them, where it stands now: the beginning, and the closing tag that it ends with.
    places: Vec<BTreeSet<(usize, usize)>>,
    /// By closing tag, which of them end with it, and where they begin.
    ending: BTreeMap<usize, Vec<(usize, usize)>>,
    closings: Vec<usize>,
    quotes: Vec<usize>,
    /// Bodies in whose place the notice stands: by beginning their end, and by end their beginning.
    bodies: BTreeMap<usize, usize>,
    ends: BTreeMap<usize, usize>,
    steps: usize,
}

impl<'a> Index<'a> {
    fn of(base: &'a [u16], swaps: &'a [Swap]) -> Index<'a> {
        let closing = units_of(CLOSING);
        let mut searches: Vec<&[u16]> = swaps.iter().map(|swap| swap.search.units()).collect();
        searches.sort_by(|one, other| one.iter().rev().cmp(other.iter().rev()));
        searches.dedup();
        let quotes = base.iter().enumerate();
        let quotes = quotes.filter_map(|(at, unit)| (*unit == QUOTE).then_some(at));
        let mut index = Index {
            notice: units_of(READ_AGAIN),
            places: searches.iter().map(|_| BTreeSet::new()).collect(),
            searches,
            ending: BTreeMap::new(),
            closings: Vec::new(),
            quotes: quotes.collect(),
            bodies: BTreeMap::new(),
            ends: BTreeMap::new(),
            steps: base.len(),
            closing,
            base,
        };
        let mut from = 0;
        while let Some(at) = find(base, &index.closing, from) {
            index.closings.push(at);
            from = at.saturating_add(index.closing.len());
        }
        for at in index.closings.clone() {
            index.look(at);
        }
        index
    }

    fn replace(&mut self, swap: &Swap) {
        let search = swap.search.units();
        let known = self
            .searches
            .binary_search_by(|one| one.iter().rev().cmp(search.iter().rev()));
        let place = known.ok().and_then(|which| self.places.get(which)?.first());
        let Some((start, closing)) = place.copied() else {
            return;
        };
        if search == swap.replacement.units() {
            return;
        }
        // The replacement is the tags around the notice.
        let tags = swap.replacement.len().saturating_sub(self.notice.len());
        let inside = self.behind(start, tags.saturating_sub(self.closing.len()));
        while let Some((from, to)) = self.within(inside, closing) {
            self.bodies.remove(&from);
            self.ends.remove(&to);
        }
        self.bodies.insert(inside, closing);
        self.ends.insert(closing, inside);
        self.look(closing);
        // What runs over this closing tag holds it in its path, and so ends with the first one behind the next quote.
        let over = self.quote(closing).and_then(|quote| self.close(quote));
        if let Some(over) = over {
            self.look(over);
        }
    }

    /// The place that stands so many units behind another one.
    fn behind(&self, start: usize, mut units: usize) -> usize {
        let mut at = start;
        let mut from = Bound::Included(start);
        while let Some((begin, end)) = self.bodies.range((from, Bound::Unbounded)).next() {
            let before = begin.saturating_sub(at);
            if before >= units {
                break;
            }
            units = units
                .saturating_sub(before)
                .saturating_sub(self.notice.len());
            at = *end;
            from = Bound::Excluded(*begin);
        }
        at.saturating_add(units)
    }

    /// A body that was replaced, inside of another one.
    fn within(&self, inside: usize, closing: usize) -> Option<(usize, usize)> {
        let (from, to) = self.bodies.range(inside..=closing).next()?;
        Some((*from, *to))
    }

    /// The first quote that still stands behind a place.
    fn quote(&self, from: usize) -> Option<usize> {
        let mut from = from;
        loop {
            let next = self.quotes.partition_point(|quote| *quote < from);
            let quote = *self.quotes.get(next)?;
            match self.bodies.range(..=quote).next_back() {
                Some((_, end)) if *end > quote => from = *end,
                _ => return Some(quote),
            }
        }
    }

    /// The first closing tag behind a place.
    fn close(&self, from: usize) -> Option<usize> {
        let next = self.closings.partition_point(|closing| *closing < from);
        self.closings.get(next).copied()
    }

    /// Finds anew what ends with a closing tag.
    fn look(&mut self, closing: usize) {
        for (which, start) in self.ending.remove(&closing).unwrap_or_default() {
            if let Some(places) = self.places.get_mut(which) {
                places.remove(&(start, closing));
            }
        }
        let mut found = Vec::new();
        let mut back = Back::from(closing.saturating_add(self.closing.len()));
        let (mut low, mut high) = (0, self.searches.len());
        for depth in 0_usize.. {
            let meant = self.searches.get(low..high).unwrap_or_default();
            let Some(first) = meant.first() else {
                break;
            };
            if first.len() == depth {
                found.push((low, back.at));
            }
            let Some(unit) = back.next(self) else {
                break;
            };
            self.steps = self.steps.saturating_add(1);
            let unit_of = |search: &[u16]| search.iter().rev().nth(depth).copied();
            let less = meant.partition_point(|search| unit_of(search) < Some(unit));
            let same = meant.partition_point(|search| unit_of(search) <= Some(unit));
            (low, high) = (low.saturating_add(less), low.saturating_add(same));
        }
        for (which, start) in &found {
            if let Some(places) = self.places.get_mut(*which) {
                places.insert((*start, closing));
            }
        }
        if !found.is_empty() {
            self.ending.insert(closing, found);
        }
    }

    /// The text as it is now.
    fn text(&self) -> Text {
        let mut parts: Vec<&[u16]> = Vec::new();
        let mut from = 0;
        for (begin, end) in &self.bodies {
            parts.push(self.base.get(from..*begin).unwrap_or_default());
            parts.push(&self.notice);
            from = *end;
        }
        parts.push(self.base.get(from..).unwrap_or_default());
        Text::join(&parts)
    }
}

/// Reads a text backwards, as it is now.
struct Back {
    at: usize,
    /// How much of a notice is still before this, and where its body begins.
    notice: Option<(usize, usize)>,
    /// The notice at this place was read.
    read: bool,
}

impl Back {
    fn from(at: usize) -> Back {
        Back {
            at,
            notice: None,
            read: false,
        }
    }

    fn next(&mut self, index: &Index<'_>) -> Option<u16> {
        if self.notice.is_none() && !self.read && index.base.get(self.at) == Some(&LESS) {
            let body = index.ends.get(&self.at);
            self.notice = body.map(|begin| (index.notice.len(), *begin));
        }
        if let Some((left, begin)) = self.notice {
            let left = left.checked_sub(1)?;
            self.notice = Some((left, begin));
            if left == 0 {
                *self = Back {
                    at: begin,
                    notice: None,
                    read: true,
                };
            }
            return index.notice.get(left).copied();
        }
        self.at = self.at.checked_sub(1)?;
        self.read = false;
        index.base.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests;
