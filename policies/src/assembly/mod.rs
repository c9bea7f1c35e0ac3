//! What is put into the prompt beside the conversation: attachments, instructions, cache breakpoints.

pub mod attachments;
mod breakpoints;
pub mod instructions;
mod words;

pub use attachments::{propose, wrap_file};
pub use breakpoints::{breakpoints, stable};
pub use recount_projections::render::Ttl;
