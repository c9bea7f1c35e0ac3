//! Drafts: blocks that a model is still writing. In memory only; the last snapshot of a block wins.
//!
//! - A final message of the same response ends its draft.

use recount_events::{
    Block, Body, Content, Draft, Event, Format, Message, Millis, Role, Shape, Stop, Text,
};
use std::collections::BTreeMap;

/// The drafts of a session: those of the newest response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drafts {
    response: String,
    format: Format,
    blocks: BTreeMap<u32, Block>,
}

impl Drafts {
    /// Takes a snapshot; a new response drops the one before.
    pub(crate) fn take(&mut self, draft: Draft) {
        let response = draft
            .response
            .as_ref()
            .and_then(Text::as_str)
            .unwrap_or_default();
        if self.response != response {
            self.blocks.clear();
            self.response = response.to_owned();
        }
        self.format = draft.format;
        self.blocks.insert(draft.index, draft.block);
    }

    /// Nothing is being written.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// A logged assistant message of the response, or one that names no response, ends the draft.
    pub(crate) fn follow(&mut self, event: &Event) {
        let Body::Message(message) = &event.body else {
            return;
        };
        let named = message.response.as_ref().and_then(Text::as_str);
        if message.role == Role::Assistant && named.is_none_or(|response| response == self.response)
        {
            self.blocks.clear();
        }
    }

    /// The draft as a message that was interrupted. Thinking is left out: unfinished, it has no signature; so are calls: their
    /// arguments are not whole, and nothing ran.
    pub(crate) fn closed(&self, at: Millis) -> Option<Event> {
        let words = |block: &&Block| block.kind == recount_events::BlockKind::Text;
        let blocks: Vec<Block> = self.blocks.values().filter(words).cloned().collect();
        if blocks.is_empty() {
            return None;
        }
        let response = (!self.response.is_empty()).then(|| Text::plain(&self.response));
        let content = Content {
            format: self.format,
            shape: Shape::Blocks,
            blocks,
        };
        let message = Message {
            response,
            stop: Some(Stop::Interrupted),
            ..Message::of(Role::Assistant, content)
        };
        Some(Event {
            at,
            body: Body::Message(message),
            because: None,
            extra: None,
        })
    }
}
