//! Which call a result answers.
//!
//! - An id means the latest message with an open call of that id, in it the first open one in block order; a block is exact.
//! - A second result of equal content is a repetition; of other content it is refused.
//! - In a log that exists already, a result without a call is an orphan: reported, not refused.

use super::message::{call_blocks, call_id};
use super::{Door, Mode};
use crate::{Logged, Map, Misfit, Problem};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Bound, Content, Message, Shape, ToolResult};

/// Calls that results earlier in the same message have closed, and which block did.
#[derive(Default)]
pub(super) struct Taken(Map<BlockId, u32>);

impl Taken {
    pub(super) fn insert(&mut self, block: BlockId, index: u32) {
        self.0.insert_mut(block, index);
    }
}

impl Door<'_> {
    /// Binds a result event.
    pub(super) fn bind_result(&self, result: &ToolResult) -> Result<Bound, Misfit> {
        let says = says(&result.content);
        let closes = result.status.closes();
        let taken = Taken::default();
        let found = match (&result.block, &result.call) {
            (Some(block), _) => self.bind_exact(*block, &says, closes),
            (None, Some(call)) => match call_text(call) {
                Some(id) => self.bind_id(&id, &says, closes, &taken, None),
                None => Err(Misfit::invalid(Problem::CallMissing)),
            },
            (None, None) => Err(Misfit::invalid(Problem::CallMissing)),
        };
        self.or_orphan(found)
    }

    /// Binds a result among a message's blocks.
    pub(super) fn bind_block(
        &self,
        message: &Message,
        index: u32,
        taken: &Taken,
    ) -> Result<Bound, Misfit> {
        let block = usize::try_from(index)
            .ok()
            .and_then(|index| message.content.blocks.get(index));
        let Some(facts) = block.and_then(|block| block.result(message.content.format)) else {
            return self.or_orphan(Err(Misfit::rejected(Problem::NoCall)));
        };
        let says = Cow::Borrowed(facts.content.unwrap_or_default().as_bytes());
        self.or_orphan(self.bind_id(&facts.call_id, &says, true, taken, Some(message)))
    }

    fn or_orphan(&self, found: Result<Bound, Misfit>) -> Result<Bound, Misfit> {
        match found {
            Err(misfit) if self.mode == Mode::Logged && !misfit.is_cold() => Ok(Bound::Orphan),
            found => found,
        }
    }

    fn bind_exact(&self, block: BlockId, says: &[u8], closes: bool) -> Result<Bound, Misfit> {
        if self.timeline.open.contains_key(&block) {
            return Ok(Bound::To(block));
        }
        if self.call(block)?.is_some() {
            return self.again(block, says, closes);
        }
        let logged = self.event(block.seq);
        let was_call = logged
            .as_deref()
            .and_then(Logged::message)
            .is_some_and(|message| call_blocks(message).any(|index| index == block.index));
        let problem = if was_call {
            Problem::CallElsewhere
        } else {
            Problem::NotACall(block)
        };
        Err(Misfit::rejected(problem))
    }

    fn bind_id(
        &self,
        id: &str,
        says: &[u8],
        closes: bool,
        taken: &Taken,
        within: Option<&Message>,
    ) -> Result<Bound, Misfit> {
        if let Some(block) = self.open_call(id, taken) {
            return Ok(Bound::To(block));
        }
        if let Some(bound) = within.and_then(|message| self.again_within(id, says, taken, message))
        {
            return bound;
        }
        if !self.ids.contains_key(&crate::state::id_print(id)) {
            return Err(Misfit::rejected(Problem::NoCall));
        }
        match self.closed_call(id)? {
            Some(block) => self.again(block, says, closes),
            None => Err(Misfit::rejected(Problem::CallElsewhere)),
        }
    }

    /// The latest message with an open call of that id, in it the first one.
    fn open_call(&self, id: &str, taken: &Taken) -> Option<BlockId> {
        let mut found: Option<BlockId> = None;
        for block in self.timeline.open.keys().rev() {
            if found.is_some_and(|found| found.seq != block.seq) {
                break;
            }
            if !taken.0.contains_key(block) && self.id_of(*block).as_deref() == Some(id) {
                found = Some(*block);
            }
        }
        found
    }

    /// The latest call of that id, which then is closed.
    fn closed_call(&self, id: &str) -> Result<Option<BlockId>, Misfit> {
        for hull in self.timeline.units.values().rev() {
            let Some(unit) = &hull.unit else {
                return Err(self.log.cold_misfit());
            };
            let mut calls = unit.calls.iter().rev();
            if let Some(call) = calls.find(|call| self.id_of(call.block).as_deref() == Some(id)) {
                return Ok(Some(call.block));
            }
        }
        Ok(None)
    }

    fn id_of(&self, block: BlockId) -> Option<alloc::string::String> {
        call_id(self.event(block.seq)?.message()?, block.index)
    }

    /// A second result for a closed call.
    fn again(&self, block: BlockId, says: &[u8], closes: bool) -> Result<Bound, Misfit> {
        let said = self
            .timeline
            .closing(block)
            .and_then(|answer| answer_says(&answer.logged, answer.block));
        if closes && said.is_some_and(|said| *said == *says) {
            return Ok(Bound::Repeats(block));
        }
        Err(Misfit::rejected(Problem::CallClosed(block)))
    }

    /// A second result for a call that the same message closed.
    fn again_within(
        &self,
        id: &str,
        says: &[u8],
        taken: &Taken,
        message: &Message,
    ) -> Option<Result<Bound, Misfit>> {
        let mut closed = taken.0.iter().rev();
        let (block, index) =
            closed.find(|(block, _)| self.id_of(**block).as_deref() == Some(id))?;
        let said = block_says(message, *index);
        let bound = Ok(Bound::Repeats(*block));
        Some(if said.is_some_and(|said| *said == *says) {
            bound
        } else {
            Err(Misfit::rejected(Problem::CallClosed(*block)))
        })
    }
}

/// An id as the host gave it, plain or as a string token.
fn call_text(text: &recount_events::Text) -> Option<Cow<'_, str>> {
    let given = text.as_str()?;
    match text.form {
        recount_events::Form::Json => recount_events::raw::words(given),
        recount_events::Form::Plain | recount_events::Form::Bytes => Some(Cow::Borrowed(given)),
    }
}

/// What a logged result says, if at hand.
fn answer_says(logged: &Logged, block: BlockId) -> Option<Cow<'_, [u8]>> {
    match &logged.event.body {
        Body::ToolResult(result) => held(&result.content).then(|| says(&result.content)),
        Body::Message(message) => block_says(message, block.index),
        _ => None,
    }
}

fn block_says(message: &Message, index: u32) -> Option<Cow<'_, [u8]>> {
    let block = message.content.blocks.get(usize::try_from(index).ok()?)?;
    let facts = block.result(message.content.format)?;
    Some(Cow::Borrowed(facts.content.unwrap_or_default().as_bytes()))
}

fn held(content: &Content) -> bool {
    content
        .blocks
        .iter()
        .all(|block| block.raw.bytes().is_some())
}

/// What a result says: the JSON value of its content.
fn says(content: &Content) -> Cow<'_, [u8]> {
    let mut blocks = content
        .blocks
        .iter()
        .map(|block| block.raw.bytes().unwrap_or_default());
    match content.shape {
        Shape::Absent => Cow::Borrowed(b""),
        Shape::String | Shape::Bytes => Cow::Borrowed(blocks.next().unwrap_or_default()),
        Shape::Blocks => {
            let list: Vec<&[u8]> = blocks.collect();
            Cow::Owned([b"[".as_slice(), &list.join(b",".as_slice()), b"]"].concat())
        }
    }
}
