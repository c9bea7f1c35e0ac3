//! Recorded sessions relived against a scripted provider, under each preset and in windows of every size.
//!
//! - `RECOUNT_SIMULATION=long` relives every long session; otherwise a few stretches are. `--nocapture` prints the table and its summary.
//! - The whole table takes the better part of an hour: `RECOUNT_SIMULATION=long:1/4` relives the first of four parts, and so on.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a run that fails panics, in its helpers too"
)]

mod cline;
mod killed;
mod relived;
mod rules;
mod sessions;
mod tokens;
