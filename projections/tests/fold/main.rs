//! The fold, rule by rule of `docs/semantics.md`, and its laws.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod calls;
mod host;
mod laws;
mod notes;
mod programs;
mod ranges;
mod size;
mod travel;
