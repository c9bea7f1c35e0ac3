//! ⑤ Summaries, row by row.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod commits;
mod latches;
mod laws;
mod plans;
mod restored;
mod ruled;
mod talk;
