//! The timeline as plain data: every event is a position, units stand once and what shows them names them.

use super::{keys, list, plain};
use crate::{Answer, Call, Life, Line, Logged, Map, Name, Shown, SummaryKind, Timeline, Unit};
use alloc::{sync::Arc, vec::Vec};
use bincode::{Decode, Encode};
use recount_events::{BlockId, Millis, Seq, Status};

/// See [`Timeline`].
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct FrozenTimeline {
    pub(super) head: Option<Seq>,
    /// Profile, policy, system, tools.
    pub(super) header: [Option<Seq>; 4],
    pub(super) rendering: Option<u32>,
    pub(super) shown: Vec<(Seq, FrozenShown)>,
    pub(super) tails: Vec<Seq>,
    pub(super) replaced: Vec<(BlockId, Seq)>,
    pub(super) open: Vec<(BlockId, Seq)>,
    pub(super) authored_last: Option<Seq>,
    pub(super) relied: Option<Seq>,
    pub(super) line: FrozenLine,
    pub(super) content: Vec<(Seq, bool, Vec<Seq>)>,
    pub(super) units: Vec<(Seq, Seq, Option<FrozenUnit>)>,
    pub(super) tip: Option<Seq>,
    pub(super) masked: Vec<(Seq, (Seq, Seq))>,
    pub(super) superseded: Vec<(Seq, Seq)>,
    pub(super) slots: Vec<(Name, Vec<Seq>)>,
    pub(super) summaries: Vec<(Seq, Seq)>,
    pub(super) folds: Vec<(Seq, (Seq, Seq))>,
    pub(super) turns: Vec<Seq>,
    pub(super) checkpoints: Vec<Seq>,
    pub(super) work: FrozenWork,
    pub(super) files: Vec<Seq>,
    pub(super) memories: Vec<Seq>,
    pub(super) todo: Option<Seq>,
    pub(super) judged: Vec<(BlockId, Seq)>,
    pub(super) cache_edits: Vec<Seq>,
    pub(super) cache_acks: Vec<Seq>,
    pub(super) usage: Option<Seq>,
    pub(super) issued: Option<Seq>,
}

/// What is shown under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) enum FrozenShown {
    /// The unit of the key.
    Unit,
    /// The message at the key.
    Said,
    /// The injection at the key.
    Inject,
    /// The summary of a commit, and where its range ends.
    Summary {
        commit: Seq,
        collapse: bool,
        last: Seq,
    },
}

/// A unit that is held.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct FrozenUnit {
    pub(super) parts: Vec<Seq>,
    pub(super) calls: Vec<FrozenCall>,
}

/// A call and the block that answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct FrozenCall {
    pub(super) block: BlockId,
    pub(super) as_given: bool,
    pub(super) answer: Option<(BlockId, Status)>,
}

/// See [`Line`].
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct FrozenLine {
    pub(super) spans: Vec<(Seq, Seq)>,
    pub(super) times: Vec<(Millis, Seq)>,
    pub(super) latest: Millis,
    pub(super) arrived: Option<Seq>,
    pub(super) undos: Vec<(Seq, Seq, Seq)>,
    pub(super) caused: Vec<(Seq, Seq)>,
    pub(super) fallen: Vec<(Seq, Seq)>,
}

/// See [`crate::Work`].
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct FrozenWork {
    pub(super) stages: Vec<Seq>,
    pub(super) plan: Option<(Seq, Vec<(u32, Seq)>)>,
    pub(super) collapses: Vec<(Name, u8, Seq)>,
    pub(super) compactions: Vec<(Name, u8, Seq)>,
}

fn seq(logged: &Option<Arc<Logged>>) -> Option<Seq> {
    logged.as_ref().map(|logged| logged.seq)
}

impl FrozenTimeline {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let header = &timeline.header;
        let content = timeline.content.iter();
        let replaced = timeline.replaced.iter();
        let slots = timeline.slots.iter();
        Self {
            head: timeline.head,
            header: [
                seq(&header.profile),
                seq(&header.policy),
                seq(&header.system),
                seq(&header.tools),
            ],
            rendering: header.rendering,
            shown: timeline.shown.iter().map(shown).collect(),
            tails: keys(&timeline.tails),
            replaced: replaced.map(|(block, by)| (*block, by.seq)).collect(),
            open: list(&timeline.open),
            authored_last: timeline.authored_last,
            relied: timeline.relied,
            line: FrozenLine::of(&timeline.line),
            content: content
                .map(|(seq, place)| (*seq, place.own, place.units.clone()))
                .collect(),
            units: units(timeline),
            tip: timeline.tip,
            masked: list(&timeline.masked),
            superseded: list(&timeline.superseded),
            slots: slots.map(|(name, seqs)| (*name, plain(seqs))).collect(),
            summaries: list(&timeline.summaries),
            folds: list(&timeline.folds),
            turns: keys(&timeline.turns),
            checkpoints: keys(&timeline.checkpoints),
            work: FrozenWork::of(timeline),
            files: keys(&timeline.files),
            memories: keys(&timeline.memories),
            todo: seq(&timeline.todo),
            judged: list(&timeline.judged),
            cache_edits: keys(&timeline.cache_edits),
            cache_acks: keys(&timeline.cache_acks),
            usage: timeline.usage,
            issued: timeline.issued,
        }
    }
}

fn shown((key, shown): (&Seq, &Shown)) -> (Seq, FrozenShown) {
    let shown = match shown {
        Shown::Unit(_) => FrozenShown::Unit,
        Shown::Said(_) => FrozenShown::Said,
        Shown::Inject(_) => FrozenShown::Inject,
        Shown::Summary(summary) => FrozenShown::Summary {
            commit: summary.seq,
            collapse: summary.kind == SummaryKind::Collapse,
            last: summary.range.1,
        },
    };
    (*key, shown)
}

fn units(timeline: &Timeline) -> Vec<(Seq, Seq, Option<FrozenUnit>)> {
    let units = timeline.units.iter().map(|(key, hull)| {
        let held = hull.unit.as_deref().filter(|_| timeline.holds_unit(*key));
        (*key, hull.last, held.map(FrozenUnit::of))
    });
    units.collect()
}

impl FrozenUnit {
    fn of(unit: &Unit) -> Self {
        Self {
            parts: unit.parts.iter().map(|part| part.seq).collect(),
            calls: unit.calls.iter().map(FrozenCall::of).collect(),
        }
    }
}

impl FrozenCall {
    fn of(call: &Call) -> Self {
        let answer = |answer: &Answer| (answer.block, answer.status);
        Self {
            block: call.block,
            as_given: call.as_given,
            answer: call.answer.as_ref().map(answer),
        }
    }
}

impl FrozenLine {
    fn of(line: &Line) -> Self {
        let undos = line.undos.iter();
        Self {
            spans: list(&line.spans),
            times: list(&line.times),
            latest: line.latest,
            arrived: line.arrived,
            undos: undos
                .map(|(seq, undone)| (*seq, undone.event, undone.base))
                .collect(),
            caused: keys(&line.caused),
            fallen: list(&line.fallen),
        }
    }
}

impl FrozenWork {
    fn of(timeline: &Timeline) -> Self {
        let work = &timeline.work;
        let plan = work.plan.as_ref().map(|plan| {
            let chunks = plan.chunks.iter();
            let chunks = chunks.map(|(chunk, logged)| (*chunk, logged.seq)).collect();
            (plan.logged.seq, chunks)
        });
        Self {
            stages: keys(&work.stages),
            plan,
            collapses: lives(&work.collapses),
            compactions: lives(&work.compactions),
        }
    }
}

fn lives(lives: &Map<Name, Life>) -> Vec<(Name, u8, Seq)> {
    let number = |life: &Life| match life {
        Life::Staged(_) => 0,
        Life::Planned(_) => 1,
        Life::Committed(_) => 2,
        Life::Abandoned(_) => 3,
        Life::Discarded(_) => 4,
    };
    let lives = lives.iter();
    lives
        .map(|(name, life)| (*name, number(life), life.seq()))
        .collect()
}

/// What became of a name; see [`lives`].
pub(super) fn life(number: u8, seq: Seq) -> Option<Life> {
    Some(match number {
        0 => Life::Staged(seq),
        1 => Life::Planned(seq),
        2 => Life::Committed(seq),
        3 => Life::Abandoned(seq),
        4 => Life::Discarded(seq),
        _ => return None,
    })
}
