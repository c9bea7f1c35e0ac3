//! The fold, rule by rule of `docs/semantics.md`, and its laws.

mod calls;
mod host;
mod laws;
mod notes;
mod ranges;
mod travel;
