//! A naive interpreter of logs: what a program of events means, by refolding everything from scratch with lists and loops.
//!
//! - It knows events only as JSON values, in the form in which a host gives them, and shares no code with the fold or the render.
//! - Quadratic and worse on purpose: each question is answered from the whole list, so that nothing can be remembered wrongly.
//! - It takes live events only: what it refuses takes no position.

mod admit;
mod blocks;
mod cause;
mod fold;
mod life;
mod range;
mod render;
mod results;
mod tame;
mod travel;

pub use cause::Cause;
pub use render::{Outcome, Prompt};
pub use tame::{tame, wild};

use fold::Fold;
use serde_json::Value;

/// The dialect of a prompt.
pub use crate::validator::Wire;

/// What a refused event's writer should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It does not fit this timeline.
    Rejected,
    /// What it names is not there.
    NotFound,
    /// It is ill-formed whatever the timeline.
    Invalid,
}

/// A refused event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What its writer should do.
    pub kind: Kind,
    /// The rule that it breaks, in a few words.
    pub why: &'static str,
}

pub(crate) const fn rejected(why: &'static str) -> Refused {
    Refused {
        kind: Kind::Rejected,
        why,
    }
}

pub(crate) const fn not_found(why: &'static str) -> Refused {
    Refused {
        kind: Kind::NotFound,
        why,
    }
}

pub(crate) const fn invalid(why: &'static str) -> Refused {
    Refused {
        kind: Kind::Invalid,
        why,
    }
}

/// A block: event and index.
pub type Place = (usize, usize);

/// What a result answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bind {
    /// This call.
    To(Place),
    /// It says again what this call's result said.
    Repeats(Place),
}

/// What was decided about an event when it came; kept for ever.
#[derive(Clone, Debug, Default)]
pub(crate) struct Got {
    /// The range of a fold or a deletion.
    pub range: Option<(usize, usize)>,
    /// What a mask hides.
    pub covered: Vec<usize>,
    /// What stands for a fold.
    pub summary: Option<String>,
    /// Index of each result block (0 for a `tool_result`) and what it answers.
    pub binds: Vec<(usize, Bind)>,
    /// The first part of the response that a message continues.
    pub joins: Option<usize>,
    /// Index of each call, and whether its id travels as given.
    pub calls: Vec<(usize, bool)>,
    /// The person wrote it.
    pub authored: bool,
    /// Where a rollback goes.
    pub to: Option<usize>,
}

/// An event at its position.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub seq: usize,
    pub event: Value,
    pub got: Got,
}

impl Entry {
    /// It hides a position: one of those that it was logged to cover.
    pub(crate) fn covers(&self, seq: usize) -> bool {
        self.got.covered.contains(&seq)
    }
}

/// A log as the naive interpreter sees it.
#[derive(Clone, Debug, Default)]
pub struct Model {
    log: Vec<Entry>,
}

impl Model {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A session that begins with the positions up to `at` of this one.
    #[must_use]
    pub fn fork(&self, at: usize) -> Self {
        Self {
            log: self.log.iter().take(at + 1).cloned().collect(),
        }
    }

    /// The number of events; the newest position is one less.
    #[must_use]
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Nothing happened yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// Takes an event, or says why not.
    ///
    /// # Errors
    /// It does not fit; nothing changed.
    pub fn append(&mut self, event: &Value) -> Result<usize, Refused> {
        let seq = self.log.len();
        let event = admit::normal(event);
        let got = admit::admit(self, seq, &event)?;
        self.log.push(Entry { seq, event, got });
        Ok(seq)
    }

    /// The prompt at a position, included.
    #[must_use]
    pub fn prompt(&self, at: usize, wire: Wire, heal: bool) -> Prompt {
        render::prompt(&self.fold_at(Some(at)), wire, heal)
    }

    /// Why an event is not shown at the newest position; `None` when it is, or is of a kind that never is.
    #[must_use]
    pub fn cause(&self, seq: usize) -> Option<Cause> {
        cause::cause(self, seq)
    }

    /// Positions of content that is shown at the newest position, with what is shown in another's place.
    #[must_use]
    pub fn visible(&self) -> Vec<usize> {
        let fold = self.fold_at(self.log.len().checked_sub(1));
        fold.contents()
            .into_iter()
            .filter(|seq| fold.visible(*seq))
            .collect()
    }

    /// Calls without a closing result at the newest position.
    #[must_use]
    pub fn open_calls(&self) -> Vec<Place> {
        let fold = self.fold_at(self.log.len().checked_sub(1));
        let calls = fold.units().into_iter().flat_map(|unit| unit.calls);
        calls
            .filter(|call| call.open())
            .map(|call| call.place)
            .collect()
    }

    /// The positions on the line of a position, ledger events included; a rollback stands behind the line of its target.
    pub(crate) fn line(&self, at: Option<usize>) -> Vec<usize> {
        let Some(at) = at else { return Vec::new() };
        let Some(entry) = self.log.get(at) else {
            return Vec::new();
        };
        match entry.got.to {
            Some(to) => self.line(Some(to)).into_iter().chain([at]).collect(),
            None => self
                .line(at.checked_sub(1))
                .into_iter()
                .chain([at])
                .collect(),
        }
    }

    /// What is in force at a position.
    pub(crate) fn fold_at(&self, at: Option<usize>) -> Fold<'_> {
        let line = self.line(at);
        self.fold_of(&line, None)
    }

    /// The events of a line that are in force when `without` is taken out too.
    pub(crate) fn fold_of(&self, line: &[usize], without: Option<usize>) -> Fold<'_> {
        let mut out: Vec<usize> = without.into_iter().collect();
        for seq in line.iter().rev() {
            let undone = self.undoes(*seq).filter(|_| !out.contains(seq));
            out.extend(undone);
        }
        for seq in line {
            let cause = self
                .log
                .get(*seq)
                .and_then(|entry| entry.event["because"].as_u64());
            if cause.is_some_and(|cause| out.contains(&(cause as usize))) {
                out.push(*seq);
            }
        }
        let items = line
            .iter()
            .filter(|seq| !out.contains(seq))
            .filter_map(|seq| self.log.get(*seq))
            .collect();
        Fold { items }
    }

    /// The target of an undo that is no rollback.
    pub(crate) fn undoes(&self, seq: usize) -> Option<usize> {
        let entry = self.log.get(seq)?;
        (entry.event["type"] == "undo").then_some(entry.event["event"].as_u64()? as usize)
    }
}
