//! ④ Staged spans, committed when the window fills.

use crate::{Proposal, Situation};

/// What this tier proposes.
#[must_use]
pub fn propose(_at: &Situation<'_>) -> Proposal {
    Proposal::default()
}
