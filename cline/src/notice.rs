//! The fixed texts that tell the model what is gone.
//!
//! Texts: Cline 4.0.12, `core/prompts/responses.ts`; they are part of what an exact replay has to give.

use crate::edits::{EditKind, Edits, Update};
use crate::message::Message;
use crate::text::Text;

/// Shown in place of the first answer once history was left out; 336 UTF-16 code units.
pub const TRUNCATED: &str = "[NOTE] Some previous conversation history with the user has been removed to maintain optimal context window length. The initial user task has been retained for continuity, while intermediate conversation history has been removed. Keep this in mind as you continue assisting the user. Pay special attention to the user's latest messages.";
/// Shown in place of the person's first words once they were summarised.
pub const CONTINUE: &str = "[Continue assisting the user!]";
/// Shown in place of a file that is read again later; 153 UTF-16 code units.
pub const READ_AGAIN: &str = "[[NOTE] This file read has been removed to save space in the context window. Refer to the latest file read for the most up to date version of this file.]";

impl Edits {
    /// Has the first answer say that history is left out, unless it was edited already; says whether it was added.
    pub fn note_truncation(&mut self, at: f64) -> bool {
        self.note(1, TRUNCATED, at)
    }

    /// Has the first message say that the task goes on, unless it was edited already or does not begin with words; says whether it was added.
    pub fn note_first(&mut self, messages: &[Message], at: f64) -> bool {
        let first = messages.first().and_then(|message| message.block(0));
        let words = first.is_some_and(|block| block.is_text() && block.text().is_some());
        words && self.note(0, CONTINUE, at)
    }

    /// Both notices; says whether one was added.
    pub fn note_both(&mut self, messages: &[Message], at: f64) -> bool {
        let truncation = self.note_truncation(at);
        self.note_first(messages, at) || truncation
    }

    fn note(&mut self, message: i64, words: &str, at: f64) -> bool {
        if self.entry(message).is_some() {
            return false;
        }
        let update = Update::of(at, Text::from(words), None);
        self.edit(message, EditKind::NOTICE, 0).updates.push(update);
        true
    }
}
