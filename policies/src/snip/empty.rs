//! The model said nothing.

use super::scene::Scene;
use crate::reading;
use alloc::collections::BTreeSet;
use recount_events::{BlockKind, Seq};
use recount_projections::Unit;

/// Responses without calls and without words. Never a message of the person, who may mean something by it.
pub(super) fn messages(scene: &Scene<'_>) -> BTreeSet<Seq> {
    reading::units(scene.at.timeline())
        .filter(|(key, unit)| says_nothing(unit) && scene.is_removable(*key, unit))
        .map(|(key, _)| key)
        .collect()
}

fn says_nothing(unit: &Unit) -> bool {
    let messages = unit.parts.iter().filter_map(|part| part.message());
    let mut blocks = messages.flat_map(|message| &message.content.blocks);
    unit.calls.is_empty()
        && blocks.all(|block| {
            let words = block.words();
            block.kind == BlockKind::Text && words.is_some_and(|words| words.trim().is_empty())
        })
}
