//! A provider refused a prompt for its size: what it said, and what to do without a model.

mod clear;
mod level;
mod parse;
mod token_wordings;
mod wordings;

pub use level::{LEVELS, level, reached, wanted};
pub use parse::{Said, Verdict, parse};
pub use wordings::wordings;
