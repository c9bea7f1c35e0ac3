//! What the prompt shows, cut into the smallest parts that a fold may take or leave.
//!
//! - Neighbours that can only go together are one atom: the parts and results of a response, what stands between them, a fold.
//! - Responses that are hidden already are atoms too (nothing of them is shown): a range may not cut through them either.

use crate::Situation;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use recount_events::{BlockId, BlockKind, Content, Message, Role, Seq};
use recount_projections::{Shown, SummaryKind, Timeline, Unit};

/// How many hidden responses before the first entry are looked at for one that reaches beyond it.
const LOOKED_AT: usize = 8;

/// Neighbours that can only go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Atom {
    /// Its first position.
    pub(crate) first: Seq,
    /// Its last position.
    pub(crate) last: Seq,
    /// Entries of it that are shown.
    pub(crate) shown: u64,
    /// Counted tokens of what is shown.
    pub(crate) tokens: u64,
    /// Messages with words.
    pub(crate) texts: u64,
    /// Messages and results.
    pub(crate) messages: u64,
    /// A call in it without a closing result.
    pub(crate) open: Option<BlockId>,
    /// It holds the summary of a compaction.
    pub(crate) boundary: bool,
    /// It holds something that was said, not only what was injected.
    pub(crate) said: bool,
    /// It holds a response.
    pub(crate) response: bool,
    /// It holds words of the person.
    pub(crate) authored: bool,
    /// A range may begin with it.
    pub(crate) starts: bool,
    /// A range may end with it.
    pub(crate) ends: bool,
}

/// Counted tokens of what is shown: of content by position, of summaries by commit.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    content: BTreeMap<Seq, u64>,
    summaries: BTreeMap<Seq, u64>,
}

impl Sizes {
    /// The sizes in a prompt; header and tails belong to no entry.
    pub(crate) fn of(at: &Situation<'_>) -> Self {
        use recount_projections::render::{Category, Why};
        let mut sizes = Self::default();
        let timeline = at.timeline();
        for piece in at.pieces {
            let seq = piece.source.seq;
            let map = match (piece.category, piece.why) {
                (Category::Tools | Category::System, _) => continue,
                (_, Why::Summary(_)) => &mut sizes.summaries,
                // A provider's own compaction is content of its message.
                (Category::Summaries, _) if !timeline.content.contains_key(&seq) => {
                    &mut sizes.summaries
                }
                _ if timeline.tails.contains_key(&seq) => continue,
                _ => &mut sizes.content,
            };
            let sum = map.entry(seq).or_default();
            *sum = sum.saturating_add(piece.tokens);
        }
        sizes
    }

    fn within(&self, first: Seq, last: Seq) -> u64 {
        sum(self.content.range(first..=last).map(|(_, tokens)| *tokens))
    }

    fn summary(&self, commit: Seq) -> u64 {
        self.summaries.get(&commit).copied().unwrap_or(0)
    }
}

pub(crate) fn sum(all: impl Iterator<Item = u64>) -> u64 {
    all.fold(0, u64::saturating_add)
}

/// The atoms of what is shown, oldest first.
pub(crate) fn atoms(at: &Situation<'_>) -> Vec<Atom> {
    let timeline = at.timeline();
    let sizes = Sizes::of(at);
    let mut atoms: Vec<Atom> = Vec::new();
    for hull in hulls(timeline) {
        match atoms.last_mut() {
            Some(before) if hull.first <= before.last => {
                before.last = before.last.max(hull.last);
            }
            _ => atoms.push(hull),
        }
    }
    for atom in &mut atoms {
        fill(timeline, &sizes, atom);
    }
    atoms
}

/// Counts what an atom shows, and says what may be done with it.
fn fill(timeline: &Timeline, sizes: &Sizes, atom: &mut Atom) {
    let (first, last) = (atom.first, atom.last);
    atom.tokens = sizes.within(first, last);
    for (_, shown) in timeline.shown.range(first..=last) {
        atom.shown = atom.shown.saturating_add(1);
        match shown {
            Shown::Summary(summary) => {
                atom.tokens = atom.tokens.saturating_add(sizes.summary(summary.seq));
                atom.boundary |= summary.kind == SummaryKind::Compact;
                atom.said = true;
            }
            Shown::Inject(_) => {}
            Shown::Said(said) => {
                let message = said.logged.message();
                atom.said = true;
                atom.messages = atom.messages.saturating_add(1);
                atom.texts = atom
                    .texts
                    .saturating_add(u64::from(message.is_some_and(has_words)));
                atom.authored |= message.is_some_and(is_authored);
            }
            Shown::Unit(unit) => {
                atom.said = true;
                atom.response = true;
                let answers = unit.calls.iter().filter(|call| call.answer.is_some());
                let messages = unit.parts.len().saturating_add(answers.count());
                atom.messages = atom.messages.saturating_add(messages as u64);
                atom.texts = atom.texts.saturating_add(u64::from(unit_words(unit)));
            }
        }
    }
    let from = BlockId {
        seq: first,
        index: 0,
    };
    let to = BlockId {
        seq: last,
        index: u32::MAX,
    };
    atom.open = timeline
        .open
        .range(from..=to)
        .next()
        .map(|(block, _)| *block);
    atom.starts = timeline.visible(first) || timeline.summaries.contains_key(&first);
    let fold = timeline.summaries.range(..=last).next_back();
    atom.ends = timeline.visible(last) || fold.is_some_and(|(_, end)| *end == last);
}

fn has_words(message: &Message) -> bool {
    let texts = message.content.blocks.iter();
    texts
        .filter(|block| block.kind == BlockKind::Text)
        .any(|block| block.words().is_some_and(|words| !words.trim().is_empty()))
}

fn unit_words(unit: &Unit) -> bool {
    unit.parts
        .iter()
        .filter_map(|part| part.message())
        .any(has_words)
}

/// The person wrote it.
pub(crate) fn is_authored(message: &Message) -> bool {
    message.authored.unwrap_or(message.role == Role::User)
}

/// The words of a content's text blocks, one a line.
pub(crate) fn words_of(content: &Content) -> alloc::string::String {
    let mut all = alloc::string::String::new();
    for words in content.blocks.iter().filter_map(|block| block.words()) {
        if !all.is_empty() && !words.is_empty() {
            all.push('\n');
        }
        all.push_str(&words);
    }
    all
}

fn hull(first: Seq, last: Seq) -> Atom {
    Atom {
        first,
        last,
        shown: 0,
        tokens: 0,
        texts: 0,
        messages: 0,
        open: None,
        boundary: false,
        said: false,
        response: false,
        authored: false,
        starts: false,
        ends: false,
    }
}

/// Folds, responses (hidden ones outside of folds too) and what stands for itself, by first position.
fn hulls(timeline: &Timeline) -> Vec<Atom> {
    let Some(start) = timeline.shown.keys().next().copied() else {
        return Vec::new();
    };
    let mut hulls: Vec<Atom> = timeline
        .units
        .range(..start)
        .rev()
        .take(LOOKED_AT)
        .filter(|(_, unit)| unit.last >= start)
        .map(|(first, unit)| hull(*first, unit.last))
        .collect();
    let mut from = start;
    for (first, last) in &timeline.summaries {
        between(timeline, from, *first, &mut hulls);
        hulls.push(hull(*first, *last));
        // What came back into the range of a fold later.
        let inside = timeline.shown.range(*first..=*last).skip(1);
        hulls.extend(inside.map(|(key, _)| reach(timeline, *key)));
        from = last.next();
    }
    between(timeline, from, Seq(u64::MAX), &mut hulls);
    hulls.sort_by_key(|hull| hull.first);
    hulls
}

/// What stands from a position to before another one.
fn between(timeline: &Timeline, from: Seq, to: Seq, hulls: &mut Vec<Atom>) {
    if from >= to {
        return;
    }
    let units = timeline.units.range(from..to);
    hulls.extend(units.map(|(first, unit)| hull(*first, unit.last)));
    let shown = timeline.shown.range(from..to);
    let others = shown.filter(|(_, shown)| !matches!(shown, Shown::Unit(_)));
    hulls.extend(others.map(|(key, _)| hull(*key, *key)));
}

fn reach(timeline: &Timeline, key: Seq) -> Atom {
    let last = timeline.units.get(&key).map_or(key, |unit| unit.last);
    hull(key, last)
}
