//! Durable, ordered, checked records; knows nothing about events.

mod record;

pub use record::*;
