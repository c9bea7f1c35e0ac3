//! What a preset does beside its numbers: which tiers run for a prompt, and what helps against a refusal.

use crate::{Proposal, Situation, Tier};

/// A tier: what it proposes in a situation.
pub type Propose = fn(&Situation<'_>) -> Proposal;

/// A step against a prompt that was refused for its size.
#[derive(Clone, Copy, Debug)]
pub enum Remedy {
    /// Staged spans are committed.
    Drain,
    /// A model is asked for a summary.
    Plan,
    /// A summary is made without one.
    ByRule,
    /// What a policy proposes, told how many refusals came since the model last answered, this one included.
    Propose(Tier, fn(&Situation<'_>, u32) -> Proposal),
}

/// What a preset does.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// It proposes anything of its own accord.
    pub proposes: bool,
    /// The tiers that change the prompt, in order.
    pub tiers: &'static [(Tier, Propose)],
    /// What is tried against a refusal before the levels without a model, in order.
    pub remedies: &'static [Remedy],
}
