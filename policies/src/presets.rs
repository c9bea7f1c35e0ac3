//! What a preset does beside its numbers: which tiers run for a prompt, and what helps against a refusal.

use crate::{Proposal, Situation, Tier, budget, cline, collapse, compact, micro, snip};
use recount_events::Preset;

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

/// The five tiers, in order.
pub const TIERS: &[(Tier, Propose)] = &[
    (Tier::Budget, budget::propose),
    (Tier::Snip, snip::propose),
    (Tier::Micro, micro::propose),
    (Tier::Collapse, collapse::propose),
    (Tier::Compact, compact::propose),
];

/// What the five tiers have against a refusal.
const REMEDIES: &[Remedy] = &[Remedy::Drain, Remedy::Plan, Remedy::ByRule];

impl Ways {
    /// Those of a preset.
    #[must_use]
    pub const fn of(preset: Preset) -> Self {
        match preset {
            Preset::Recount | Preset::ClaudeCode | Preset::FiveLayer => Self {
                proposes: true,
                tiers: TIERS,
                remedies: REMEDIES,
            },
            // Its numbers turn every tier off; a policy's own may turn some on.
            Preset::None => Self {
                proposes: false,
                tiers: TIERS,
                remedies: REMEDIES,
            },
            Preset::Cline => Self {
                proposes: true,
                tiers: cline::TIERS,
                remedies: cline::REMEDIES,
            },
        }
    }
}
