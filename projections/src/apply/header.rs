//! The request's header: the last one of each kind counts.

use crate::{Logged, Timeline};
use alloc::sync::Arc;
use recount_events::{Body, Seq};

impl Timeline {
    pub(super) fn set_header(&mut self, logged: &Arc<Logged>) -> Option<Seq> {
        let header = &mut self.header;
        let event = Some(Arc::clone(logged));
        match &logged.event.body {
            Body::Profile(_) => header.profile = event,
            Body::Policy(_) => header.policy = event,
            Body::System(_) => header.system = event,
            Body::Tools(_) => header.tools = event,
            Body::Rendering(rendering) => header.rendering = Some(rendering.version),
            _ => {}
        }
        None
    }

    /// The newest usage and the newest issued prompt: facts of the ledger that the meter reads by timeline.
    pub(super) fn ledger_mark(&mut self, logged: &Arc<Logged>) -> Option<Seq> {
        match &logged.event.body {
            // The call of a compaction says nothing about the size of the session's prompt.
            Body::Usage(usage) if usage.compaction.is_none() => self.usage = Some(logged.seq),
            Body::Issued(_) => self.issued = Some(logged.seq),
            _ => {}
        }
        None
    }
}
