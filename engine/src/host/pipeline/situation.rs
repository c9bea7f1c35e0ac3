//! What a policy looks at, gathered from a session in memory.

use crate::core::{Core, InForce, Measured, scaled};
use crate::host::ask::Asked;
use recount_events::{Millis, SessionKind};
use recount_policies::{Constants, Fill, Situation, Thresholds, Ways, Words};
use recount_wal::StreamId;
use std::sync::Arc;

/// The ground that a situation stands on: everything that is not borrowed from the session itself.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// The policy's numbers.
    pub(crate) constants: Arc<Constants>,
    /// A policy is in force that may propose.
    pub(crate) active: bool,
    auto: bool,
    reactive: bool,
    kind: SessionKind,
    now: Millis,
    fill: Fill,
    /// The lines that the policy draws.
    pub(crate) lines: Thresholds,
    spill: Option<(String, String)>,
}

impl Ground {
    /// The ground of a session whose prompt was measured.
    pub(crate) fn of(
        core: &Core,
        stream: StreamId,
        asked: &Asked,
        measured: &Measured,
        now: Millis,
    ) -> Self {
        let InForce { policy, constants } = core.policy(core.state.timeline());
        let opened = core.opened();
        let root = opened
            .as_ref()
            .and_then(|opened| opened.spill_root.as_ref()?.as_str());
        let (projection, meter) = (&measured.projection, &measured.meter);
        let header = projection.by.tools.saturating_add(projection.by.system);
        let fill = Fill {
            total: meter.total,
            measured: meter.measured,
            counted: projection.tokens,
            factor_milli: meter.factor_milli,
            floor: scaled(header, meter.factor_milli).saturating_add(asked.profile.overhead_tokens),
            bytes: projection.bytes,
            images: projection.images,
            pending: core.pending_edits(),
        };
        let lines = Thresholds::of(
            &constants.compact,
            &asked.profile,
            core.seen_window(&asked.profile),
        );
        Self {
            active: Ways::of(policy.preset).proposes,
            auto: policy.auto,
            reactive: policy.reactive,
            kind: opened
                .as_ref()
                .map_or(SessionKind::Main, |opened| opened.kind),
            now,
            fill,
            lines,
            spill: root.map(|root| (root.to_owned(), stream.to_string())),
            constants,
        }
    }

    /// Files may not be written: results that are too large are cut.
    pub(crate) fn without_files(self) -> Self {
        Self {
            spill: None,
            ..self
        }
    }

    /// What a policy looks at.
    pub(crate) fn situation<'a>(
        &'a self,
        core: &'a Core,
        asked: &'a Asked,
        measured: &'a Measured,
    ) -> Situation<'a> {
        Situation {
            state: &core.state,
            profile: &asked.profile,
            constants: &self.constants,
            kind: self.kind,
            auto: self.auto,
            reactive: self.reactive,
            now: self.now,
            pieces: &measured.projection.pieces,
            fill: self.fill,
            lines: self.lines,
            words: &Tokenizer,
            spill: self
                .spill
                .as_ref()
                .map(|(root, folder)| (root.as_str(), folder.as_str())),
        }
    }

    /// Nothing may be sent: the window is full and nothing may be compacted by itself.
    pub(crate) fn blocked(&self) -> bool {
        let weighed = match self.constants.compact.limit {
            0 => self.fill.total,
            _ => self.fill.total.saturating_sub(self.fill.floor),
        };
        self.active
            && !self.auto
            && self.kind != SessionKind::Side
            && weighed >= self.lines.blocking
    }

    /// Levels without a model may bring the prompt under its limit without being asked.
    pub(crate) fn may_level(&self) -> bool {
        self.active && self.auto
    }
}

/// The session's tokenizer.
struct Tokenizer;

impl Words for Tokenizer {
    fn tokens(&self, text: &str) -> u64 {
        crate::core::tokens(text)
    }
}
