//! Marks for the provider's cache in the body: breakpoints, references of results, edits of what it keeps.
//!
//! - Marks are no canonical bytes: pieces, digests and roots stay as they are; only the body gains them.
//! - What may not stand where it is wanted is dropped: a marked body is accepted wherever the plain one is.
//! - Where breakpoints stand is decided elsewhere; where an edit stands is decided once, by the log.

use crate::render::json::is_string;
use crate::render::{Outcome, Piece, PieceRole, Projection, table, view};
use crate::{List, Timeline};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use recount_events::raw::{member, member_words};
use recount_events::{BlockId, Body, Seq, Wire};

/// How long a provider keeps a prefix that nobody reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ttl {
    /// Five minutes.
    FiveMinutes,
    /// An hour.
    Hour,
}

/// Breakpoints in a request at most (platform.claude.com, prompt caching).
pub const MOST_CONTROLS: usize = 4;

/// An edit of the provider's cache and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The piece behind which it stands: the user's, or a result.
    pub after: usize,
    /// The pieces that it deletes from the cache: results.
    pub results: Vec<usize>,
}

/// Marks, by places among the pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Behind which pieces the prefix is kept, and for how long.
    pub controls: Vec<(usize, Ttl)>,
    /// Results that edits of this request or a later one may name.
    pub references: Vec<usize>,
    /// Edits, at their places.
    pub edits: Vec<Edit>,
}

const CONTROL: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";
const CONTROL_HOUR: &str = ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}";
const REFERENCE: &str = ",\"cache_reference\":";
const EDITS: &str = ",{\"type\":\"cache_edits\",\"edits\":[";
const DELETE: &str = "{\"type\":\"delete\",\"cache_reference\":";
const DELETED: &str = "}";
const EDITS_END: &str = "]}";

impl Projection {
    /// The same prompt with these marks in its body, those that may not stand there left out.
    ///
    /// - None on other wires than Anthropic; references and edits only where the profile says that the model takes them.
    /// - At most four breakpoints, the last four of those wanted; none on what cannot carry one ([`may_carry`]); one of an hour behind
    ///   one of five minutes is of five minutes.
    /// - References stand on results in front of the last breakpoint; edits name those only, each once, and stand behind them, in the
    ///   user's message, behind all of its results.
    /// - A body that would become larger than the profile allows stays as it is.
    #[must_use]
    pub fn marked(self, wanted: &Marks) -> Self {
        if self.wire != Wire::Anthropic {
            return self;
        }
        let controls = controls(&self.pieces, &wanted.controls);
        let last = controls.last().map_or(0, |(place, _)| *place);
        let mut marks = Marks {
            controls,
            ..Marks::default()
        };
        if self.edits {
            marks.add_edits(&self.pieces, wanted, last);
        }
        let added = marks.bytes(&self.pieces);
        let bytes = self.bytes.saturating_sub(self.marks.bytes(&self.pieces));
        let bytes = bytes.saturating_add(added);
        if self.outcome == Outcome::Ready && self.most > 0 && bytes > self.most {
            return self;
        }
        Self {
            bytes,
            marks,
            ..self
        }
    }

    /// The marks that stand in its body.
    #[must_use]
    pub const fn marks(&self) -> &Marks {
        &self.marks
    }
}

fn controls(pieces: &List<Piece>, wanted: &[(usize, Ttl)]) -> Vec<(usize, Ttl)> {
    let mut all: BTreeMap<usize, Ttl> = BTreeMap::new();
    for (place, ttl) in wanted {
        if pieces.get(*place).is_some_and(may_carry) {
            let longest = all.entry(*place).or_insert(*ttl);
            *longest = (*longest).max(*ttl);
        }
    }
    let spare = all.len().saturating_sub(MOST_CONTROLS);
    let mut least = Ttl::Hour;
    let kept = all.into_iter().skip(spare).map(|(place, ttl)| {
        least = least.min(ttl);
        (place, least)
    });
    kept.collect()
}

/// A breakpoint may stand behind this piece (on Anthropic): not behind thinking, an empty text, a tool that is loaded later, or a kind of
/// block that this version does not know.
#[must_use]
pub fn may_carry(piece: &Piece) -> bool {
    let Ok(json) = core::str::from_utf8(&piece.bytes) else {
        return false;
    };
    if piece.role == PieceRole::Tool {
        return member(json, "defer_loading") != Some("true");
    }
    match member_words(json, "type").as_deref() {
        None | Some("thinking" | "redacted_thinking") => false,
        Some("text") => !view::blank(member(json, "text").unwrap_or("\"\"")),
        Some(kind) => kind == "compaction" || table::known(kind).is_some(),
    }
}

/// The id under which a result's piece names its call: a string token.
fn reference(piece: &Piece) -> Option<&str> {
    let json = core::str::from_utf8(&piece.bytes).ok()?;
    let id = member(json, "tool_use_id")?;
    (piece.role == PieceRole::Result && is_string(id)).then_some(id)
}

/// The piece stands in a message of the user's.
const fn users(piece: &Piece) -> bool {
    matches!(piece.role, PieceRole::User | PieceRole::Result)
}

impl Marks {
    /// References and edits; `last`: the place of the last breakpoint.
    fn add_edits(&mut self, pieces: &List<Piece>, wanted: &Self, last: usize) {
        let named = wanted.edits.iter().flat_map(|edit| &edit.results);
        let all: BTreeSet<usize> = named.chain(&wanted.references).copied().collect();
        let known = |place: &usize| {
            *place < last && pieces.get(*place).is_some_and(|p| reference(p).is_some())
        };
        self.references = all.into_iter().filter(known).collect();
        let mut gone = BTreeSet::new();
        let mut edits: Vec<Edit> = Vec::new();
        for edit in &wanted.edits {
            let Some(after) = behind_results(pieces, edit.after) else {
                continue;
            };
            let results = edit.results.iter().copied().filter(|place| {
                *place <= after
                    && self.references.binary_search(place).is_ok()
                    && gone.insert(*place)
            });
            let results: Vec<usize> = results.collect();
            if !results.is_empty() {
                edits.push(Edit { after, results });
            }
        }
        edits.sort_by_key(|edit| edit.after);
        self.edits = edits;
    }

    /// How many bytes they add.
    fn bytes(&self, pieces: &List<Piece>) -> u64 {
        let token = |place: &usize| pieces.get(*place).and_then(reference).map_or(0, str::len);
        let controls = self.controls.iter().map(|(_, ttl)| control(*ttl).len());
        let references = self.references.iter();
        let references = references.map(|place| REFERENCE.len().saturating_add(token(place)));
        let edits = self.edits.iter().map(|edit| {
            let commas = edit.results.len().saturating_sub(1);
            let each = edit.results.iter();
            let each = each.map(|place| {
                token(place)
                    .saturating_add(DELETE.len())
                    .saturating_add(DELETED.len())
            });
            each.fold(commas, usize::saturating_add)
                .saturating_add(EDITS.len())
                .saturating_add(EDITS_END.len())
        });
        let all = controls.chain(references).chain(edits);
        all.fold(0, |sum: u64, bytes| sum.saturating_add(bytes as u64))
    }

    /// Writes a piece and what is marked on it and behind it.
    pub(crate) fn write<'a>(
        &self,
        all: &mut Vec<&'a [u8]>,
        pieces: &'a List<Piece>,
        place: usize,
        piece: &'a Piece,
    ) {
        let name = self.references.binary_search(&place).is_ok();
        let name = name.then(|| reference(piece)).flatten();
        let kept = self.controls.iter().find(|(marked, _)| *marked == place);
        if name.is_none() && kept.is_none() {
            all.push(&piece.bytes);
        } else {
            let (open, close) = piece.bytes.split_at(end(&piece.bytes));
            all.push(open);
            if let Some(name) = name {
                all.extend([REFERENCE.as_bytes(), name.as_bytes()]);
            }
            if let Some((_, ttl)) = kept {
                all.push(control(*ttl).as_bytes());
            }
            all.push(close);
        }
        let first = self.edits.partition_point(|edit| edit.after < place);
        let here = self.edits.iter().skip(first);
        for edit in here.take_while(|edit| edit.after == place) {
            edit.write(all, pieces);
        }
    }
}

impl Edit {
    fn write<'a>(&self, all: &mut Vec<&'a [u8]>, pieces: &'a List<Piece>) {
        all.push(EDITS.as_bytes());
        let names = self.results.iter().filter_map(|place| pieces.get(*place));
        for (number, name) in names.filter_map(reference).enumerate() {
            if number > 0 {
                all.push(b",");
            }
            all.extend([DELETE, name, DELETED].map(str::as_bytes));
        }
        all.push(EDITS_END.as_bytes());
    }
}

const fn control(ttl: Ttl) -> &'static str {
    match ttl {
        Ttl::FiveMinutes => CONTROL,
        Ttl::Hour => CONTROL_HOUR,
    }
}

/// Where a block's object ends: the place of its last brace.
fn end(bytes: &[u8]) -> usize {
    let brace = bytes.iter().rposition(|byte| *byte == b'}');
    brace.unwrap_or(bytes.len())
}

/// The last result of the run that a user's piece stands in or before; results stand first in their message.
fn behind_results(pieces: &List<Piece>, after: usize) -> Option<usize> {
    pieces.get(after).filter(|piece| users(piece))?;
    let next = (after.saturating_add(1)..pieces.len()).take_while(|place| {
        pieces
            .get(*place)
            .is_some_and(|piece| piece.role == PieceRole::Result)
    });
    Some(next.last().unwrap_or(after))
}

/// The edits of a timeline, each at the place where it first was sent: behind the newest piece of the user's that stood in the log before
/// it, tail injections aside.
///
/// - What is no longer shown is not named, and nothing is named twice; an edit that names nothing is none.
/// - `pieces` are those of a prompt of this timeline, on Anthropic.
#[must_use]
pub fn pinned(pieces: &List<Piece>, timeline: &Timeline) -> Vec<Edit> {
    if timeline.cache_edits.is_empty() {
        return Vec::new();
    }
    let seqs: Vec<Seq> = timeline.cache_edits.keys().copied().collect();
    let mut newest = alloc::vec![None; seqs.len()];
    let mut results = BTreeMap::new();
    for (place, piece) in pieces.iter().enumerate() {
        if piece.role == PieceRole::Result {
            results.insert(piece.source, place);
        }
        if users(piece) && !timeline.tails.contains_key(&piece.source.seq) {
            let first = seqs.partition_point(|seq| *seq < piece.source.seq);
            newest
                .get_mut(first)
                .into_iter()
                .for_each(|pin| *pin = Some(place));
        }
    }
    let mut named = BTreeSet::new();
    let mut pin = None;
    let mut edits = Vec::new();
    for (logged, last) in timeline.cache_edits.values().zip(newest) {
        pin = pin.max(last);
        let Body::CacheEdit(edit) = &logged.event.body else {
            continue;
        };
        let shown = |call: &BlockId| {
            let answer = timeline.call(*call)?.answer.as_ref()?;
            results.get(&answer.block).copied()
        };
        let fresh = edit.calls.iter().filter_map(shown);
        let results: Vec<usize> = fresh.filter(|place| named.insert(*place)).collect();
        if let Some(after) = pin.filter(|_| !results.is_empty()) {
            edits.push(Edit { after, results });
        }
    }
    edits
}
