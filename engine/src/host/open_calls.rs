//! Calls that wait for their results.

use crate::api;
use crate::core::{Core, block_of};

/// Calls without a closing result, with what a host needs to know of them.
pub(super) fn open_calls(core: &Core) -> Vec<api::OpenCall> {
    let one = |open: recount_projections::OpenCall| {
        let logged = core.event(open.block.seq);
        let event = logged.as_ref().map(|logged| &logged.event);
        let found = event.and_then(|event| block_of(event, open.block));
        let facts = found.and_then(|(format, block)| block.call(format));
        let (call, tool) = facts.map_or_else(Default::default, |facts| (facts.id, facts.name));
        api::OpenCall {
            block: (open.block.seq.0, open.block.index),
            call,
            tool,
            since: event.map_or(0, |event| event.at.0),
        }
    };
    core.state.open_calls().into_iter().map(one).collect()
}
