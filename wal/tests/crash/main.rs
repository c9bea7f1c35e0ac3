//! What a crash may leave, and what is made of it: a prefix that ends at a batch and holds everything acknowledged.
//!
//! - [`run`]: a log at work on a recording disk; what was issued, acknowledged and erased, and when. Knows nothing of segments.
//! - [`scenarios`]: every kind of write.
//! - [`verdict`]: one crash, judged against that.
//! - [`inside`]: a crash inside the recovery from a crash.
//! - [`census`]: all crashes of all scenarios, in a table.
//! - [`store`]: a store that loses what was not flushed, by the same choices; the log must serve the segments' truth.
//!
//! `RECOUNT_CRASH=long cargo test -p recount-wal --test crash -- --nocapture` makes the long run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod census;
#[path = "../common/mod.rs"]
mod common;
mod cuts;
mod inside;
mod lossy;
mod run;
mod scenarios;
mod store;
mod verdict;
