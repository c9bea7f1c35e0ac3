//! Programs of host events: the whole vocabulary, legal and illegal, made from small seeds.
//!
//! - An [`Op`] is a kind and a seed; a [`Host`] turns it into JSON by what it has seen accepted so far. A program shrinks by
//!   losing ops; what is left is made anew.
//! - A lone surrogate is U+FDD0 in values (as in the model) and an escape in the JSON that is handed in.

mod blocks;
mod census;
mod dice;
mod fixed;
mod folds;
mod host;
mod ledger;
mod talk;
mod words;

pub use census::{Census, NEVER_NEIGHBOURS};
pub use host::{Given, Host};

use proptest::prelude::*;

/// What a program is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Index into [`KINDS`].
    pub kind: usize,
    /// Decides everything else.
    pub seed: u64,
}

/// How a program is weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Everything, talk more often.
    Whole,
    /// Talk, folds and travel only: states that are deep.
    Deep,
}

/// Every kind of event that can be logged, and how often it comes in the two mixes.
pub const KINDS: &[(&str, u32, u32)] = &[
    ("message", 40, 60),
    ("tool_result", 24, 40),
    ("inject", 8, 8),
    ("replace", 8, 10),
    ("delete_range", 6, 10),
    ("snip", 6, 8),
    ("collapse_stage", 6, 8),
    ("collapse_commit", 7, 10),
    ("collapse_discard", 3, 3),
    ("compact_plan", 4, 4),
    ("compact_chunk", 4, 3),
    ("compact_commit", 8, 12),
    ("compact_abandon", 3, 2),
    ("rollback", 7, 12),
    ("undo", 12, 24),
    ("checkpoint", 4, 4),
    ("system", 4, 3),
    ("tools", 4, 3),
    ("profile", 4, 3),
    ("policy", 2, 0),
    ("rendering", 1, 0),
    ("budget", 2, 0),
    ("cache_edit", 3, 0),
    ("cache_ack", 3, 0),
    ("cache_reset", 2, 0),
    ("file_read", 2, 0),
    ("memory", 2, 0),
    ("todo", 2, 0),
    ("opened", 1, 0),
    ("closed", 1, 0),
    ("forked", 1, 0),
    ("counted", 2, 0),
    ("issued", 3, 0),
    ("usage", 3, 2),
    ("overflow", 1, 0),
    ("breaker", 1, 0),
    ("erased", 1, 0),
    ("cache_break", 1, 0),
    ("done", 1, 0),
];

/// The index of a kind.
#[must_use]
pub fn kind(name: &str) -> usize {
    KINDS
        .iter()
        .position(|(kind, _, _)| *kind == name)
        .unwrap_or(0)
}

/// An op of the mix.
pub fn op(mix: Mix) -> impl Strategy<Value = Op> {
    let weight = move |entry: &(&str, u32, u32)| if mix == Mix::Whole { entry.1 } else { entry.2 };
    let table: Vec<usize> = KINDS
        .iter()
        .enumerate()
        .flat_map(|(index, entry)| std::iter::repeat_n(index, weight(entry) as usize))
        .collect();
    (prop::sample::select(table), any::<u64>()).prop_map(|(kind, seed)| Op { kind, seed })
}

/// A program of up to so many ops.
pub fn program(mix: Mix, most: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(mix), 1..=most)
}

/// The number of cases of a law: `usual`, times `RECOUNT_CASES` percent.
#[must_use]
pub fn cases(usual: u32) -> ProptestConfig {
    let percent = std::env::var("RECOUNT_CASES")
        .ok()
        .and_then(|text| text.parse::<u32>().ok())
        .unwrap_or(100);
    let cases = (usual.saturating_mul(percent) / 100).max(1);
    ProptestConfig {
        cases,
        max_shrink_iters: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
