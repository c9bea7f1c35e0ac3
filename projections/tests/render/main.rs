//! The render against `docs/rendering.md`: a test a rule, golden prompts, and the law that an update equals a render from nothing.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod calls;
mod compaction;
mod cost;
mod desk;
mod foreign;
mod golden;
mod header;
mod hostile;
mod law;
mod marks;
mod outcomes;
mod part;
mod pictures;
mod salts;
mod sizes;
mod state;
mod thinking;
mod words;
