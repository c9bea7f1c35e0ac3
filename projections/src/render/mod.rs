//! The render: from a timeline and a profile to the bytes of a request. Version 1, as `docs/rendering.md` says.
//!
//! - Total: for any timeline and any profile there is an answer.
//! - Pure: equal timelines and profiles give equal bytes.

mod block;
mod body;
mod compaction;
mod context;
mod entry;
mod header;
mod json;
mod marks;
mod outcome;
mod params;
mod pen;
mod picture;
mod piece;
mod prompt;
mod request;
mod result;
mod server;
mod source;
mod speech;
mod table;
mod thinking;
mod track;
mod view;

pub use marks::{Edit, MOST_CONTROLS, Marks, Ttl, may_carry, pinned};
pub use piece::{Category, LeftOut, Piece, PieceRole, Reason, Repair, RepairKind, Why};
pub use prompt::Prompt;
pub use request::{Budget, By, ByBytes, Counts, Excess, Outcome, Projection, Request};

/// The version of fold, repair and render that this crate writes.
pub const RENDERING: u32 = 1;

/// Renders a timeline from nothing.
#[must_use]
pub fn project(request: &Request<'_>) -> Projection {
    Prompt::render(request).project(request)
}
