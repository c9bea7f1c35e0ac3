//! The pipeline around the core: builds what a policy looks at, logs what it proposes.
//!
//! - A tier's files are on disk before its events are logged; its events are one batch.
//! - What a tier proposed and the session does not admit is a defect of the tier: it is reported, and the prompt goes out without it.

mod actions;
mod auto;
mod cache;
mod cascade;
mod compact;
mod ground;
mod injections;
mod over;
mod overflowed;
mod propose;
mod requests;
mod said;
mod shorter;
mod situation;
mod spill;
mod standing;
mod summarised;
mod tiers;

pub(super) use actions::actions;
pub(super) use cache::{cause_name, note_answer};
pub(super) use injections::first_things;
pub(super) use propose::{event, log, with_files};
pub(super) use situation::Ground;
pub(super) use spill::again;
pub(super) use tiers::{Blocked, run};
