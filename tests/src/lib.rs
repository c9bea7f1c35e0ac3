//! What the workspace is tested with: an independent validator of requests, a naive interpreter of logs, generators.
//!
//! - Nothing here shares code with the renderer or the fold that it judges: [`validator`] and [`model`] read and write
//!   `serde_json` values only.

pub mod fuzz;
pub mod generate;
pub mod host;
pub mod model;
pub mod recordings;
pub mod simulation;
pub mod system;
pub mod validator;
