//! The sans-io core: one session's state, and what it decides. No clock, no disk, no chance.
