//! The tiers of the pipeline: a state and a request in, proposed events out. None yet: the crate holds the place and its arrows.
#![no_std]
