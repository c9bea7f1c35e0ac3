//! Which session a record belongs to: the file's own, or that of a sub-agent.
//!
//! - Sub-agents' records stand among the others (`isSidechain`), in files beside the transcript, or in a file of their own.
//! - A child names the call that started it where the recording tells.

use super::leaf;
use super::record::{Parent, Record};
use super::session::Session;
use super::{Item, items};
use crate::json::{self, Members};
use crate::{Doubt, Files, ImportedSession, Problem, Report, Source, lines};
use recount_events::{Body, Kept, Millis, SessionKind, Text};
use std::collections::BTreeMap;

/// The sessions of one transcript while it is read.
pub(super) struct Reader<'a> {
    main: Session<'a>,
    children: Vec<Session<'a>>,
    /// The children read from other files, finished.
    others: Vec<ImportedSession>,
    /// All records belong to the main session.
    whole: bool,
    /// The child of each uuid and of each agent.
    homes: BTreeMap<String, usize>,
    agents: BTreeMap<String, usize>,
}

impl<'a> Reader<'a> {
    /// A reader for the records of a file.
    pub(super) fn new(name: &str, items: &[Item<'a>]) -> Self {
        let whole = sub_agent(name, items);
        let kind = if whole {
            kind_of(name)
        } else {
            SessionKind::Main
        };
        let main = Session::open(name.to_owned(), kind, None, first_time(items));
        Self::over(main, whole)
    }

    fn over(main: Session<'a>, whole: bool) -> Self {
        let (homes, agents) = (BTreeMap::new(), BTreeMap::new());
        Self {
            main,
            children: Vec::new(),
            others: Vec::new(),
            whole,
            homes,
            agents,
        }
    }

    /// Takes all pieces of the file.
    pub(super) fn take_all(&mut self, items: &[Item<'a>], report: &mut Report) {
        for item in items {
            let home = item
                .record
                .as_ref()
                .and_then(|record| self.home(record, report));
            match home.and_then(|home| self.children.get_mut(home)) {
                Some(child) => child.piece(item, report),
                None => self.main.piece(item, report),
            }
        }
        leaf::check(&self.main, items, report);
    }

    /// What stands in a document beside its records.
    pub(super) fn keep_document(&mut self, document: &Members<'a>) {
        let member = |(key, raw): (&str, &str)| {
            (key != "loglines").then(|| format!("{}:{raw}", json::escape(key)))
        };
        let members: Vec<String> = document.iter().filter_map(member).collect();
        if !members.is_empty() {
            let raw = Text::json(&format!("{{{}}}", members.join(",")));
            let kept = Kept {
                name: Text::plain("claude-code/document"),
                raw,
            };
            self.main.push(
                Body::Kept(kept),
                Source {
                    line: 1,
                    ..Source::default()
                },
                None,
            );
        }
    }

    /// The child to which a record belongs; `None` for the main session.
    fn home(&mut self, record: &Record<'a>, report: &mut Report) -> Option<usize> {
        if self.whole || !record.sidechain() {
            return None;
        }
        let agent = record.members.text("agentId");
        let by_parent = match &record.parent {
            Parent::Is(uuid) => self.homes.get(uuid).copied(),
            Parent::Absent | Parent::Root => None,
        };
        let by_agent = agent
            .as_ref()
            .and_then(|agent| self.agents.get(agent).copied());
        let last = self
            .children
            .len()
            .checked_sub(1)
            .filter(|_| record.parent != Parent::Root && agent.is_none());
        let home = by_parent.or(by_agent).or(last);
        let home = home.unwrap_or_else(|| self.open_child(record, agent.as_deref(), report));
        if let Some(uuid) = record.uuid() {
            self.homes.insert(uuid.to_owned(), home);
        }
        if let Some(agent) = agent {
            self.agents.entry(agent).or_insert(home);
        }
        Some(home)
    }

    fn open_child(
        &mut self,
        record: &Record<'a>,
        agent: Option<&str>,
        report: &mut Report,
    ) -> usize {
        let index = self.children.len();
        let fallback = format!("sidechain-{}", index + 1);
        let name = format!(
            "{}/{}",
            self.main.name,
            agent.map_or(fallback, |agent| format!("agent-{agent}"))
        );
        let prompt = record
            .message
            .as_ref()
            .and_then(|message| message.text("content"));
        let asked = prompt.and_then(|prompt| self.main.tasks.asked(&prompt));
        let event = asked.or(self.main.tasks.last());
        if event.is_none() {
            self.main.doubt(
                record,
                Problem::UnknownParent,
                format!("session={name}"),
                report,
            );
        }
        let parent = event.map(|event| (self.main.name.clone(), event));
        let at = record.at.unwrap_or(self.main.at);
        self.children
            .push(Session::open(name, SessionKind::Sub, parent, at));
        index
    }

    /// Takes the files of sub-agents beside the transcript.
    pub(super) fn take_files(&mut self, files: &dyn Files, report: &mut Report) {
        let stem = self
            .main
            .name
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        let folder = format!("{stem}/subagents");
        let mut paths: Vec<String> = files
            .list(&folder)
            .into_iter()
            .filter(|name| is_agent_file(name))
            .collect();
        paths.sort();
        let mut paths: Vec<String> = paths
            .into_iter()
            .map(|name| format!("{folder}/{name}"))
            .collect();
        let agents = self.main.agents.keys().filter(|agent| plain(agent));
        paths.extend(agents.map(|agent| format!("agent-{agent}.jsonl")));
        for path in paths {
            if let Some(bytes) = files.read(&path) {
                self.take_file(&path, &bytes, files, report);
            }
        }
    }

    fn take_file(&mut self, path: &str, bytes: &[u8], files: &dyn Files, report: &mut Report) {
        let items = items(lines::pieces(bytes));
        let stem = path
            .rsplit('/')
            .next()
            .unwrap_or(path)
            .trim_end_matches(".jsonl");
        let mut name = format!("{}/{stem}", self.main.name);
        if self.others.iter().any(|other| other.name == name) {
            return;
        }
        if self.children.iter().any(|child| child.name == name) {
            name.push_str("/file");
        }
        let meta = files.read(&format!("{}.meta.json", path.trim_end_matches(".jsonl")));
        let event = self.starter(stem, &items, meta.as_deref());
        if event.is_none() {
            let (file, problem, text) = (
                Some(path.to_owned()),
                Problem::UnknownParent,
                format!("session={name}"),
            );
            report.doubted.push(Doubt {
                file,
                line: 1,
                offset: 0,
                problem,
                text,
            });
        }
        let parent = event.map(|event| (self.main.name.clone(), event));
        let mut session = Session::open(name, kind_of(stem), parent, first_time(&items));
        session.file = Some(path.to_owned());
        let mut reader = Reader::over(session, true);
        reader.take_all(&items, report);
        self.others.extend(reader.finish(report));
    }

    /// The event that started a sub-agent: by the file beside it, by its id, by what it was asked, by its first parent,
    /// and by being the only one.
    fn starter(&self, stem: &str, items: &[Item<'_>], meta: Option<&[u8]>) -> Option<usize> {
        let meta = meta
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .and_then(Members::parse);
        let by_meta = meta.and_then(|meta| meta.text("toolUseId"));
        let by_agent = stem
            .strip_prefix("agent-")
            .and_then(|agent| self.main.agents.get(agent).cloned());
        let call = by_meta
            .or(by_agent)
            .and_then(|id| self.main.calls.get(&id))
            .map(|(event, _)| *event);
        let first = items.iter().find_map(|item| item.record.as_ref());
        let asked = || {
            self.main
                .tasks
                .asked(&first?.message.as_ref()?.text("content")?)
        };
        let behind = || match &first?.parent {
            Parent::Is(uuid) => self
                .main
                .timeline
                .node(self.main.timeline.find(uuid)??)
                .map(|node| node.event),
            Parent::Absent | Parent::Root => None,
        };
        call.or_else(asked)
            .or_else(behind)
            .or_else(|| self.main.tasks.only())
    }

    /// The sessions, the main one first.
    pub(super) fn finish(self, report: &mut Report) -> Vec<ImportedSession> {
        let mut sessions = vec![self.main.finish(report)];
        sessions.extend(self.children.into_iter().map(|child| child.finish(report)));
        sessions.extend(self.others);
        sessions
    }
}

/// An id that names a file and nothing else: ids come from the transcript, and a path in one must lead nowhere.
fn plain(agent: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !agent.is_empty() && agent.bytes().all(plain)
}

fn is_agent_file(name: &str) -> bool {
    name.starts_with("agent-") && name.ends_with(".jsonl")
}

/// An agent that writes summaries has a side session, any other one a sub-agent's.
fn kind_of(name: &str) -> SessionKind {
    let stem = name.rsplit('/').next().unwrap_or(name);
    if stem.starts_with("agent-acompact") {
        SessionKind::Side
    } else {
        SessionKind::Sub
    }
}

/// The file is a sub-agent's own: by its name, or because nobody else speaks in it.
fn sub_agent(name: &str, items: &[Item<'_>]) -> bool {
    let stem = name.rsplit('/').next().unwrap_or(name);
    let mut said = items
        .iter()
        .filter_map(|item| item.record.as_ref())
        .filter(|record| record.says())
        .peekable();
    stem.starts_with("agent-") || (said.peek().is_some() && said.all(Record::sidechain))
}

fn first_time(items: &[Item<'_>]) -> Millis {
    items
        .iter()
        .filter_map(|item| item.record.as_ref())
        .find_map(|record| record.at)
        .unwrap_or_default()
}
