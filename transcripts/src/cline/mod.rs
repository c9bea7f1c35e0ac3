//! Tasks of Cline and of Roo: folders of JSON documents that are written anew at every change.
//!
//! - `api_conversation_history.json` is the conversation, never shortened; `ui_messages.json` says when things happened, which range was
//!   left out and where the workspace was saved; `context_history.json` holds other texts for blocks; `task_metadata.json` and the
//!   task's item in `taskHistory.json` stand beside. Any of them may be missing.
//! - What was decided becomes events at its time: a range that grew is a `delete_range` over what it added, an edit a `replace`. What a
//!   range or an edit cannot do here is kept word for word and doubted.
//! - A subtask of Roo names the task that started it, and the call there that did.
//! - A task that went on gives the same events and more, except where its host itself writes an earlier time or says a message again.

mod document;
mod edits;
mod emit;
mod family;
mod marks;
mod order;
mod roo;
mod said;
pub(crate) mod sdk;
mod session;
mod ui;
pub(crate) mod write;

use crate::lines::{self, Piece};
use crate::{Files, FormatName, Import, ImportedSession, Problem, Refused, Report, json};
use emit::Emit;
use family::{Beside, Family};
use said::Said;
use session::Session;
use std::borrow::Cow;
use ui::Shown;

/// The conversation.
pub(crate) const HISTORY: &str = "api_conversation_history.json";
/// What the person saw.
pub(crate) const UI: &str = "ui_messages.json";
/// Other texts for blocks.
pub(crate) const EDITS: &str = "context_history.json";
/// Files and models of the task.
pub(crate) const METADATA: &str = "task_metadata.json";
/// The task's own item of the list of tasks, in a list of one.
pub(crate) const TASKS: &str = "taskHistory.json";
/// The list of all tasks, where the caller shows it.
pub const ALL_TASKS: &str = "state/taskHistory.json";
/// Roo's own item of the task.
pub(crate) const ITEM: &str = "history_item.json";
/// The folders of the tasks beside, where the caller shows them: this, the task's name, `/` and the file's.
pub const TASKS_BESIDE: &str = "tasks/";
/// Roo's list of all items, beside the tasks' folders.
pub(crate) const INDEX: &str = "tasks/_index.json";

/// The files by which a task is known.
pub const TASK_FILES: [&str; 3] = [HISTORY, UI, EDITS];

/// Which host's rules the files follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Cline,
    Roo,
}

impl Host {
    pub(crate) fn of(format: FormatName) -> Self {
        if format == FormatName::RooTask {
            Self::Roo
        } else {
            Self::Cline
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Cline => "cline",
            Self::Roo => "roo",
        }
    }

    fn format(self) -> FormatName {
        match self {
            Self::Cline => FormatName::ClineTask,
            Self::Roo => FormatName::RooTask,
        }
    }
}

/// Reads a task whose conversation is given; its other files are beside it.
pub(crate) fn read(
    bytes: &[u8],
    format: FormatName,
    name: &str,
    files: &dyn Files,
) -> Result<Import, Refused> {
    if !lines::without_bom(bytes)
        .trim_ascii_start()
        .starts_with(b"[")
    {
        return Err(Refused::NotThis { format });
    }
    let host = Host::of(format);
    Ok(task(Some(bytes), None, host, name, files))
}

/// Reads the task of a folder.
pub(crate) fn folder(
    format: Option<FormatName>,
    name: &str,
    files: &dyn Files,
) -> Result<Import, Refused> {
    let history = files.read(HISTORY);
    let found = TASK_FILES.iter().any(|file| files.read(file).is_some());
    if !found {
        return Err(Refused::Unrecognised);
    }
    let file = Some(HISTORY.to_owned());
    let host = format.map_or_else(|| host(name, files), Host::of);
    Ok(task(history.as_deref(), file, host, name, files))
}

/// Whose task it is, by what only one of them writes.
fn host(name: &str, files: &dyn Files) -> Host {
    let text = |file: &str| {
        let bytes = files.read(file).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    if files.read(EDITS).is_some() {
        return Host::Cline;
    }
    let shown = text(UI);
    if shown.contains("\"conversationHistoryIndex\"") {
        return Host::Cline;
    }
    let words = [
        "\"condense_context\"",
        "\"checkpoint_saved\"",
        "\"isProtected\"",
        "\"sliding_window_truncation\"",
    ];
    let marks = [
        "\"isSummary\"",
        "\"condenseParent\"",
        "\"truncationParent\"",
    ];
    let history = text(HISTORY);
    let is_uuid = name.len() == 36 && name.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    let roo = is_uuid
        || files.read(ITEM).is_some()
        || words.iter().any(|word| shown.contains(word))
        || marks.iter().any(|mark| history.contains(mark));
    if roo { Host::Roo } else { Host::Cline }
}

/// The files of a task, as they lie there.
struct Bytes {
    ui: Option<Vec<u8>>,
    edits: Option<Vec<u8>>,
    metadata: Option<Vec<u8>>,
    tasks: Option<Vec<u8>>,
    item: Option<Vec<u8>>,
}

fn task(
    history: Option<&[u8]>,
    file: Option<String>,
    host: Host,
    name: &str,
    files: &dyn Files,
) -> Import {
    let (session, report) = told(history, file, host, name, files, true);
    Import {
        format: host.format(),
        sessions: vec![session],
        report,
    }
}

/// The session of a task; what started it is looked for only when that is asked.
fn told(
    history: Option<&[u8]>,
    file: Option<String>,
    host: Host,
    name: &str,
    files: &dyn Files,
    started: bool,
) -> (ImportedSession, Report) {
    let bytes = Bytes {
        ui: files.read(UI),
        edits: files.read(EDITS),
        metadata: files.read(METADATA),
        tasks: files.read(TASKS).or_else(|| files.read(ALL_TASKS)),
        item: files.read(ITEM),
    };
    let said = document::list(history);
    let shown = document::list(bytes.ui.as_deref());
    let changed = document::list(bytes.edits.as_deref());
    let messages: Vec<Said<'_>> = said.pieces.iter().copied().map(Said::read).collect();
    let records: Vec<Shown<'_>> = shown.pieces.iter().copied().map(Shown::read).collect();
    let start = start(name, &records, &messages);
    let family = if started && host == Host::Roo {
        let first = records.iter().find_map(|shown| shown.members.text("text"));
        let words = messages.first().map(Said::words).unwrap_or_default();
        let first: Vec<String> = first.into_iter().chain(words).collect();
        family::of(name, files, &first, parent)
    } else {
        Family::default()
    };
    let at = recount_events::Millis(start);
    let session = Session::open(host.name(), name, at, family.parent);
    let mut emit = Emit::new(host, session, file);
    if let Some((problem, text)) = family.doubt {
        emit.mention(family::place(name, files), problem, Cow::Owned(text));
    }
    emit.models(&messages, bytes.metadata.as_deref());
    emit.all(start, &messages, &records, &changed.pieces);
    emit.documents([
        (METADATA, "task_metadata", bytes.metadata.as_deref()),
        (ITEM, "history_item", bytes.item.as_deref()),
    ]);
    emit.item(name, bytes.tasks.as_deref(), files.read(TASKS).is_some());
    emit.damages([(HISTORY, &said), (UI, &shown), (EDITS, &changed)]);
    if history.is_none() {
        emit.mention(UI, Problem::NoHistory, Cow::Borrowed(""));
    }
    emit.finish()
}

/// The session of a task beside.
fn parent(name: &str, files: &Beside<'_>) -> ImportedSession {
    let history = files.read(HISTORY);
    let host = host(name, files);
    told(history.as_deref(), None, host, name, files, false).0
}

/// When the task began: what its first record says, else its first message, else its name, which is a time.
fn start(name: &str, shown: &[Shown<'_>], said: &[Said<'_>]) -> u64 {
    let seen = shown.iter().find_map(|shown| shown.ts);
    let told = said.iter().find_map(|said| said.ts);
    let named = || json::number(name).filter(|_| name.len() == 13);
    match (seen, told) {
        (Some(seen), Some(told)) => seen.min(told),
        (one, other) => one.or(other).or_else(named).unwrap_or_default(),
    }
}

/// A place at the start of a file.
fn beginning() -> Piece<'static> {
    Piece {
        line: 1,
        offset: 0,
        bytes: b"",
        what: lines::What::Json("", false),
    }
}
