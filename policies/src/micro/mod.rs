//! ③ Old results: cleared when the cache is cold, or on the provider's side while it is warm.

use crate::{Proposal, Situation};

/// What this tier proposes.
#[must_use]
pub fn propose(_at: &Situation<'_>) -> Proposal {
    Proposal::default()
}
