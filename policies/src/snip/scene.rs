//! What the heuristics look at, gathered once a round.

use super::index::{Spot, Told, Zombie};
use crate::Situation;
use crate::reading::{self, arguments, brought, path};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, BlockKind, Body, Message, Seq};
use recount_projections::{Answer, Call, Shown, Timeline, Unit};

/// Responses at the end that nothing is removed from.
const NEWEST: usize = 5;

/// Bytes of the model's own words up to which a response with calls says nothing but that it calls.
const ANNOUNCEMENT: usize = 200;

/// A shown call with its closing result, as it was brought.
pub(super) struct Exchange<'a> {
    /// Its response.
    pub(super) key: Seq,
    /// Its place among the response's calls.
    pub(super) place: u32,
    pub(super) unit: &'a Unit,
    pub(super) call: &'a Call,
    pub(super) answer: &'a Answer,
}

/// The session as heuristics see it.
pub(super) struct Scene<'a> {
    pub(super) at: &'a Situation<'a>,
    /// Nothing from here on is removed; `None`: nothing at all.
    border: Option<Seq>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(at: &'a Situation<'a>) -> Self {
        let timeline = at.timeline();
        let newest = reading::units(timeline).nth(NEWEST.saturating_sub(1));
        let border = newest.map(|(key, _)| open_loop(timeline).map_or(key, |open| key.min(open)));
        Self { at, border }
    }

    /// The call at a place, with its closing result.
    pub(super) fn exchange(&self, (key, place): Spot) -> Option<Exchange<'a>> {
        let unit = self.unit(key)?;
        let call = unit.calls.get(usize::try_from(place).ok()?)?;
        let answer = reading::closing(call)?;
        Some(Exchange {
            key,
            place,
            unit,
            call,
            answer,
        })
    }

    fn unit(&self, key: Seq) -> Option<&'a Unit> {
        match self.at.timeline().shown.get(&key)? {
            Shown::Unit(unit) => Some(unit),
            _ => None,
        }
    }

    /// It is old enough to go.
    pub(super) fn is_old(&self, key: Seq) -> bool {
        self.border.is_some_and(|border| key < border)
    }

    /// A response that may go, if all its calls may.
    pub(super) fn is_removable(&self, key: Seq) -> bool {
        let unit = self.unit(key).filter(|_| self.is_old(key));
        unit.is_some_and(|unit| says_little(unit) && is_closed(self.at.timeline(), key, unit))
    }

    /// Calls of exchanges between two others.
    pub(super) fn between(
        &self,
        one: &Exchange<'_>,
        other: &Exchange<'_>,
    ) -> impl Iterator<Item = Exchange<'a>> {
        let (first, last) = ((one.key, one.place), (other.key, other.place));
        let units = self.at.timeline().shown.range(first.0..=last.0);
        let places = units.flat_map(|(key, shown)| {
            let calls = match shown {
                Shown::Unit(unit) => unit.calls.len(),
                _ => 0,
            };
            (0..u32::try_from(calls).unwrap_or(u32::MAX)).map(|place| (*key, place))
        });
        places
            .filter(move |place| first < *place && *place < last)
            .filter_map(|place| self.exchange(place))
    }

    /// The responses of which every call is among these, and that may go.
    pub(super) fn wholly(&self, zombies: &BTreeSet<Zombie>) -> BTreeSet<Seq> {
        let keys: BTreeSet<Seq> = zombies.iter().map(|(key, _)| *key).collect();
        let all = |key: &Seq| {
            let calls = self.unit(*key).map(|unit| unit.calls.iter());
            let mut calls = calls.into_iter().flatten();
            calls.all(|call| zombies.contains(&(*key, call.block)))
        };
        let keys = keys.into_iter();
        keys.filter(|key| all(key) && self.is_removable(*key))
            .collect()
    }

    /// What goes with a key: a response with all its results, or a single injection.
    pub(super) fn positions(&self, key: Seq) -> Vec<Seq> {
        let timeline = self.at.timeline();
        if timeline.shows_unit(key) {
            timeline.positions_of(key)
        } else {
            Vec::from([key])
        }
    }

    /// The blocks that are shown for it.
    pub(super) fn blocks(&self, key: Seq) -> Vec<BlockId> {
        match self.at.timeline().shown.get(&key) {
            Some(Shown::Unit(unit)) => {
                let said = unit.parts.iter().flat_map(|part| {
                    let blocks = part
                        .message()
                        .map_or(0, |message| message.content.blocks.len());
                    (0..u32::try_from(blocks).unwrap_or(u32::MAX)).map(|index| BlockId {
                        seq: part.seq,
                        index,
                    })
                });
                let results = unit.calls.iter().filter_map(|call| call.answer.as_ref());
                said.chain(results.map(|answer| answer.block)).collect()
            }
            Some(Shown::Inject(inject)) => match &inject.event.body {
                Body::Inject(body) => (0..u32::try_from(body.content.blocks.len()).unwrap_or(0))
                    .map(|index| BlockId { seq: key, index })
                    .collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The last response that shows thinking, on a profile that binds it to what stands in front.
    pub(super) fn bound_thinking(&self) -> Option<Seq> {
        if !self.at.profile.thinking.binds {
            return None;
        }
        let shown: BTreeSet<BlockId> = self.at.pieces.iter().map(|piece| piece.source).collect();
        reading::units(self.at.timeline())
            .find(|(_, unit)| {
                let mut thoughts = blocks_of_kind(unit, BlockKind::Thinking);
                thoughts.any(|block| shown.contains(&block))
            })
            .map(|(key, _)| key)
    }
}

/// The blocks of a kind in a response.
fn blocks_of_kind(unit: &Unit, kind: BlockKind) -> impl Iterator<Item = BlockId> {
    unit.parts.iter().flat_map(move |part| {
        let blocks = part.message().map(|message| message.content.blocks.iter());
        (0_u32..)
            .zip(blocks.into_iter().flatten())
            .filter(move |(_, block)| block.kind == kind)
            .map(|(index, _)| BlockId {
                seq: part.seq,
                index,
            })
    })
}

/// From here on the tool loop is open: the newest entry is a response that called tools, and the turn began here.
fn open_loop(timeline: &Timeline) -> Option<Seq> {
    let mut entries = timeline.shown.iter().rev();
    let newest = entries.find(|(_, shown)| !matches!(shown, Shown::Inject(_)));
    match newest {
        Some((_, Shown::Unit(unit))) if !unit.calls.is_empty() => {}
        _ => return None,
    }
    let turn = timeline
        .shown
        .iter()
        .rev()
        .find(|(_, shown)| matches!(shown, Shown::Said(_) | Shown::Summary(_)));
    Some(turn.map_or(Seq(0), |(key, _)| *key))
}

/// All calls are closed, and its positions are its own: no words of the person and no result of another response stand in them.
fn is_closed(timeline: &Timeline, key: Seq, unit: &Unit) -> bool {
    let closed = unit
        .calls
        .iter()
        .all(|call| !timeline.open.contains_key(&call.block));
    let own = |seq: &Seq| {
        let place = timeline.content.get(seq);
        place.is_some_and(|place| !place.own && place.units.iter().all(|unit| *unit == key))
    };
    closed && timeline.tip != Some(key) && timeline.positions_of(key).iter().all(own)
}

/// Beside its calls it holds nothing but thinking and few words.
fn says_little(unit: &Unit) -> bool {
    let messages = unit.parts.iter().filter_map(|part| part.message());
    let mut words = 0_usize;
    for block in messages.flat_map(|message: &Message| &message.content.blocks) {
        match block.kind {
            BlockKind::Call | BlockKind::Thinking => {}
            BlockKind::Text => {
                let said = block.words().map_or(usize::MAX, |words| words.trim().len());
                words = words.saturating_add(said);
            }
            _ => return false,
        }
    }
    words <= ANNOUNCEMENT
}

impl Exchange<'_> {
    pub(super) fn tool(&self) -> String {
        reading::tool(self.unit, self.call)
    }

    pub(super) fn arguments(&self) -> BTreeMap<String, String> {
        reading::facts(self.unit, self.call)
            .map(|facts| arguments(facts.input))
            .unwrap_or_default()
    }

    pub(super) fn path(&self) -> Option<String> {
        path(&self.arguments())
    }

    /// Both brought the same words.
    pub(super) fn brought_the_same(&self, other: &Self) -> bool {
        match (brought(self.answer), brought(other.answer)) {
            (Some(one), Some(other)) => one == other && !one.seen,
            _ => false,
        }
    }
}

/// Bytes of a result as it stands in the log: equal results have equal sizes, where they came in the same way.
pub(super) fn size(answer: &Answer) -> u64 {
    match &answer.logged.event.body {
        Body::ToolResult(result) => result
            .content
            .blocks
            .iter()
            .map(|block| block.raw.len)
            .sum(),
        _ => brought(answer).map_or(0, |brought| brought.file.len() as u64),
    }
}

/// What `file_read` events say about results: file and digest.
pub(super) fn reads(timeline: &Timeline) -> Told {
    let reads = timeline.files.values();
    reads
        .filter_map(|logged| match &logged.event.body {
            Body::FileRead(read) => {
                let path = read.path.words()?.into_owned();
                Some((read.block?, (path, read.digest)))
            }
            _ => None,
        })
        .collect()
}
