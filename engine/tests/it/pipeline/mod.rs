//! The pipeline from outside, the rows of the compaction side: plans, answers, refusals, actions, hooks.

mod actions;
mod answers;
mod auto;
mod cline;
mod desk;
mod hooks;
mod levels;
mod plans;
mod refusals;
mod remote;
mod shorter;
mod spans;
mod through;
mod undone;
