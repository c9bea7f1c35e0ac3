//! Tasks out: the files that Cline would have, from the events of a session.
//!
//! - What came from such files is written as it stood, in its place; what a host added since gets the form that Cline would give it.
//! - What these files cannot say is named in the notes.

mod parts;
mod range;

use super::document::{joined, with_member, with_set};
use super::{EDITS, HISTORY, ITEM, METADATA, TASKS, UI, marks};
use crate::json::{self, Members};
use parts::{Entry, Rebuilt, content, plain_blocks, words_block};
use range::{Answered, Update};
use recount_events::{
    Block, BlockId, Body, Event, Kept, Message, Replace, Role, Seq, Shape, Text, ToolResult, raw,
};
use std::collections::{BTreeMap, BTreeSet};

/// An event that is in force: on the timeline, and not undone.
#[derive(Clone, Copy, Debug)]
pub struct InForce<'a> {
    /// Its position.
    pub seq: Seq,
    /// The event.
    pub event: &'a Event,
    /// A range, a snip or a fold hides it.
    pub hidden: bool,
}

/// The files of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Names and contents.
    pub files: Vec<(String, String)>,
    /// What the files cannot say.
    pub notes: Vec<String>,
}

/// Writes the files of a task.
#[must_use]
pub fn write(name: &str, log: &[InForce<'_>]) -> Written {
    let mut task = Task::default();
    for logged in log {
        task.take(logged.seq, logged.event, logged.hidden);
    }
    task.flush();
    task.written(name)
}

#[derive(Debug, Default)]
struct Task {
    messages: BTreeMap<usize, Rebuilt>,
    /// Where blocks stand: message and block.
    places: BTreeMap<BlockId, (usize, usize)>,
    /// Ids of calls.
    calls: BTreeMap<BlockId, String>,
    /// The last message with a call of an id.
    called: BTreeMap<String, usize>,
    answered: Vec<Answered>,
    /// What hides messages.
    hides: BTreeSet<Seq>,
    /// Updates, not of the person's first words, that say that something is left out.
    notices: Vec<Update>,
    edits: BTreeMap<usize, Entry>,
    ui: BTreeMap<usize, String>,
    /// Documents by file.
    documents: BTreeMap<&'static str, String>,
    /// The range as it was last recorded.
    range: Option<String>,
    /// It came from Roo, whose messages say themselves what hides them.
    roo: bool,
    /// Results that wait for the words beside them.
    results: Vec<(String, Seq)>,
    results_at: u64,
    notes: BTreeSet<String>,
}

impl Task {
    fn note(&mut self, text: &str) {
        self.notes.insert(text.to_owned());
    }

    fn take(&mut self, seq: Seq, event: &Event, hidden: bool) {
        let mark = marks::of(event.extra.as_ref()).unwrap_or_default();
        if matches!(
            event.body,
            Body::DeleteRange(_) | Body::Snip(_) | Body::CompactCommit(_) | Body::CollapseCommit(_)
        ) {
            self.hides.insert(seq);
        }
        match &event.body {
            Body::Message(message) => self.message(seq, event, message, &mark, hidden),
            Body::ToolResult(result) => self.result(seq, event, result, &mark, hidden),
            Body::Replace(replace) => self.replace(event, replace, &mark),
            Body::Kept(kept) => self.kept(seq, kept, &mark, hidden),
            Body::CompactCommit(commit) if commit.summary.is_some() => {
                self.note("a summary stands for messages that were folded; the files leave them out without it");
            }
            Body::CollapseCommit(_) => {
                self.note("a summary stands for messages that were folded; the files leave them out without it");
            }
            Body::Opened(opened) => {
                self.roo = opened.host.as_ref().and_then(|host| host.as_str()) == Some("roo");
            }
            Body::DeleteRange(_) | Body::Snip(_) if self.roo && !mark.is_true("made") => {
                self.note("messages that were hidden since are shown by the files");
            }
            Body::Inject(_) => self.note("injections are no part of a task's files"),
            _ => {}
        }
    }

    fn message(
        &mut self,
        seq: Seq,
        event: &Event,
        message: &Message,
        mark: &Members<'_>,
        hidden: bool,
    ) {
        let Some(index) = index(mark, "message") else {
            return self.said(seq, event, message, hidden);
        };
        let numbers = mark.items("blocks");
        let original = |at: usize| match &numbers {
            Some(numbers) => numbers
                .get(at)
                .and_then(|raw| raw.parse().ok())
                .unwrap_or(at),
            None => at,
        };
        let mut lost = false;
        for (at, block) in message.content.blocks.iter().enumerate() {
            let place = (index, original(at));
            let id = BlockId {
                seq,
                index: u32::try_from(at).unwrap_or(u32::MAX),
            };
            self.places.insert(id, place);
            if let Some(call) = block.call(message.content.format) {
                self.called.insert(call.id.clone(), index);
                self.calls.insert(id, call.id);
            }
        }
        let rebuilt = self.messages.entry(index).or_default();
        // A person's message without a block shows nothing, hidden or not: no range is about it.
        rebuilt.own = message.role == Role::Assistant || !message.content.blocks.is_empty();
        rebuilt.hidden = hidden;
        rebuilt.answer = message.role == Role::Assistant;
        if let Some(around) = mark.raw("around") {
            rebuilt.around = Some(around.to_owned());
        }
        match message.content.shape {
            Shape::String => {
                rebuilt.whole = message
                    .content
                    .blocks
                    .first()
                    .and_then(Block::json)
                    .map(str::to_owned)
            }
            Shape::Absent => rebuilt.whole = Some("null".to_owned()),
            Shape::Blocks | Shape::Bytes => {
                for (at, block) in message.content.blocks.iter().enumerate() {
                    let raw = block.json().map_or_else(
                        || {
                            lost = true;
                            words_block("[lost]")
                        },
                        str::to_owned,
                    );
                    rebuilt.blocks.insert(original(at), raw);
                }
            }
        }
        if lost {
            self.note("blocks whose bytes are lost or erased are written as the text [lost]");
        }
    }

    /// A message that a host added.
    fn said(&mut self, seq: Seq, event: &Event, message: &Message, hidden: bool) {
        let role = match message.role {
            Role::Assistant => "assistant",
            Role::User | Role::System => "user",
        };
        if role == "assistant" {
            self.flush();
        }
        let waiting = std::mem::take(&mut self.results);
        let index = self.next();
        let mut blocks: Vec<String> = Vec::new();
        for (raw, result) in &waiting {
            self.places.insert(
                BlockId {
                    seq: *result,
                    index: 0,
                },
                (index, blocks.len()),
            );
            blocks.push(raw.clone());
        }
        let (own, sure) = plain_blocks(&message.content);
        for (at, raw) in own.into_iter().enumerate() {
            let id = BlockId {
                seq,
                index: u32::try_from(at).unwrap_or(u32::MAX),
            };
            let call = message
                .content
                .blocks
                .get(at)
                .and_then(|block| block.call(message.content.format));
            if let Some(call) = call {
                self.called.insert(call.id.clone(), index);
                self.calls.insert(id, call.id);
            }
            self.places.insert(id, (index, blocks.len()));
            blocks.push(raw);
        }
        if !sure {
            self.note("blocks of another dialect, or without their bytes, are written as text");
        }
        let around = format!(
            "{{\"role\":\"{role}\",\"content\":null,\"ts\":{}}}",
            event.at.0
        );
        self.messages.insert(
            index,
            Rebuilt {
                around: Some(around),
                blocks: blocks.into_iter().enumerate().collect(),
                hidden,
                own: true,
                answer: role == "assistant",
                ..Rebuilt::default()
            },
        );
    }

    fn next(&self) -> usize {
        self.messages
            .last_key_value()
            .map_or(0, |(index, _)| index.saturating_add(1))
    }

    /// Results without words beside them are a message of their own.
    fn flush(&mut self) {
        if self.results.is_empty() {
            return;
        }
        let index = self.next();
        let results = std::mem::take(&mut self.results);
        for (at, (_, seq)) in results.iter().enumerate() {
            self.places.insert(
                BlockId {
                    seq: *seq,
                    index: 0,
                },
                (index, at),
            );
        }
        let around = format!(
            "{{\"role\":\"user\",\"content\":null,\"ts\":{}}}",
            self.results_at
        );
        self.messages.insert(
            index,
            Rebuilt {
                around: Some(around),
                blocks: results
                    .into_iter()
                    .map(|(raw, _)| raw)
                    .enumerate()
                    .collect(),
                // Results go with their calls: no range is about them.
                own: false,
                ..Rebuilt::default()
            },
        );
    }

    fn result(
        &mut self,
        seq: Seq,
        event: &Event,
        result: &ToolResult,
        mark: &Members<'_>,
        hidden: bool,
    ) {
        if mark.is_true("made") {
            return;
        }
        let id = result
            .block
            .and_then(|block| self.calls.get(&block).cloned());
        let id = id.or_else(|| {
            result
                .call
                .as_ref()?
                .words()
                .map(std::borrow::Cow::into_owned)
        });
        let call = result.block.and_then(|block| self.places.get(&block));
        let call = call.map(|(message, _)| *message);
        let named = || self.called.get(id.as_deref()?).copied();
        self.answered.push(Answered {
            seq,
            call: call.or_else(named),
            hidden,
        });
        let content = content(&result.content);
        if let (Some(index), Some(block)) = (index(mark, "message"), index(mark, "block")) {
            let raw = with_member(mark.raw("result").unwrap_or("{}"), "content", &content);
            self.places
                .insert(BlockId { seq, index: 0 }, (index, block));
            let rebuilt = self.messages.entry(index).or_default();
            rebuilt.blocks.insert(block, raw);
            if let Some(around) = mark.raw("around") {
                rebuilt.around = Some(around.to_owned());
            }
            return;
        }
        if !result.status.closes() {
            return;
        }
        let failed = if result.status.is_error() {
            ",\"is_error\":true"
        } else {
            ""
        };
        let raw = format!(
            "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{content}{failed}}}",
            json::escape(&id.unwrap_or_default())
        );
        self.results_at = event.at.0;
        self.results.push((raw, seq));
    }

    fn kept(&mut self, seq: Seq, kept: &Kept, mark: &Members<'_>, hidden: bool) {
        let name = kept.name.words().unwrap_or_default();
        let Some(raw) = kept.raw.as_str() else {
            if name.ends_with("/damaged") {
                self.note("bytes that could not be read are not written");
            }
            return;
        };
        if let Some(inner) = name
            .strip_prefix("recount/misfit/")
            .and_then(|_| Event::from_log_json(raw).ok())
        {
            self.take(seq, &inner.event, hidden);
            // It is in the file and nowhere in a prompt: no range is about it.
            let extra = inner.event.extra.as_ref();
            let misplaced = marks::of(extra).and_then(|mark| index(&mark, "message"));
            if let Some(message) = misplaced.and_then(|at| self.messages.get_mut(&at)) {
                message.own = false;
            }
            return;
        }
        let Some((_, what)) = name.split_once('/') else {
            return;
        };
        match what {
            "message" => self.kept_message(mark, raw),
            "range" => self.range = Some(raw.to_owned()),
            "edit" => self.edit(mark, raw.to_owned()),
            "edits" => {
                if let Some(index) = index(mark, "entry") {
                    self.edits.entry(index).or_default().whole = Some(raw.to_owned());
                }
            }
            "damaged" => self.note("bytes that could not be read are not written"),
            "empty" | "task_metadata" | "history_item" | "task_history_item" => {
                let file = mark.text("file").unwrap_or_default();
                let known = [HISTORY, UI, EDITS, METADATA, ITEM, TASKS];
                if let Some(file) = known.into_iter().find(|known| *known == file) {
                    self.documents.insert(file, raw.to_owned());
                }
            }
            _ => {
                if let (Some(index), true) = (index(mark, "ui"), what.starts_with("ui/")) {
                    self.ui.insert(index, raw.to_owned());
                }
            }
        }
    }

    /// A message that was kept as it is, or what was left of it.
    fn kept_message(&mut self, mark: &Members<'_>, raw: &str) {
        let Some(index) = index(mark, "message") else {
            return;
        };
        let rebuilt = self.messages.entry(index).or_default();
        let Some(rest) = mark.items("rest") else {
            rebuilt.verbatim = Some(raw.to_owned());
            return;
        };
        if let Some(around) = mark.raw("around") {
            rebuilt.around = Some(around.to_owned());
        }
        let blocks = raw::member(raw, "content")
            .and_then(json::items)
            .unwrap_or_default();
        for at in rest.into_iter().filter_map(|raw| raw.parse::<usize>().ok()) {
            if let Some(block) = blocks.get(at) {
                rebuilt.blocks.insert(at, (*block).to_owned());
            }
        }
    }

    fn replace(&mut self, event: &Event, replace: &Replace, mark: &Members<'_>) {
        let text = replace.with.blocks.first().and_then(|block| {
            let raw = block.json()?;
            let token = if raw.starts_with('"') {
                raw
            } else {
                raw::member(raw, "text")?
            };
            token.starts_with('"').then(|| token.to_owned())
        });
        if let (Some(bare), Some(token)) = (
            mark.items("edit").and_then(|edit| edit.get(3).copied()),
            &text,
        ) {
            let mut parts = json::items(bare).unwrap_or_default();
            let texts = format!("[{token}]");
            if let Some(place) = parts.get_mut(2) {
                *place = &texts;
            }
            return self.edit(mark, joined(parts));
        }
        let sayable = replace.with.blocks.len() == 1;
        for block in &replace.blocks {
            let place = self.places.get(block).copied();
            match (place, &text) {
                (Some(place), Some(token)) if sayable => {
                    let update = self.edited(place, event.at.0, token);
                    // The rules of the preset name what they do: `cline: …`.
                    let cause = replace.cause.as_ref().and_then(Text::words);
                    let says = event.because.is_some_and(|why| self.hides.contains(&why));
                    if says && place.0 > 0 && cause.is_some_and(|why| why.starts_with("cline:")) {
                        self.notices.push(update);
                    }
                }
                _ => self.note("replacements that no text of a block can say are left out"),
            }
        }
    }

    /// An edit that stood in the file.
    fn edit(&mut self, mark: &Members<'_>, update: String) {
        let order: Vec<usize> = mark
            .items("order")
            .unwrap_or_default()
            .iter()
            .filter_map(|raw| raw.parse().ok())
            .collect();
        let edit = mark.items("edit").unwrap_or_default();
        let ([entry, block, turn], [message, kind, number, ..]) =
            (order.as_slice(), edit.as_slice())
        else {
            return;
        };
        let place = self.edits.entry(*entry).or_default();
        (place.message, place.kind) = ((*message).to_owned(), (*kind).to_owned());
        let (raw, updates) = place.blocks.entry(*block).or_default();
        (*raw).clone_from(&(*number).to_owned());
        updates.insert(*turn, update);
    }

    /// An edit that a host made since.
    fn edited(&mut self, (message, block): (usize, usize), at: u64, token: &str) -> Update {
        let update = format!("[{at},\"text\",[{token}],[]]");
        let (message, block) = (message.to_string(), block.to_string());
        let there = self
            .edits
            .iter()
            .find(|(_, entry)| entry.whole.is_none() && entry.message == message)
            .map(|(at, _)| *at);
        let next = self
            .edits
            .last_key_value()
            .map_or(0, |(at, _)| at.saturating_add(1));
        let entry_at = there.unwrap_or(next);
        let entry = self.edits.entry(entry_at).or_insert_with(|| Entry {
            message,
            kind: "0".to_owned(),
            ..Entry::default()
        });
        let place = entry
            .blocks
            .iter()
            .find(|(_, (raw, _))| *raw == block)
            .map(|(at, _)| *at);
        let next = entry
            .blocks
            .last_key_value()
            .map_or(0, |(at, _)| at.saturating_add(1));
        let block_at = place.unwrap_or(next);
        let (raw, updates) = entry.blocks.entry(block_at).or_default();
        *raw = block;
        let turn = updates
            .last_key_value()
            .map_or(0, |(at, _)| at.saturating_add(1));
        updates.insert(turn, update);
        (entry_at, block_at, turn)
    }

    fn written(mut self, name: &str) -> Written {
        let range = self.left_out();
        let mut files: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, text: String| files.push((name.to_owned(), text));
        if !self.messages.is_empty() || self.documents.contains_key(HISTORY) {
            let messages: Vec<String> = self.messages.values().map(Rebuilt::json).collect();
            add(HISTORY, joined(messages.iter().map(String::as_str)));
        }
        if !self.edits.is_empty() || self.documents.contains_key(EDITS) {
            let entries: Vec<String> = self.edits.values().map(Entry::json).collect();
            add(EDITS, joined(entries.iter().map(String::as_str)));
        }
        let mut told = None;
        if !self.ui.is_empty() || self.documents.contains_key(UI) {
            told = self.ui.values().rev().find_map(|raw| said_range(raw));
            add(UI, joined(self.ui.values().map(String::as_str)));
        }
        for file in [METADATA, ITEM] {
            if let Some(text) = self.documents.get(file) {
                add(file, text.clone());
            }
        }
        let item = self.documents.get(TASKS).cloned();
        let of = |raw: &Option<String>| super::ui::range(raw.as_deref().unwrap_or("null"));
        let differs = !self.roo && of(&range) != told.flatten();
        if let (true, Some(item)) = (self.roo, &item) {
            add(TASKS, format!("[{item}]"));
        } else if item.is_some() || differs {
            let key = "conversationHistoryDeletedRange";
            let item = match (item, range) {
                (Some(item), Some(range)) => with_set(&item, key, &range),
                (Some(item), None) if raw::member(&item, key).is_some() => {
                    with_member(&item, key, "null")
                }
                (Some(item), None) => item,
                (None, range) => format!(
                    "{{\"id\":{},\"{key}\":{}}}",
                    json::escape(name),
                    range.unwrap_or_else(|| "null".to_owned())
                ),
            };
            add(TASKS, format!("[{item}]"));
        }
        Written {
            files,
            notes: self.notes.into_iter().collect(),
        }
    }
}

fn index(mark: &Members<'_>, key: &str) -> Option<usize> {
    mark.raw(key)?.parse().ok()
}

/// The range that a record of what the person saw says; `None` when it says nothing of it.
fn said_range(raw: &str) -> Option<Option<(i64, i64)>> {
    let range = raw::member(raw, "conversationHistoryDeletedRange").filter(|raw| *raw != "null");
    let says = range.is_some()
        || raw::member(raw, "conversationHistoryIndex")
            .and_then(super::ui::whole)
            .is_some();
    says.then(|| range.and_then(super::ui::range))
}
