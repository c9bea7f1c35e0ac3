//! Positions that a recording names, moved past the events of a fork that its reader does not know.
//!
//! - Only what an importer hands in is moved: fields that admission resolves are still empty.

use recount_events::{BlockId, Body, Event, Range, Seq, Target};

/// The event with every position from `from` on moved up by one.
pub(super) fn shift(mut event: Event, from: Seq) -> Event {
    let up = |seq: &mut Seq| {
        if *seq >= from {
            *seq = seq.next();
        }
    };
    if let Some(because) = &mut event.because {
        up(because);
    }
    positions(&mut event.body, &up);
    event
}

fn positions(body: &mut Body, up: &dyn Fn(&mut Seq)) {
    let block = |block: &mut BlockId| up(&mut block.seq);
    match body {
        Body::ToolResult(result) => result.block.iter_mut().for_each(block),
        Body::Replace(replace) => replace.blocks.iter_mut().for_each(block),
        Body::Budget(budget) => budget.judged.iter_mut().for_each(block),
        Body::FileRead(read) => read.block.iter_mut().for_each(block),
        Body::CacheEdit(edit) => edit.calls.iter_mut().for_each(block),
        Body::Snip(snip) => snip.messages.iter_mut().for_each(up),
        Body::DeleteRange(delete) => range(&mut delete.range, up),
        Body::CollapseStage(stage) => range(&mut stage.range, up),
        Body::CollapseCommit(commit) => commit.range.iter_mut().for_each(|inner| range(inner, up)),
        Body::CompactPlan(plan) => range(&mut plan.range, up),
        Body::CompactCommit(commit) => range(&mut commit.range, up),
        Body::Memory(memory) => memory.covers.iter_mut().for_each(|(first, last)| {
            up(first);
            up(last);
        }),
        Body::Rollback(rollback) => {
            if let Target::Seq(seq) = &mut rollback.asked {
                up(seq);
            }
        }
        Body::Undo(undo) => up(&mut undo.event),
        _ => {}
    }
}

fn range(range: &mut Range, up: &dyn Fn(&mut Seq)) {
    match range {
        Range::Closed { first, last } => {
            up(first);
            up(last);
        }
        Range::KeepFrom(seq) => up(seq),
        Range::Marker => {}
    }
}
