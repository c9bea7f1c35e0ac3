//! One directory, many processes: the holder of the lock serves the others over a socket in the directory.
//!
//! - A [`Handle`] is either the holder itself or its client; the caller does not notice which.
//! - When the holder dies, the next request of a client tries to take the lock: the process becomes the holder, recovers and goes on.
//! - A request that was under way when the holder died is repeated if it cannot do harm (it changes nothing, or carries a key);
//!   otherwise its answer is `unknown`.

mod client;
mod handle;
mod request;
mod serve;
mod server;
mod socket;
#[cfg(test)]
mod tests;

pub use handle::Handle;
pub use serve::serve;

/// Somebody answers at a directory's socket.
pub(crate) fn is_served(dir: &std::path::Path) -> bool {
    socket::connect(dir).is_ok()
}
