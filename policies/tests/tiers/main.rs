//! Tiers ① to ③, row by row: what sets them off, one below and one above, the same after a reopening, and the way back.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod body;
mod budget;
#[path = "../common/mod.rs"]
mod common;
mod cuts;
mod hostile;
mod laws;
mod micro;
mod plain;
mod snip;
