//! Roo's subtasks: the task that started one, and the call there that did.
//!
//! - A task's own item names its parent; else the list of items beside does, by the child or by the parent's `childIds`; else what tools
//!   write into the metadata (Roo Code, `packages/types/src/history.ts` and `TaskHistoryStore.ts`, Apache-2.0).
//! - The parent's history lies in the folder beside. Its call `new_task` that started the child is the one whose result names the child,
//!   else the one that says the child's first words, else the one in the child's place among all children, else the only one.
//! - The parent need not be there: a child names it all the same, and its opening as the place.

use super::document;
use super::{ALL_TASKS, HISTORY, INDEX, ITEM, METADATA, TASKS, TASKS_BESIDE};
use crate::json::{self, Members};
use crate::lines::Piece;
use crate::{Files, ImportedSession, Problem};
use recount_events::{Block, BlockId, Body, Role, Seq, raw};
use std::collections::BTreeSet;

/// The most parents of parents that are followed; what goes on further is taken for no circle.
const FOLLOWED: usize = 256;
/// The longest name of a folder, in bytes (POSIX, `NAME_MAX` of usual file systems).
const LONGEST: usize = 255;
/// The call that starts a subtask.
const STARTS: &str = "new_task";

/// The files of the task in a folder beside.
pub(super) struct Beside<'a> {
    files: &'a dyn Files,
    task: String,
}

impl Files for Beside<'_> {
    fn list(&self, folder: &str) -> Vec<String> {
        self.files
            .list(&format!("{TASKS_BESIDE}{}/{folder}", self.task))
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files
            .read(&format!("{TASKS_BESIDE}{}/{path}", self.task))
    }
}

/// What started a task.
#[derive(Debug, Default)]
pub(super) struct Family {
    /// The parent's name, and the position of the event there that did; 0, its opening, where that is not known.
    pub(super) parent: Option<(String, usize)>,
    /// What is doubtful about it.
    pub(super) doubt: Option<(Problem, String)>,
}

/// Finds what started a task. `read` gives the session of a task beside.
pub(super) fn of(
    name: &str,
    files: &dyn Files,
    said: &[String],
    read: impl Fn(&str, &Beside<'_>) -> ImportedSession,
) -> Family {
    let Some(parent) = parent_of(name, files, files) else {
        return Family::default();
    };
    let doubted = |problem| Family {
        parent: None,
        doubt: Some((problem, format!("parent={parent}"))),
    };
    if parent == name {
        return doubted(Problem::SelfParent);
    }
    if !plain(&parent) {
        return doubted(Problem::UnknownParent);
    }
    if is_in_a_circle(name, &parent, files) {
        return doubted(Problem::Cycle);
    }
    let beside = Beside {
        files,
        task: parent.clone(),
    };
    let there = beside.read(HISTORY).is_some();
    let event = there.then(|| read(&parent, &beside)).and_then(|session| {
        let children = Item::alone(beside.read(ITEM).as_deref()).children;
        let first = first_words(Item::alone(files.read(ITEM).as_deref()), said);
        started(&session, name, &children, &first)
    });
    let doubt = event
        .is_none()
        .then(|| (Problem::UnknownParent, format!("parent={parent}")));
    Family {
        parent: Some((parent, event.unwrap_or_default())),
        doubt,
    }
}

/// An id that names a folder beside and nothing else: ids come from files, and a path in one must lead nowhere.
fn plain(id: &str) -> bool {
    let odd = id.starts_with('.') || id.contains(['/', '\\', '\0']);
    !id.is_empty() && id.len() <= LONGEST && !odd
}

/// The parents of a task lead back to it.
fn is_in_a_circle(name: &str, parent: &str, files: &dyn Files) -> bool {
    let mut at = parent.to_owned();
    let mut seen = BTreeSet::new();
    while seen.len() < FOLLOWED && plain(&at) && seen.insert(at.clone()) {
        let beside = Beside {
            files,
            task: at.clone(),
        };
        match parent_of(&at, &beside, files) {
            Some(next) if next == name => return true,
            Some(next) => at = next,
            None => return false,
        }
    }
    false
}

/// The parent that a task's own item names, or the lists of all items, or what tools write beside.
fn parent_of(name: &str, own: &dyn Files, files: &dyn Files) -> Option<String> {
    let first = Item::alone(own.read(ITEM).as_deref()).parent;
    let listed = || {
        let items = Item::listed(files);
        let says = items.iter().filter(|item| item.id.as_deref() == Some(name));
        let claims = items
            .iter()
            .filter(|item| item.children.iter().any(|child| child == name));
        says.filter_map(|item| item.parent.clone())
            .next()
            .or_else(|| claims.filter_map(|item| item.id.clone()).next())
    };
    first
        .or_else(listed)
        .or_else(|| Item::alone(own.read(METADATA).as_deref()).parent)
}

/// The file that names a task's parent.
pub(super) fn place(name: &str, files: &dyn Files) -> &'static str {
    if Item::alone(files.read(ITEM).as_deref()).parent.is_some() {
        return ITEM;
    }
    let about = |item: &Item| {
        let says = item.parent.is_some() && item.id.as_deref() == Some(name);
        says || item.children.iter().any(|child| child == name)
    };
    let lists = [INDEX, TASKS, ALL_TASKS].into_iter();
    let mut told = lists.filter(|file| Item::listed_in(file, files).iter().any(about));
    told.next().unwrap_or(METADATA)
}

/// What an item of a task says of its family.
#[derive(Debug, Default)]
struct Item {
    id: Option<String>,
    parent: Option<String>,
    children: Vec<String>,
    /// The first words of the task.
    words: Option<String>,
}

impl Item {
    fn read(raw: &str) -> Self {
        let members = Members::parse(raw).unwrap_or_default();
        let text = |key: &str| members.text(key).filter(|text| !text.is_empty());
        let children = members.items("childIds").unwrap_or_default();
        Self {
            id: text("id"),
            parent: text("parentTaskId"),
            children: children.into_iter().filter_map(json::unescape).collect(),
            words: text("task"),
        }
    }

    /// The item that is a whole document; one that says nothing where there is none.
    fn alone(bytes: Option<&[u8]>) -> Self {
        let whole = bytes.and_then(|bytes| document::value(bytes).ok());
        whole
            .and_then(|piece| piece.record())
            .map(Self::read)
            .unwrap_or_default()
    }

    /// The items of the lists of all tasks, as far as they can be read.
    fn listed(files: &dyn Files) -> Vec<Self> {
        let lists = [INDEX, TASKS, ALL_TASKS].into_iter();
        lists
            .flat_map(|file| Self::listed_in(file, files))
            .collect()
    }

    /// The items of one of these lists.
    fn listed_in(file: &str, files: &dyn Files) -> Vec<Self> {
        let bytes = files.read(file);
        if file != INDEX {
            let list = document::list(bytes.as_deref());
            let items = list.pieces.iter().filter_map(Piece::record);
            return items.map(Self::read).collect();
        }
        let entries = document::value(bytes.as_deref().unwrap_or_default())
            .ok()
            .and_then(|piece| {
                Members::parse(piece.record()?)?
                    .items("entries")
                    .map(|items| items.into_iter().map(Self::read).collect())
            });
        entries.unwrap_or_default()
    }
}

/// A call of the parent's that starts a subtask.
struct Call {
    event: usize,
    block: Option<BlockId>,
    words: String,
}

/// The calls of a task that start subtasks.
fn calls(session: &ImportedSession) -> Vec<Call> {
    let mut calls = Vec::new();
    for (event, imported) in session.events.iter().enumerate() {
        let Body::Message(message) = &imported.event.body else {
            continue;
        };
        if message.role != Role::Assistant {
            continue;
        }
        for (at, block) in message.content.blocks.iter().enumerate() {
            let index = u32::try_from(at).unwrap_or(u32::MAX);
            let seq = Seq(event as u64);
            if let Some(call) = block.call(message.content.format) {
                let raw = block.json().and_then(|raw| raw::member(raw, "input"));
                let words = raw.and_then(|input| raw::member_words(input, "message"));
                let starts = call.name == STARTS;
                calls.extend(starts.then(|| Call {
                    event,
                    block: Some(BlockId { seq, index }),
                    words: words.unwrap_or_default().trim().to_owned(),
                }));
                continue;
            }
            let text = block.json().and_then(|raw| {
                let token = raw::member(raw, "text").unwrap_or(raw);
                raw::words(token)
            });
            let told = text.as_deref().map(written).unwrap_or_default();
            calls.extend(told.into_iter().map(|words| Call {
                event,
                block: None,
                words,
            }));
        }
    }
    calls
}

/// The words of calls that are written into a text, as hosts without native calls have them.
fn written(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once("<new_task>") {
        let (inside, after) = behind.split_once("</new_task>").unwrap_or((behind, ""));
        let words = between(inside, "<message>", "</message>").unwrap_or_default();
        found.push(words.trim().to_owned());
        rest = after;
    }
    found
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(from)?;
    behind.rsplit_once(to).map(|(inside, _)| inside)
}

/// The event of the parent's that started the child.
fn started(
    session: &ImportedSession,
    child: &str,
    children: &[String],
    first: &[String],
) -> Option<usize> {
    let calls = calls(session);
    let naming: BTreeSet<BlockId> = session
        .events
        .iter()
        .filter_map(|imported| match &imported.event.body {
            Body::ToolResult(result) => Some(result),
            _ => None,
        })
        .filter(|result| {
            let mut raws = result.content.blocks.iter().filter_map(Block::json);
            raws.any(|raw| raw.contains(child))
        })
        .filter_map(|result| result.block)
        .collect();
    let by_result = calls
        .iter()
        .find(|call| call.block.is_some_and(|block| naming.contains(&block)));
    let mut same = calls.iter().filter(|call| first.contains(&call.words));
    let by_words = match (same.next(), same.next()) {
        (Some(call), None) => Some(call),
        _ => None,
    };
    let by_place = || {
        let place = children.iter().position(|other| other == child)?;
        calls.get(place).filter(|_| calls.len() == children.len())
    };
    let by_any_words = || calls.iter().find(|call| first.contains(&call.words));
    let alone = || calls.first().filter(|_| calls.len() == 1);
    by_result
        .or(by_words)
        .or_else(by_place)
        .or_else(by_any_words)
        .or_else(alone)
        .map(|call| call.event)
}

/// What the child was asked first, as its files say it.
fn first_words(item: Item, said: &[String]) -> Vec<String> {
    let inner = |text: &String| {
        between(text, "<task>", "</task>")
            .or_else(|| between(text, "<user_message>", "</user_message>"))
            .unwrap_or(text)
            .trim()
            .to_owned()
    };
    let all = item.words.iter().chain(said).map(inner);
    all.filter(|words| !words.is_empty()).collect()
}
