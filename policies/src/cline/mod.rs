//! The preset `cline`: the first pair stays, the middle is left out, files that stand there twice are replaced.
//!
//! - The exact rules (`recount-cline`) decide over the timeline as Cline would have it ([`View`]); what they decide becomes events: a
//!   `delete_range` over what a range adds, a `replace` for each edit. The engine admits, logs and renders them like any other.
//! - What the previous request used decides, as its `usage` says; nothing is estimated. One request decides once, however often the prompt
//!   is asked for, and whether its decision was undone or not.
//! - Where this differs from Cline: `docs/cline.md`, line by line.

mod condense;
mod helper;
mod notices;
mod previous;
mod range;
mod reads;
mod steps;
mod truncate;
mod view;

pub use condense::propose as condense;
pub(crate) use condense::{applies, notices_of, span};
pub use truncate::{overflowed, propose};
pub use view::View;

use crate::ways::{Propose, Remedy};
use crate::{Situation, Tier};
use recount_cline::Window;
use recount_events::{Profile, Wire};

/// What runs for a prompt.
pub(crate) const TIERS: &[(Tier, Propose)] =
    &[(Tier::Cline, propose), (Tier::Compact, condense::propose)];
/// What helps against a refusal.
pub(crate) const REMEDIES: &[Remedy] = &[Remedy::Propose(Tier::Cline, overflowed)];

/// How the causes of what this preset decides begin.
const CAUSE: &str = "cline: ";

/// How much of a profile's window may be used, by Cline's table. A provider `openai` is Cline's endpoint that only resembles OpenAI's.
#[must_use]
pub fn window(profile: &Profile) -> Window {
    let resembles = profile.wire == Wire::OpenaiChat && profile.provider.as_str() == Some("openai");
    let model = profile.model.as_str().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "sizes of windows fit")]
    let declared = profile.window as f64;
    Window::of(Some(declared), model, resembles)
}

/// The tokens from which on a request was too full.
#[must_use]
pub fn limit(profile: &Profile) -> u64 {
    up(window(profile).allowed)
}

/// The smallest whole number that is not below.
fn up(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast to a whole number stops at its ends"
    )]
    let whole = number as u64;
    #[expect(clippy::cast_precision_loss, reason = "sizes of windows fit")]
    let below = (whole as f64) < number;
    whole.saturating_add(u64::from(below))
}

/// The model makes its own summaries: the policy says so, and the model is one that may.
fn condenses(at: &Situation<'_>) -> bool {
    let model = at.profile.model.as_str().unwrap_or_default();
    at.constants.cline.auto_condense && recount_cline::is_next_generation(model)
}
