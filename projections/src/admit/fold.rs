//! The life of folds: what may be staged, planned, summarised, committed and given up, and when.
//!
//! - A name is staged, planned, committed, abandoned or discarded once per timeline.
//! - A commit is checked again, whatever its stage or plan was allowed.

use super::range::Span;
use super::{Door, Mode};
use crate::timeline::{Life, name_of};
use crate::{Map, Misfit, Name, Problem};
use recount_events::{
    Body, CollapseCommit, CollapseDiscard, CollapseStage, CompactAbandon, CompactChunk,
    CompactCommit, CompactPlan, Covered, Range, Text,
};

impl Door<'_> {
    pub(super) fn stage(&self, stage: &mut CollapseStage) -> Result<(), Misfit> {
        unused(self.collapse_life(&stage.id))?;
        stage.range = self.span(stage.range)?.range();
        Ok(())
    }

    pub(super) fn collapse(&self, commit: &mut CollapseCommit) -> Result<(), Misfit> {
        let staged = self.staged(&commit.id);
        if staged.is_none() {
            unused(self.collapse_life(&commit.id))?;
            complete(commit)?;
        }
        let given = commit.range.or(staged.map(|stage| stage.range));
        let range = given.ok_or(Misfit::invalid(Problem::RangeMissing))?;
        let covered = match range {
            Range::Marker => Covered::default(),
            range => {
                let span = self.span(range)?;
                same_range(&span, staged.map(|stage| stage.range))?;
                commit.range = Some(span.range());
                self.covered(&commit.covered, span.covered)
            }
        };
        if let (Range::Marker, Some(stage)) = (range, staged) {
            return Err(differs(stage.range));
        }
        commit.range = commit.range.or(Some(range));
        commit.summary = commit
            .summary
            .take()
            .or_else(|| staged.map(|stage| stage.summary.clone()));
        commit.covered = covered;
        has_summary(range, commit.summary.is_some())
    }

    pub(super) fn discard(&self, discard: &CollapseDiscard) -> Result<(), Misfit> {
        match self.collapse_life(&discard.id) {
            Some(Life::Staged(_)) => Ok(()),
            Some(Life::Committed(seq)) => Err(Misfit::rejected(Problem::Committed(seq))),
            Some(life) => Err(Misfit::rejected(Problem::NameUsed(life.seq()))),
            None => Err(Misfit::rejected(Problem::NothingPending)),
        }
    }

    pub(super) fn plan(&self, plan: &mut CompactPlan) -> Result<(), Misfit> {
        // Judged again, it takes the place of one that is pending only because its end was undone.
        let pending = self.timeline.work.plan.as_ref();
        if let Some(pending) = pending.filter(|_| self.mode != Mode::Again) {
            return Err(Misfit::rejected(Problem::PlanPending(pending.logged.seq)));
        }
        unused(self.compaction_life(&plan.id))?;
        plan.range = self.span(plan.range)?.range();
        Ok(())
    }

    pub(super) fn chunk(&self, chunk: &CompactChunk) -> Result<(), Misfit> {
        if self.ended_again(&chunk.id) {
            return Ok(());
        }
        self.pending(&chunk.id)?;
        let Some(plan) = &self.timeline.work.plan else {
            return Ok(());
        };
        let expected = self.planned().map_or(0, |plan| plan.chunks.len());
        let there = usize::try_from(chunk.chunk).is_ok_and(|index| index < expected);
        if there && !plan.chunks.contains_key(&chunk.chunk) {
            return Ok(());
        }
        Err(Misfit::rejected(Problem::NoChunk(chunk.chunk)))
    }

    pub(super) fn compact(&self, commit: &mut CompactCommit) -> Result<(), Misfit> {
        let planned = commit
            .id
            .as_ref()
            .filter(|id| self.timeline.plans(id))
            .and_then(|_| self.planned());
        if let (None, Some(id)) = (planned, &commit.id) {
            unused(self.compaction_life(id))?;
        }
        commit.covered = match (commit.range, planned) {
            (Range::Marker, Some(plan)) => return Err(differs(plan.range)),
            (Range::Marker, None) => Covered::default(),
            (range, planned) => {
                let span = self.span(range)?;
                same_range(&span, planned.map(|plan| plan.range))?;
                commit.range = span.range();
                self.covered(&commit.covered, span.covered)
            }
        };
        has_summary(commit.range, commit.summary.is_some())
    }

    pub(super) fn abandon(&self, abandon: &CompactAbandon) -> Result<(), Misfit> {
        if self.ended_again(&abandon.id) {
            return Ok(());
        }
        self.pending(&abandon.id)
    }

    /// Nobody used the name of a compaction.
    pub(crate) fn is_new(&self, id: &Text) -> bool {
        self.compaction_life(id).is_none()
    }

    /// Judged again, a plan is committed here that was not when the event came: the event has nothing left to do.
    fn ended_again(&self, id: &Text) -> bool {
        let committed = matches!(self.compaction_life(id), Some(Life::Committed(_)));
        self.mode == Mode::Again && committed
    }

    fn pending(&self, id: &Text) -> Result<(), Misfit> {
        if self.timeline.plans(id) {
            Ok(())
        } else {
            Err(Misfit::rejected(Problem::NothingPending))
        }
    }

    fn planned(&self) -> Option<&CompactPlan> {
        match &self.timeline.work.plan.as_ref()?.logged.event.body {
            Body::CompactPlan(plan) => Some(plan),
            _ => None,
        }
    }

    fn staged(&self, id: &Text) -> Option<&CollapseStage> {
        let Some(Life::Staged(seq)) = self.collapse_life(id) else {
            return None;
        };
        match &self.timeline.work.stages.get(&seq)?.event.body {
            Body::CollapseStage(stage) => Some(stage),
            _ => None,
        }
    }

    fn collapse_life(&self, id: &Text) -> Option<Life> {
        life(&self.timeline.work.collapses, id)
    }

    fn compaction_life(&self, id: &Text) -> Option<Life> {
        life(&self.timeline.work.compactions, id)
    }
}

/// Without a stage a commit brings everything itself.
fn complete(commit: &CollapseCommit) -> Result<(), Misfit> {
    match (commit.range, &commit.summary) {
        (None, None) => Err(Misfit::rejected(Problem::NothingPending)),
        (_, None) => Err(Misfit::invalid(Problem::SummaryMissing)),
        _ => Ok(()),
    }
}

fn life(lives: &Map<Name, Life>, id: &Text) -> Option<Life> {
    lives.get(&name_of(id)?).copied()
}

fn unused(life: Option<Life>) -> Result<(), Misfit> {
    life.map_or(Ok(()), |life| {
        Err(Misfit::rejected(Problem::NameUsed(life.seq())))
    })
}

fn same_range(span: &Span, planned: Option<Range>) -> Result<(), Misfit> {
    match planned {
        Some(planned) if planned != span.range() => Err(differs(planned)),
        _ => Ok(()),
    }
}

fn differs(planned: Range) -> Misfit {
    match planned {
        Range::Closed { first, last } => Misfit::rejected(Problem::RangeDiffers { first, last })
            .suggest(crate::Suggest::Range { first, last }),
        Range::KeepFrom(_) | Range::Marker => Misfit::rejected(Problem::RangeMissing),
    }
}

fn has_summary(range: Range, summary: bool) -> Result<(), Misfit> {
    if summary || range == Range::Marker {
        Ok(())
    } else {
        Err(Misfit::invalid(Problem::SummaryMissing))
    }
}
