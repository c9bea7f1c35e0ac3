//! From events to state to prompt. Pure: no clock, no chance, no I/O, no unordered maps.
//!
//! - [`State`] is the fold of a log: a [`Timeline`], which a rollback restores, and a [`Ledger`], which nothing rolls back.
//! - [`Frozen`] is a state as plain data, for a checkpoint that spares folding the log.
//! - The render reads a timeline and a profile, nothing else.
#![no_std]

extern crate alloc;

mod admit;
mod apply;
mod frozen;
mod ledger;
mod misfit;
pub mod render;
mod state;
pub mod timeline;

pub use frozen::Frozen;
pub use ledger::{BreakerView, Ledger, Totals};
pub use misfit::{Misfit, MisfitKind, Problem, Suggest};
pub use render::{Budget, Counts, Outcome, Piece, Projection, Prompt, Request, project};
pub use state::{
    Admitted, Applied, Cause, CheckpointView, Gap, OpenCall, Resolved, Skipped, Source, State,
    replay,
};
pub use timeline::{
    Answer, Call, Header, Hull, Life, Line, Logged, Name, Part, Place, Plan, Said, Shown, Summary,
    SummaryKind, Timeline, Undone, Unit, Work,
};

/// Ordered, persistent map: cloning is O(1), clones share their nodes.
pub type Map<K, V> = rpds::RedBlackTreeMapSync<K, V>;
/// Persistent list: cloning is O(1), clones share their nodes.
pub type List<T> = rpds::VectorSync<T>;
