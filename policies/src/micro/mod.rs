//! ③ Old results: cleared when the cache is cold, or on the provider's side while it is warm.
//!
//! - By time: so long after the last answer that the provider's cache is gone, all results but the newest give way to a fixed line. Nothing
//!   is lost by a changed prefix then. What cache edits did is void with the cache, so they are reset.
//! - By count, while the cache is warm: results are named in a cache edit, which the provider carries out. No local byte changes, and what
//!   it frees is known from the next answer only ([`acknowledge`]); until then nothing more is proposed.
//! - The public form of the same is a request parameter ([`request_params`]): no event.
//! - Only results of the tools that the policy names: one-time observations. Others are state, and never touched.
//! - A result that no answer followed yet was never read: it stays, as old as it may be.
//! - Time goes before count: in a cold cache there is nothing to edit. Main sessions only: a helper must not name results that its parent shows.

mod cached;
mod idle;
mod live;
mod params;

pub use cached::acknowledge;
pub(crate) use live::named;
pub use live::references;
pub use params::{BETA, request_params};

use crate::{Proposal, Situation};
use recount_events::SessionKind;

/// What stands for a cleared result.
pub const CLEARED: &str = "[Old tool result content cleared]";

/// What this tier proposes.
#[must_use]
pub fn propose(at: &Situation<'_>) -> Proposal {
    let runs = at.auto && at.kind == SessionKind::Main && !at.constants.micro.tools.is_empty();
    if !runs {
        return Proposal::default();
    }
    let proposed = match idle::minutes(at) {
        Some(minutes) => idle::propose(at, minutes),
        None => cached::propose(at),
    };
    proposed.unwrap_or_default()
}
