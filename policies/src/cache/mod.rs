//! The provider's cache: what it keeps and for how long, where it broke, and why.

mod detect;
mod rules;

pub use detect::{LEAST_FALL, behind, detect, fell, first_byte};
pub use rules::{LOOK_BACK, MOST_MARKS, Rules};
