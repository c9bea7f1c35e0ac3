//! The engine from outside: every operation, every kind of error, one binary so that it links once.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod common;

mod append;
mod corpus;
mod crowd;
mod doctor;
mod doubt;
mod face;
mod faults;
mod first;
mod forks;
mod hurt;
mod import;
mod lost;
mod pictures;
mod pipeline;
mod places;
mod profiles;
mod prompts;
mod protocol;
mod prune;
mod replay;
mod retried;
mod rows;
mod seen;
mod states;
mod status;
mod steady;
mod tasks;
mod tiers;
mod told;
mod travel;
mod upkeep;
mod verify;
