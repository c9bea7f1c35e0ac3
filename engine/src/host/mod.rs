//! The shell around the core: it does the I/O, with a blocking and an async face.

mod against;
mod append;
mod ask;
mod changed;
mod directory;
mod engine;
mod explain;
mod export;
mod fork;
mod import;
mod list;
mod live;
mod load;
mod open;
mod open_calls;
mod options;
mod prepare;
mod project;
mod prompt;
mod query;
mod report;
mod session;
mod stats;
mod stream;
mod tasks;
mod travel;
mod verify;
mod whole;
mod words;
mod write;

pub use engine::Engine;
pub use options::{Chance, Clock, Options};
pub use prompt::Prompt;
pub use session::Session;
pub use tasks::{AsyncEngine, AsyncSession};
