//! Session files of Claude Code: records by line, chained by uuid.
//!
//! - Each record becomes one or more events, or a [`Kept`] event named `claude-code/<type>` that holds its bytes;
//!   what cannot be read is kept as `claude-code/damaged`.
//! - Records are taken in the order of the file. A file that grew by whole lines gives the old events, equal, and more;
//!   the exceptions: the time of what stands before the first record with a time, the kind of a file that so far
//!   holds records of sub-agents only, and the call that started a sub-agent with a file of its own, which may become
//!   known later. Then, and when a host rewrote what it had written, the new reading is another history.
//! - A conversation that went back is a rollback; what was left behind stays in the log.

mod attachment;
mod children;
mod envelope;
mod fold;
mod leaf;
mod record;
mod said;
mod session;
mod tasks;
mod timeline;

use crate::lines::{self, Piece, What};
use crate::{Damage, Doubt, Files, FormatName, Import, Problem, Refused, Report, Source, json};
use children::Reader;
use record::Record;
use recount_events::{Body, Form, Kept, Text};
use session::Session;

/// A piece of a file, with the record that it holds.
struct Item<'a> {
    piece: Piece<'a>,
    record: Option<Record<'a>>,
}

/// Reads a file of lines, and the files of its sub-agents beside it.
pub(crate) fn read(bytes: &[u8], name: &str, files: &dyn Files) -> Import {
    let mut report = Report::default();
    if lines::without_bom(bytes).len() < bytes.len() {
        let (problem, text) = (Problem::ByteOrderMark, String::new());
        report.doubted.push(Doubt {
            file: None,
            line: 1,
            offset: 0,
            problem,
            text,
        });
    }
    let items = items(lines::pieces(bytes));
    let mut reader = Reader::new(name, &items);
    reader.take_all(&items, &mut report);
    reader.take_files(files, &mut report);
    let sessions = reader.finish(&mut report);
    Import {
        format: FormatName::ClaudeCode,
        sessions,
        report,
    }
}

/// Reads a document that holds the records in a list.
pub(crate) fn read_web(bytes: &[u8], name: &str) -> Result<Import, Refused> {
    let format = FormatName::ClaudeCodeWeb;
    let text = std::str::from_utf8(lines::without_bom(bytes)).map_err(|_| Refused::NotUtf8)?;
    let document = json::Members::parse(text.trim()).ok_or(Refused::NotThis { format })?;
    let records = document
        .items("loglines")
        .ok_or(Refused::NotThis { format })?;
    let mut report = Report::default();
    let items = items(lines::inside(bytes, &records).into_iter());
    let mut reader = Reader::new(name, &items);
    reader.keep_document(&document);
    reader.take_all(&items, &mut report);
    let sessions = reader.finish(&mut report);
    Ok(Import {
        format,
        sessions,
        report,
    })
}

fn items<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> Vec<Item<'a>> {
    let item = |piece: Piece<'a>| Item {
        record: piece
            .record()
            .and_then(|raw| Record::parse(raw, source(&piece))),
        piece,
    };
    pieces.map(item).collect()
}

fn source(piece: &Piece<'_>) -> Source {
    Source {
        line: piece.line,
        offset: piece.offset,
        bytes: piece.bytes.len() as u64,
        id: None,
        file: None,
    }
}

/// The families of records that are known to be no part of the conversation.
const BESIDE: [&str; 33] = [
    "progress",
    "system",
    "attachment",
    "user",
    "assistant",
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "last-prompt",
    "ai-title",
    "custom-title",
    "tag",
    "agent-name",
    "agent-setting",
    "agent-color",
    "permission-mode",
    "mode",
    "pr-link",
    "frame-link",
    "worktree-state",
    "relocated",
    "bridge-session",
    "atis-latch",
    "started",
    "result",
    "content-replacement",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "task-summary",
    "attribution-snapshot",
    "speculation-accept",
    "context-collapse-snapshot",
];

impl<'a> Session<'a> {
    /// Takes a piece: a record, another JSON value, or damage.
    fn piece(&mut self, item: &Item<'a>, report: &mut Report) {
        report.read += 1;
        let Item { piece, record } = item;
        match (record, piece.what) {
            (Some(record), _) => self.counted(record, report),
            (None, What::Json(raw, _)) => self.other(piece, raw, report),
            (None, What::Damaged(problem)) => self.damaged(piece, problem, report),
        }
        if matches!(piece.what, What::Json(_, true)) {
            self.mention(piece, Problem::SharedLine, report);
        }
    }

    fn counted(&mut self, record: &Record<'a>, report: &mut Report) {
        *report.types.entry(record.name.clone()).or_default() += 1;
        let family = record.name.split('/').next().unwrap_or_default();
        if !BESIDE.contains(&family) {
            self.doubt(
                record,
                Problem::UnknownType,
                format!("type={}", record.name),
                report,
            );
        }
        self.take(record, report);
    }

    /// JSON that is no object.
    fn other(&mut self, piece: &Piece<'a>, raw: &str, report: &mut Report) {
        let kind = match raw.as_bytes().first() {
            Some(b'n') => "null",
            Some(b'"') => "string",
            Some(b'[') => "list",
            Some(b't' | b'f') => "boolean",
            _ => "number",
        };
        *report.types.entry(kind.to_owned()).or_default() += 1;
        report.kept += 1;
        self.mention(piece, Problem::UnknownType, report);
        let kept = Kept {
            name: Text::plain(&format!("claude-code/{kind}")),
            raw: Text::json(raw),
        };
        self.push(Body::Kept(kept), source(piece), None);
    }

    fn damaged(&mut self, piece: &Piece<'a>, problem: Problem, report: &mut Report) {
        let Source {
            line,
            offset,
            bytes,
            ..
        } = source(piece);
        report.damaged.push(Damage {
            file: self.file.clone(),
            line,
            offset,
            bytes,
            problem,
        });
        let form = if std::str::from_utf8(piece.bytes).is_ok() {
            Form::Plain
        } else {
            Form::Bytes
        };
        let kept = Kept {
            name: Text::plain("claude-code/damaged"),
            raw: Text::new(form, piece.bytes),
        };
        self.push(Body::Kept(kept), source(piece), None);
    }

    fn mention(&self, piece: &Piece<'a>, problem: Problem, report: &mut Report) {
        let (line, offset, text) = (piece.line, piece.offset, String::new());
        report.doubted.push(Doubt {
            file: self.file.clone(),
            line,
            offset,
            problem,
            text,
        });
    }
}
