//! The door: whether an event fits a timeline, and what the log keeps of the decision.
//!
//! - Nothing changes here. What is resolved is written into the event; what cannot be is a misfit.
//! - One rule, one small function.

mod bind;
mod fold;
mod message;
mod note;
mod range;
mod replace;
mod snip;
mod suggest;

use crate::{Call, Logged, Misfit, Problem, Timeline};
use alloc::sync::Arc;
use recount_events::{BlockId, Body, Event, Seq};

use crate::state::{At, Ids, Log};

pub(crate) use message::call_id;

/// How strict the door is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A new event: everything is resolved now.
    Live,
    /// An event of a log that exists already: what was resolved is kept; what damage took away is forgiven.
    Logged,
    /// An event judged again because an earlier one was undone: what was resolved is kept.
    Again,
}

/// What an event is judged against.
#[derive(Clone, Copy)]
pub(crate) struct Door<'a> {
    /// The timeline before it.
    pub(crate) timeline: &'a Timeline,
    /// All positions ever.
    pub(crate) log: &'a Log,
    /// Ids of all calls ever.
    pub(crate) ids: &'a Ids,
    /// The event's position.
    pub(crate) seq: Seq,
    /// How strict.
    pub(crate) mode: Mode,
}

impl Door<'_> {
    /// Judges an event that is neither a rollback nor an undo.
    pub(crate) fn check(&self, event: &mut Event) -> Result<(), Misfit> {
        match &mut event.body {
            Body::Message(message) => self.message(message),
            Body::ToolResult(result) => self.tool_result(result),
            Body::Replace(replace) => self.replace(replace),
            Body::DeleteRange(delete) => self.delete_range(delete),
            Body::Snip(snip) => self.snip(snip),
            Body::CollapseStage(stage) => self.stage(stage),
            Body::CollapseCommit(commit) => self.collapse(commit),
            Body::CollapseDiscard(discard) => self.discard(discard),
            Body::CompactPlan(plan) => self.plan(plan),
            Body::CompactChunk(chunk) => self.chunk(chunk),
            Body::CompactCommit(commit) => self.compact(commit),
            Body::CompactAbandon(abandon) => self.abandon(abandon),
            Body::Budget(budget) => self.budget(budget),
            Body::CacheEdit(edit) => self.cache_edit(edit),
            Body::CacheAck(ack) => self.cache_ack(ack),
            Body::FileRead(read) => self.file_read(read),
            Body::Memory(memory) => self.memory(memory),
            Body::Forked(forked) => self.forked(forked),
            _ => Ok(()),
        }
    }

    /// A cause must be active: else its effect would have fallen already. Facts of the ledger never fall.
    pub(crate) fn because(&self, event: &Event) -> Result<(), Misfit> {
        let Some(cause) = event.because else {
            return Ok(());
        };
        if cause >= self.seq {
            return Err(Misfit::rejected(Problem::Future(cause)));
        }
        let line = &self.timeline.line;
        let on_line = line.contains(cause) && !line.fallen.contains_key(&cause);
        if on_line || self.is_ledger(cause) || (self.mode == Mode::Logged && self.is_missing(cause))
        {
            return Ok(());
        }
        Err(Misfit::rejected(Problem::NoCause(cause)))
    }

    fn is_ledger(&self, seq: Seq) -> bool {
        self.at(seq).is_some_and(At::is_ledger)
    }

    /// Nothing counts there: damage, or something that did not fit.
    fn is_missing(&self, seq: Seq) -> bool {
        self.at(seq).is_some_and(At::skip)
    }

    fn at(&self, seq: Seq) -> Option<At<'_>> {
        self.log.at(seq).filter(|_| seq < self.seq)
    }

    fn event(&self, seq: Seq) -> Option<Arc<Logged>> {
        self.at(seq)?;
        self.log.event(seq)
    }

    /// A call on the timeline, visible or not.
    fn call(&self, block: BlockId) -> Result<Option<&Call>, Misfit> {
        if self.timeline.is_cold(block) {
            return Err(self.log.cold_misfit());
        }
        Ok(self.timeline.call(block))
    }

    /// A position must be written already.
    fn written(&self, seq: Seq) -> Result<(), Misfit> {
        if seq < self.seq {
            Ok(())
        } else {
            Err(Misfit::rejected(Problem::Future(seq)))
        }
    }
}
