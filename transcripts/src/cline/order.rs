//! The order in which the things of a task happened, as its files tell it.
//!
//! - A record of what the person saw says how long the history was then: a message stands behind the last record that does not know it.
//!   Without that, messages are placed by their own times.
//! - Times never go back: what says an earlier time than what it follows takes that one's.

use super::edits::Edit;
use super::said::Said;
use super::ui::Shown;
use std::collections::BTreeMap;

/// Something that happened, by its index in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Message(usize),
    /// What a request used, by the record of its announcement.
    Used(usize),
    /// Another range than before, by the record that is the first to say it.
    Range(usize),
    Checkpoint(usize),
    Ui(usize),
    Edit(usize),
}

/// When.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) at: u64,
    pub(crate) what: What,
}

/// What could not be placed as it says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubts {
    /// Messages without a time.
    pub(crate) timeless: Vec<usize>,
    /// Records whose time lies before that of the record before.
    pub(crate) late: Vec<usize>,
    /// Messages that a record knew before they were said again.
    pub(crate) again: Vec<usize>,
    /// Edits with a time before that of what they change.
    pub(crate) early: Vec<usize>,
}

/// The walk along the records.
struct Walk<'i, 'a> {
    history: &'i [Said<'a>],
    shown: &'i [Shown<'a>],
    items: Vec<Item>,
    times: Vec<u64>,
    at: u64,
    /// The announcement whose answer has not come.
    request: Option<usize>,
    range: Option<(i64, i64)>,
    doubts: Doubts,
}

/// Puts everything in order.
pub(crate) fn items(
    start: u64,
    history: &[Said<'_>],
    shown: &[Shown<'_>],
    edits: &[Edit<'_>],
) -> (Vec<Item>, Doubts) {
    let mut walk = Walk {
        history,
        shown,
        items: Vec::new(),
        times: Vec::new(),
        at: start,
        request: None,
        range: None,
        doubts: Doubts::default(),
    };
    walk.go();
    let Walk {
        items,
        times,
        mut doubts,
        ..
    } = walk;
    (merged(items, &times, edits, &mut doubts), doubts)
}

impl Walk<'_, '_> {
    fn go(&mut self) {
        let indexed = self.shown.iter().any(|shown| shown.history.is_some());
        let known = self.known();
        for (index, shown) in self.shown.iter().enumerate() {
            while self.comes_before(indexed, known.get(index).copied(), shown.ts) {
                self.message(indexed && index > 0);
            }
            self.seen(index, shown);
        }
        while self.times.len() < self.history.len() {
            self.message(indexed && !self.shown.is_empty());
        }
    }

    /// The next message was said before a record.
    fn comes_before(&self, indexed: bool, known: Option<i64>, ts: Option<u64>) -> bool {
        let Some(next) = self.history.get(self.times.len()) else {
            return false;
        };
        if indexed {
            return known.is_some_and(|known| {
                i64::try_from(self.times.len()).is_ok_and(|next| next <= known)
            });
        }
        match (next.ts, ts) {
            (Some(said), Some(seen)) => said <= seen,
            (None, _) => true,
            (Some(_), None) => false,
        }
    }

    /// For each record the last index of the history that it and all later ones know: what one knows and a later one does not was
    /// taken back, and said again.
    fn known(&mut self) -> Vec<i64> {
        let mut known = vec![-1; self.shown.len()];
        let (mut least, mut run) = (i64::MAX, false);
        for (index, shown) in self.shown.iter().enumerate().rev() {
            if let Some(history) = shown.history {
                if history > least && !run {
                    self.doubts.again.push(index);
                }
                run = history > least;
                least = least.min(history);
            }
            if let Some(known) = known.get_mut(index) {
                // Behind the last record that says it, nothing is known.
                *known = if least == i64::MAX { -1 } else { least };
            }
        }
        self.doubts.again.reverse();
        known
    }

    fn message(&mut self, behind: bool) {
        let index = self.times.len();
        let Some(said) = self.history.get(index) else {
            return;
        };
        let least = if behind {
            self.at.saturating_add(1)
        } else {
            self.at
        };
        if said.ts.is_none() && !behind {
            self.doubts.timeless.push(index);
        }
        self.at = said.ts.unwrap_or(least).max(least);
        self.times.push(self.at);
        self.push(What::Message(index));
        let answers = said.members.text("role").as_deref() == Some("assistant");
        if let Some(request) = self.request.filter(|_| answers) {
            self.push(What::Used(request));
            self.request = None;
        }
    }

    fn seen(&mut self, index: usize, shown: &Shown<'_>) {
        let ts = shown.ts.unwrap_or(self.at);
        // Behind a message that has no time of its own, a ms is nobody's fault.
        if ts.saturating_add(1) < self.at {
            self.doubts.late.push(index);
        }
        self.at = self.at.max(ts);
        // A record without the index is older than the range, or says nothing of it.
        let range = shown.range.and_then(super::ui::range);
        let says = shown.range.is_some() || shown.history.is_some();
        if says && range != self.range {
            self.range = range;
            self.push(What::Range(index));
        }
        if shown.is_request() {
            self.request = shown.used().map(|_| index);
        }
        if shown.saved().is_some() {
            self.push(What::Checkpoint(index));
        }
        self.push(What::Ui(index));
    }

    fn push(&mut self, what: What) {
        self.items.push(Item { at: self.at, what });
    }
}

/// Edits stand behind everything that is not later than they are, and behind what they change.
fn merged(items: Vec<Item>, times: &[u64], edits: &[Edit<'_>], doubts: &mut Doubts) -> Vec<Item> {
    let mut latest: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    let mut placed = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let said = usize::try_from(edit.message)
            .ok()
            .and_then(|message| times.get(message).copied());
        let newest = latest.entry((edit.message, edit.block)).or_default();
        let at = edit.ts.max(said.unwrap_or_default()).max(*newest);
        if at > edit.ts {
            doubts.early.push(index);
        }
        *newest = at;
        placed.push(Item {
            at,
            what: What::Edit(index),
        });
    }
    placed.sort_by_key(|item| item.at);
    let mut all = Vec::with_capacity(items.len().saturating_add(placed.len()));
    let mut placed = placed.into_iter().peekable();
    for item in items {
        while let Some(edit) = placed.next_if(|edit| edit.at < item.at) {
            all.push(edit);
        }
        all.push(item);
    }
    all.extend(placed);
    all
}
