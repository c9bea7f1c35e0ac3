//! ① Tool results: what one may cost, and all that answer one response.

use crate::{Proposal, Situation};

/// What this tier proposes.
#[must_use]
pub fn propose(_at: &Situation<'_>) -> Proposal {
    Proposal::default()
}
