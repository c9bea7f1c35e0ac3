//! Recount: an event-sourced context engine for LLM agent hosts.
//!
//! What a host knows about a session is an append-only log of immutable events; the prompt is a projection of that log.
//!
//! - [`Engine`] holds one data directory; [`Session`] is a handle to one session in it; both are cheap to clone and can be
//!   used from many threads. [`AsyncEngine`] and [`AsyncSession`] are the same for tokio.
//! - [`Dispatcher`] offers the same operations as JSON-RPC lines.
//! - [`api`] holds the parameters and results of every operation.

pub mod api;
mod core;
mod error;
mod host;
pub mod profiles;
mod protocol;
#[cfg(unix)]
pub mod share;

pub use error::{Error, ErrorKind};
pub use host::{AsyncEngine, AsyncSession, Chance, Clock, Engine, Options, Session};
pub use protocol::{Dispatcher, MAX_LINE, METHODS, session_of};
