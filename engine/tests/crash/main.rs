//! Law 11 as a host sees it: whatever a crash leaves, every session is a prefix of what was done in it, holds everything that
//! was acknowledged as durable, shows the prompt of that cut, verifies, and goes on.
//!
//! - [`world`]: an engine at work on a disk that writes everything down, and what was promised when.
//! - [`scenarios`]: every operation that writes.
//! - [`verdict`]: one crash, judged against the run that went through.
//! - [`census`]: all crashes of all scenarios, in a table.
//!
//! `RECOUNT_CRASH=long cargo test -p recount --test crash -- --nocapture` makes the long run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod census;
mod scenarios;
mod verdict;
mod world;
