//! Public failures of other systems, each as a small input that must come out well here; the rows are those of `docs/pain.md`.
//!
//! - Inputs are made up; they go in as a host's do, and what comes out is judged by the validator on both dialects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod cache;
mod checker;
mod desk;
mod disk;
mod events;
mod folds;
mod live;
mod loops;
mod meter;
mod order;
mod pairs;
mod resume;
mod shape;
mod size;
mod thinking;
mod travel;
