//! What status, explain and the command line list.

use super::{CheckpointView, OpenCall, Skipped, State};
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Seq};

impl State {
    /// The positions of which there is something to report, in order: gaps, what did not fit, orphaned results.
    pub fn skipped(&self) -> impl Iterator<Item = Skipped> + '_ {
        self.whole.reports.iter().map(|(seq, misfit)| Skipped {
            seq: *seq,
            misfit: (**misfit).clone(),
        })
    }

    /// Calls without a closing result, in order.
    #[must_use]
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let call = |(block, unit): (&BlockId, &Seq)| {
            let answer = self.now.call(*block).and_then(|call| call.answer.as_ref());
            OpenCall {
                block: *block,
                unit: *unit,
                interim: answer.map(|answer| answer.logged.seq),
            }
        };
        self.now.open.iter().map(call).collect()
    }

    /// Checkpoints of the timeline, in order.
    #[must_use]
    pub fn checkpoints(&self) -> Vec<CheckpointView> {
        let views =
            self.now
                .checkpoints
                .iter()
                .filter_map(|(seq, logged)| match &logged.event.body {
                    Body::Checkpoint(checkpoint) => Some(CheckpointView {
                        seq: *seq,
                        at: logged.event.at,
                        label: checkpoint.label.clone(),
                        workspace: checkpoint.workspace.clone(),
                    }),
                    _ => None,
                });
        views.collect()
    }

    /// Turns of the timeline: what the person authored, hidden or not, in order.
    #[must_use]
    pub fn turns(&self) -> Vec<Seq> {
        self.now.turns.keys().copied().collect()
    }
}
