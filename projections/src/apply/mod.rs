//! What an event does to a timeline: one call per kind into a facet.
//!
//! - Total: whatever was admitted applies. Nothing here decides anything; what had to be resolved stands in the event.
//! - Each answers the lowest key of `shown` whose entry changed.

mod conversation;
mod folds;
mod header;
mod masks;
mod notes;

use crate::{Logged, Timeline};
use alloc::sync::Arc;
use recount_events::{Body, Seq};

/// The facets of a timeline on which one event works.
impl Timeline {
    /// Takes in a position and what stands there; `None` where the event is not at hand or does not count.
    pub(crate) fn advance(&mut self, seq: Seq, logged: Option<&Arc<Logged>>) -> Option<Seq> {
        self.pass(seq, logged);
        self.effect(logged?)
    }

    /// Takes in a position whose event has no effect.
    pub(crate) fn pass(&mut self, seq: Seq, logged: Option<&Arc<Logged>>) {
        self.head = Some(seq);
        self.line.pass(seq, logged.map(|logged| &logged.event));
    }

    /// Takes in what an event does. Rollbacks and undos do nothing here: they choose the timeline.
    pub(crate) fn effect(&mut self, logged: &Arc<Logged>) -> Option<Seq> {
        if relies(&logged.event.body) {
            self.relied = Some(logged.seq);
        }
        match &logged.event.body {
            Body::Message(message) => self.message(logged, message),
            Body::ToolResult(result) => self.tool_result(logged, result),
            Body::Inject(inject) => self.inject(logged, inject),
            Body::Replace(replace) => self.replace(logged, replace),
            Body::DeleteRange(delete) => self.delete_range(logged.seq, delete),
            Body::Snip(snip) => self.snip(logged.seq, snip),
            Body::CollapseStage(stage) => self.stage(logged, stage),
            Body::CollapseCommit(commit) => self.collapse(logged.seq, commit),
            Body::CollapseDiscard(discard) => self.discard(logged.seq, discard),
            Body::CompactPlan(plan) => self.plan(logged, plan),
            Body::CompactChunk(chunk) => self.chunk(logged, chunk),
            Body::CompactCommit(commit) => self.compact(logged.seq, commit),
            Body::CompactAbandon(abandon) => self.abandon(logged.seq, abandon),
            Body::Profile(_)
            | Body::Policy(_)
            | Body::Rendering(_)
            | Body::System(_)
            | Body::Tools(_) => self.set_header(logged),
            Body::Budget(_)
            | Body::FileRead(_)
            | Body::Memory(_)
            | Body::Todo(_)
            | Body::Checkpoint(_) => self.note(logged),
            Body::CacheEdit(_) | Body::CacheAck(_) | Body::CacheReset(_) => self.cache(logged),
            Body::Usage(_) | Body::Issued(_) => self.ledger_mark(logged),
            Body::Rollback(_) | Body::Undo(_) => None,
            Body::Opened(_)
            | Body::Closed(_)
            | Body::Forked(_)
            | Body::Counted(_)
            | Body::Overflow(_) => None,
            Body::Breaker(_) | Body::CacheBreak(_) | Body::Done(_) | Body::Erased(_) => None,
            Body::Kept(_) | Body::Newer(_) => None,
        }
    }
}

/// Whether an event of this kind fits depends on what is shown, or on what others of these kinds left.
fn relies(body: &Body) -> bool {
    matches!(
        body,
        Body::DeleteRange(_)
            | Body::Snip(_)
            | Body::CacheEdit(_)
            | Body::CollapseStage(_)
            | Body::CollapseCommit(_)
            | Body::CollapseDiscard(_)
            | Body::CompactPlan(_)
            | Body::CompactChunk(_)
            | Body::CompactCommit(_)
            | Body::CompactAbandon(_)
    )
}
