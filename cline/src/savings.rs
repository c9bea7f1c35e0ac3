//! How much a run of replacements saved, in characters.

use crate::edits::{Edits, Update};
use crate::message::Message;
use crate::reads::Replaced;
use crate::text::Text;

/// Replacements that save less are followed by a truncation.
const ENOUGH: f64 = 0.3;

/// The characters that count, and how many of them were saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    /// Characters before the run: of the first pair and of everything from the tail on.
    pub total: usize,
    /// Characters that the run took away; negative when notices are longer than what they replace.
    pub saved: i64,
}

impl Savings {
    /// What a run saved.
    #[must_use]
    pub fn of(edits: &Edits, history: &[Message], start: i64, run: &Replaced) -> Savings {
        let start = usize::try_from(start).unwrap_or_default();
        let mut savings = Savings::default();
        let first = (0_i64..).zip(history).take(2);
        let rest = (0_i64..).zip(history).skip(start);
        for (index, message) in first.chain(rest) {
            let touched = run.messages.contains(&index);
            savings.take(edits, index, message, touched);
        }
        savings
    }

    fn take(&mut self, edits: &Edits, index: i64, message: &Message, touched: bool) {
        for (at, block) in (0_i64..).zip(message.blocks().unwrap_or_default()) {
            let stored = block.size();
            let updates = match edits.edited(index, at) {
                Some(edited) if block.text().is_some() => edited.updates.as_slice(),
                _ => &[],
            };
            let size = |update: &Update| update.text().map_or(0, Text::len);
            let Some((last, earlier)) = updates.split_last() else {
                self.total = self.total.saturating_add(stored);
                continue;
            };
            if touched {
                let original = earlier.last().map_or(stored, size);
                self.total = self.total.saturating_add(original);
                let saved = signed(original).saturating_sub(signed(size(last)));
                self.saved = self.saved.saturating_add(saved);
            } else {
                self.total = self.total.saturating_add(size(last));
            }
        }
    }

    /// The share that was saved, between 0 and 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "characters of a history fit")]
    pub fn share(&self) -> f64 {
        if self.total == 0 {
            return 0.0;
        }
        self.saved as f64 / self.total as f64
    }

    /// So much that nothing has to be left out.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.share() >= ENOUGH
    }
}

fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}
