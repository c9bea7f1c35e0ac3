//! The range of messages that the files leave out.
//!
//! - Cline shows the first pair and what stands behind the range, drops results at the start of what stands there, and says `result missing` for
//!   calls of the first answer when what follows it has no results of theirs.
//! - So a range ends with an answer, and where the first answer made calls, with one that a person's message follows.

use super::{Task, parts::Rebuilt};
use recount_events::{BlockId, Seq};
use std::collections::BTreeSet;

/// A result of the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered {
    pub(super) seq: Seq,
    /// The message with its call.
    pub(super) call: Option<usize>,
    pub(super) hidden: bool,
}

/// An update of the edits: entry, block, turn.
pub(super) type Update = (usize, usize, usize);

impl Task {
    /// The range: as recorded where it says what is hidden, else the longest one that does.
    pub(super) fn left_out(&mut self) -> Option<String> {
        if self.roo {
            self.drop_notices();
            return None;
        }
        let hidden: BTreeSet<usize> = self
            .messages
            .iter()
            .filter(|(_, message)| message.own && message.hidden)
            .map(|(at, _)| *at)
            .collect();
        if let Some(end) = self.recorded_end(&hidden) {
            self.note_results(end);
            return self.range.clone();
        }
        let end = self.end();
        if hidden.iter().any(|at| *at < 2 || *at > end) {
            self.note("messages are hidden that no range behind the first pair can leave out; the files show them");
        }
        self.note_results(end);
        if end < 2 {
            self.drop_notices();
            return None;
        }
        if self.results().any(|(at, answered)| {
            at > 1 && at <= end && answered.call == Some(1) && !answered.hidden
        }) {
            self.note("results of the first answer's calls go with the range behind it: Cline says that they are missing");
        }
        Some(format!("[2,{end}]"))
    }

    /// The end of the recorded range, where it says what is hidden.
    fn recorded_end(&self, hidden: &BTreeSet<usize>) -> Option<usize> {
        let (_, last) = self.range.as_deref().and_then(super::super::ui::range)?;
        let last = usize::try_from(last).unwrap_or_default();
        let says: BTreeSet<usize> = self
            .behind()
            .map(|(at, _)| at)
            .filter(|at| *at <= last)
            .collect();
        // The newest message is not left out while its calls wait.
        let newest = self.messages.last_key_value().map(|(at, _)| *at);
        let waits = says.difference(hidden).all(|at| Some(*at) == newest);
        (waits && hidden.is_subset(&says)).then_some(last)
    }

    /// Messages behind the first pair that a range is about.
    fn behind(&self) -> impl Iterator<Item = (usize, &Rebuilt)> {
        self.messages
            .range(2..)
            .map(|(at, message)| (*at, message))
            .filter(|(_, message)| message.own)
    }

    /// The last answer that a range can end with: all from the first pair to it is hidden, and what would be sent is a conversation. 1: none.
    fn end(&self) -> usize {
        let run = self.behind().take_while(|(_, message)| message.hidden);
        let ends = run.filter(|(at, message)| message.answer && self.ends(*at));
        ends.last().map_or(1, |(at, _)| at)
    }

    /// Behind it no result is left without its call, and no call of the first answer without a message that says so.
    fn ends(&self, end: usize) -> bool {
        let first_calls = self.called.values().any(|at| *at == 1);
        let mut behind = self.messages.range(end.saturating_add(1)..);
        let next = behind.next();
        if first_calls && next.is_some_and(|(_, message)| message.answer) {
            return false;
        }
        let next = next.map_or(end, |(at, _)| *at);
        !self.results().any(|(at, answered)| {
            at > next && answered.call.is_some_and(|call| call > 1 && call <= end)
        })
    }

    /// Results, and the messages that they stand in.
    fn results(&self) -> impl Iterator<Item = (usize, Answered)> {
        self.answered.iter().filter_map(|answered| {
            let block = BlockId {
                seq: answered.seq,
                index: 0,
            };
            let (at, _) = self.places.get(&block)?;
            Some((*at, *answered))
        })
    }

    /// A hidden result whose call is shown is not left out with it.
    fn note_results(&mut self, end: usize) {
        let alone = self.results().any(|(at, answered)| {
            let called = |call: usize| call < 2 || call > end;
            answered.hidden && at > end && answered.call.is_some_and(called)
        });
        if alone {
            self.note("results are hidden whose calls are shown; the files show both");
        }
    }

    /// Nothing is left out, so nothing says so.
    fn drop_notices(&mut self) {
        for (entry_at, block_at, turn) in std::mem::take(&mut self.notices) {
            let Some(entry) = self.edits.get_mut(&entry_at) else {
                continue;
            };
            if let Some((_, updates)) = entry.blocks.get_mut(&block_at) {
                updates.remove(&turn);
            }
            entry.blocks.retain(|_, (_, updates)| !updates.is_empty());
            if entry.blocks.is_empty() {
                self.edits.remove(&entry_at);
            }
            self.note(
                "the notice that messages are left out is not written: the files leave none out",
            );
        }
    }
}
