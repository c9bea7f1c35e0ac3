//! What providers' refusals mean, and the levels without a model.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

#[path = "../common/mod.rs"]
mod common;

mod levels;
mod wordings;
mod words;
