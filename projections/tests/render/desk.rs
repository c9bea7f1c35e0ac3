//! A timeline made by hand: a fold in a few lines, for tests of the render alone.
//!
//! - Events are given as a host gives them; only what the tests need is folded.
//! - Every step answers what it touched, as the state does.

use recount_events::{
    BlockId, BlockKind, Body, Bound, CallMark, Event, Lifetime, Message, Millis, Profile, Range,
    ResultMark, Seq, Status, Wire,
};
use recount_projections::render::{Budget, ByBytes};
use recount_projections::timeline::{Answer, Call, Part, Said, Summary, SummaryKind, Unit};
use recount_projections::{Logged, Projection, Request, Shown, Timeline, project};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A session on a desk.
#[derive(Clone, Default)]
pub(crate) struct Desk {
    pub(crate) timeline: Timeline,
    next: u64,
    ids: BTreeSet<String>,
}

/// What a step changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    pub(crate) touched: Option<Seq>,
    pub(crate) header: bool,
}

/// A profile that limits nothing.
pub(crate) const PLAIN: &str = r#"{"type":"profile","provider":"anthropic","model":"claude-test","wire":"anthropic","window":200000,"max_output":8000,"prefill":false,"thinking":{"binds":false,"keeps":"all"},"system_role":false,"params":{}}"#;

impl Desk {
    /// A desk with a plain profile.
    pub(crate) fn new() -> Self {
        let mut desk = Self::default();
        desk.log(PLAIN);
        desk
    }

    /// A desk whose profile has these members changed.
    pub(crate) fn with(change: &str) -> Self {
        let mut desk = Self::default();
        desk.profile(change);
        desk
    }

    /// Another profile: the plain one with some members changed.
    pub(crate) fn profile(&mut self, change: &str) -> Change {
        let mut plain: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(PLAIN).unwrap();
        let change: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(change).unwrap();
        plain.extend(change);
        self.log(&serde_json::to_string(&plain).unwrap())
    }

    /// Logs an event.
    pub(crate) fn log(&mut self, json: &str) -> Change {
        let event = Event::from_json(json, Millis(0))
            .unwrap_or_else(|refusal| panic!("{refusal:?} in {json}"));
        self.apply(event)
    }

    /// The person says these words.
    pub(crate) fn says(&mut self, words: &str) -> Change {
        self.log(&format!(
            r#"{{"type":"message","role":"user","content":{}}}"#,
            recount_events::escape(words)
        ))
    }

    /// The assistant says these blocks.
    pub(crate) fn answers(&mut self, blocks: &str) -> Change {
        self.log(&format!(
            r#"{{"type":"message","role":"assistant","content":[{blocks}]}}"#
        ))
    }

    pub(crate) fn apply(&mut self, event: Event) -> Change {
        let seq = Seq(self.next);
        self.next += 1;
        self.timeline.head = Some(seq);
        let mut event = event;
        if let Body::Message(message) = &mut event.body {
            self.resolve(seq, message);
        }
        let logged = Arc::new(Logged { seq, event });
        match &logged.event.body {
            Body::Profile(_) => self.timeline.header.profile = Some(Arc::clone(&logged)),
            Body::System(_) => self.timeline.header.system = Some(Arc::clone(&logged)),
            Body::Tools(_) => self.timeline.header.tools = Some(Arc::clone(&logged)),
            Body::Message(message) => return touched(self.message(seq, message, &logged)),
            Body::ToolResult(result) => {
                let block = result
                    .block
                    .or_else(|| self.open(result.call.as_ref().unwrap().as_str().unwrap()))
                    .unwrap();
                return touched(self.answer(
                    block,
                    BlockId { seq, index: 0 },
                    result.status,
                    &logged,
                ));
            }
            Body::Inject(inject) => return touched(self.inject(seq, inject.lifetime, &logged)),
            Body::Replace(replace) => {
                for block in &replace.blocks {
                    self.timeline
                        .replaced
                        .insert_mut(*block, Arc::clone(&logged));
                }
                return touched(
                    replace
                        .blocks
                        .iter()
                        .filter_map(|block| self.key_of(block.seq))
                        .min(),
                );
            }
            Body::CompactCommit(fold) => {
                let summary = fold.summary.clone().unwrap();
                return touched(self.fold(
                    seq,
                    SummaryKind::Compact,
                    fold.id.clone(),
                    summary,
                    fold.range,
                ));
            }
            Body::CollapseCommit(fold) => {
                let (summary, range) = (fold.summary.clone().unwrap(), fold.range.unwrap());
                return touched(self.fold(
                    seq,
                    SummaryKind::Collapse,
                    Some(fold.id.clone()),
                    summary,
                    range,
                ));
            }
            Body::DeleteRange(delete) => return touched(self.hide(delete.range)),
            other => panic!("not for the desk: {}", other.name()),
        }
        Change {
            touched: None,
            header: true,
        }
    }

    /// Marks calls and results, as admission does.
    fn resolve(&mut self, seq: Seq, message: &mut Message) {
        let format = message.content.format;
        for (index, block) in (0_u32..).zip(&message.content.blocks) {
            match block.kind {
                BlockKind::Call if message.role == recount_events::Role::Assistant => {
                    let id = block.call(format).map(|call| call.id).unwrap_or_default();
                    let plain =
                        |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
                    let travels = (1..=40).contains(&id.len())
                        && id.bytes().all(plain)
                        && !id.starts_with("call_");
                    let as_given = travels && self.ids.insert(id);
                    message.calls.push(CallMark { index, as_given });
                }
                BlockKind::Result => {
                    let id = block
                        .result(format)
                        .map(|result| result.call_id)
                        .unwrap_or_default();
                    let bound = self.open(&id).map_or(Bound::Orphan, Bound::To);
                    message.results.push(ResultMark { index, bound });
                }
                _ => {}
            }
        }
        let user = message.role == recount_events::Role::User;
        let words = message
            .content
            .blocks
            .iter()
            .any(|block| block.kind != BlockKind::Result);
        message.authored = message.authored.or(Some(user && words));
        message.joins = self.joins(seq, message);
    }

    /// The unit that a part continues: the last entry, when it is of the same response.
    fn joins(&self, _seq: Seq, message: &Message) -> Option<Seq> {
        let (key, Shown::Unit(unit)) = self.timeline.shown.last()? else {
            return None;
        };
        let first = unit.parts.first()?.message()?;
        (message.response.is_some() && first.response == message.response).then_some(*key)
    }

    fn message(&mut self, seq: Seq, message: &Message, logged: &Arc<Logged>) -> Option<Seq> {
        if message.role == recount_events::Role::Assistant {
            return Some(self.part(seq, message, logged));
        }
        let mut touched = None;
        for mark in &message.results {
            let block = &message.content.blocks[mark.index as usize];
            let error = block
                .result(message.content.format)
                .and_then(|result| result.is_error)
                == Some(true);
            let status = if error { Status::Error } else { Status::Ok };
            if let Bound::To(call) = mark.bound {
                let key = self.answer(
                    call,
                    BlockId {
                        seq,
                        index: mark.index,
                    },
                    status,
                    logged,
                );
                touched = touched.min(key).or(key);
            }
        }
        if message
            .content
            .blocks
            .iter()
            .any(|block| block.kind != BlockKind::Result)
        {
            self.timeline.shown.insert_mut(
                seq,
                Shown::Said(Arc::new(Said {
                    logged: Arc::clone(logged),
                })),
            );
            touched = touched.or(Some(seq));
        }
        if message.authored == Some(true) {
            self.timeline.authored_last = Some(seq);
        }
        touched
    }

    fn part(&mut self, seq: Seq, message: &Message, logged: &Arc<Logged>) -> Seq {
        let key = message.joins.unwrap_or(seq);
        let mut unit = match self.timeline.shown.get(&key) {
            Some(Shown::Unit(unit)) => (**unit).clone(),
            _ => Unit {
                parts: Vec::new(),
                calls: Vec::new(),
            },
        };
        unit.parts.push(Part {
            seq,
            logged: Arc::clone(logged),
        });
        let calls = message.calls.iter().map(|mark| Call {
            block: BlockId {
                seq,
                index: mark.index,
            },
            as_given: mark.as_given,
            answer: None,
        });
        unit.calls.extend(calls);
        self.timeline
            .shown
            .insert_mut(key, Shown::Unit(Arc::new(unit)));
        key
    }

    /// The newest open call of this id.
    fn open(&self, id: &str) -> Option<BlockId> {
        let units = self
            .timeline
            .shown
            .iter()
            .rev()
            .filter_map(|(_, shown)| match shown {
                Shown::Unit(unit) => Some(unit),
                _ => None,
            });
        units
            .flat_map(|unit| unit.calls.iter().map(move |call| (unit, call)))
            .find_map(|(unit, call)| {
                let part = unit
                    .parts
                    .iter()
                    .find(|part| part.seq == call.block.seq)?
                    .message()?;
                let facts =
                    part.content.blocks[call.block.index as usize].call(part.content.format)?;
                let closed = call
                    .answer
                    .as_ref()
                    .is_some_and(|answer| answer.status.closes());
                (facts.id == id && !closed).then_some(call.block)
            })
    }

    /// Calls that are shown without a closing result, in order.
    pub(crate) fn open_calls(&self) -> Vec<BlockId> {
        let calls = self.timeline.shown.values().flat_map(|shown| match shown {
            Shown::Unit(unit) => unit.calls.clone(),
            _ => Vec::new(),
        });
        let open = |call: &Call| {
            !call
                .answer
                .as_ref()
                .is_some_and(|answer| answer.status.closes())
        };
        calls.filter(open).map(|call| call.block).collect()
    }

    fn answer(
        &mut self,
        call: BlockId,
        block: BlockId,
        status: Status,
        logged: &Arc<Logged>,
    ) -> Option<Seq> {
        let key = self.key_of(call.seq)?;
        let Some(Shown::Unit(unit)) = self.timeline.shown.get(&key) else {
            return None;
        };
        let mut unit = (**unit).clone();
        let found = unit.calls.iter_mut().find(|one| one.block == call)?;
        found.answer = Some(Answer {
            logged: Arc::clone(logged),
            block,
            status,
        });
        self.timeline
            .shown
            .insert_mut(key, Shown::Unit(Arc::new(unit)));
        Some(key)
    }

    /// The key of the entry that shows an event.
    fn key_of(&self, seq: Seq) -> Option<Seq> {
        self.timeline.shown.iter().find_map(|(key, shown)| {
            let shows = match shown {
                Shown::Unit(unit) => {
                    unit.parts.iter().any(|part| part.seq == seq)
                        || unit
                            .calls
                            .iter()
                            .filter_map(|call| call.answer.as_ref())
                            .any(|one| one.logged.seq == seq)
                }
                _ => *key == seq,
            };
            shows.then_some(*key)
        })
    }

    fn inject(&mut self, seq: Seq, lifetime: Lifetime, logged: &Arc<Logged>) -> Option<Seq> {
        if lifetime == Lifetime::Tail {
            let Body::Inject(new) = &logged.event.body else {
                return None;
            };
            let slot = |old: &Arc<Logged>| matches!(&old.event.body, Body::Inject(old) if old.slot == new.slot);
            let gone = self
                .timeline
                .tails
                .iter()
                .find(|(_, old)| slot(old))
                .map(|(key, _)| *key);
            gone.map(|key| self.timeline.tails.remove_mut(&key));
            if !new.content.blocks.is_empty() {
                self.timeline.tails.insert_mut(seq, Arc::clone(logged));
            }
            return None;
        }
        self.timeline
            .shown
            .insert_mut(seq, Shown::Inject(Arc::clone(logged)));
        Some(seq)
    }

    fn hide(&mut self, range: Range) -> Option<Seq> {
        let Range::Closed { first, last } = range else {
            panic!("the desk knows closed ranges only")
        };
        let keys: Vec<Seq> = self
            .timeline
            .shown
            .range(first..=last)
            .map(|(key, _)| *key)
            .collect();
        for key in &keys {
            self.timeline.shown.remove_mut(key);
        }
        let authored = self.timeline.shown.iter().rev().find(|(_, shown)| {
            matches!(shown, Shown::Said(said) if said.logged.message().is_some_and(|said| said.authored == Some(true)))
        });
        self.timeline.authored_last = authored.map(|(key, _)| *key);
        keys.first().copied()
    }

    fn fold(
        &mut self,
        seq: Seq,
        kind: SummaryKind,
        id: Option<recount_events::Text>,
        text: recount_events::Text,
        range: Range,
    ) -> Option<Seq> {
        let Range::Closed { first, last } = range else {
            panic!("the desk knows closed ranges only")
        };
        let gone = self.hide(range);
        let summary = Summary {
            seq,
            kind,
            id,
            text,
            range: (first, last),
        };
        self.timeline
            .shown
            .insert_mut(first, Shown::Summary(Arc::new(summary)));
        Some(gone.map_or(first, |gone| gone.min(first)))
    }

    /// The profile in force.
    pub(crate) fn in_force(&self) -> Profile {
        match &self.timeline.header.profile.as_ref().unwrap().event.body {
            Body::Profile(profile) => profile.clone(),
            _ => panic!("no profile"),
        }
    }

    /// The prompt for a wire.
    pub(crate) fn project(&self, wire: Wire) -> Projection {
        self.project_as(wire, false, Budget::default())
    }

    pub(crate) fn project_as(&self, wire: Wire, heal: bool, budget: Budget) -> Projection {
        let profile = self.in_force();
        let request = Request {
            timeline: &self.timeline,
            profile: &profile,
            wire,
            heal,
            counts: &ByBytes,
            budget,
        };
        project(&request)
    }

    /// The body for Anthropic.
    pub(crate) fn anthropic(&self) -> String {
        String::from_utf8(self.project(Wire::Anthropic).body()).unwrap()
    }

    /// The body for Chat.
    pub(crate) fn chat(&self) -> String {
        String::from_utf8(self.project(Wire::OpenaiChat).body()).unwrap()
    }

    /// The messages for Anthropic, as raw JSON.
    pub(crate) fn messages(&self) -> String {
        recount_events::raw::member(&self.anthropic(), "messages")
            .unwrap()
            .to_string()
    }

    /// The messages for Chat, as raw JSON.
    pub(crate) fn chat_messages(&self) -> String {
        recount_events::raw::member(&self.chat(), "messages")
            .unwrap()
            .to_string()
    }

    /// Names of the repairs on Anthropic, in order.
    pub(crate) fn repairs(&self) -> Vec<&'static str> {
        self.project(Wire::Anthropic)
            .repairs
            .iter()
            .map(|repair| repair.kind.name())
            .collect()
    }

    /// Reasons of what is left out on Anthropic, in order.
    pub(crate) fn left_out(&self) -> Vec<&'static str> {
        self.project(Wire::Anthropic)
            .left_out
            .iter()
            .map(|left| left.reason.name())
            .collect()
    }
}

const fn touched(touched: Option<Seq>) -> Change {
    Change {
        touched,
        header: false,
    }
}
