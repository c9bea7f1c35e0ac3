//! The model said nothing.

use super::index::Index;
use super::scene::Scene;
use alloc::collections::BTreeSet;
use recount_events::{BlockKind, Seq};
use recount_projections::Unit;

/// Responses without calls and without words. Never a message of the person, who may mean something by it.
pub(super) fn messages(scene: &Scene<'_>, index: &Index) -> BTreeSet<Seq> {
    let silent = index.silent().iter().copied();
    silent.filter(|key| scene.is_removable(*key)).collect()
}

/// No call and no word.
pub(super) fn says_nothing(unit: &Unit) -> bool {
    let messages = unit.parts.iter().filter_map(|part| part.message());
    let mut blocks = messages.flat_map(|message| &message.content.blocks);
    unit.calls.is_empty()
        && blocks.all(|block| {
            let words = block.words();
            block.kind == BlockKind::Text && words.is_some_and(|words| words.trim().is_empty())
        })
}
