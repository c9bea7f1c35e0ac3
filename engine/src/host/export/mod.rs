//! Archives out.

mod target;
mod task;

pub(super) use target::{outside, write_archive};

use super::directory::Directory;
use super::engine::Engine;
use super::load::no_session;
use super::read::{Read, found};
use super::stream;
use crate::{Error, ErrorKind, api, place};
use recount_events::{Digest, Event, Seq};
use recount_transcripts::archive::{self, Entry, Header, Trailer};
use recount_wal::{Record, Stored, Wal};
use std::path::Path;

/// The longest archive that is handed out inside an answer, in bytes.
const INSIDE: usize = 24 << 20;

/// An archive as it grows.
pub(super) struct Writing {
    pub(super) text: String,
    count: u64,
    head: Option<Digest>,
    notes: Vec<String>,
}

impl Engine {
    /// Writes a session as a lossless archive: its records bit for bit, what a fork inherits included. Or, by `format`, as the files of a
    /// task of Cline, in a folder.
    ///
    /// # Errors
    /// `not_found`, `io`; `too_large` for an answer without a file; `conflict` when the folder holds such files; `invalid` when what
    /// stands at the path is no file (of a task: no folder).
    pub fn export(&self, ask: &api::Export) -> Result<api::Exported, Error> {
        let dir = &*self.inner;
        if ["cline-task", "roo-task"].contains(&ask.format.as_deref().unwrap_or_default()) {
            return task::export(self, ask);
        }
        if let Some(format) = ask
            .format
            .as_deref()
            .filter(|format| !["recount", "recount-archive"].contains(format))
        {
            return Err(Error::invalid(format!(
                "there is no such format to export; format={format:?}"
            ))
            .with_field("format")
            .with_next("name recount or cline-task, or none for recount"));
        }
        super::directory::check_name(&ask.session)?;
        if let Some(path) = &ask.path {
            outside(dir, Path::new(path))?;
            place::replaceable(Path::new(path))?;
        }
        let log = dir.log()?;
        hand_out(ask, archive(dir, &log, &ask.session)?)
    }
}

/// A session's archive.
pub(super) fn archive(dir: &Directory, log: &Wal, session: &str) -> Result<Writing, Error> {
    let id = dir.stream(session);
    let head = log.heads(id).ok_or_else(|| no_session(session))?.accepted;
    let text = archive::header(&Header {
        session: session.to_owned(),
        first: Seq(0),
    });
    let mut writing = Writing {
        text,
        count: 0,
        head: None,
        notes: Vec::new(),
    };
    stream::visit(dir, log, id, 0, head, &mut |read| {
        writing.take(read);
        Ok(())
    })?;
    writing.text.push_str(&archive::trailer(&Trailer {
        count: writing.count,
        head: writing.head,
    }));
    Ok(writing)
}

impl Writing {
    fn take(&mut self, read: Read) {
        match read {
            Read::Event(event, record) => self.record(&record, Some(&event)),
            Read::Unreadable(record) => self.record(&record, None),
            Read::Gap(gap) => {
                self.notes.push(format!(
                    "damaged positions are not in the archive; first={} last={}",
                    gap.first, gap.last
                ));
            }
        }
    }

    fn record(&mut self, record: &Record, event: Option<&Event>) {
        let lost = |content: &&Stored| matches!(content, Stored::Lost);
        let lost = record.contents.iter().filter(lost).count();
        if lost > 0 {
            self.notes.push(format!(
                "damaged contents are not in the archive; seq={} contents={lost}",
                record.seq
            ));
        }
        let digest = Digest(record.digest.0);
        let entry = Entry {
            seq: Seq(record.seq),
            digest,
            kind: record.kind,
            schema: record.schema,
            body: record.body.clone(),
            contents: record.contents.iter().cloned().map(found).collect(),
        };
        let shown = event.map(|event| event.to_json(entry.seq, Some(&digest)));
        self.text.push_str(&archive::line(&entry, shown.as_deref()));
        self.count = self.count.saturating_add(1);
        self.head = Some(digest);
    }
}

fn hand_out(ask: &api::Export, writing: Writing) -> Result<api::Exported, Error> {
    let bytes = writing.text.len();
    let mut exported = api::Exported {
        session: ask.session.clone(),
        format: "recount-archive".to_owned(),
        events: writing.count,
        bytes: bytes as u64,
        notes: writing.notes,
        ..api::Exported::default()
    };
    match &ask.path {
        Some(path) => {
            write_archive(Path::new(path), writing.text.as_bytes())?;
            exported.path = Some(path.clone());
        }
        None if bytes > INSIDE => {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("the archive is too long for an answer; bytes={bytes} limit={INSIDE}"),
            )
            .with_next("name a file with path"));
        }
        None => exported.text = Some(writing.text),
    }
    Ok(exported)
}
