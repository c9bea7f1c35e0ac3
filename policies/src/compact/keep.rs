//! Which tail is kept (FACTS of the preset: at least so many tokens and messages with words, at most so many tokens).
//!
//! - From the newest backwards, atom by atom: no response is split, no parts of one are separated.
//! - The newest thing that was said stays, whatever its size; nothing before the last summary of a compaction does.

use super::atoms::Atom;
use super::limits::Limits;
use crate::Situation;

/// The first atom that is kept.
pub(crate) fn tail(at: &Situation<'_>, atoms: &[Atom], limits: &Limits) -> usize {
    let (mut tokens, mut texts, mut said) = (0_u64, 0_u64, false);
    let mut from = atoms.len();
    for (index, atom) in atoms.iter().enumerate().rev() {
        if atom.boundary {
            break;
        }
        let more = tokens.saturating_add(at.scaled(atom.tokens));
        if said && atom.shown > 0 {
            let enough = tokens >= limits.least_tokens && texts >= limits.least_texts;
            if enough || more > limits.keep {
                break;
            }
        }
        (tokens, from) = (more, index);
        texts = texts.saturating_add(atom.texts);
        said |= atom.said;
    }
    from
}

/// The first atom of the last turn: the newest words of the person, or what came after the last summary.
pub(crate) fn last_turn(atoms: &[Atom]) -> usize {
    let newest = atoms
        .iter()
        .rposition(|atom| atom.authored || atom.boundary);
    match newest {
        Some(index) if atoms.get(index).is_some_and(|atom| atom.boundary) => {
            index.saturating_add(1)
        }
        Some(index) => index,
        None => atoms.iter().rposition(|atom| atom.said).unwrap_or(0),
    }
}
