//! Durable, ordered, checked records; knows nothing about events.
//!
//! A log holds streams of numbered records, each an opaque body and opaque contents, in segments that are the truth and the
//! commit point. What a receipt promised is there after a crash; what damage took is named, and everything else is served.

mod commit;
mod compress;
pub mod disk;
mod erase;
mod error;
mod feed;
mod follow;
mod forget;
pub mod format;
mod index;
mod inspect;
mod key;
mod limits;
mod lock;
mod options;
mod queue;
mod read;
mod reader;
mod record;
mod recovered;
mod recovery;
mod segment;
mod stats;
pub mod store;
mod stored;
mod tags;
mod verify;
mod wal;
mod writer;

pub use error::{AppendError, CloseError, OpenError, ReadError};
pub use follow::Follower;
pub use forget::{ForgetError, Forgotten, LastOf, OnDamage};
pub use inspect::{HeaderFound, Inspection, KeyFile, SegmentAt, inspect, restore_key};
pub use limits::MAX_BATCH;
pub use lock::Lock;
pub use options::Options;
pub use reader::Reader;
pub use record::*;
pub use recovered::{Cut, Damage, KnownHead, Recovered, State};
pub use stats::Stats;
pub use verify::{ContentAt, Verification};
pub use wal::Wal;
