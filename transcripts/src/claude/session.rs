//! One session while its records are read: its events so far, and what later records may name.
//!
//! - Records are taken in the order of the file, and what was made of them never changes: a file that grew gives the
//!   same events and more.
//! - A record that shows nothing is kept verbatim; nothing is dropped.

use super::record::{Parent, Record};
use super::tasks::Tasks;
use super::timeline::{Place, Timeline};
use crate::{Branch, Doubt, Imported, ImportedSession, Problem, Report, Source};
use recount_events::{Body, Event, Kept, Millis, Opened, Rollback, Seq, SessionKind, Target, Text};
use std::collections::BTreeMap;

/// When a record makes the recording go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turns {
    /// Never.
    Never,
    /// When its place is on another branch.
    OffBranch,
    /// Also when something was said behind its place.
    Always,
}

/// A boundary of a compaction that waits for its summary.
#[derive(Clone, Debug)]
pub(super) struct Boundary {
    /// The position of the boundary.
    pub(super) event: usize,
    /// Where it stood.
    pub(super) source: Source,
    /// The first position that it keeps before itself.
    pub(super) keeps: Option<usize>,
    /// Tokens before and after, as the host counted them.
    pub(super) tokens: (Option<u64>, Option<u64>),
}

/// A block of an event: the event's position and the block's index.
pub(super) type Spot = (usize, u32);

/// A session while it is read.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) name: String,
    pub(super) kind: SessionKind,
    pub(super) file: Option<String>,
    pub(super) parent: Option<(String, usize)>,
    pub(super) events: Vec<Imported>,
    pub(super) timeline: Timeline,
    /// The time of the newest event.
    pub(super) at: Millis,
    /// The first record of each uuid: what it said.
    seen: BTreeMap<String, &'a str>,
    /// Parents that were named before they were seen, if they ever are, with the doubts about that.
    expected: BTreeMap<String, Vec<usize>>,
    /// The newest call of each id.
    pub(super) calls: BTreeMap<String, Spot>,
    /// The newest result for each id.
    pub(super) results: BTreeMap<String, Spot>,
    /// The calls and the answered ids of each node.
    pub(super) pairs: BTreeMap<usize, Pairs>,
    /// Calls that start a sub-agent.
    pub(super) tasks: Tasks,
    /// The call that started each sub-agent.
    pub(super) agents: BTreeMap<String, String>,
    /// The model of each profile by its position, and its budget for thinking.
    pub(super) profiles: BTreeMap<usize, (String, Option<u64>)>,
    /// Tokens of thinking that requests ask for by now.
    pub(super) thinking: Option<u64>,
    /// A compaction that waits for its summary.
    pub(super) boundary: Option<Boundary>,
}

/// The calls of a node and the ids that it answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    pub(super) calls: Vec<(String, Spot)>,
    pub(super) results: Vec<String>,
}

impl<'a> Session<'a> {
    /// A session whose first event says that it is opened.
    pub(super) fn open(
        name: String,
        kind: SessionKind,
        parent: Option<(String, usize)>,
        at: Millis,
    ) -> Self {
        let opened = Opened {
            session: Text::plain(&name),
            kind,
            parent: parent
                .as_ref()
                .map(|(name, event)| (Text::plain(name), Seq(*event as u64))),
            spill_root: None,
            host: Some(Text::plain("claude-code")),
        };
        let mut session = Self {
            name,
            kind,
            file: None,
            parent,
            events: Vec::new(),
            timeline: Timeline::default(),
            at,
            seen: BTreeMap::new(),
            expected: BTreeMap::new(),
            calls: BTreeMap::new(),
            results: BTreeMap::new(),
            pairs: BTreeMap::new(),
            tasks: Tasks::default(),
            agents: BTreeMap::new(),
            profiles: BTreeMap::new(),
            thinking: None,
            boundary: None,
        };
        session.push(
            Body::Opened(opened),
            Source {
                line: 1,
                ..Source::default()
            },
            None,
        );
        session
    }

    /// Takes one record.
    pub(super) fn take(&mut self, record: &Record<'a>, report: &mut Report) {
        self.at = record.at.unwrap_or(self.at);
        if self.replayed(record, report) {
            self.keep(record, report);
            return;
        }
        match record.name.as_str() {
            "assistant" if record.synthetic() => self.synthetic(record, report),
            "assistant" => self.assistant(record, report),
            "user" => self.user(record, report),
            "system/compact_boundary" => self.boundary(record, report),
            "content-replacement" => self.replacements(record, report),
            "marble-origami-commit" => self.collapse(record, report),
            name if name.starts_with("attachment/") => self.attachment(record, report),
            _ => self.beside(record, report),
        }
    }

    /// A record beside the conversation: kept, and its uuid stands for what it follows.
    pub(super) fn beside(&mut self, record: &Record<'a>, report: &mut Report) {
        self.late(record, report);
        let place = self.place(record, report);
        let node = if record.name == "system/api_error" {
            self.timeline.tip()
        } else {
            self.timeline.at(place)
        };
        self.stand(record, node);
        self.note_agent(record);
        self.keep(record, report);
    }

    /// Progress of a sub-agent names the call that started it.
    fn note_agent(&mut self, record: &Record<'a>) {
        let agent = record
            .members
            .members("data")
            .and_then(|data| data.text("agentId"));
        if let (Some(agent), Some(call)) = (agent, record.members.text("parentToolUseID")) {
            self.agents.entry(agent).or_insert(call);
        }
    }

    /// An error in the model's name. It may be written late, with a parent long left behind: it must not lead back there.
    fn synthetic(&mut self, record: &Record<'a>, report: &mut Report) {
        self.place(record, report);
        self.stand(record, self.timeline.tip());
        self.doubt(record, Problem::Synthetic, String::new(), report);
        self.keep(record, report);
    }

    /// The uuid of the record stands for a node.
    pub(super) fn stand(&mut self, record: &Record<'a>, node: Option<usize>) {
        if let Some(uuid) = record.uuid() {
            self.timeline.anchor(uuid, node);
            self.seen.entry(uuid.to_owned()).or_insert(record.core());
        }
    }

    /// The uuid was seen before, with the same content.
    fn replayed(&self, record: &Record<'a>, report: &mut Report) -> bool {
        let Some(core) = record.uuid().and_then(|uuid| self.seen.get(uuid)) else {
            return false;
        };
        let same = *core == record.core();
        let problem = if same {
            Problem::Replayed
        } else {
            Problem::UuidReused
        };
        self.doubt(record, problem, String::new(), report);
        same
    }

    /// Where the record belongs, by its parent.
    pub(super) fn place(&mut self, record: &Record<'a>, report: &mut Report) -> Place {
        match &record.parent {
            Parent::Is(uuid) => self.behind(uuid, record, report),
            Parent::Absent | Parent::Root if record.logical.is_some() => record
                .logical
                .as_ref()
                .map_or(Place::Tip, |uuid| self.behind(uuid, record, report)),
            Parent::Root
                if record.name == "user" && !record.members.is_true("isCompactSummary") =>
            {
                if self.timeline.tip().is_some() {
                    self.doubt(record, Problem::NewRoot, String::new(), report);
                }
                Place::Start
            }
            Parent::Absent | Parent::Root => Place::Tip,
        }
    }

    fn behind(&mut self, uuid: &str, record: &Record<'a>, report: &mut Report) -> Place {
        if record.uuid() == Some(uuid) {
            self.doubt(record, Problem::SelfParent, String::new(), report);
            return Place::Tip;
        }
        match self.timeline.find(uuid) {
            Some(Some(node)) => Place::Behind(node),
            Some(None) => Place::Start,
            None => {
                self.expected
                    .entry(uuid.to_owned())
                    .or_default()
                    .push(report.doubted.len());
                self.doubt(
                    record,
                    Problem::PhantomParent,
                    format!("parent={uuid}"),
                    report,
                );
                Place::Tip
            }
        }
    }

    /// The record was named as a parent before it came. What was a phantom until now is that no longer.
    pub(super) fn late(&mut self, record: &Record<'a>, report: &mut Report) -> bool {
        let Some(doubts) = record.uuid().and_then(|uuid| self.expected.get_mut(uuid)) else {
            return false;
        };
        for doubt in std::mem::take(doubts) {
            if let Some(doubt) = report.doubted.get_mut(doubt) {
                doubt.problem = Problem::LateParent;
            }
        }
        true
    }

    /// Goes back where the record asks for it, so that what is pushed next stands behind its parent.
    pub(super) fn settle(
        &mut self,
        record: &Record<'a>,
        place: Place,
        unit: usize,
        turns: Turns,
        report: &mut Report,
    ) {
        // A parent that comes after its child cannot send the child away.
        let late = self.late(record, report);
        let elsewhere = matches!(place, Place::Behind(node) if !self.timeline.follows(node));
        let asks = turns == Turns::Always || (turns == Turns::OffBranch && elsewhere);
        if late || !asks {
            return;
        }
        let Some(to) = self.timeline.branch(place, unit) else {
            return;
        };
        let event = self.events.len();
        self.timeline.go_back(place, to, event);
        let rollback = Rollback {
            asked: Target::Seq(Seq(to as u64)),
            to: None,
        };
        self.push(
            Body::Rollback(rollback),
            Source {
                bytes: 0,
                ..record.source.clone()
            },
            None,
        );
        let line = record.source.line;
        report.branches.push(Branch {
            session: self.name.clone(),
            line,
            event,
            to: to as u64,
        });
    }

    /// Adds an event; answers its position.
    pub(super) fn push(&mut self, body: Body, source: Source, extra: Option<Text>) -> usize {
        let event = Event {
            at: self.at,
            body,
            because: None,
            extra,
        };
        self.events.push(Imported { event, source });
        self.events.len() - 1
    }

    /// Keeps a record verbatim.
    pub(super) fn keep(&mut self, record: &Record<'a>, report: &mut Report) -> usize {
        report.kept += 1;
        let name = format!("claude-code/{}", record.name);
        let kept = Kept {
            name: Text::plain(&name),
            raw: Text::json(record.raw),
        };
        self.push(Body::Kept(kept), record.source.clone(), None)
    }

    /// A record of a known type and an unknown shape.
    pub(super) fn malformed(&mut self, record: &Record<'a>, report: &mut Report) {
        self.doubt(
            record,
            Problem::Malformed,
            format!("type={}", record.name),
            report,
        );
        self.beside(record, report);
    }

    /// Notes a doubt about a record.
    pub(super) fn doubt(
        &self,
        record: &Record<'a>,
        problem: Problem,
        text: String,
        report: &mut Report,
    ) {
        let Source { line, offset, .. } = record.source;
        report.doubted.push(Doubt {
            file: self.file.clone(),
            line,
            offset,
            problem,
            text,
        });
    }

    /// What was read.
    pub(super) fn finish(self, report: &mut Report) -> ImportedSession {
        if let Some(Boundary {
            source: Source { line, offset, .. },
            ..
        }) = self.boundary
        {
            let (file, problem, text) = (self.file.clone(), Problem::NoSummary, String::new());
            report.doubted.push(Doubt {
                file,
                line,
                offset,
                problem,
                text,
            });
        }
        let Self {
            name,
            kind,
            file,
            parent,
            events,
            ..
        } = self;
        ImportedSession {
            name,
            kind,
            file,
            parent,
            events,
        }
    }
}
