//! The provider's cache: what it keeps and for how long, where it broke, and why.

mod rules;

pub use rules::{LOOK_BACK, MOST_MARKS, Rules};
