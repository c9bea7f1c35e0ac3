//! Claude Code sessions, shape by shape.

mod branches;
mod children;
#[path = "../common/mod.rs"]
mod common;
mod folds;
mod lines;
mod odd;
