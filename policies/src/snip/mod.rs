//! ② Zombies: what is in the prompt without use.

use crate::{Proposal, Situation};

/// What this tier proposes.
#[must_use]
pub fn propose(_at: &Situation<'_>) -> Proposal {
    Proposal::default()
}
