//! What a prompt is good for, and how much room it leaves.
//!
//! - Nothing here changes a piece.

use crate::render::prompt::Prompt;
use crate::render::request::Budget;
use crate::render::track::{Ends, Track};
use crate::render::{Excess, Outcome, Request};
use crate::timeline::{Shown, Unit};
use alloc::sync::Arc;
use alloc::vec::Vec;
use recount_events::BlockId;

/// Pieces that an impossible prompt names.
const LARGEST: usize = 5;

/// Tokens that the provider will count: as the caller knows, else by factor and margin, with the profile's overhead.
pub(crate) fn estimate(track: &Track, request: &Request<'_>) -> u64 {
    let by_factor = || {
        scaled(track.sums.by.total(), &request.budget)
            .saturating_add(request.profile.overhead_tokens)
    };
    request.budget.whole.unwrap_or_else(by_factor)
}

/// tokens × factor × (1 + margin), rounded up.
fn scaled(tokens: u64, budget: &Budget) -> u64 {
    let margin = budget.margin_milli.saturating_add(1000);
    let product = u128::from(tokens)
        .saturating_mul(u128::from(budget.factor_milli))
        .saturating_mul(u128::from(margin));
    u64::try_from(product.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// What the prompt is good for; `need`: its tokens and the fewest of an answer; `bytes`: of the body.
pub(crate) fn outcome(track: &Track, request: &Request<'_>, need: u64, bytes: u64) -> Outcome {
    let calls = unanswered(track, request);
    if !calls.is_empty() {
        return Outcome::WaitingResults { calls };
    }
    if waits_for_the_person(track.sums.ends, request.profile.prefill) {
        return Outcome::WaitingPerson;
    }
    let (window, most) = (request.profile.window, request.profile.body_bytes);
    if need > window {
        return Outcome::Impossible {
            excess: Excess::Tokens,
            need,
            limit: window,
            largest: largest(track),
        };
    }
    if most > 0 && bytes > most {
        return Outcome::Impossible {
            excess: Excess::Bytes,
            need: bytes,
            limit: most,
            largest: largest(track),
        };
    }
    Outcome::Ready
}

/// The calls of the newest response without any result, while the host is to bring them.
fn unanswered(track: &Track, request: &Request<'_>) -> Vec<BlockId> {
    let Some(key) = track.sums.unit.filter(|_| !request.heal) else {
        return Vec::new();
    };
    if request
        .timeline
        .authored_last
        .is_some_and(|authored| authored > key)
    {
        return Vec::new();
    }
    match request.timeline.shown.get(&key) {
        Some(Shown::Unit(unit)) => open(unit),
        _ => Vec::new(),
    }
}

fn open(unit: &Arc<Unit>) -> Vec<BlockId> {
    unit.calls
        .iter()
        .filter(|call| call.answer.is_none())
        .map(|call| call.block)
        .collect()
}

const fn waits_for_the_person(ends: Ends, prefill: bool) -> bool {
    match ends {
        Ends::Nothing | Ends::Thinking | Ends::Space => true,
        Ends::Assistant => !prefill,
        Ends::Other | Ends::Paused | Ends::Compacted => false,
    }
}

/// The largest pieces with their tokens, largest first, of equal ones the first.
fn largest(track: &Track) -> Vec<(BlockId, u64)> {
    let mut all: Vec<_> = track
        .pieces
        .iter()
        .map(|piece| (piece.source, piece.tokens))
        .collect();
    all.sort_by_key(|(block, tokens)| (core::cmp::Reverse(*tokens), *block));
    all.truncate(LARGEST);
    all
}

impl Prompt {
    /// Tokens that the provider will count, by estimate.
    #[must_use]
    pub fn estimate(&self, request: &Request<'_>) -> u64 {
        estimate(self.track(), request)
    }
}
