//! A simulated host with a scripted provider, which relives recorded sessions turn by turn.
//!
//! - The provider knows the truth: a hidden [`Tokenizer`], a real window, its own words of refusal, its cache. The engine
//!   sees only what a provider says.
//! - Everything is drawn from seeds; times come from the recording. Nothing here judges by a clock.

mod background;
mod body;
mod cache;
mod differ;
mod drill;
mod host;
mod line;
mod provider;
mod recording;
mod refusal;
mod report;
mod run;
mod setup;
mod summary;
mod tally;
mod tokenizer;

pub use body::{Block, Body, Life, Part};
pub use cache::{Account, Cache};
pub use differ::{Change, Differ};
pub use drill::{Drill, Move};
pub use host::Host;
pub use line::{Kills, Line, Refused};
pub use provider::{Provider, Reply, Traits};
pub use recording::{Happening, Recording, Step, log, prose, read, relive};
pub use refusal::{Refusal, Why, word};
pub use report::{HEAD, Summary};
pub use run::{Outcome, run, run_killed};
pub use setup::Setup;
pub use summary::{Fault, Written};
pub use tally::Tally;
pub use tokenizer::Tokenizer;
