//! What the heuristics look at, gathered once a round.

use crate::reading::{self, arguments, brought, path};
use crate::{Situation, micro};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, BlockKind, Body, Digest, Message, Seq};
use recount_projections::{Answer, Call, Shown, Timeline, Unit};

/// Responses at the end that nothing is removed from.
const NEWEST: usize = 5;

/// Bytes of the model's own words up to which a response with calls says nothing but that it calls.
const ANNOUNCEMENT: usize = 200;

/// A shown call with its closing result, as it was brought.
pub(super) struct Exchange<'a> {
    /// Its response.
    pub(super) key: Seq,
    /// Its place among the calls that are shown.
    pub(super) place: usize,
    pub(super) unit: &'a Unit,
    pub(super) call: &'a Call,
    pub(super) answer: &'a Answer,
    /// The result is shown as it was brought.
    pub(super) whole: bool,
}

/// The session as heuristics see it.
pub(super) struct Scene<'a> {
    pub(super) at: &'a Situation<'a>,
    /// Calls with results, in the order of the prompt.
    pub(super) exchanges: Vec<Exchange<'a>>,
    /// Nothing from here on is removed; `None`: nothing at all.
    border: Option<Seq>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(at: &'a Situation<'a>) -> Self {
        let timeline = at.timeline();
        let named = micro::named(timeline);
        let mut exchanges = Vec::new();
        for (key, unit) in reading::units(timeline) {
            for call in unit.calls.iter().rev() {
                let Some(answer) = reading::closing(call) else {
                    continue;
                };
                let whole =
                    !timeline.replaced.contains_key(&answer.block) && !named.contains(&call.block);
                exchanges.push(Exchange {
                    key,
                    place: 0,
                    unit,
                    call,
                    answer,
                    whole,
                });
            }
        }
        exchanges.reverse();
        (0..)
            .zip(&mut exchanges)
            .for_each(|(place, exchange)| exchange.place = place);
        let newest = reading::units(timeline).nth(NEWEST.saturating_sub(1));
        let border = newest.map(|(key, _)| open_loop(timeline).map_or(key, |open| key.min(open)));
        Self {
            at,
            exchanges,
            border,
        }
    }

    /// It is old enough to go.
    pub(super) fn is_old(&self, key: Seq) -> bool {
        self.border.is_some_and(|border| key < border)
    }

    /// A response that may go, if all its calls may.
    pub(super) fn is_removable(&self, key: Seq, unit: &Unit) -> bool {
        self.is_old(key) && says_little(unit) && is_closed(self.at.timeline(), key, unit)
    }

    /// Calls of exchanges between two others.
    pub(super) fn between(&self, one: &Exchange<'_>, other: &Exchange<'_>) -> &[Exchange<'a>] {
        let first = one.place.saturating_add(1);
        self.exchanges.get(first..other.place).unwrap_or_default()
    }

    /// The responses of which every call is among these, and that may go.
    pub(super) fn wholly(&self, zombies: &BTreeSet<BlockId>) -> BTreeSet<Seq> {
        let exchanges = self.exchanges.iter();
        exchanges
            .filter(|exchange| zombies.contains(&exchange.call.block))
            .filter(|exchange| {
                let mut calls = exchange.unit.calls.iter();
                calls.all(|call| zombies.contains(&call.block))
                    && self.is_removable(exchange.key, exchange.unit)
            })
            .map(|exchange| exchange.key)
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

    /// Bytes of the result as it stands in the log: equal results have equal sizes, where they came in the same way.
    pub(super) fn size(&self) -> u64 {
        match &self.answer.logged.event.body {
            Body::ToolResult(result) => result
                .content
                .blocks
                .iter()
                .map(|block| block.raw.len)
                .sum(),
            _ => brought(self.answer).map_or(0, |brought| brought.file.len() as u64),
        }
    }
}

/// What `file_read` events say about results: file and digest.
pub(super) fn reads(timeline: &Timeline) -> BTreeMap<BlockId, (String, Option<Digest>)> {
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
