//! The preset `cline` against the exact rules over the full history, row by row, and every place where it differs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

#[path = "../common/mod.rs"]
mod common;

mod both;
mod differs;
mod hostile;
mod laws;
mod rows;
