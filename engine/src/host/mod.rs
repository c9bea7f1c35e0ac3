//! The shell around the core: it does the I/O, with a blocking and an async face.

mod engine;
mod options;
mod session;
mod tasks;

pub use engine::Engine;
pub use options::{Chance, Clock, Options};
pub use session::Session;
pub use tasks::{AsyncEngine, AsyncSession};
