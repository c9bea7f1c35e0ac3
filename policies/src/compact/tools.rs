//! What calls were about: their tool, their target, whether they read or change a file. By the names that hosts use.

use alloc::borrow::Cow;
use alloc::string::String;
use recount_events::raw::{member, words};
use recount_events::{BlockKind, Body, Content, Format, Status};
use recount_projections::{Answer, Call, Unit};

/// Names of parameters that hold a path.
const PATHS: &[&str] = &[
    "file_path",
    "path",
    "filePath",
    "notebook_path",
    "filename",
    "file",
];
/// Names of parameters that hold something else a call is about.
const TARGETS: &[&str] = &[
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "script",
    "name",
    "description",
];
/// Tools that read a file: their names without case and separators.
const READS: &[&str] = &[
    "read",
    "readfile",
    "readtextfile",
    "fileread",
    "view",
    "viewfile",
    "openfile",
    "notebookread",
    "cat",
];
/// Tools that change one.
const CHANGES: &[&str] = &[
    "write",
    "writefile",
    "writetofile",
    "filewrite",
    "edit",
    "editfile",
    "fileedit",
    "multiedit",
    "notebookedit",
    "replaceinfile",
    "strreplace",
    "strreplacebasededittool",
    "applypatch",
    "createfile",
    "searchreplace",
];

/// A call and what it was about.
pub(crate) struct Use<'u> {
    /// The call.
    pub(crate) call: &'u Call,
    /// The tool.
    pub(crate) tool: String,
    /// The raw arguments.
    pub(crate) input: String,
    /// The file.
    pub(crate) path: Option<String>,
    /// What it was about, a file or not.
    pub(crate) target: Option<String>,
}

impl Use<'_> {
    /// It reads a file.
    pub(crate) fn reads(&self) -> bool {
        self.path.is_some() && READS.contains(&&*plain(&self.tool))
    }

    /// It changes a file.
    pub(crate) fn changes(&self) -> bool {
        self.path.is_some() && CHANGES.contains(&&*plain(&self.tool))
    }
}

/// A tool's own name without the server's, without case and separators.
fn plain(tool: &str) -> String {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    own.chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The calls of a response.
pub(crate) fn uses(unit: &Unit) -> impl Iterator<Item = Use<'_>> {
    unit.calls.iter().filter_map(|call| {
        let part = unit.parts.iter().find(|part| part.seq == call.block.seq)?;
        let content = &part.message()?.content;
        let block = content
            .blocks
            .get(usize::try_from(call.block.index).ok()?)?;
        let facts = block.call(content.format)?;
        let input = arguments(facts.input).into_owned();
        let path = first(&input, PATHS);
        let target = path.clone().or_else(|| first(&input, TARGETS));
        Some(Use {
            call,
            tool: facts.name,
            input,
            path,
            target,
        })
    })
}

/// The arguments as an object: some dialects have them in a string.
fn arguments(input: &str) -> Cow<'_, str> {
    words(input).unwrap_or(Cow::Borrowed(input))
}

fn first(input: &str, names: &[&str]) -> Option<String> {
    let mut found = names
        .iter()
        .filter_map(|name| words(member(input, name)?))
        .filter(|value| !value.trim().is_empty());
    found.next().map(Cow::into_owned)
}

/// How a call ended, in a word.
pub(crate) const fn ended(answer: Option<&Answer>) -> &'static str {
    match answer {
        None => "no result",
        Some(answer) => match answer.status {
            Status::Ok => "ok",
            Status::Interim => "running",
            Status::Error => "error",
            Status::Rejected => "rejected",
            Status::Interrupted => "interrupted",
            Status::NotStarted => "not started",
            Status::Unknown => "unknown",
        },
    }
}

/// The words of a result as it was logged; none when it has anything else (pictures, documents) or is not at hand.
pub(crate) fn result_words(answer: &Answer) -> Option<String> {
    match &answer.logged.event.body {
        Body::ToolResult(result) => all_words(&result.content),
        Body::Message(message) => {
            let index = usize::try_from(answer.block.index).ok()?;
            let block = message.content.blocks.get(index)?;
            let facts = block.result(message.content.format)?;
            raw_words(message.content.format, facts.content?)
        }
        _ => None,
    }
}

/// The words of a content that is all text.
pub(crate) fn all_words(content: &Content) -> Option<String> {
    let mut all = String::new();
    for block in &content.blocks {
        if block.kind != BlockKind::Text {
            return None;
        }
        push_line(&mut all, &block.words()?);
    }
    Some(all)
}

fn raw_words(format: Format, raw: &str) -> Option<String> {
    if let Some(words) = words(raw) {
        return Some(words.into_owned());
    }
    let mut all = String::new();
    for part in recount_events::raw::elements(raw)? {
        let block = recount_events::Block::from_raw(format, part);
        if block.kind != BlockKind::Text {
            return None;
        }
        push_line(&mut all, &block.words()?);
    }
    Some(all)
}

fn push_line(all: &mut String, words: &str) {
    if !all.is_empty() && !words.is_empty() {
        all.push('\n');
    }
    all.push_str(words);
}
