//! The tiers of the pipeline: a situation in, proposed events out. Pure: no clock, no chance, no I/O, no unordered maps.
//!
//! - A policy never edits a prompt. It looks at a [`Situation`] and answers a [`Proposal`]: events that the engine admits, logs and
//!   projects. So replay never runs a policy, and a new policy cannot change an old prompt.
//! - Tiers run in the order of their preset ([`Ways`]), cheapest first; each sees what the earlier ones changed.
//! - Numbers come from [`Constants`], which the session's `policy` event holds in full.
#![no_std]

extern crate alloc;

pub mod assembly;
mod bounds;
pub mod budget;
pub mod cache;
pub mod cline;
pub mod collapse;
pub mod compact;
pub mod constants;
pub mod cut;
pub mod micro;
pub mod overflow;
mod presets;
mod proposal;
pub mod reading;
mod situation;
pub mod snip;
pub mod thresholds;
mod ways;

pub use constants::Constants;
pub use presets::TIERS;
pub use proposal::{Proposal, Proposed, Spill, Tier};
pub use situation::{Fill, Situation, Words};
pub use thresholds::{Level, Thresholds};
pub use ways::{Propose, Remedy, Ways};
