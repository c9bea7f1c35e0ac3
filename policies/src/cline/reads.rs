//! Files that stand in the messages more than once: all but the last give way to a notice.

use super::View;
use super::steps::Steps;
use alloc::format;
use alloc::vec::Vec;
use recount_cline::{Attempt, Overlaid, Text};
use recount_events::BlockId;

/// The time that the edits of a run have, in ms: later than those that were there.
const NOW: f64 = 1.0;

/// What a run replaces, and what that saves.
pub(super) struct Run {
    attempt: Attempt,
    edits: Vec<(BlockId, Text)>,
}

impl Run {
    /// A run over the first so many messages.
    pub(super) fn over(view: &View, messages: usize) -> Self {
        let history = view.messages.get(..messages).unwrap_or(&view.messages);
        let overlaid = Overlaid {
            history,
            range: None,
        };
        let mut edits = view.edits.clone();
        let attempt = overlaid.replace(&mut edits, NOW);
        let mut found = Vec::new();
        for message in &attempt.replaced.messages {
            let new = edits.shown(*message).filter(|(_, at, _)| *at >= NOW);
            let spots = new
                .filter_map(|(block, _, text)| Some((view.spot(*message, block)?, text.clone())));
            found.extend(spots);
        }
        Self {
            attempt,
            edits: found,
        }
    }

    /// It saved so little that messages have to be left out.
    pub(super) fn needs_truncation(&self) -> bool {
        self.attempt.needs_truncation()
    }

    /// Proposes what it replaces.
    pub(super) fn propose(&self, steps: &mut Steps<'_>) {
        let replaced = steps.replace(&self.edits, "the file is read again later", None);
        if replaced > 0 {
            steps.say(format!("{replaced} earlier reads of files replaced"));
        }
    }
}
