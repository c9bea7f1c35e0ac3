//! ② by the plain way: every round walks over everything that is shown, once for each rule. It is slow, and shares nothing with the tier
//! but how calls and results are read.

use crate::common::Host;
use recount_events::{BlockId, BlockKind, Body, Digest, Lifetime, Seq};
use recount_policies::Situation;
use recount_policies::reading::{self, arguments, brought, closing, path};
use recount_projections::{Shown, Unit};
use std::collections::{BTreeMap, BTreeSet};

struct Exchange {
    call: BlockId,
    result: BlockId,
    tool: String,
    arguments: BTreeMap<String, String>,
    /// The result's words, and whether pictures are in it.
    words: Option<(String, bool)>,
    size: u64,
    whole: bool,
}

const CHANGES: [&str; 10] = [
    "edit", "write", "patch", "replace", "create", "insert", "delete", "remove", "move", "rename",
];
const READS: [&str; 6] = [
    "read",
    "read_file",
    "readfile",
    "view",
    "view_file",
    "open_file",
];

impl Exchange {
    fn changes(&self) -> bool {
        let tool = self.tool.to_lowercase();
        CHANGES.iter().any(|part| tool.contains(part))
    }

    fn reads(&self) -> bool {
        READS.contains(&self.tool.to_lowercase().as_str())
    }

    fn brought_the_same(&self, other: &Self) -> bool {
        self.size == other.size
            && !self.words.as_ref().is_none_or(|(_, seen)| *seen)
            && self.words.is_some()
            && self.words == other.words
    }
}

/// Positions that the tier hides.
pub(crate) fn hides(host: &Host) -> BTreeSet<u64> {
    let view = host.view();
    let at = view.at();
    let switches = &at.constants.snip;
    let mut found: BTreeSet<Seq> = BTreeSet::new();
    if !at.auto {
        return BTreeSet::new();
    }
    let all = exchanges(&at);
    if switches.superseded_reads {
        found.extend(wholly(&at, &superseded(&at, &all)));
    }
    if switches.duplicates {
        found.extend(wholly(&at, &duplicates(&all)));
    }
    if switches.empty {
        let units = reading::units(at.timeline());
        let silent = units.filter(|(_, unit)| unit.calls.is_empty() && words(unit) == Some(0));
        found.extend(
            silent
                .map(|(key, _)| key)
                .filter(|key| removable(&at, *key)),
        );
    }
    if switches.markers {
        found.extend(markers(&at));
    }
    let back = reading::taken_back(at.state).messages;
    let bound = bound(&at);
    found.retain(|key| {
        let own = positions(&at, *key);
        let before = bound.is_some_and(|thinking| *key < thinking);
        !own.iter().any(|seq| back.contains(seq)) && (!before || switches.before_thinking)
    });
    let positions: BTreeSet<Seq> = found.iter().flat_map(|key| positions(&at, *key)).collect();
    let blocks: u64 = (0..at.pieces.len())
        .filter_map(|index| at.pieces.get(index))
        .filter(|piece| positions.contains(&piece.source.seq))
        .map(|piece| piece.tokens)
        .sum();
    if blocks < switches.least_tokens {
        return BTreeSet::new();
    }
    positions.into_iter().map(|seq| seq.0).collect()
}

fn exchanges(at: &Situation<'_>) -> Vec<Exchange> {
    let timeline = at.timeline();
    let named: BTreeSet<BlockId> = timeline
        .cache_edits
        .values()
        .flat_map(|logged| match &logged.event.body {
            Body::CacheEdit(edit) => edit.calls.clone(),
            _ => Vec::new(),
        })
        .collect();
    let mut all = Vec::new();
    for shown in timeline.shown.values() {
        let Shown::Unit(unit) = shown else { continue };
        for call in &unit.calls {
            let Some(answer) = closing(call) else {
                continue;
            };
            let facts = reading::facts(unit, call);
            let brought = brought(answer);
            let size = match &answer.logged.event.body {
                Body::ToolResult(result) => result
                    .content
                    .blocks
                    .iter()
                    .map(|block| block.raw.len)
                    .sum(),
                _ => brought
                    .as_ref()
                    .map_or(0, |brought| brought.file.len() as u64),
            };
            all.push(Exchange {
                call: call.block,
                result: answer.block,
                tool: reading::tool(unit, call),
                arguments: facts
                    .map(|facts| arguments(facts.input))
                    .unwrap_or_default(),
                words: brought.map(|brought| (brought.words.into_owned(), brought.seen)),
                size,
                whole: !timeline.replaced.contains_key(&answer.block)
                    && !named.contains(&call.block),
            });
        }
    }
    all
}

/// What the host said of results.
fn told(at: &Situation<'_>) -> BTreeMap<BlockId, (String, Option<Digest>)> {
    let reads = at.timeline().files.values();
    reads
        .filter_map(|logged| match &logged.event.body {
            Body::FileRead(read) => {
                Some((read.block?, (read.path.words()?.into_owned(), read.digest)))
            }
            _ => None,
        })
        .collect()
}

fn superseded(at: &Situation<'_>, all: &[Exchange]) -> BTreeSet<BlockId> {
    let told = told(at);
    let digest = |one: &Exchange| told.get(&one.result).and_then(|(_, digest)| *digest);
    let file = |one: &Exchange| {
        path(&one.arguments).or_else(|| told.get(&one.result).map(|(path, _)| path.clone()))
    };
    let is_read = |one: &Exchange| {
        one.whole
            && !one.changes()
            && (one.reads() || told.contains_key(&one.result))
            && file(one).is_some()
    };
    let mut zombies = BTreeSet::new();
    for by_digest in [true, false] {
        // Of several that are alike, one after another from the end: the first stays.
        let mut kept: Vec<usize> = Vec::new();
        for index in (0..all.len()).rev().filter(|index| is_read(&all[*index])) {
            let one = &all[index];
            let again = kept.iter().any(|later| {
                let other = &all[*later];
                let group = if by_digest {
                    digest(one).is_some() && told.get(&one.result) == told.get(&other.result)
                } else {
                    one.size == other.size
                };
                let digests = digest(one).is_some() && digest(one) == digest(other);
                let mut between = all[index + 1..*later].iter();
                group
                    && file(one) == file(other)
                    && one.arguments == other.arguments
                    && (digests || other.brought_the_same(one))
                    && !between.any(|call| call.changes() && path(&call.arguments) == file(one))
            });
            if again {
                zombies.insert(one.call);
            } else {
                kept.push(index);
            }
        }
    }
    zombies
}

fn duplicates(all: &[Exchange]) -> BTreeSet<BlockId> {
    let mut zombies = BTreeSet::new();
    let mine = |one: &&Exchange| one.whole && !one.changes() && !one.reads();
    let all: Vec<&Exchange> = all.iter().filter(mine).collect();
    for (index, one) in all.iter().enumerate() {
        let mut later = all[index + 1..].iter();
        if later.any(|later| {
            later.tool == one.tool
                && later.arguments == one.arguments
                && later.brought_the_same(one)
        }) {
            zombies.insert(one.call);
        }
    }
    zombies
}

fn markers(at: &Situation<'_>) -> BTreeSet<Seq> {
    let timeline = at.timeline();
    let all: Vec<_> = timeline
        .shown
        .iter()
        .filter_map(|(key, shown)| match shown {
            Shown::Inject(logged) => match &logged.event.body {
                Body::Inject(inject) if inject.lifetime == Lifetime::Once => {
                    Some((*key, inject.slot.words()?.into_owned(), inject))
                }
                _ => None,
            },
            _ => None,
        })
        .collect();
    let mut stale = BTreeSet::new();
    for (index, (key, slot, inject)) in all.iter().enumerate() {
        let later = || {
            all[index + 1..]
                .iter()
                .filter(|(_, other, _)| other == slot)
        };
        let progress = slot == "progress"
            || slot.starts_with("progress:")
            || slot.starts_with("progress/")
            || slot.starts_with("progress.");
        let over = timeline.authored_last.is_some_and(|turn| *key < turn);
        let raws = |inject: &recount_events::Inject| {
            let blocks = inject.content.blocks.iter();
            blocks
                .map(|block| block.raw.bytes().map(<[u8]>::to_vec))
                .collect::<Option<Vec<_>>>()
        };
        let again = later().any(|(_, _, other)| {
            other.content.format == inject.content.format
                && raws(inject).is_some()
                && raws(other) == raws(inject)
        });
        if (progress && (over || later().next().is_some())) || again {
            stale.insert(*key);
        }
    }
    stale.retain(|key| border(at).is_some_and(|border| *key < border));
    stale
}

/// From here on everything stays.
fn border(at: &Situation<'_>) -> Option<Seq> {
    let timeline = at.timeline();
    let (fifth, _) = reading::units(timeline).nth(4)?;
    let entries = || timeline.shown.iter().rev();
    let newest = entries().find(|(_, shown)| !matches!(shown, Shown::Inject(_)));
    let works = matches!(newest, Some((_, Shown::Unit(unit))) if !unit.calls.is_empty());
    let turn = entries().find(|(_, shown)| matches!(shown, Shown::Said(_) | Shown::Summary(_)));
    let open = turn.map_or(Seq(0), |(key, _)| *key);
    Some(if works { fifth.min(open) } else { fifth })
}

/// Bytes of a response's words; none where it holds more than words, calls and thinking.
fn words(unit: &Unit) -> Option<usize> {
    let messages = unit.parts.iter().filter_map(|part| part.message());
    let blocks = messages.flat_map(|message| &message.content.blocks);
    blocks
        .map(|block| match block.kind {
            BlockKind::Text => Some(block.words()?.trim().len()),
            BlockKind::Call => Some(0),
            // Thinking alone is more than nothing.
            BlockKind::Thinking if !unit.calls.is_empty() => Some(0),
            _ => None,
        })
        .sum()
}

fn removable(at: &Situation<'_>, key: Seq) -> bool {
    let timeline = at.timeline();
    let Some(Shown::Unit(unit)) = timeline.shown.get(&key) else {
        return false;
    };
    let closed = !unit
        .calls
        .iter()
        .any(|call| timeline.open.contains_key(&call.block));
    let own = timeline.positions_of(key).into_iter().all(|seq| {
        let place = timeline.content.get(&seq);
        place.is_some_and(|place| !place.own && place.units == vec![key; place.units.len()])
    });
    border(at).is_some_and(|border| key < border)
        && words(unit).is_some_and(|words| words <= 200)
        && closed
        && own
        && timeline.tip != Some(key)
}

fn wholly(at: &Situation<'_>, zombies: &BTreeSet<BlockId>) -> BTreeSet<Seq> {
    let units = reading::units(at.timeline());
    units
        .filter(|(_, unit)| {
            let mut calls = unit.calls.iter();
            !unit.calls.is_empty() && calls.all(|call| zombies.contains(&call.block))
        })
        .map(|(key, _)| key)
        .filter(|key| removable(at, *key))
        .collect()
}

fn positions(at: &Situation<'_>, key: Seq) -> Vec<Seq> {
    if at.timeline().shows_unit(key) {
        at.timeline().positions_of(key)
    } else {
        vec![key]
    }
}

/// The last response that shows thinking, where that is bound to what stands in front.
fn bound(at: &Situation<'_>) -> Option<Seq> {
    let shown: BTreeSet<BlockId> = at.pieces.iter().map(|piece| piece.source).collect();
    let thinks = |unit: &Unit| {
        unit.parts.iter().any(|part| {
            let blocks = part.message().map(|message| &message.content.blocks);
            let blocks = (0_u32..).zip(blocks.into_iter().flatten());
            blocks
                .filter(|(_, block)| block.kind == BlockKind::Thinking)
                .any(|(index, _)| {
                    shown.contains(&BlockId {
                        seq: part.seq,
                        index,
                    })
                })
        })
    };
    let mut units = reading::units(at.timeline());
    let found = units.find(|(_, unit)| at.profile.thinking.binds && thinks(unit));
    found.map(|(key, _)| key)
}
