//! Tasks of Cline and of Roo, and sessions of Cline's SDK: what their hosts would have sent is what is projected, state by state.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panics"
)]

mod cline;
mod family;
mod hostile;
mod next;
mod otherwise;
mod ranged;
mod recorded;
mod roo;
mod sdk;
mod sent;
mod world;
mod written;
