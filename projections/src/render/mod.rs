//! The render: from a timeline and a profile to the bytes of a request. Version 1, as `docs/rendering.md` says.
//!
//! - Total: for any timeline and any profile there is an answer.
//! - Pure: equal timelines and profiles give equal bytes.

mod body;
mod piece;
mod prompt;
mod request;

pub use piece::{Category, LeftOut, Piece, PieceRole, Reason, Repair, RepairKind, Why};
pub use prompt::Prompt;
pub use request::{Budget, By, ByBytes, Counts, Excess, Outcome, Projection, Request};

use crate::List;
use alloc::vec::Vec;
use recount_events::Digest;

/// The version of fold, repair and render that this crate writes.
pub const RENDERING: u32 = 1;

/// Renders a timeline from nothing.
#[must_use]
pub fn project(request: &Request<'_>) -> Projection {
    Projection {
        outcome: Outcome::WaitingPerson,
        digest: Digest([0; 32]),
        tokens: 0,
        by: By::default(),
        estimate: 0,
        max_tokens: 0,
        bytes: 0,
        images: 0,
        pieces: List::new_sync(),
        repairs: List::new_sync(),
        left_out: List::new_sync(),
        params_left_out: Vec::new(),
        params: "{}".into(),
        wire: request.wire,
    }
}
