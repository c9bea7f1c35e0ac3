//! Recount: an event-sourced context engine for LLM agent hosts.
//!
//! What a host knows about a session is an append-only log of immutable events; the prompt is a projection of that log.
//!
//! - [`Engine`] holds one data directory; [`Session`] is a handle to one session in it; both are cheap to clone and can be
//!   used from many threads. [`AsyncEngine`] and [`AsyncSession`] are the same for tokio.
//! - [`Dispatcher`] offers the same operations as JSON-RPC lines.
//! - [`api`] holds the parameters and results of every operation.
//!
//! ```
//! use recount::{Engine, Options, api};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let engine = Engine::open(dir.path(), Options::default())?;
//! let session = engine.create("talk", Some("claude-opus-4-5".into()))?;
//!
//! session.append(&[
//!     r#"{"type":"system","content":"Be brief."}"#,
//!     r#"{"type":"message","role":"user","content":"What is an event?"}"#,
//! ])?;
//! let first = session.project(api::Project::default())?;
//! assert_eq!(first.outcome, api::Outcome::Ready);
//!
//! session.append(&[
//!     r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"A fact."}]}"#,
//!     r#"{"type":"message","role":"user","content":"And a log?"}"#,
//! ])?;
//! let second = session.project(api::Project::default())?;
//!
//! // Back by one turn, and forth again: the same bytes.
//! let back = session.rollback(api::To::Turns(1))?;
//! assert_ne!(back.digest, Some(second.digest.clone()));
//! let forth = session.undo(back.event)?;
//! assert_eq!(forth.digest, Some(second.digest));
//! # Ok(())
//! # }
//! ```

pub mod api;
mod core;
pub mod doctor;
mod error;
pub mod evidence;
mod host;
mod lock;
pub mod place;
pub mod profiles;
mod protocol;
#[cfg(unix)]
pub mod share;

/// Disks in place of the real one, for tests.
pub use recount_wal::disk;

pub use error::{Error, ErrorKind};
pub use host::{
    AsyncEngine, AsyncSession, Chance, Clock, CommitSeen, CompactionHooks, Engine, Hooks, Notice,
    Notices, Options, PlanSeen, Prompt, Session, Veto,
};
pub use protocol::{Dispatcher, MAX_LINE, METHODS, session_of};

/// The example of the first screen runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct FirstScreen;
