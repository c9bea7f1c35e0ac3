//! From plain data and the events that it names to a cooled state.
//!
//! - Total: data that does not hang together, or an event that is not there, gives no state.

use super::timeline::{
    FrozenCall, FrozenLine, FrozenShown, FrozenTimeline, FrozenUnit, FrozenWork, life,
};
use super::{Frozen, map, set};
use crate::state::{Log, Stored};
use crate::{
    Answer, Call, Header, Hull, Line, Logged, Map, Name, Part, Place, Plan, Said, Shown, Source,
    State, Summary, SummaryKind, Timeline, Undone, Unit, Work,
};
use alloc::{sync::Arc, vec::Vec};
use recount_events::{Body, Seq, Text};

/// Reads the events that are named.
pub(super) struct Read<'a>(&'a mut dyn FnMut(Seq) -> Option<Arc<Logged>>);

impl Read<'_> {
    /// An event.
    pub(super) fn event(&mut self, seq: Seq) -> Option<Arc<Logged>> {
        (self.0)(seq).filter(|logged| logged.seq == seq)
    }

    /// An event where one is named; the outer `None`: it is not there.
    pub(super) fn maybe(&mut self, seq: Option<Seq>) -> Option<Option<Arc<Logged>>> {
        match seq {
            Some(seq) => self.event(seq).map(Some),
            None => Some(None),
        }
    }

    /// Events by position.
    pub(super) fn events(&mut self, seqs: &[Seq]) -> Option<Map<Seq, Arc<Logged>>> {
        seqs.iter()
            .map(|seq| Some((*seq, self.event(*seq)?)))
            .collect()
    }
}

impl Frozen {
    /// The state again, cooled: `events` reads what [`Frozen::needs`] names, `source` what is asked for later. `None`: the data does
    /// not hang together, or an event is not there; then the log is folded.
    #[must_use]
    pub fn thaw(
        &self,
        events: &mut dyn FnMut(Seq) -> Option<Arc<Logged>>,
        source: Arc<dyn Source>,
    ) -> Option<State> {
        if self.bones.len() as u64 != self.next.0 || self.timeline.head != self.head() {
            return None;
        }
        let mut read = Read(events);
        let now = self.timeline.thaw(&mut read)?;
        let whole = self.whole.thaw();
        let bones = (0..).map(Seq).zip(&self.bones);
        let bones = bones.map(|(seq, bone)| bone.bone(seq)).collect();
        let base = Stored {
            timeline: now.clone(),
            whole: whole.clone(),
        };
        Some(State {
            now,
            ledger: self.ledger.thaw(&mut read)?,
            whole,
            log: Log::cold(bones, base, source),
            next: self.next,
            origin: self.origin,
        })
    }
}

impl FrozenTimeline {
    fn thaw(&self, read: &mut Read<'_>) -> Option<Timeline> {
        let units = self.units(read)?;
        let content = self.content.iter().map(|(seq, own, units)| {
            let units = units.clone();
            (*seq, Place { own: *own, units })
        });
        let slots = self.slots.iter();
        let replaced = self.replaced.iter();
        Some(Timeline {
            head: self.head,
            header: self.header(read)?,
            shown: self
                .shown
                .iter()
                .map(|(key, shown)| Some((*key, thaw_shown(*key, *shown, &units, read)?)))
                .collect::<Option<_>>()?,
            tails: read.events(&self.tails)?,
            replaced: replaced
                .map(|(block, by)| Some((*block, read.event(*by)?)))
                .collect::<Option<_>>()?,
            open: map(&self.open),
            authored_last: self.authored_last,
            relied: self.relied,
            line: self.line.thaw(),
            content: content.collect(),
            units,
            tip: self.tip,
            masked: map(&self.masked),
            superseded: map(&self.superseded),
            slots: slots
                .map(|(name, seqs)| (*name, seqs.iter().copied().collect()))
                .collect(),
            summaries: map(&self.summaries),
            folds: map(&self.folds),
            turns: set(&self.turns),
            checkpoints: read.events(&self.checkpoints)?,
            work: self.work.thaw(read)?,
            files: read.events(&self.files)?,
            memories: read.events(&self.memories)?,
            todo: read.maybe(self.todo)?,
            judged: map(&self.judged),
            cache_edits: read.events(&self.cache_edits)?,
            cache_acks: read.events(&self.cache_acks)?,
            usage: self.usage,
            issued: self.issued,
        })
    }

    fn header(&self, read: &mut Read<'_>) -> Option<Header> {
        let [profile, policy, system, tools] = self.header;
        Some(Header {
            profile: read.maybe(profile)?,
            policy: read.maybe(policy)?,
            system: read.maybe(system)?,
            tools: read.maybe(tools)?,
            rendering: self.rendering,
        })
    }

    fn units(&self, read: &mut Read<'_>) -> Option<Map<Seq, Hull>> {
        let units = self.units.iter().map(|(key, last, unit)| {
            let unit = match unit {
                Some(unit) => Some(Arc::new(unit.thaw(read)?)),
                None => None,
            };
            Some((*key, Hull { unit, last: *last }))
        });
        units.collect()
    }
}

fn thaw_shown(
    key: Seq,
    shown: FrozenShown,
    units: &Map<Seq, Hull>,
    read: &mut Read<'_>,
) -> Option<Shown> {
    Some(match shown {
        FrozenShown::Unit => Shown::Unit(units.get(&key)?.unit.clone()?),
        FrozenShown::Said => Shown::Said(Arc::new(Said {
            logged: read.event(key)?,
        })),
        FrozenShown::Inject => Shown::Inject(read.event(key)?),
        FrozenShown::Summary {
            commit,
            collapse,
            last,
        } => Shown::Summary(Arc::new(summary(
            &*read.event(commit)?,
            collapse,
            (key, last),
        )?)),
    })
}

fn summary(commit: &Logged, collapse: bool, range: (Seq, Seq)) -> Option<Summary> {
    let (kind, id, text): (_, _, Option<Text>) = match &commit.event.body {
        Body::CollapseCommit(commit) if collapse => (
            SummaryKind::Collapse,
            Some(commit.id.clone()),
            commit.summary.clone(),
        ),
        Body::CompactCommit(commit) if !collapse => (
            SummaryKind::Compact,
            commit.id.clone(),
            commit.summary.clone(),
        ),
        _ => return None,
    };
    Some(Summary {
        seq: commit.seq,
        kind,
        id,
        text: text?,
        range,
    })
}

impl FrozenUnit {
    fn thaw(&self, read: &mut Read<'_>) -> Option<Unit> {
        let parts = self.parts.iter().map(|seq| {
            Some(Part {
                seq: *seq,
                logged: read.event(*seq)?,
            })
        });
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let calls = self.calls.iter().map(|call| call.thaw(read));
        Some(Unit {
            parts,
            calls: calls.collect::<Option<_>>()?,
        })
    }
}

impl FrozenCall {
    fn thaw(&self, read: &mut Read<'_>) -> Option<Call> {
        let answer = match self.answer {
            Some((block, status)) => Some(Answer {
                logged: read.event(block.seq)?,
                block,
                status,
            }),
            None => None,
        };
        Some(Call {
            block: self.block,
            as_given: self.as_given,
            answer,
        })
    }
}

impl FrozenLine {
    fn thaw(&self) -> Line {
        let undos = self.undos.iter().map(|(seq, event, base)| {
            let (event, base) = (*event, *base);
            (*seq, Undone { event, base })
        });
        Line {
            spans: map(&self.spans),
            times: map(&self.times),
            latest: self.latest,
            arrived: self.arrived,
            undos: undos.collect(),
            caused: set(&self.caused),
            fallen: map(&self.fallen),
            since: 0,
        }
    }
}

impl FrozenWork {
    fn thaw(&self, read: &mut Read<'_>) -> Option<Work> {
        let plan = match &self.plan {
            Some((plan, chunks)) => Some(Plan {
                logged: read.event(*plan)?,
                chunks: chunks
                    .iter()
                    .map(|(chunk, seq)| Some((*chunk, read.event(*seq)?)))
                    .collect::<Option<_>>()?,
            }),
            None => None,
        };
        Some(Work {
            stages: read.events(&self.stages)?,
            plan,
            collapses: lives(&self.collapses)?,
            compactions: lives(&self.compactions)?,
        })
    }
}

fn lives(lives: &[(Name, u8, Seq)]) -> Option<Map<Name, crate::Life>> {
    let lives = lives.iter();
    lives
        .map(|(name, number, seq)| Some((*name, life(*number, *seq)?)))
        .collect()
}
