//! Locks of what a thread that dies cannot leave half-done.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks it, whoever died with it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
