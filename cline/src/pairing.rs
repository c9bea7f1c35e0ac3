//! Results behind their calls: what Cline does to a list of messages before it is sent.
//!
//! - A message that is no list of blocks and follows a call loses its words, as it does in Cline, where they are lost from the
//!   history too: [`Paired::emptied`] names these messages, so that a caller may do the same, or not.

use crate::block::Block;
use crate::message::{Message, Role};
use crate::text::Text;
use alloc::vec::Vec;

/// Messages with results behind their calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// The messages.
    pub messages: Vec<Message>,
    /// Indices of messages whose content was no list and is an empty one now.
    pub emptied: Vec<usize>,
}

/// Puts results behind their calls, in the order of the calls; makes up those that are missing, drops those that have none.
#[must_use]
pub fn pair(messages: Vec<Message>) -> Paired {
    let mut paired = Paired {
        messages,
        emptied: Vec::new(),
    };
    for index in 1..paired.messages.len() {
        let calls = calls(paired.messages.get(index.saturating_sub(1)));
        let Some(next) = paired.messages.get_mut(index) else {
            break;
        };
        if calls.is_empty() || next.role() != Role::User {
            continue;
        }
        if next.blocks().is_none() {
            *next = next.with_blocks(Vec::new());
            paired.emptied.push(index);
        }
        if let Some(blocks) = rewritten(&calls, next.blocks().unwrap_or_default()) {
            *next = next.with_blocks(blocks);
        }
    }
    paired
}

/// The ids of an answer's calls, in order, as often as they stand there.
fn calls(message: Option<&Message>) -> Vec<Text> {
    let blocks = message
        .filter(|message| message.role() == Role::Assistant)
        .and_then(Message::blocks);
    let calls = blocks.unwrap_or_default().iter().filter_map(Block::call);
    calls.cloned().collect()
}

/// The blocks of a message that follows calls; `None` when they are well as they are.
fn rewritten(calls: &[Text], blocks: &[Block]) -> Option<Vec<Block>> {
    let mut results: Vec<(&Text, &Block)> = Vec::new();
    let mut others = Vec::new();
    for block in blocks {
        match block.answers() {
            None => others.push(block.clone()),
            // The last one of an id wins, at the place of the first.
            Some(id) => match results.iter_mut().find(|(known, _)| *known == id) {
                Some((_, known)) => *known = block,
                None => results.push((id, block)),
            },
        }
    }
    let found = |call: &Text| {
        let result = results.iter().find(|(id, _)| *id == call);
        result.map(|(_, block)| (*block).clone())
    };
    let matched = blocks
        .iter()
        .zip(calls)
        .take_while(|(block, call)| block.answers() == Some(*call))
        .count();
    let astray = matched < calls.len().min(blocks.len());
    let foreign = !astray && matched < results.len();
    let missing = calls.iter().any(|call| found(call).is_none());
    if !(missing || (!results.is_empty() && astray) || foreign) {
        return None;
    }
    let answers = calls
        .iter()
        .map(|call| found(call).unwrap_or_else(|| Block::missing(call)));
    Some(answers.chain(others).collect())
}
