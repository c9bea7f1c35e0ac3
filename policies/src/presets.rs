//! The presets' ways, as data.

use crate::ways::{Propose, Remedy, Ways};
use crate::{Tier, budget, cline, collapse, compact, micro, snip};
use recount_events::Preset;

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
