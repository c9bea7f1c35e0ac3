//! Archives out.

use super::directory::Directory;
use super::engine::Engine;
use super::load::{Read, no_session};
use super::{project, stream};
use crate::{Error, ErrorKind, api, place};
use recount_events::{Digest, Event, Found, Seq};
use recount_transcripts::archive::{self, Entry, Header, Trailer};
use recount_wal::{Record, Stored, Wal};
use std::path::Path;

/// The longest archive that is handed out inside an answer, in bytes.
const INSIDE: usize = 24 << 20;

/// Names in a data directory that nothing may be written over.
const OWN: &[&str] = &[
    "segments",
    "key",
    "key.new",
    "lock",
    "store",
    "states",
    "socket",
    "socket.path",
    "out",
    "spills",
];

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
            return super::export_task::export(self, ask);
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

/// Refuses a path that is one of the directory's own files or in one of its folders.
pub(super) fn outside(dir: &Directory, path: &Path) -> Result<(), Error> {
    let own = std::fs::canonicalize(&dir.path);
    let parent = path.parent().unwrap_or(path);
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    let (Ok(own), Ok(parent)) = (own, std::fs::canonicalize(parent)) else {
        // A folder that is not there is nobody's; writing to it fails by itself.
        return Ok(());
    };
    let place = path
        .file_name()
        .map_or_else(|| parent.clone(), |name| parent.join(name));
    let inside = place.strip_prefix(&own).ok();
    let first = inside.map(|inside| {
        inside
            .components()
            .next()
            .map(|part| part.as_os_str().to_owned())
    });
    let taken = match first {
        None => false,
        Some(None) => true,
        Some(Some(name)) => OWN.iter().any(|own| name == *own),
    };
    if !taken {
        return Ok(());
    }
    Err(
        Error::invalid("the path is one of the data directory's own files")
            .with_field("path")
            .with_next("name a file outside the data directory"),
    )
}

/// Writes an archive durably, whole or not at all; over nothing but a file.
pub(super) fn write_archive(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    place::replaceable(path)?;
    project::write_private(path, bytes)?;
    sync_folder_of(path)
}

/// Has a name on disk: what a folder holds is on disk once the folder is.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        std::fs::File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()?;
    }
    Ok(())
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
        let digest = Digest(record.digest.0);
        let entry = Entry {
            seq: Seq(record.seq),
            digest,
            kind: record.kind,
            schema: record.schema,
            body: record.body.clone(),
            contents: record.contents.iter().map(found).collect(),
        };
        let shown = event.map(|event| event.to_json(entry.seq, Some(&digest)));
        self.text.push_str(&archive::line(&entry, shown.as_deref()));
        self.count = self.count.saturating_add(1);
        self.head = Some(digest);
    }
}

fn found(stored: &Stored) -> Found {
    match stored {
        Stored::Here(content) => Found::Here {
            salt: content.salt,
            bytes: content.bytes.clone(),
        },
        Stored::Lost => Found::Lost,
        Stored::Erased => Found::Erased,
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
