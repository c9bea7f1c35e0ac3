//! What is put into the prompt beside the conversation, row by row.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

#[path = "../common/mod.rs"]
mod common;

mod attachments;
mod breakpoints;
mod instructions;
