//! Which files come back after a fold (A8): the most recently read ones whose reads it hides.
//!
//! - A file that was changed since, is too large, or is not at hand as text comes back as its path.
//! - A file that is still to be seen in what is kept does not come back.

use super::atoms::Atom;
use super::tools::{self, Use};
use crate::{Proposed, Situation};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Content, FileRead, Inject, Lifetime, Seq, Text, escape};
use recount_projections::{Shown, Timeline, Unit};

/// Slots of restored files.
pub(crate) const SLOT: &str = "file:";

/// A file of more bytes than this for each token of its share is over it.
const FAR: u64 = 32;

/// The newest that is known of a file in a range.
#[derive(Clone)]
struct Known {
    /// Where.
    seq: Seq,
    /// What was read; none when it was changed since, or cannot be shown.
    words: Option<String>,
}

/// What comes back of a range that is hidden: an injection for each file, the most recently read first. `tokens`: counted, of all.
pub(crate) fn files(
    at: &Situation<'_>,
    hidden: &[Atom],
    kept: &[Atom],
    tokens: u64,
) -> Vec<Inject> {
    let most = at.constants.compact.restore_files;
    let (Some(first), Some(last)) = (hidden.first(), hidden.last()) else {
        return Vec::new();
    };
    if most == 0 || tokens == 0 {
        return Vec::new();
    }
    let timeline = at.timeline();
    let visible = kept_in(timeline, kept);
    let found = known_in(timeline, first.first, last.last).into_iter();
    let mut found: Vec<(String, Known)> = found
        .filter_map(|(path, known)| match visible.get(&path) {
            Some(Known { words: Some(_), .. }) => None,
            // It was changed in what is kept.
            Some(Known { words: None, .. }) => Some((
                path,
                Known {
                    words: None,
                    ..known
                },
            )),
            None => Some((path, known)),
        })
        .collect();
    found.sort_by(|(path, one), (other_path, other)| (other.seq, path).cmp(&(one.seq, other_path)));
    let mut left = tokens;
    let mut files = Vec::new();
    for (path, known) in found
        .into_iter()
        .take(usize::try_from(most).unwrap_or(usize::MAX))
    {
        let share = at.constants.compact.restore_file_tokens.min(left);
        let Some(text) = shown(at, &path, known.words, share) else {
            continue;
        };
        left = left.saturating_sub(at.words.tokens(&text));
        files.push(Inject {
            slot: Text::plain(&format!("{SLOT}{path}")),
            content: Content::string(&escape(&text)),
            lifetime: Lifetime::Once,
            supersede: false,
        });
    }
    files
}

/// The injections as events that fall with their commit; the most recently read file stands last.
pub(crate) fn events(files: Vec<Inject>, commit: Seq) -> Vec<Proposed> {
    let events = files.into_iter().rev().map(|inject| Proposed {
        body: Body::Inject(inject),
        because: Some(commit),
    });
    events.collect()
}

/// A file's words under a line that says what they are, or its path, in at most so many counted tokens.
fn shown(at: &Situation<'_>, path: &str, words: Option<String>, share: u64) -> Option<String> {
    // So large a file need not be counted.
    let words = words.filter(|words| words.len() as u64 <= share.saturating_mul(FAR));
    let whole = words.map(|words| format!("[As it was read before the summary: {path}]\n{words}"));
    let whole = whole.filter(|text| at.words.tokens(text) <= share);
    whole.or_else(|| {
        let named = format!("[Read before the summary, read it again where it matters: {path}]");
        (at.words.tokens(&named) <= share).then_some(named)
    })
}

/// Files by path, of a range.
fn known_in(timeline: &Timeline, first: Seq, last: Seq) -> BTreeMap<String, Known> {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let mut note = |path: String, seq: Seq, words: Option<String>| {
        let newer = known.get(&path).is_none_or(|there| there.seq <= seq);
        if newer {
            known.insert(path, Known { seq, words });
        }
    };
    let named = reads_by_block(timeline, first);
    for (key, shown) in timeline.shown.range(first..=last) {
        match shown {
            Shown::Unit(unit) => in_unit(unit, &named, &mut note),
            Shown::Inject(logged) => {
                if let Some((path, words)) = restored(&logged.event.body) {
                    note(path, *key, words);
                }
            }
            Shown::Said(_) | Shown::Summary(_) => {}
        }
    }
    // A read that names no result says at least which file it was.
    for (seq, logged) in timeline.files.range(first..=last) {
        if let Body::FileRead(FileRead {
            path, block: None, ..
        }) = &logged.event.body
            && let Some(path) = path.words()
        {
            note(path.into_owned(), *seq, None);
        }
    }
    known
}

/// Results that the host named as reads of a file.
fn reads_by_block(timeline: &Timeline, first: Seq) -> BTreeMap<BlockId, String> {
    let logged = timeline.files.range(first..).map(|(_, logged)| logged);
    let reads = logged.filter_map(|logged| match &logged.event.body {
        Body::FileRead(read) => Some((read.block?, read.path.words()?.into_owned())),
        _ => None,
    });
    reads.collect()
}

fn in_unit(
    unit: &Unit,
    named: &BTreeMap<BlockId, String>,
    note: &mut impl FnMut(String, Seq, Option<String>),
) {
    for one in tools::uses(unit) {
        let answer = one.call.answer.as_ref();
        let by_host = answer.and_then(|answer| named.get(&answer.block));
        if let Some(path) = by_host {
            note(
                path.clone(),
                seq_of(&one),
                answer.and_then(tools::result_words),
            );
        } else if let Some(path) = one.path.clone().filter(|_| one.changes()) {
            note(path, seq_of(&one), None);
        } else if let Some(path) = one.path.clone().filter(|_| one.reads()) {
            let whole = answer.filter(|answer| !answer.status.is_error() && !is_part(&one));
            if answer.is_some_and(|answer| !answer.status.is_error()) {
                note(path, seq_of(&one), whole.and_then(tools::result_words));
            }
        }
    }
}

/// Only a part of the file was read: that part alone would pass for the whole.
fn is_part(one: &Use<'_>) -> bool {
    ["offset", "limit", "start_line", "end_line", "view_range"]
        .iter()
        .any(|name| {
            recount_events::raw::member(&one.input, name)
                .is_some_and(|value| value.trim() != "null")
        })
}

fn seq_of(one: &Use<'_>) -> Seq {
    one.call
        .answer
        .as_ref()
        .map_or(one.call.block.seq, |answer| answer.block.seq)
}

/// A file that came back after an earlier fold.
fn restored(body: &Body) -> Option<(String, Option<String>)> {
    let Body::Inject(inject) = body else {
        return None;
    };
    let slot = inject.slot.words()?;
    let path = slot.strip_prefix(SLOT)?.to_string();
    let words = inject.content.blocks.first()?.words()?;
    let text = words.split_once('\n').map(|(_, text)| text.to_string());
    Some((path, text))
}

/// What is to be seen of files in what is kept.
fn kept_in(timeline: &Timeline, kept: &[Atom]) -> BTreeMap<String, Known> {
    match (kept.first(), kept.last()) {
        (Some(first), Some(last)) => known_in(timeline, first.first, last.last),
        _ => BTreeMap::new(),
    }
}
