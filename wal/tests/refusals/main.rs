//! A disk that refuses, byte by byte and operation by operation: typed errors, nothing acknowledged falsely, nothing lost.
//!
//! - Every census is printed with `--nocapture`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod bytes;
#[path = "../common/mod.rs"]
mod common;
mod directory;
mod panics;
mod reads;

use std::io::ErrorKind;

use recount_wal::disk::{Fault, Operation};

/// What the kernel answers: a full disk, and an error of the medium.
pub(crate) const KINDS: [ErrorKind; 2] = [ErrorKind::StorageFull, ErrorKind::Other];

pub(crate) fn fault(operation: Operation, kind: ErrorKind, after: u64, times: u64) -> Fault {
    Fault {
        operation,
        after,
        times,
        kind,
        short: 0,
    }
}
