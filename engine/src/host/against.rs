//! A log held against what was known of it: heads that were kept elsewhere tell what is missing from what is another history.
//!
//! - A record digest covers every record before it, so one digest speaks for a whole history; whether all of it is still there, only
//!   reading it tells.
//! - What is handed out as evidence is durable.

use super::directory::{Directory, check_name};
use super::engine::Engine;
use super::read::Read;
use super::{ask, list, stream};
use crate::{Error, ErrorKind, api};
use recount_wal::{Record, RecordDigest, Stored, StreamInfo, Wal};
use std::collections::BTreeMap;

/// What stands at a position.
enum There {
    /// A record with this digest.
    Record(RecordDigest),
    /// Nothing that can be read; whether bytes are damaged, or just not there.
    Gap { damaged: bool },
    /// The session does not reach so far.
    Nothing,
}

impl Engine {
    /// What the sessions end in, to be kept elsewhere and held against the directory later ([`api::VerifyAll::against`]).
    ///
    /// # Errors
    /// `not_durable` while the disk refuses what was accepted, `io`.
    pub fn heads(&self, ask: &api::Heads) -> Result<api::HeadsReport, Error> {
        let dir = &*self.inner;
        let log = dir.log()?;
        // Evidence must not promise what a power cut may take.
        let durable = log
            .sync_all()
            .map_err(|cause| super::write::refusal(&cause))?;
        if !durable {
            return Err(Error::new(
                ErrorKind::NotDurable,
                "what was accepted is not on disk yet",
            ));
        }
        let prefix = ask.prefix.as_deref().unwrap_or_default();
        let mut heads = Vec::new();
        for info in log.streams() {
            let Some(named) = list::named(dir, &log, info.stream)? else {
                continue;
            };
            if named.name.starts_with(prefix)
                && let Some((head, digest)) = newest(dir, &log, &info)?
            {
                heads.push(api::Head {
                    session: named.name,
                    head,
                    digest: digest.to_string(),
                });
            }
        }
        heads.sort_by(|one, other| one.session.cmp(&other.session));
        Ok(api::HeadsReport { heads })
    }
}

/// The newest durable record of a stream that can be read.
fn newest(
    dir: &Directory,
    log: &Wal,
    info: &StreamInfo,
) -> Result<Option<(u64, RecordDigest)>, Error> {
    let Some(durable) = info.heads.durable else {
        return Ok(None);
    };
    if let There::Record(digest) = at(dir, log, info.stream, durable)? {
        return Ok(Some((durable, digest)));
    }
    let mut found = None;
    stream::visit(dir, log, info.stream, 0, durable, &mut |read| {
        if let Read::Event(_, record) | Read::Unreadable(record) = read {
            found = Some((record.seq, record.digest));
        }
        Ok(())
    })?;
    Ok(found)
}

/// What stands at a position of a session, which a fork may have inherited.
fn at(dir: &Directory, log: &Wal, id: recount_wal::StreamId, seq: u64) -> Result<There, Error> {
    let mut there = There::Nothing;
    stream::visit(dir, log, id, seq, seq, &mut |read| {
        there = match read {
            Read::Event(_, record) | Read::Unreadable(record) => There::Record(record.digest),
            Read::Gap(gap) => There::Gap {
                damaged: gap.bytes > 0,
            },
        };
        Ok(())
    })?;
    Ok(there)
}

/// Holds each session against what was known of it.
pub(super) fn hold(
    dir: &Directory,
    log: &Wal,
    known: &[api::Head],
) -> Result<Vec<api::Against>, Error> {
    let mut sessions: BTreeMap<&str, Vec<(u64, RecordDigest)>> = BTreeMap::new();
    for head in known {
        check_name(&head.session)?;
        let digest = ask::digest(&head.digest).map_err(|error| error.with_field("digest"))?;
        sessions
            .entry(&head.session)
            .or_default()
            .push((head.head, RecordDigest(digest.0)));
    }
    sessions
        .into_iter()
        .map(|(session, known)| one(dir, log, session, &known))
        .collect()
}

fn one(
    dir: &Directory,
    log: &Wal,
    session: &str,
    known: &[(u64, RecordDigest)],
) -> Result<api::Against, Error> {
    let id = dir.stream(session);
    let found = log.heads(id).map(|heads| heads.accepted);
    let mut against = api::Against {
        session: session.to_owned(),
        found,
        ..api::Against::default()
    };
    let forgotten = log.forgotten(id);
    let mut same = Vec::new();
    for (head, digest) in known {
        let standing = match found {
            Some(found) if found >= *head => standing(at(dir, log, id, *head)?, *digest),
            _ => api::Standing::Truncated,
        };
        // A session that began again under the name of a forgotten one is not a replaced history.
        let pruned = forgotten.is_some_and(|gone| {
            *head < gone.last || (*head == gone.last && *digest == gone.digest)
        });
        let standing = match standing {
            api::Standing::Truncated | api::Standing::Differs if pruned => api::Standing::Pruned,
            other => other,
        };
        against.head = against.head.max(*head);
        against.standing = against.standing.max(standing);
        if standing == api::Standing::Holds {
            same.push(*head);
        }
    }
    let Some(last) = same.iter().copied().max() else {
        return Ok(against);
    };
    let holes = holes(dir, log, id, last)?;
    against.missing = holes.first;
    for head in same {
        let standing = holes.before(head);
        against.standing = against.standing.max(standing);
        if standing == api::Standing::Holds {
            against.agrees = against.agrees.max(Some(head));
        }
    }
    Ok(against)
}

/// What is not there of a session up to a position whose record is the one that was known.
#[derive(Default)]
struct Holes {
    /// The first position that is not there.
    first: Option<u64>,
    /// The first whose bytes are damaged.
    damaged: Option<u64>,
}

impl Holes {
    fn add(&mut self, seq: u64, damaged: bool) {
        self.first.get_or_insert(seq);
        if damaged {
            self.damaged.get_or_insert(seq);
        }
    }

    /// How a session stands up to a position.
    fn before(&self, head: u64) -> api::Standing {
        let met = |hole: Option<u64>| hole.is_some_and(|seq| seq <= head);
        match (met(self.damaged), met(self.first)) {
            (true, _) => api::Standing::Damaged,
            (false, true) => api::Standing::Truncated,
            (false, false) => api::Standing::Holds,
        }
    }
}

/// Reads a session, and what it inherits, up to a position.
fn holes(dir: &Directory, log: &Wal, id: recount_wal::StreamId, to: u64) -> Result<Holes, Error> {
    let mut holes = Holes::default();
    let mut next = 0;
    stream::visit(dir, log, id, 0, to, &mut |read| {
        let (first, last) = match &read {
            Read::Event(_, record) | Read::Unreadable(record) => (record.seq, record.seq),
            Read::Gap(gap) => (gap.first, gap.last),
        };
        // What a fork inherits is nowhere when its parent is gone.
        if first > next {
            holes.add(next, false);
        }
        match &read {
            Read::Gap(gap) => holes.add(first, gap.bytes > 0),
            Read::Event(_, record) | Read::Unreadable(record) if lacks(record) => {
                holes.add(first, true);
            }
            _ => {}
        }
        next = last.saturating_add(1);
        Ok(())
    })?;
    Ok(holes)
}

/// A content of the record cannot be read.
fn lacks(record: &Record) -> bool {
    let mut contents = record.contents.iter();
    contents.any(|content| matches!(content, Stored::Lost))
}

fn standing(there: There, digest: RecordDigest) -> api::Standing {
    match there {
        There::Record(found) if found == digest => api::Standing::Holds,
        There::Record(_) => api::Standing::Differs,
        There::Gap { damaged: true } => api::Standing::Damaged,
        There::Gap { damaged: false } | There::Nothing => api::Standing::Truncated,
    }
}

/// The state that a comparison gives a directory.
pub(super) fn state(standing: api::Standing) -> api::State {
    match standing {
        api::Standing::Holds | api::Standing::Pruned => api::State::Clean,
        api::Standing::Truncated => api::State::Truncated,
        api::Standing::Damaged => api::State::Damaged,
        api::Standing::Differs => api::State::Replaced,
    }
}
