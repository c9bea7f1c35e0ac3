//! Messages and results: who wrote them, which response they continue, which calls they hold, which calls they answer.

use super::bind::Taken;
use super::{Door, Mode};
use crate::{Misfit, Problem};
use alloc::vec::Vec;
use recount_events::{
    BlockId, BlockKind, Bound, CallMark, Message, ResultMark, Role, Seq, ToolResult,
};

/// Longest call id that can travel as it is: OpenAI refuses longer ones.
const LONGEST_ID: usize = 40;

impl Door<'_> {
    pub(super) fn message(&self, message: &mut Message) -> Result<(), Misfit> {
        if self.mode != Mode::Live && is_resolved(message) {
            return self.message_fits(message);
        }
        let authored = message.authored;
        message.authored = Some(authored.unwrap_or_else(|| speaks_for_person(message)));
        message.joins = self.joins(message);
        message.calls = self.call_marks(message);
        message.results = self.result_marks(message)?;
        Ok(())
    }

    /// The response that a message continues: the last one, if only its own results came since and its first part is shown.
    fn joins(&self, message: &Message) -> Option<Seq> {
        let key = self
            .timeline
            .tip
            .filter(|key| self.timeline.shows_unit(*key))?;
        let first = self.event(key)?;
        let first = first.message()?;
        let id = message.response.as_ref()?.bytes()?;
        let same = message.role == Role::Assistant && first.response.as_ref()?.bytes()? == id;
        same.then_some(key)
    }

    fn call_marks(&self, message: &Message) -> Vec<CallMark> {
        let mut seen: Vec<[u8; 16]> = Vec::new();
        let mut marks = Vec::new();
        for index in call_blocks(message) {
            let id = call_id(message, index).unwrap_or_default();
            let print = crate::state::id_print(&id);
            let fresh = !self.ids.contains_key(&print) && !seen.contains(&print);
            marks.push(CallMark {
                index,
                as_given: fresh && travels(&id),
            });
            seen.push(print);
        }
        marks
    }

    fn result_marks(&self, message: &Message) -> Result<Vec<ResultMark>, Misfit> {
        let mut taken = Taken::default();
        let mut marks = Vec::new();
        for index in result_blocks(message) {
            let bound = self.bind_block(message, index, &taken)?;
            if let Bound::To(block) = bound {
                taken.insert(block, index);
            }
            marks.push(ResultMark { index, bound });
        }
        Ok(marks)
    }

    /// What the log says of a message must agree with its blocks and with the timeline.
    fn message_fits(&self, message: &mut Message) -> Result<(), Misfit> {
        if !marks_agree(message) {
            return Err(Misfit::invalid(Problem::Resolved));
        }
        if self.mode == Mode::Logged {
            self.mend_call_marks(message);
        }
        self.join_fits(message)?;
        let mut closed = Vec::new();
        for mark in &mut message.results {
            mark.bound = self.bound_fits(mark.bound, &closed)?;
            closed.extend(match mark.bound {
                Bound::To(block) => Some(block),
                Bound::Repeats(_) | Bound::Orphan => None,
            });
        }
        Ok(())
    }

    /// A log that nobody here wrote may name an id as travelling that has travelled before or never can: such a call gets a made-up
    /// one, since two calls of one id are refused by every provider. What this version logged is left as it is.
    fn mend_call_marks(&self, message: &mut Message) {
        let allowed = self.call_marks(message);
        let forged: Vec<bool> = message
            .calls
            .iter()
            .zip(&allowed)
            .map(|(mark, allowed)| {
                mark.as_given && !allowed.as_given && call_id(message, mark.index).is_some()
            })
            .collect();
        for (mark, forged) in message.calls.iter_mut().zip(forged) {
            mark.as_given &= !forged;
        }
    }

    fn join_fits(&self, message: &mut Message) -> Result<(), Misfit> {
        let Some(key) = message.joins else {
            return Ok(());
        };
        if self.timeline.tip == Some(key)
            && self.timeline.shows_unit(key)
            && message.role == Role::Assistant
        {
            return Ok(());
        }
        if self.mode == Mode::Logged && !self.timeline.units.contains_key(&key) {
            message.joins = None;
            return Ok(());
        }
        Err(Misfit::rejected(Problem::Resolved))
    }

    pub(super) fn tool_result(&self, result: &mut ToolResult) -> Result<(), Misfit> {
        let bound = match result.bound.filter(|_| self.mode != Mode::Live) {
            Some(bound) => self.bound_fits(bound, &[])?,
            None => self.bind_result(result)?,
        };
        result.bound = Some(bound);
        Ok(())
    }

    /// A binding that the log kept must still be possible.
    fn bound_fits(&self, bound: Bound, closed: &[BlockId]) -> Result<Bound, Misfit> {
        match bound {
            Bound::Orphan => Ok(bound),
            Bound::To(block)
                if self.timeline.open.contains_key(&block) && !closed.contains(&block) =>
            {
                Ok(bound)
            }
            Bound::Repeats(block) if self.call(block)?.is_some() => Ok(bound),
            Bound::To(block) | Bound::Repeats(block) => self.lost_call(block),
        }
    }

    fn lost_call(&self, block: BlockId) -> Result<Bound, Misfit> {
        if self.mode == Mode::Logged && self.call(block)?.is_none() {
            return Ok(Bound::Orphan);
        }
        Err(Misfit::rejected(Problem::CallClosed(block)))
    }
}

/// Who wrote it is decided, and its calls and results are named. A host may say who wrote it and leave the rest open.
fn is_resolved(message: &Message) -> bool {
    let unnamed = message.calls.is_empty() && message.results.is_empty();
    message.authored.is_some() && (marks_agree(message) || !unnamed)
}

fn marks_agree(message: &Message) -> bool {
    let calls = message.calls.iter().map(|mark| mark.index);
    let results = message.results.iter().map(|mark| mark.index);
    call_blocks(message).eq(calls) && result_blocks(message).eq(results)
}

/// A user's message speaks for the person when anything but results is in it.
fn speaks_for_person(message: &Message) -> bool {
    message.role == Role::User
        && message
            .content
            .blocks
            .iter()
            .any(|block| block.kind != BlockKind::Result)
}

fn blocks_of(message: &Message, kind: BlockKind) -> impl Iterator<Item = u32> + '_ {
    (0u32..)
        .zip(&message.content.blocks)
        .filter(move |(_, block)| block.kind == kind)
        .map(|(index, _)| index)
}

/// Only the model calls.
pub(crate) fn call_blocks(message: &Message) -> impl Iterator<Item = u32> + '_ {
    blocks_of(message, BlockKind::Call).filter(|_| message.role == Role::Assistant)
}

/// Only others answer.
fn result_blocks(message: &Message) -> impl Iterator<Item = u32> + '_ {
    blocks_of(message, BlockKind::Result).filter(|_| message.role != Role::Assistant)
}

/// The provider's id of a call, if its block is at hand.
pub(crate) fn call_id(message: &Message, index: u32) -> Option<alloc::string::String> {
    let block = message.content.blocks.get(usize::try_from(index).ok()?)?;
    Some(block.call(message.content.format)?.id)
}

/// An id that every wire accepts and that no made-up id can meet.
fn travels(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(plain) && !is_made_up(id)
}

/// The shape `call_<seq>_<index>` of ids that the wire makes up.
fn is_made_up(id: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = id
        .strip_prefix("call_")
        .and_then(|rest| rest.split_once('_'));
    parts.is_some_and(|(seq, index)| digits(seq) && digits(index))
}

#[cfg(test)]
mod tests {
    use super::travels;

    #[test]
    fn ids_travel_when_every_wire_takes_them() {
        assert!(travels("toolu_01-a"));
        assert!(travels("call_1_x"));
        assert!(!travels("call_1_2"));
        assert!(!travels(""));
        assert!(!travels("a b"));
        assert!(travels(&"a".repeat(40)));
        assert!(!travels(&"a".repeat(41)));
    }
}
