//! Compaction in a helper (a sub-agent of Cline): in memory, edits baked into the conversation.

use crate::edits::Edits;
use crate::message::Message;
use crate::range::{Keep, Range};
use crate::render::{Rendered, render};
use crate::turn::Overlaid;
use alloc::vec::Vec;

/// A helper's conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Helper {
    /// What was said, with the edits of earlier compactions in it.
    pub conversation: Vec<Message>,
    /// What is left out.
    pub range: Option<Range>,
    /// The edits made so far.
    pub edits: Edits,
}

impl Helper {
    /// Makes room: replaces reads, and leaves out three quarters if that saved too little. True when anything was done.
    pub fn compact(&mut self, now: f64) -> bool {
        let whole = Overlaid {
            history: &self.conversation,
            range: None,
        };
        let attempt = whole.replace(&mut self.edits, now);
        let replaced = attempt.replaced.any();
        if replaced {
            self.conversation = render(&self.conversation, None, &self.edits).messages;
        }
        if replaced && !attempt.needs_truncation() {
            return true;
        }
        let next = Range::next(&self.conversation, self.range, Keep::Quarter);
        let grows = next.end >= next.start && self.range != Some(next);
        if grows {
            self.range = Some(next);
        }
        replaced || grows
    }

    /// What is sent. Messages that lose their words to the pairing lose them in the conversation too.
    pub fn render(&mut self) -> Vec<Message> {
        let rendered = render(&self.conversation, self.range, &self.edits);
        rendered.empty(&mut self.conversation);
        rendered.messages
    }
}

impl Rendered {
    /// Does to a history what rendering it does in Cline: words that were lost to the pairing are lost.
    pub fn empty(&self, history: &mut [Message]) {
        for index in &self.emptied {
            if let Some(message) = history.get_mut(*index) {
                *message = message.with_blocks(Vec::new());
            }
        }
    }
}
