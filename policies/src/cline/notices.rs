//! What tells the model that something is gone: in the first answer, and in the person's first words.

use super::View;
use alloc::vec::Vec;
use recount_cline::Text;
use recount_events::BlockId;

/// The time that a notice has, in ms: later than the edits that were there.
const NOW: f64 = 1.0;
/// Why, for the log.
pub(super) const WORDS: &str = "it says that something is left out";

/// The notice in the first answer, where nothing took its place and there is a place for it.
pub(super) fn truncation(view: &View) -> Vec<(BlockId, Text)> {
    let mut edits = view.edits.clone();
    edits.note_truncation(NOW);
    new(view, &edits, &[1])
}

/// Both notices: also in the place of the person's first words, where the conversation begins with them.
pub(super) fn both(view: &View) -> Vec<(BlockId, Text)> {
    let mut edits = view.edits.clone();
    edits.note_both(&view.messages, NOW);
    new(view, &edits, &[1, 0])
}

fn new(view: &View, edits: &recount_cline::Edits, messages: &[i64]) -> Vec<(BlockId, Text)> {
    let all = messages.iter().flat_map(|message| {
        let new = edits.shown(*message).filter(|(_, at, _)| *at >= NOW);
        new.filter_map(|(block, _, text)| Some((view.spot(*message, block)?, text.clone())))
    });
    all.collect()
}
