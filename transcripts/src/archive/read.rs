//! Reading archives: sessions of logged events, and what was damaged.

use super::{Entry, Header, Trailer, VERSION, hex};
use crate::json::{self, Members};
use crate::lines::{self, Piece, What};
use crate::{Damage, Doubt, FormatName, Problem, Refused, Report, Source};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recount_events::{DecodeError, Digest, Event, Found, Seq};
use std::sync::Arc;

/// What a file of archives holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The sessions, in the order of the file.
    pub sessions: Vec<ArchivedSession>,
    /// What was read, doubted and damaged.
    pub report: Report,
}

/// One session of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedSession {
    /// What its first line says.
    pub header: Header,
    /// Its events, in the order of the file.
    pub entries: Vec<Archived>,
    /// What its last line says; `None` when the archive breaks off.
    pub trailer: Option<Trailer>,
}

/// An event and where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The event as it was logged.
    pub entry: Entry,
    /// Its line.
    pub source: Source,
}

impl Entry {
    /// The event. Contents that are not what the body commits to are lost.
    ///
    /// # Errors
    /// The body is damaged, see [`DecodeError`].
    pub fn event(&self) -> Result<Event, DecodeError> {
        Event::decode(self.kind, self.schema, &self.body, self.contents.clone())
    }
}

/// Reads a file of archives, one behind the other.
///
/// # Errors
/// [`Refused::NotThis`] when no line is the first line of an archive, [`Refused::Newer`] when one is of a later version.
pub fn read(bytes: &[u8]) -> Result<Archive, Refused> {
    let mut reader = Reader {
        sessions: Vec::new(),
        report: Report::default(),
    };
    for piece in lines::pieces(bytes) {
        reader.piece(&piece)?;
    }
    let Reader {
        sessions,
        mut report,
    } = reader;
    if sessions.is_empty() {
        return Err(Refused::NotThis {
            format: FormatName::Archive,
        });
    }
    sessions
        .iter()
        .for_each(|session| check(session, &mut report));
    Ok(Archive { sessions, report })
}

/// What became of a line that could be read.
enum Line {
    /// It has its place.
    Taken,
    /// It begins an archive of this later version.
    Newer(u64),
}

struct Reader {
    sessions: Vec<ArchivedSession>,
    report: Report,
}

impl Reader {
    fn piece(&mut self, piece: &Piece<'_>) -> Result<(), Refused> {
        self.report.read += 1;
        let members = match piece.what {
            What::Json(raw, _) => Members::parse(raw).ok_or(Problem::Malformed),
            What::Damaged(problem) => Err(problem),
        };
        match members.and_then(|members| self.line(&members, piece)) {
            Ok(Line::Newer(version)) => return Err(Refused::Newer { version }),
            Ok(Line::Taken) => {}
            Err(problem) => self.damaged(piece, problem),
        }
        Ok(())
    }

    fn line(&mut self, members: &Members<'_>, piece: &Piece<'_>) -> Result<Line, Problem> {
        match members.number("recount_archive") {
            Some(version) if version > VERSION => return Ok(Line::Newer(version)),
            Some(_) => self.header(members),
            None => self.entry(members, piece).or_else(|| self.trailer(members)),
        }
        .map(|()| Line::Taken)
        .ok_or(Problem::Malformed)
    }

    fn header(&mut self, members: &Members<'_>) -> Option<()> {
        let session = members.text("session")?;
        let header = Header {
            session,
            first: Seq(members.number("first").unwrap_or(0)),
        };
        self.sessions.push(ArchivedSession {
            header,
            entries: Vec::new(),
            trailer: None,
        });
        Some(())
    }

    /// The entry of a line, put to the session that is open.
    fn entry(&mut self, members: &Members<'_>, piece: &Piece<'_>) -> Option<()> {
        let entry = entry(members)?;
        let session = self
            .sessions
            .last_mut()
            .filter(|session| session.trailer.is_none())?;
        let source = Source {
            line: piece.line,
            offset: piece.offset,
            bytes: piece.bytes.len() as u64,
            id: None,
            file: None,
        };
        session.entries.push(Archived { entry, source });
        Some(())
    }

    fn trailer(&mut self, members: &Members<'_>) -> Option<()> {
        members.number("recount_archive_end")?;
        let head = match members.raw("head")? {
            "null" => None,
            raw => Some(digest(raw)?),
        };
        let trailer = Trailer {
            count: members.number("count")?,
            head,
        };
        let session = self
            .sessions
            .last_mut()
            .filter(|session| session.trailer.is_none())?;
        session.trailer = Some(trailer);
        Some(())
    }

    fn damaged(&mut self, piece: &Piece<'_>, problem: Problem) {
        let (line, offset, bytes) = (piece.line, piece.offset, piece.bytes.len() as u64);
        self.report.damaged.push(Damage {
            file: None,
            line,
            offset,
            bytes,
            problem,
        });
    }
}

fn entry(members: &Members<'_>) -> Option<Entry> {
    let small = |key: &str| {
        members
            .number(key)
            .and_then(|number| u16::try_from(number).ok())
    };
    let contents = members
        .items("contents")?
        .into_iter()
        .map(|raw| content(&Members::parse(raw)?));
    Some(Entry {
        // Positions are exact: a number with a fraction is none.
        seq: Seq(members.raw("seq")?.parse().ok()?),
        digest: digest(members.raw("digest")?)?,
        kind: small("kind")?,
        schema: small("schema")?,
        body: STANDARD.decode(members.text("body")?).ok()?,
        contents: contents.collect::<Option<_>>()?,
    })
}

fn content(members: &Members<'_>) -> Option<Found> {
    if members.is_true("lost") {
        return Some(Found::Lost);
    }
    if members.is_true("erased") {
        return Some(Found::Erased);
    }
    let salt = hex::decode(&members.text("salt")?)?;
    let bytes = match members.text("text") {
        Some(text) => text.into_bytes(),
        None => STANDARD.decode(members.text("bytes")?).ok()?,
    };
    Some(Found::Here {
        salt,
        bytes: Arc::from(bytes),
    })
}

fn digest(raw: &str) -> Option<Digest> {
    hex::decode(&json::unescape(raw)?).map(Digest)
}

/// Positions follow one another, and the trailer says what came before it.
fn check(session: &ArchivedSession, report: &mut Report) {
    let mut next = session.header.first;
    for Archived { entry, source } in &session.entries {
        if entry.seq != next {
            doubt(
                source,
                format!("expected={next} found={}", entry.seq),
                report,
            );
        }
        next = entry.seq.next();
    }
    let last = session.entries.last();
    let end = last.map_or_else(Source::default, |last| last.source.clone());
    let head = last.map(|last| last.entry.digest);
    match session.trailer {
        None => doubt(&end, "the last line is missing".to_owned(), report),
        Some(trailer) if trailer.count != session.entries.len() as u64 || trailer.head != head => {
            doubt(
                &end,
                format!("count={} found={}", trailer.count, session.entries.len()),
                report,
            );
        }
        Some(_) => {}
    }
}

fn doubt(source: &Source, text: String, report: &mut Report) {
    let (line, offset, problem) = (source.line, source.offset, Problem::Inconsistent);
    report.doubted.push(Doubt {
        file: None,
        line,
        offset,
        problem,
        text,
    });
}
