//! The life of folds: held ready, planned, summarised, committed, given up.

use crate::timeline::{Life, Plan, name_of};
use crate::{Logged, Map, Summary, SummaryKind, Timeline};
use alloc::sync::Arc;
use recount_events::{
    CollapseCommit, CollapseDiscard, CollapseStage, CompactAbandon, CompactChunk, CompactCommit,
    CompactPlan, Range, Seq, Text,
};

impl Timeline {
    pub(super) fn stage(&mut self, logged: &Arc<Logged>, stage: &CollapseStage) -> Option<Seq> {
        self.work.stages.insert_mut(logged.seq, Arc::clone(logged));
        self.collapse_is(&stage.id, Life::Staged(logged.seq));
        None
    }

    pub(super) fn collapse(&mut self, seq: Seq, commit: &CollapseCommit) -> Option<Seq> {
        self.unstage(&commit.id);
        self.collapse_is(&commit.id, Life::Committed(seq));
        let Some(Range::Closed { first, last }) = commit.range else {
            return None;
        };
        let text = commit.summary.clone()?;
        self.fold(
            Summary {
                seq,
                kind: SummaryKind::Collapse,
                id: Some(commit.id.clone()),
                text,
                range: (first, last),
            },
            &commit.covered,
        )
    }

    pub(super) fn discard(&mut self, seq: Seq, discard: &CollapseDiscard) -> Option<Seq> {
        self.unstage(&discard.id);
        self.collapse_is(&discard.id, Life::Discarded(seq));
        None
    }

    fn unstage(&mut self, id: &Text) {
        let life = name_of(id).and_then(|name| self.work.collapses.get(&name).copied());
        if let Some(Life::Staged(stage)) = life {
            self.work.stages.remove_mut(&stage);
        }
    }

    fn collapse_is(&mut self, id: &Text, life: Life) {
        if let Some(name) = name_of(id) {
            self.work.collapses.insert_mut(name, life);
        }
    }

    pub(super) fn plan(&mut self, logged: &Arc<Logged>, plan: &CompactPlan) -> Option<Seq> {
        self.work.plan = Some(Plan {
            logged: Arc::clone(logged),
            chunks: Map::default(),
        });
        self.compaction_is(&plan.id, Life::Planned(logged.seq));
        None
    }

    pub(super) fn chunk(&mut self, logged: &Arc<Logged>, chunk: &CompactChunk) -> Option<Seq> {
        if !self.plans(&chunk.id) {
            return None;
        }
        if let Some(plan) = &mut self.work.plan {
            plan.chunks.insert_mut(chunk.chunk, Arc::clone(logged));
        }
        None
    }

    pub(super) fn compact(&mut self, seq: Seq, commit: &CompactCommit) -> Option<Seq> {
        if let Some(id) = &commit.id {
            self.end_plan(id, Life::Committed(seq));
        }
        let Range::Closed { first, last } = commit.range else {
            return None;
        };
        let text = commit.summary.clone()?;
        self.fold(
            Summary {
                seq,
                kind: SummaryKind::Compact,
                id: commit.id.clone(),
                text,
                range: (first, last),
            },
            &commit.covered,
        )
    }

    pub(super) fn abandon(&mut self, seq: Seq, abandon: &CompactAbandon) -> Option<Seq> {
        if self.plans(&abandon.id) {
            self.end_plan(&abandon.id, Life::Abandoned(seq));
        }
        None
    }

    fn end_plan(&mut self, id: &Text, life: Life) {
        if self.plans(id) {
            self.work.plan = None;
        }
        self.compaction_is(id, life);
    }

    fn compaction_is(&mut self, id: &Text, life: Life) {
        if let Some(name) = name_of(id) {
            self.work.compactions.insert_mut(name, life);
        }
    }

    /// The plan that waits has this name.
    pub(crate) fn plans(&self, id: &Text) -> bool {
        let plan = self.work.plan.as_ref().map(|plan| &plan.logged.event.body);
        matches!(plan, Some(recount_events::Body::CompactPlan(plan)) if plan.id.bytes().is_some() && plan.id.bytes() == id.bytes())
    }
}
