//! The laws of the design, by their numbers: whatever a host does, these hold.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a law that does not hold panics, in its helpers too"
)]

mod budget;
mod census;
mod codec;
mod cold;
mod drills;
mod fold;
mod kept;
mod marks;
mod model;
mod run;
mod shrink;
mod stability;
mod travel;
mod whole;
