//! What Cline would send: the history without the range, with the edits, with results behind their calls.

use crate::block::Block;
use crate::edits::Edits;
use crate::message::{Message, Role};
use crate::pairing::pair;
use crate::range::{Range, length, tail};
use alloc::vec::Vec;

/// Messages to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// The messages.
    pub messages: Vec<Message>,
    /// Indices of the history whose messages lost their words to the pairing. In Cline they lose them in the history too.
    pub emptied: Vec<usize>,
}

/// A message and where it stands in the history.
struct Shown {
    message: Message,
    /// It is still the history's own.
    own: bool,
    at: i64,
}

/// Renders a history.
#[must_use]
pub fn render(history: &[Message], range: Option<Range>, edits: &Edits) -> Rendered {
    if history.len() <= 1 {
        return Rendered {
            messages: history.to_vec(),
            emptied: Vec::new(),
        };
    }
    let mut shown = select(history, tail(range));
    if tail(range) > 2 {
        drop_orphans(&mut shown);
    }
    shown.iter_mut().for_each(|shown| shown.edit(edits));
    let messages = shown.iter().map(|shown| shown.message.clone()).collect();
    let paired = pair(messages);
    let mut rendered = Rendered {
        messages: paired.messages,
        emptied: Vec::new(),
    };
    for index in paired.emptied {
        let own = shown.get(index).filter(|shown| shown.own);
        let at = own.and_then(|own| usize::try_from(own.at).ok());
        rendered.emptied.extend(at);
        // The same message may be shown twice, and it is one object in Cline.
        let twin = own.and_then(|own| {
            let mut earlier = shown.iter().take(index);
            earlier.position(|other| other.own && other.at == own.at)
        });
        if let Some(twin) = twin.and_then(|twin| rendered.messages.get_mut(twin)) {
            *twin = twin.with_blocks(Vec::new());
        }
    }
    rendered
}

/// The first pair and the tail; a negative tail counts from the end, as a JavaScript slice does.
fn select(history: &[Message], tail: i64) -> Vec<Shown> {
    let length = length(history);
    let start = if tail < 0 {
        length.saturating_add(tail).max(0)
    } else {
        tail.min(length)
    };
    let start = usize::try_from(start).unwrap_or_default();
    let first = history.iter().take(2).zip(0_i64..);
    let rest = history.iter().skip(start).zip(tail..);
    first
        .chain(rest)
        .map(|(message, at)| Shown {
            message: message.clone(),
            own: true,
            at,
        })
        .collect()
}

/// Results in the third message may have lost their calls to the range.
fn drop_orphans(shown: &mut [Shown]) {
    let Some(third) = shown.get_mut(2) else {
        return;
    };
    let blocks = third.message.blocks().unwrap_or_default();
    if third.message.role() == Role::User && blocks.iter().any(Block::is_result) {
        let kept = blocks.iter().filter(|block| !block.is_result());
        third.message = third.message.with_blocks(kept.cloned().collect());
        third.own = false;
    }
}

impl Shown {
    /// Shows the last text of each edited block; indices are those of the history, wherever the blocks stand now.
    fn edit(&mut self, edits: &Edits) {
        let Some(entry) = edits.entry(self.at) else {
            return;
        };
        self.own = false;
        let Some(blocks) = self.message.blocks() else {
            return;
        };
        let mut blocks = blocks.to_vec();
        for edited in &entry.blocks {
            let text = edited
                .last()
                .filter(|update| update.word.units() == crate::text::units_of("text"))
                .and_then(|update| update.text());
            let block = usize::try_from(edited.block)
                .ok()
                .and_then(|index| blocks.get_mut(index));
            if let (Some(text), Some(block)) = (text, block) {
                *block = block.with_text(text);
            }
        }
        self.message = self.message.with_blocks(blocks);
    }
}
