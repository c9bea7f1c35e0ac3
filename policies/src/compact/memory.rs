//! Session memory first (A5): where the host's notes cover what would be folded, they become the summary, at no cost.

use super::atoms::Atom;
use super::range::Span;
use crate::Situation;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::{Body, Memory, Scope, Seq};

/// The part of a range that notes cover, from its beginning on (behind an earlier summary that they do not cover), and their words.
pub(crate) fn covered(at: &Situation<'_>, atoms: &[Atom], span: Span) -> Option<(Span, String)> {
    let notes = notes(at);
    if notes.is_empty() {
        return None;
    }
    let runs = runs(&notes);
    let inside = |atom: &Atom| atom.shown == 0 || is_covered(at, &runs, atom);
    let all = span.of(atoms);
    let kept = all
        .iter()
        .take_while(|atom| (atom.boundary || atom.shown == 0) && !inside(atom))
        .count();
    let from = span.from.saturating_add(kept);
    let long = all
        .iter()
        .skip(kept)
        .take_while(|atom| inside(atom))
        .count();
    let found = super::range::foldable(
        atoms.get(..from.saturating_add(long))?,
        from.saturating_add(long),
    )?;
    let found = Span {
        from: found.from.max(from),
        ..found
    };
    let (first, last) = found.ends(atoms)?;
    let texts: Vec<String> = notes
        .iter()
        .filter(|note| note.first <= last && note.last >= first)
        .map(|note| note.words.clone())
        .collect();
    Some((found, texts.join("\n\n")))
}

struct Note {
    first: Seq,
    last: Seq,
    words: String,
}

/// The session's notes that say what they sum up, in the order of that.
fn notes(at: &Situation<'_>) -> Vec<Note> {
    let memories = at.timeline().memories.values();
    let mut notes: Vec<Note> = memories
        .filter_map(|logged| match &logged.event.body {
            Body::Memory(memory) => note(memory),
            _ => None,
        })
        .collect();
    notes.sort_by_key(|note| (note.first, note.last));
    notes
}

fn note(memory: &Memory) -> Option<Note> {
    let (first, last) = memory.covers.filter(|_| memory.scope == Scope::Session)?;
    let words = memory.text.words()?.trim().to_string();
    (!words.is_empty()).then_some(Note { first, last, words })
}

/// What they cover together.
fn runs(notes: &[Note]) -> Vec<(Seq, Seq)> {
    let mut runs: Vec<(Seq, Seq)> = Vec::new();
    for note in notes {
        match runs.last_mut() {
            Some((_, last)) if note.first <= last.next() => *last = note.last.max(*last),
            _ => runs.push((note.first, note.last)),
        }
    }
    runs
}

/// All content of an atom is in the runs.
fn is_covered(at: &Situation<'_>, runs: &[(Seq, Seq)], atom: &Atom) -> bool {
    let within = |seq: Seq| {
        let run = runs.get(runs.partition_point(|(_, last)| *last < seq));
        run.is_some_and(|(first, _)| *first <= seq)
    };
    if runs
        .iter()
        .any(|(first, last)| *first <= atom.first && atom.last <= *last)
    {
        return true;
    }
    let mut content = at.timeline().content.range(atom.first..=atom.last);
    content.all(|(seq, _)| within(*seq))
}
