//! By how much a prompt is too large, and who says so.

use crate::core::{Core, Measured};
use crate::host::ask::Asked;
use recount_policies::constants::TriggerLine;
use recount_policies::{Proposal, Situation, overflow};
use recount_projections::Outcome;

/// A prompt that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// The window or body of the profile, by so many tokens or bytes: it cannot be sent.
    Profile(u64),
    /// The smaller window that the provider was seen to have, by so many tokens: it would most likely be refused.
    Seen(u64),
}

impl Over {
    /// By how much a prompt is too large; none where it fits.
    pub(super) fn of(core: &Core, asked: &Asked, measured: &Measured) -> Option<Self> {
        match measured.projection.outcome {
            Outcome::Impossible { need, limit, .. } => {
                Some(Self::Profile(need.saturating_sub(limit)))
            }
            Outcome::Ready => {
                let need = measured.meter.most.saturating_add(1);
                let seen = core.seen_window(&asked.profile)?;
                let over = need.checked_sub(seen).filter(|over| *over > 0)?;
                Some(Self::Seen(over))
            }
            _ => None,
        }
    }

    /// What the next level does about it. A window that was only seen is no reason for a level that does not bring the prompt below it; nor
    /// does it move the lines of a policy that goes by the declared one.
    pub(super) fn level(self, at: &Situation<'_>) -> Option<Proposal> {
        let mut reached = overflow::reached(at);
        let (Self::Profile(excess) | Self::Seen(excess)) = self;
        if self == Self::Seen(excess) && at.constants.compact.trigger == TriggerLine::Cline {
            return None;
        }
        while let Some(level) = overflow::wanted(at, Some(excess), reached) {
            let proposal = overflow::level(at, level);
            if self == Self::Profile(excess) || proposal.freed >= excess {
                return Some(proposal);
            }
            reached = level;
        }
        None
    }
}
