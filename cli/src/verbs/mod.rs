//! One file a verb.

pub(crate) mod append;
pub(crate) mod checkpoint;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod hello;
pub(crate) mod import;
pub(crate) mod interrupt;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod manual;
pub(crate) mod open;
pub(crate) mod prepare;
pub(crate) mod project;
pub(crate) mod rollback;
pub(crate) mod rpc;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod sync;
pub(crate) mod undo;
pub(crate) mod verify;
