//! Instruction files: those at the root are part of the system prompt, nested ones are injected once a session.
//!
//! - The system prompt begins with its base: what the host gave, or an agent definition's prompt in its place. Each root file is a block
//!   behind it, known by the line that it begins with; its newer text takes its own place, so the blocks keep their order.
//! - A nested file stays where it was first shown. When a fold hid it, `prepare` shows it again; when its words changed, the new ones are
//!   injected behind everything, and the old ones stay for the cache's sake.

use super::words::{attribute, block, blocks, inject, of, of_block};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{Block, Body, Content, Inject, Lifetime, Shape, System, Text, escape};
use recount_projections::State;

/// The slot of a nested file.
#[must_use]
pub fn slot(path: &str) -> String {
    format!("instructions:{path}")
}

/// What a file says, with its path.
#[must_use]
pub fn wrapped(path: &str, text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{}{text}{end}</instructions>", opening(path))
}

/// The line that a file's block begins with.
fn opening(path: &str) -> String {
    format!("<instructions path=\"{}\">\n", attribute(path))
}

/// The system prompt with a root file; without it where `text` is empty. `None`: nothing would change.
#[must_use]
pub fn root(system: Option<&System>, path: &str, text: &str) -> Option<System> {
    let before = as_blocks(system);
    let opening = opening(path);
    let own = |block: &Block| of_block(block).is_some_and(|words| words.starts_with(&opening));
    let mut after = before.clone();
    let place = after.iter().position(own);
    match (place, text.is_empty()) {
        (Some(place), false) => {
            if let Some(old) = after.get_mut(place) {
                *old = block(&wrapped(path, text));
            }
        }
        (Some(place), true) => {
            after.remove(place);
        }
        (None, false) => after.push(block(&wrapped(path, text))),
        (None, true) => {}
    }
    changed(system, &before, after)
}

/// The system prompt with an agent definition's prompt in the place of its base. `None`: nothing would change.
#[must_use]
pub fn agent(system: Option<&System>, text: &str) -> Option<System> {
    let before = as_blocks(system);
    let files = before.iter().filter(|block| is_file(block)).cloned();
    let base = (!text.is_empty()).then(|| block(text));
    let after = base.into_iter().chain(files).collect();
    changed(system, &before, after)
}

/// A nested file, where it was never shown, or its words changed since. `None`: the prompt shows it, or `prepare` will again.
#[must_use]
pub fn nested(state: &State, path: &str, text: &str) -> Option<Inject> {
    let slot = Text::plain(&slot(path));
    let text = wrapped(path, text);
    let newest = state.timeline().in_slot(&slot).and_then(|all| all.last());
    let newest = newest.and_then(|seq| state.event(*seq));
    let says = newest
        .as_deref()
        .and_then(|logged| match &logged.event.body {
            Body::Inject(inject) => of(&inject.content),
            _ => None,
        });
    (says.as_deref() != Some(text.as_str())).then(|| inject(&slot, &text, Lifetime::Session))
}

/// A block that shows a root file.
fn is_file(block: &Block) -> bool {
    of_block(block).is_some_and(|words| words.starts_with("<instructions path=\""))
}

/// The blocks of a system prompt; a string is one of them.
fn as_blocks(system: Option<&System>) -> Vec<Block> {
    let Some(System { content }) = system else {
        return Vec::new();
    };
    let fresh = |block: &Block| match (content.shape, block.raw.as_str()) {
        (Shape::String, Some(token)) => Block {
            raw: Text::json(&format!("{{\"type\":\"text\",\"text\":{token}}}")),
            ..block.clone()
        },
        _ => Block {
            raw: Text {
                seal: None,
                ..block.raw.clone()
            },
            ..block.clone()
        },
    };
    content.blocks.iter().map(fresh).collect()
}

/// The new system prompt, where it says something else.
fn changed(system: Option<&System>, before: &[Block], after: Vec<Block>) -> Option<System> {
    let says = |blocks: &[Block]| -> Vec<Option<String>> {
        let texts = blocks.iter().map(|block| of_block(block).map(Into::into));
        texts.collect()
    };
    if before.len() == after.len() && says(before) == says(&after) {
        return None;
    }
    let content = match (after.as_slice(), system) {
        // Without blocks the prompt is empty; a content without any is not taken.
        ([], Some(_)) => Content::string(&escape("")),
        ([], None) => return None,
        _ => blocks(after),
    };
    Some(System { content })
}
