//! The pieces that a model sums up one by one (A10).
//!
//! - One piece is the rule: where the whole prompt, the instruction and a summary fit the window, the request is the session's own
//!   prompt with one more message, which the provider's cache serves.
//! - Else consecutive ranges of whole atoms, each small enough for a request of its own. An atom that is too large by itself is a piece
//!   all the same; no model is asked about it.

use super::atoms::Atom;
use super::range::Span;
use crate::Situation;
use alloc::vec::Vec;
use recount_events::Seq;

/// What the words around a piece may take, in counted tokens.
const AROUND: u64 = 64;

/// One part in so many is kept free for errors of the estimate: 5 %.
const DOUBT: u64 = 20;

/// Tokens of the provider that a request for a summary may have, instruction included.
fn most(at: &Situation<'_>) -> u64 {
    let window = at.profile.window;
    let answer = at
        .constants
        .compact
        .summary_tokens
        .min(at.profile.max_output)
        .min(window / 2);
    let most = window.saturating_sub(answer);
    match at.constants.compact.limit {
        0 => most.min(at.lines.effective),
        _ => most,
    }
}

fn asking(at: &Situation<'_>, instruction: &str) -> u64 {
    at.scaled(at.words.tokens(instruction).saturating_add(AROUND))
}

/// The whole prompt with the instruction behind it fits.
pub(crate) fn whole_fits(at: &Situation<'_>, instruction: &str) -> bool {
    // What nobody measured may be more than it seems.
    let doubt = at.fill.total.saturating_sub(at.fill.measured) / DOUBT;
    let asked = asking(at, instruction).saturating_add(doubt);
    at.fill.total.saturating_add(asked) <= most(at)
}

/// Counted tokens that one piece may have.
pub(crate) fn largest(at: &Situation<'_>, instruction: &str) -> u64 {
    let beside = at.fill.floor.saturating_add(asking(at, instruction));
    let largest = most(at).saturating_sub(beside);
    super::limits::counted(at, largest.saturating_sub(largest / DOUBT))
}

/// The pieces of a range, and the level that they are cut at: a single piece at level 0 of a compaction that no refusal asked for stands
/// for the whole prompt, every other one for its own range only.
pub(crate) fn chunks(
    at: &Situation<'_>,
    atoms: &[Atom],
    span: Span,
    (instruction, level, alone): (&str, u8, bool),
) -> (Vec<(Seq, Seq)>, u8) {
    if level == 0 && !alone && whole_fits(at, instruction) {
        return (span.ends(atoms).into_iter().collect(), 0);
    }
    let all = span.tokens(atoms);
    let largest = largest(at, instruction);
    let largest = match level {
        0 if alone => largest,
        0 => largest.min(all.saturating_sub(1)),
        _ => largest.min(all).checked_shr(u32::from(level)).unwrap_or(0),
    };
    let chunks = pieces(span.of(atoms), largest);
    let level = if chunks.len() == 1 && !alone {
        level.max(1)
    } else {
        level
    };
    (chunks, level)
}

/// Consecutive ranges of at most so many tokens each, if no atom is larger.
fn pieces(atoms: &[Atom], largest: u64) -> Vec<(Seq, Seq)> {
    let mut chunks: Vec<(Seq, Seq)> = Vec::new();
    let mut tokens = 0_u64;
    for atom in atoms {
        let more = tokens.saturating_add(atom.tokens);
        match chunks.last_mut() {
            Some(chunk) if more <= largest || atom.shown == 0 => {
                chunk.1 = atom.last;
                tokens = more;
            }
            _ => {
                chunks.push((atom.first, atom.last));
                tokens = atom.tokens;
            }
        }
    }
    chunks
}
