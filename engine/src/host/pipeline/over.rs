//! By how much a prompt is too large, and who says so.

use crate::core::{Core, Measured};
use crate::host::ask::Asked;
use recount_policies::constants::TriggerLine;
use recount_policies::{Proposal, Situation, overflow};
use recount_projections::Outcome;
use recount_projections::render::Excess;

/// Who says that a prompt does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// The profile, by its window or body: it cannot be sent.
    Profile,
    /// The provider, by a smaller window that it was seen to have: it would most likely be refused.
    Seen,
}

/// A prompt that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Over {
    who: Who,
    /// By so many of the provider's tokens; none where it is a body of too many bytes.
    excess: Option<u64>,
}

impl Over {
    /// By how much a prompt is too large; none where it fits.
    pub(super) fn of(core: &Core, asked: &Asked, measured: &Measured) -> Option<Self> {
        match measured.projection.outcome {
            Outcome::Impossible {
                excess,
                need,
                limit,
                ..
            } => Some(Self {
                who: Who::Profile,
                excess: (excess == Excess::Tokens).then(|| need.saturating_sub(limit)),
            }),
            Outcome::Ready => {
                let need = measured.meter.most.saturating_add(1);
                let seen = core.seen_window(&asked.profile)?;
                let over = need.checked_sub(seen).filter(|over| *over > 0)?;
                Some(Self {
                    who: Who::Seen,
                    excess: Some(over),
                })
            }
            _ => None,
        }
    }

    /// What the next level does about it: the first that frees anything, and for a window that was only seen brings the prompt below it;
    /// such a window does not move the lines of a policy that goes by the declared one either.
    pub(super) fn level(self, at: &Situation<'_>) -> Option<Proposal> {
        if self.who == Who::Seen && at.constants.compact.trigger == TriggerLine::Cline {
            return None;
        }
        let mut reached = overflow::reached(at);
        while let Some(level) = overflow::wanted(at, self.excess, reached) {
            let proposal = overflow::level(at, level);
            let helps = match self.who {
                Who::Profile => !proposal.is_empty(),
                Who::Seen => self.excess <= Some(proposal.freed),
            };
            if helps {
                return Some(proposal);
            }
            reached = level;
        }
        None
    }
}
