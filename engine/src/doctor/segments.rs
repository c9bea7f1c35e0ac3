//! The segments of a directory: every frame is read, and what is wrong is told with file, offset, bytes, session and positions.

use super::names::Names;
use crate::{api, host};
use recount_events::Body;
use recount_wal::{
    Damage, Entry, HeaderFound, OpenError, Reader, SegmentAt, StreamInfo, Verification, inspect,
};
use std::path::Path;

/// Where lost events may still be found.
const ELSEWHERE: &str = "what is undamaged is read as before; keep a copy of the directory, then look for the lost events in a backup or an archive (`recount import`)";

/// Reads the log and fills in what was found.
pub(super) fn examine(diagnosis: &mut api::Diagnosis, path: &Path) {
    let there = inspect(path);
    if let Some(cause) = &there.unlisted {
        problem(
            diagnosis,
            file(
                "segments",
                format!("the segments cannot be listed: {cause}"),
            ),
            "see to the permissions and to the disk",
        );
    }
    there
        .segments
        .iter()
        .for_each(|segment| header(diagnosis, segment));
    let mut log = api::LogFound {
        segments: there.segments.len() as u64,
        bytes: there.segments.iter().map(|segment| segment.bytes).sum(),
        compressed: there
            .segments
            .iter()
            .filter(|one| is_compressed(one))
            .count() as u64,
        ..api::LogFound::default()
    };
    match Reader::open(path).and_then(|reader| Ok((reader.verify()?, reader))) {
        Ok((found, reader)) => read(diagnosis, &mut log, &found, &reader),
        Err(error) => unread(diagnosis, &error),
    }
    if there.segments.is_empty() && there.unlisted.is_none() {
        let gone = file("segments", "there are no segments".to_owned());
        // A directory that was only just made has none either: there is a key, and nothing else knows of a session.
        if diagnosis
            .parts
            .iter()
            .any(|part| part.name == "store" && part.files > 0)
        {
            diagnosis.state = Some(api::State::Truncated);
            problem(
                diagnosis,
                gone,
                "the event store was filled, so there were some: restore the folder `segments` from a backup",
            );
        }
    }
    diagnosis.log = Some(log);
}

fn is_compressed(segment: &SegmentAt) -> bool {
    segment.header == HeaderFound::Sound { compressed: true }
}

fn file(name: &str, what: String) -> api::Ailment {
    api::Ailment {
        what,
        file: Some(name.to_owned()),
        ..api::Ailment::default()
    }
}

fn problem(diagnosis: &mut api::Diagnosis, ailment: api::Ailment, next: &str) {
    let next = next.to_owned();
    diagnosis.problems.push(api::Ailment { next, ..ailment });
}

fn header(diagnosis: &mut api::Diagnosis, segment: &SegmentAt) {
    let (what, next) = match &segment.header {
        HeaderFound::Sound { .. } => return,
        // What a crash left of a segment's making.
        HeaderFound::Damaged if segment.bytes <= 128 => return,
        HeaderFound::OtherNumber(number) => (
            format!("another segment of this directory under a wrong name; number={number}"),
            "if that segment is missing, give the file its own name again; if it is a copy, take it away",
        ),
        HeaderFound::OtherDirectory => (
            "a segment of another directory".to_owned(),
            "put this directory's own file back; nothing in it is read here",
        ),
        HeaderFound::Damaged => (
            "the header is damaged".to_owned(),
            "its frames are read all the same; it is not written on any more",
        ),
        HeaderFound::Newer(version) => (
            format!("written by a newer version; version={version}"),
            "use a version of Recount at least as new; nothing in the directory is touched until then",
        ),
        HeaderFound::Unread(cause) => (
            format!("cannot be read: {cause}"),
            "see to the permissions and to the disk",
        ),
    };
    let ailment = api::Ailment {
        offset: Some(0),
        bytes: Some(128),
        ..file(&segment.name, what)
    };
    problem(diagnosis, ailment, next);
}

fn unread(diagnosis: &mut api::Diagnosis, error: &OpenError) {
    let source = std::error::Error::source(error);
    let cause = source.map_or_else(String::new, |source| format!(": {source}"));
    let next = match error {
        OpenError::Newer { .. } => {
            "use a version of Recount at least as new as the one that wrote it"
        }
        _ => "see to the permissions and to the disk, then look again",
    };
    let ailment = api::Ailment {
        what: format!("the log cannot be read: {error}{cause}"),
        ..api::Ailment::default()
    };
    problem(diagnosis, ailment, next);
}

/// Everything could be read.
fn read(
    diagnosis: &mut api::Diagnosis,
    log: &mut api::LogFound,
    found: &Verification,
    reader: &Reader,
) {
    let names = Names::of(reader);
    log.sessions = found.streams;
    log.events = found.records;
    log.erased = found.erased.len() as u64;
    log.closed = reader.recovered().closed;
    let erased = if found.erased.is_empty() {
        api::State::Clean
    } else {
        api::State::Erased
    };
    diagnosis.state = Some(host::state(found.state).max(erased));
    for damage in &found.damaged {
        damaged(diagnosis, &names, damage);
    }
    for (stream, seq) in &found.unchained {
        let ailment = api::Ailment {
            session: Some(names.get(*stream)),
            first: Some(*seq),
            last: Some(*seq),
            what: "the record does not follow the one before it, or is not what its digest was made over".to_owned(),
            ..api::Ailment::default()
        };
        problem(
            diagnosis,
            ailment,
            "bytes changed in a way that no disk does: hold the directory against heads kept elsewhere (`recount verify --against`)",
        );
    }
    for (stream, seq) in &found.doubled {
        let ailment = api::Ailment {
            what: "a position was given a second time by another writer; what came first counts"
                .to_owned(),
            session: Some(names.get(*stream)),
            first: Some(*seq),
            last: Some(*seq),
            ..api::Ailment::default()
        };
        problem(
            diagnosis,
            ailment,
            "two processes wrote without knowing of each other, or two copies of the directory were mixed: keep a copy, and read the other history from it",
        );
    }
    for content in &found.lost {
        let ailment = api::Ailment {
            session: Some(names.get(content.stream)),
            first: Some(content.seq),
            last: Some(content.seq),
            what: format!("a content of the event is lost; index={}", content.index),
            ..api::Ailment::default()
        };
        problem(diagnosis, ailment, ELSEWHERE);
    }
    cuts(diagnosis, found, reader);
    for info in reader.streams() {
        session(diagnosis, reader, &names, &info, found);
    }
    diagnosis
        .sessions
        .sort_by(|one, other| one.session.cmp(&other.session));
}

fn damaged(diagnosis: &mut api::Diagnosis, names: &Names, damage: &Damage) {
    let name = format!("segments/{:016x}.seg", damage.segment);
    let next = if damage.bytes == 0 {
        "restore the file from a backup; positions that were given are never given again"
    } else {
        ELSEWHERE
    };
    let owner = damage.lost;
    let ailment = api::Ailment {
        what: host::words(damage).to_owned(),
        file: Some(name),
        offset: Some(damage.offset),
        bytes: Some(damage.bytes),
        session: owner.map(|(stream, ..)| names.get(stream)),
        first: owner.map(|(_, first, _)| first),
        last: owner.map(|(.., last)| last),
        next: next.to_owned(),
    };
    if !diagnosis.problems.contains(&ailment) {
        diagnosis.problems.push(ailment);
    }
}

/// What is left out at the end now, and what recoveries cut before.
fn cuts(diagnosis: &mut api::Diagnosis, found: &Verification, reader: &Reader) {
    let now = reader.recovered().cut.as_ref();
    for cut in &found.cuts {
        let name = format!("segments/{:016x}.seg", cut.segment);
        let ailment = |what: &str, next: &str| api::Ailment {
            what: what.to_owned(),
            file: Some(name.clone()),
            offset: Some(cut.offset),
            bytes: Some(cut.bytes),
            next: next.to_owned(),
            ..api::Ailment::default()
        };
        let is_now = now.is_some_and(|now| (now.segment, now.offset) == (cut.segment, cut.offset));
        if !is_now {
            diagnosis.notes.push(ailment(
                "a recovery cut off a last group that, as far as the log can tell, was never acknowledged",
                "after a crash nothing to do; without a crash hold the directory against heads kept elsewhere (`recount verify --against`)",
            ));
        } else if diagnosis.holder.is_some() {
            diagnosis.notes.push(ailment(
                "the last group is not whole: it is being written",
                "nothing to do",
            ));
        } else {
            diagnosis.problems.push(ailment(
                "torn: the last group is not whole, and is cut off by the next open",
                "after a crash nothing to do: it was never acknowledged; without a crash hold the directory against heads kept elsewhere (`recount verify --against`)",
            ));
        }
    }
    let quiet = now.is_none() && diagnosis.holder.is_none();
    if quiet && !reader.recovered().closed && found.records > 0 {
        diagnosis.notes.push(api::Ailment {
            what: "the last process did not close the log; nothing of it is missing".to_owned(),
            next: "nothing to do".to_owned(),
            ..api::Ailment::default()
        });
    }
}

fn session(
    diagnosis: &mut api::Diagnosis,
    reader: &Reader,
    names: &Names,
    info: &StreamInfo,
    found: &Verification,
) {
    let name = names.get(info.stream);
    let lost = found.damaged.iter().filter_map(|damage| damage.lost);
    let lost = lost
        .filter(|(stream, ..)| *stream == info.stream)
        .map(|(_, first, last)| last.saturating_sub(first).saturating_add(1))
        .fold(0, u64::saturating_add);
    if let Some(parent) = parent_gone(reader, info) {
        let ailment = api::Ailment {
            what: format!("the session that it continues is not there; from={parent:?}"),
            session: Some(name.clone()),
            first: Some(0),
            last: info.first.checked_sub(1),
            ..api::Ailment::default()
        };
        problem(
            diagnosis,
            ailment,
            "import an archive of that session under its own name; the fork's own events are there",
        );
    }
    diagnosis.sessions.push(api::SessionFound {
        session: name,
        first: info.first,
        head: info.heads.accepted,
        at: info.heads.time,
        digest: info.heads.digest.to_string(),
        lost,
    });
}

/// The name of the session that a fork continues, when it is not in the log.
fn parent_gone(reader: &Reader, info: &StreamInfo) -> Option<String> {
    if info.first == 0 {
        return None;
    }
    let first = reader.read(info.stream, info.first, info.first).next()?;
    let Ok(Entry::Record(record)) = first else {
        return None;
    };
    let Body::Forked(forked) = super::names::event(&record)?.body else {
        return None;
    };
    let from = forked.from.as_str()?;
    let parent = host::stream_of(&reader.key(), from);
    reader.heads(parent).is_none().then(|| from.to_owned())
}
