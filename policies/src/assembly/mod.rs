//! What is put into the prompt beside the conversation: attachments, instructions, cache breakpoints.

use crate::{Proposal, Situation};

/// What this step proposes.
#[must_use]
pub fn propose(_at: &Situation<'_>) -> Proposal {
    Proposal::default()
}
