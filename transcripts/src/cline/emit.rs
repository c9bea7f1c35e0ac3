//! A task as events, in the order in which things happened.

use super::document::{self, List};
use super::edits::{self, Edit};
use super::marks::Mark;
use super::order::{self, Doubts, Item, What};
use super::said::{self, Said};
use super::session::{Session, Spot};
use super::ui::{self, Shown};
use super::{EDITS, HISTORY, Host, TASKS, UI, beginning};
use crate::json::{self, Members};
use crate::lines::Piece;
use crate::{ImportedSession, Problem, Report, blocks, profile};
use recount_events::{
    Block, BlockId, Body, Checkpoint, Content, Format, Kept, Millis, Replace, Seq, Shape, Text,
    Undo, Usage,
};
use std::borrow::Cow;

/// The events of a task while they are written.
pub(super) struct Emit {
    host: Host,
    session: Session,
    /// The file of the conversation, when it is not the transcript itself.
    file: Option<String>,
    /// The last index that is to be left out; below 2: nothing is.
    end: i64,
    /// Events that hide, and the last index that was hidden before each.
    cuts: Vec<(Seq, usize)>,
    /// The last index that is hidden; 1: none is.
    covered: usize,
    /// The summaries and markers that were said, by their names (Roo).
    parents: super::roo::Parents,
}

impl Emit {
    pub(super) fn new(host: Host, session: Session, file: Option<String>) -> Self {
        Self {
            host,
            session,
            file,
            end: 1,
            cuts: Vec::new(),
            covered: 1,
            parents: super::roo::Parents::default(),
        }
    }

    pub(super) fn finish(self) -> (ImportedSession, Report) {
        self.session.finish()
    }

    fn from(&mut self, file: &str) -> &mut Session {
        self.session.file = if file == HISTORY {
            self.file.clone()
        } else {
            Some(file.to_owned())
        };
        &mut self.session
    }

    /// Doubts something about a whole file.
    pub(super) fn mention(&mut self, file: &str, problem: Problem, text: Cow<'_, str>) {
        let text = text.into_owned();
        self.from(file).doubt(&beginning(), problem, text);
    }

    /// For whom the first request was made, where that is a model with known limits.
    pub(super) fn models(&mut self, said: &[Said<'_>], metadata: Option<&[u8]>) {
        let told = said.iter().find_map(Said::model);
        let model = told.or_else(|| {
            let text = std::str::from_utf8(crate::lines::without_bom(metadata?)).ok()?;
            let used = Members::parse(text.trim())?.items("model_usage")?;
            let first = Members::parse(used.first()?)?;
            Some((first.text("model_id")?, first.text("model_provider_id")))
        });
        let Some((model, provider)) = model.filter(|(model, _)| model.contains("claude")) else {
            return;
        };
        let provider = provider.unwrap_or_else(|| "anthropic".to_owned());
        let profile = profile::anthropic(&model, &provider, None);
        self.from(HISTORY).made(Body::Profile(profile), None);
    }

    /// Everything that happened.
    pub(super) fn all(
        &mut self,
        start: u64,
        said: &[Said<'_>],
        shown: &[Shown<'_>],
        entries: &[Piece<'_>],
    ) {
        let mut edits = Vec::new();
        let mut odd = Vec::new();
        for (index, piece) in entries.iter().enumerate() {
            match edits::entry(*piece, index) {
                Some(entry) => edits.extend(entry),
                None => odd.push((index, piece)),
            }
        }
        let (items, doubts) = order::items(start, said, shown, &edits);
        self.parents.read(said, self.host);
        if self.host == Host::Roo {
            for index in super::roo::Parents::orphans(said) {
                if let Some(said) = said.get(index) {
                    let text = format!("message={index}");
                    self.from(HISTORY)
                        .doubt(&said.piece, Problem::UnknownReference, text);
                }
            }
        }
        for item in items {
            self.item_of(item, said, shown, &edits);
        }
        for (index, piece) in odd {
            let session = self.from(EDITS);
            session.counted("edit");
            session.doubt(piece, Problem::Malformed, format!("entry={index}"));
            session.keep("edits", piece, Some(Mark::Entry(index)));
        }
        self.doubts(&doubts, said, shown, &edits);
    }

    fn doubts(
        &mut self,
        doubts: &Doubts,
        said: &[Said<'_>],
        shown: &[Shown<'_>],
        edits: &[Edit<'_>],
    ) {
        if let Some(first) = doubts.timeless.first().and_then(|first| said.get(*first)) {
            let text = format!("messages={}", doubts.timeless.len());
            self.from(HISTORY)
                .doubt(&first.piece, Problem::NoTime, text);
        }
        let records = [
            (&doubts.late, Problem::TimeBack),
            (&doubts.again, Problem::SaidAgain),
        ];
        for (list, problem) in records {
            for (index, shown) in list.iter().filter_map(|at| Some((at, shown.get(*at)?))) {
                let text = format!("record={index}");
                self.from(UI).doubt(&shown.piece, problem, text);
            }
        }
        for edit in doubts.early.iter().filter_map(|index| edits.get(*index)) {
            let text = format!("message={} block={}", edit.message, edit.block);
            self.from(EDITS).doubt(&edit.piece, Problem::TimeBack, text);
        }
    }

    fn item_of(&mut self, item: Item, said: &[Said<'_>], shown: &[Shown<'_>], edits: &[Edit<'_>]) {
        self.session.at = Millis(item.at);
        match item.what {
            What::Message(index) => {
                if let Some(said) = said.get(index) {
                    self.message(index, said);
                }
            }
            What::Edit(index) => {
                if let Some(edit) = edits.get(index) {
                    self.edit(edit);
                }
            }
            What::Ui(index) => {
                if let Some(shown) = shown.get(index) {
                    let session = self.from(UI);
                    session.counted(&shown.kind);
                    session.keep(
                        &format!("ui/{}", shown.kind),
                        &shown.piece,
                        Some(Mark::Ui(index)),
                    );
                    if shown.members.iter().next().is_none() {
                        session.doubt(&shown.piece, Problem::Malformed, format!("record={index}"));
                    }
                }
            }
            What::Range(index) => {
                if let Some(shown) = shown.get(index) {
                    self.range(UI, &shown.piece, shown.range.unwrap_or("null"));
                }
            }
            What::Checkpoint(index) => self.checkpoint(shown.get(index)),
            What::Used(index) => {
                if let Some(used) = shown.get(index).and_then(Shown::used) {
                    self.from(UI).made(Body::Usage(usage(&used)), None);
                }
            }
        }
    }

    fn message(&mut self, index: usize, said: &Said<'_>) {
        let authored = authored(index, said);
        self.from(HISTORY).say(said, authored);
        if self.host == Host::Roo {
            for (first, last, cause) in self.parents.hides(index, said) {
                self.hide_run(first, last, cause);
            }
        }
        self.settle();
    }

    /// Hides what of a run is not hidden yet.
    fn hide_run(&mut self, first: usize, last: usize, cause: &'static str) {
        let mut at = first;
        while at <= last {
            let hidden = |index: usize| {
                self.session
                    .places
                    .get(index)
                    .is_some_and(|place| place.hidden)
            };
            if hidden(at) {
                at = at.saturating_add(1);
                continue;
            }
            let mut end = at;
            while end < last && !hidden(end.saturating_add(1)) {
                end = end.saturating_add(1);
            }
            self.from(HISTORY).hide(at, end, cause);
            at = end.saturating_add(1);
        }
    }

    fn checkpoint(&mut self, shown: Option<&Shown<'_>>) {
        let Some((shown, workspace)) = shown.and_then(|shown| Some((shown, shown.saved()?))) else {
            return;
        };
        let when = shown.ts.map_or_else(String::new, |ts| ts.to_string());
        let body = Body::Checkpoint(Checkpoint {
            label: Text::plain(&format!("{}/{when}", self.host.name())),
            workspace: workspace.as_deref().map(Text::plain),
        });
        self.from(UI).made(body, None);
    }

    /// The range is another one from here on.
    pub(super) fn range(&mut self, file: &str, piece: &Piece<'_>, raw: &str) {
        if self.host == Host::Roo {
            return;
        }
        let range = ui::range(raw);
        let kept = Kept {
            name: Text::plain(&format!("{}/range", self.host.name())),
            raw: Text::json(raw),
        };
        self.from(file)
            .made(Body::Kept(kept), Some(Mark::Range(raw).text()));
        let odd = match range {
            // What Cline makes of a history of one message or none shows its beginning twice.
            Some((first, last)) => first != 2 || last < 1,
            None => raw != "null",
        };
        if odd {
            self.from(file)
                .doubt(piece, Problem::OddRange, format!("range={raw}"));
        }
        self.end = range.map_or(1, |(_, last)| last);
        self.settle();
    }

    /// Hides and shows until what is hidden is what the range says, as far as the history goes by now.
    fn settle(&mut self) {
        if self.host == Host::Roo {
            return;
        }
        let newest = self.session.places.len().saturating_sub(1);
        let mut want = usize::try_from(self.end)
            .unwrap_or_default()
            .min(newest)
            .max(1);
        if want == newest && self.session.waits() {
            // A call that nothing answered yet is not left out before its result is there.
            want = want.saturating_sub(1).max(1);
        }
        while self.covered > want {
            let Some((event, before)) = self.cuts.pop() else {
                break;
            };
            for place in self
                .session
                .places
                .iter_mut()
                .skip(before.saturating_add(1))
            {
                place.hidden = false;
            }
            self.session.made(
                Body::Undo(Undo { event, to: None }),
                Some(Mark::Made.text()),
            );
            self.covered = before;
        }
        if self.covered < want {
            let first = self.covered.saturating_add(1);
            if let Some(event) = self.session.hide(first, want, "range") {
                self.cuts.push((event, self.covered));
            }
            self.covered = want;
        }
    }

    fn edit(&mut self, edit: &Edit<'_>) {
        self.from(EDITS).counted("edit");
        let bare = edit.bare();
        let [message, kind, block] = edit.raw;
        let mark = || Mark::Edit {
            edit: [message, kind, block, &bare],
            order: edit.order,
        };
        match self.replacement(edit) {
            Some((blocks, with)) => {
                let body = Body::Replace(Replace {
                    blocks: vec![blocks],
                    with,
                    cause: Some(Text::plain("edit")),
                });
                self.from(EDITS)
                    .push(body, &edit.piece, Some(mark().text()));
            }
            None => {
                let text = format!("message={} block={}", edit.message, edit.block);
                self.from(EDITS).doubt(&edit.piece, Problem::NotShown, text);
                self.session.report.kept = self.session.report.kept.saturating_add(1);
                let kept = Kept {
                    name: Text::plain(&format!("{}/edit", self.host.name())),
                    raw: Text::json(edit.update),
                };
                self.session
                    .push(Body::Kept(kept), &edit.piece, Some(mark().text()));
            }
        }
    }

    /// The block and what is shown in its place.
    fn replacement(&self, edit: &Edit<'_>) -> Option<(BlockId, Content)> {
        let token = edit.text?;
        let place = self
            .session
            .places
            .get(usize::try_from(edit.message).ok()?)?;
        let spot = place.spots.get(usize::try_from(edit.block).ok()?)?;
        match spot {
            Spot::None => None,
            Spot::Block(block) => {
                let raw = self.raw(*block)?;
                let changed = said::edited(raw, token)?;
                // A result that stands in a message answers nothing, and is not shown.
                (said::kind(raw) == recount_events::BlockKind::Text).then_some(())?;
                let with = Content {
                    format: Format::Anthropic,
                    shape: Shape::Blocks,
                    blocks: vec![Block::from_raw(Format::Anthropic, &changed)],
                };
                Some((*block, with))
            }
            Spot::Result(seq) => {
                let Body::ToolResult(result) = &self.event(*seq)? else {
                    return None;
                };
                if result.content.shape != Shape::Blocks {
                    return None;
                }
                let inner: Vec<&str> = result
                    .content
                    .blocks
                    .iter()
                    .filter_map(Block::json)
                    .collect();
                let whole = format!(
                    "{{\"type\":\"tool_result\",\"content\":{}}}",
                    document::joined(inner)
                );
                let changed = said::edited(&whole, token)?;
                let with = blocks::content(
                    recount_events::raw::member(&changed, "content"),
                    Format::Anthropic,
                )?;
                Some((
                    BlockId {
                        seq: *seq,
                        index: 0,
                    },
                    with,
                ))
            }
        }
    }

    fn event(&self, seq: Seq) -> Option<&Body> {
        let index = usize::try_from(seq.0).ok()?;
        self.session
            .events
            .get(index)
            .map(|imported| &imported.event.body)
    }

    fn raw(&self, block: BlockId) -> Option<&str> {
        let Body::Message(message) = self.event(block.seq)? else {
            return None;
        };
        message
            .content
            .blocks
            .get(usize::try_from(block.index).ok()?)?
            .json()
    }

    /// Documents beside the conversation, kept whole.
    pub(super) fn documents<const N: usize>(&mut self, files: [(&str, &str, Option<&[u8]>); N]) {
        for (file, name, bytes) in files {
            let Some(bytes) = bytes else { continue };
            let session = self.from(file);
            session.counted(name);
            match document::value(bytes) {
                Ok(piece) => {
                    session.keep(name, &piece, Some(Mark::File(file)));
                }
                Err(Some(piece)) => {
                    let problem = match piece.what {
                        crate::lines::What::Damaged(problem) => problem,
                        crate::lines::What::Json(..) => Problem::NotJson,
                    };
                    session.damaged(&piece, problem);
                }
                Err(None) => {}
            }
        }
    }

    /// The task's item in the list of tasks: the range that a resumed task gets.
    pub(super) fn item(&mut self, task: &str, tasks: Option<&[u8]>, alone: bool) {
        let list = document::list(tasks);
        let own = list.pieces.iter().find(|piece| {
            Members::parse(piece.record().unwrap_or_default())
                .is_some_and(|item| item.text("id").as_deref() == Some(task))
        });
        // A list of one is the task's own, whatever the folder is called by now.
        let only = list
            .pieces
            .first()
            .filter(|_| alone && list.pieces.len() == 1);
        let Some(piece) = own.or(only) else { return };
        self.from(TASKS).counted("task_history_item");
        self.session
            .keep("task_history_item", piece, Some(Mark::File(TASKS)));
        let raw = recount_events::raw::member(
            piece.record().unwrap_or_default(),
            "conversationHistoryDeletedRange",
        );
        let raw = raw.unwrap_or("null");
        if ui::range(raw).map_or(1, |(_, last)| last) != self.end {
            let raw = raw.to_owned();
            self.range(TASKS, piece, &raw);
        }
    }

    /// What could not be read.
    pub(super) fn damages<const N: usize>(&mut self, files: [(&str, &List<'_>); N]) {
        for (file, list) in files {
            if list.marked {
                self.mention(file, Problem::ByteOrderMark, Cow::Borrowed(""));
            }
            if list.empty {
                let kept = Kept {
                    name: Text::plain(&format!("{}/empty", self.host.name())),
                    raw: Text::json("[]"),
                };
                self.from(file)
                    .made(Body::Kept(kept), Some(Mark::File(file).text()));
            }
            let Some(piece) = &list.damage else { continue };
            if let crate::lines::What::Damaged(problem) = piece.what {
                self.from(file).damaged(piece, problem);
            }
        }
    }
}

/// A message that a person wrote: the task, or what hosts mark as a person's words. What only tools said is nobody's.
fn authored(index: usize, said: &Said<'_>) -> Option<bool> {
    const SAID: [&str; 4] = ["<task>", "<feedback>", "<answer>", "<user_message>"];
    if index == 0 {
        return Some(true);
    }
    let words = said.words();
    if words
        .iter()
        .any(|text| SAID.iter().any(|mark| text.contains(mark)))
    {
        return Some(true);
    }
    let first = words.first()?;
    let header = first.starts_with('[')
        && first
            .lines()
            .next()
            .is_some_and(|line| line.contains("] Result:"));
    let tools = header
        || said
            .blocks
            .iter()
            .flatten()
            .any(|raw| said::kind(raw) == recount_events::BlockKind::Result);
    tools.then_some(false)
}

/// What a request used.
fn usage(raw: &str) -> Usage {
    let count = |key: &str| {
        recount_events::raw::member(raw, key)
            .and_then(json::number)
            .unwrap_or_default()
    };
    Usage {
        request: None,
        issued: None,
        input: count("tokensIn"),
        output: count("tokensOut"),
        cache_read: count("cacheReads"),
        cache_write_5m: count("cacheWrites"),
        cache_write_1h: 0,
        cache_deleted: None,
        raw: Some(Text::json(raw)),
        repeats: None,
        compaction: None,
    }
}
