//! What happens to a history before it is sent: replaced reads, a longer range, a notice.

use crate::edits::Edits;
use crate::message::Message;
use crate::range::{Keep, Range, tail};
use crate::reads::{Replaced, replace_reads};
use crate::render::{Rendered, render};
use crate::request::{Malformed, UiMessage, previous};
use crate::savings::Savings;
use crate::window::Window;

/// A history and what is laid over it.
#[derive(Clone, Copy, Debug)]
pub struct Overlaid<'a> {
    /// Everything that was ever said.
    pub history: &'a [Message],
    /// What is left out.
    pub range: Option<Range>,
}

/// What replacing reads did.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// What was replaced.
    pub replaced: Replaced,
    /// What it saved; none when nothing was replaced.
    pub savings: Option<Savings>,
}

impl Attempt {
    /// Not enough was saved: history has to be left out.
    #[must_use]
    pub fn needs_truncation(&self) -> bool {
        !self.savings.is_some_and(|savings| savings.is_enough())
    }
}

/// What a turn made of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// What is left out now.
    pub range: Option<Range>,
    /// The range was computed anew, whether it changed or not.
    pub moved: bool,
    /// The edit history has to be written.
    pub edited: bool,
    /// What is sent.
    pub rendered: Rendered,
}

impl Overlaid<'_> {
    /// Replaces reads from the tail on, and measures what that saves.
    pub fn replace(&self, edits: &mut Edits, at: f64) -> Attempt {
        let start = tail(self.range);
        let replaced = replace_reads(edits, self.history, start, at);
        let savings = replaced
            .any()
            .then(|| Savings::of(edits, self.history, start, &replaced));
        Attempt { replaced, savings }
    }

    /// What would be sent.
    #[must_use]
    pub fn render(&self, edits: &Edits) -> Rendered {
        render(self.history, self.range, edits)
    }

    /// Makes room if the previous request filled the window, and renders. `condenses`: the model makes its own summaries, nothing is done.
    ///
    /// # Errors
    /// [`Malformed`]: the previous request cannot be read, where Cline throws. Nothing is changed.
    pub fn turn(
        &self,
        edits: &mut Edits,
        requests: &[UiMessage],
        previous_index: i64,
        window: Window,
        condenses: bool,
    ) -> Result<Turn, Malformed> {
        let mut turn = Turn {
            range: self.range,
            moved: false,
            edited: false,
            rendered: Rendered::default(),
        };
        if !condenses
            && let Some((at, tokens)) = previous(requests, previous_index)?
            && tokens >= window.allowed
        {
            let attempt = self.replace(edits, at);
            turn.edited = attempt.replaced.any();
            if attempt.needs_truncation() {
                let keep = if tokens / 2.0 > window.allowed {
                    Keep::Quarter
                } else {
                    Keep::Half
                };
                turn.edited |= edits.note_truncation(at);
                turn.range = Some(Range::next(self.history, self.range, keep));
                turn.moved = true;
            }
        }
        turn.rendered = render(self.history, turn.range, edits);
        Ok(turn)
    }
}
