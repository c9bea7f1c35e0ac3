//! The dispatcher: JSON-RPC 2.0, one object a line; the same table for the pipe, the socket and the command line.
//!
//! - Nothing that a caller sends makes it panic or stop.
//! - Results are written without passing raw content through a JSON tree.

mod dispatch;
mod envelope;
mod halves;
mod table;

pub(crate) use dispatch::too_long;
pub use dispatch::{Dispatcher, MAX_LINE};
pub(crate) use envelope::error_line;
pub use envelope::session_of;
pub use table::METHODS;
