//! A provider refused a prompt for its size: what it said, and what to do without a model.

use crate::{Proposal, Situation};

/// How many levels there are.
pub const LEVELS: u8 = 3;

/// A level without a model.
#[must_use]
pub fn level(_at: &Situation<'_>, _level: u8) -> Proposal {
    Proposal::default()
}
