//! What names a place must name one that is there: budgets, cache edits, reads, memories, forks.

use super::{Door, Mode};
use crate::{Misfit, Problem};
use recount_events::{BlockId, Body, Budget, CacheAck, CacheEdit, FileRead, Forked, Memory};

impl Door<'_> {
    pub(super) fn budget(&self, budget: &Budget) -> Result<(), Misfit> {
        budget
            .judged
            .iter()
            .try_for_each(|block| self.has_block(*block))
    }

    pub(super) fn file_read(&self, read: &FileRead) -> Result<(), Misfit> {
        read.block.map_or(Ok(()), |block| self.has_block(block))
    }

    pub(super) fn memory(&self, memory: &Memory) -> Result<(), Misfit> {
        let Some((first, last)) = memory.covers else {
            return Ok(());
        };
        if first > last {
            return Err(Misfit::invalid(Problem::RangeReversed { first, last }));
        }
        self.written(last)
    }

    /// The provider holds only what it was shown.
    pub(super) fn cache_edit(&self, edit: &CacheEdit) -> Result<(), Misfit> {
        edit.calls.iter().try_for_each(|block| self.cached(*block))
    }

    fn cached(&self, block: BlockId) -> Result<(), Misfit> {
        let shown =
            self.timeline.key_of(block.seq).is_some() && self.timeline.closing(block).is_some();
        if shown || self.mode == Mode::Logged {
            Ok(())
        } else {
            Err(Misfit::rejected(Problem::NotACall(block)))
        }
    }

    pub(super) fn cache_ack(&self, ack: &CacheAck) -> Result<(), Misfit> {
        let named = |body: &Body| match body {
            Body::CacheEdit(edit) => edit.id.bytes() == ack.id.bytes(),
            _ => false,
        };
        let there = self
            .timeline
            .cache_edits
            .values()
            .any(|edit| named(&edit.event.body));
        if there {
            Ok(())
        } else {
            Err(Misfit::rejected(Problem::NoCacheEdit))
        }
    }

    /// A fork event stands directly behind the last inherited position, and only once.
    pub(super) fn forked(&self, forked: &Forked) -> Result<(), Misfit> {
        if forked.seq.next() == self.seq {
            Ok(())
        } else {
            Err(Misfit::rejected(Problem::ForkMisplaced(forked.seq)))
        }
    }
}
