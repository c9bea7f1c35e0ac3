//! The engine from outside: every operation, every kind of error, one binary so that it links once.

mod common;

mod append;
mod face;
mod first;
mod forks;
mod import;
mod prompts;
mod protocol;
mod travel;
mod verify;
