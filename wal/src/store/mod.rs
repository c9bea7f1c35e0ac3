//! The event log that everything else reads: records in chunks inside an embedded store, derived from the segments.
//!
//! - The segments are the truth. Whatever the store says was compared with them at open, or was written from them since.
//! - Any doubt (a difference, an error, a panic, a hang, absence) ends in a new directory, filled again from the segments.
//! - No authored byte enters the store: it holds bodies and the places of contents.
//! - Whoever reads gets the same entries with and without the store; it only makes them cheaper.
//!
//! The bytes are specified in `FORMAT-STORE.md`.

mod chunk;
mod compare;
mod contract;
mod event_log;
mod evidence;
mod generations;
mod layout;
mod live;
mod memory;
mod on_sled;
mod query;
mod shared;
mod source;
mod status;
mod supervisor;
mod worker;

#[cfg(test)]
mod tests;

pub use contract::{Open, Order, Row, Store, StoreError, Table, Visit, digest};
pub use event_log::EventLog;
pub use layout::Terms;
pub use memory::{InMemory, Memory};
pub use on_sled::OnSled;
pub use query::{Found, Part};
pub use source::{Segments, SourceError, VisitRecord};
pub use status::{Ahead, Doubt, Progress, Span, StoreOptions, StoreState, StoreStatus};
