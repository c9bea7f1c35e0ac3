//! Archives in: the records themselves, bit for bit, under the same or another name.
//!
//! - Checked before anything is written: the chain of record digests, the contents, every prompt digest.

use super::Progress;
use crate::core::Input;
use crate::host::directory::{Directory, Held, check_name};
use crate::host::engine::Engine;
use crate::host::list;
use crate::host::live::Live;
use crate::host::load::{name_in, renamed};
use crate::host::verify;
use crate::host::write::{Terms, refusal};
use crate::{Error, ErrorKind, api};
use recount_events::{Event, Found, Millis};
use recount_transcripts::archive::{self, ArchivedSession, Entry};
use recount_wal::{Batch, Class, Content, NewRecord, RecordDigest, StreamId, Wal};

/// Records that are written at once.
const BATCH: usize = 256;
/// The most names that are tried.
const NAMES: u32 = 1_000;

/// An archived session whose digests hold.
struct Checked {
    events: Vec<Option<Event>>,
    records: Vec<(NewRecord, RecordDigest)>,
}

/// Reads a file of archives.
pub(super) fn import(
    engine: &Engine,
    bytes: &[u8],
    name: Option<&str>,
    progress: Progress<'_>,
) -> Result<api::Imported, Error> {
    let dir = &*engine.inner;
    let archive = archive::read(bytes).map_err(|cause| super::refused(&cause))?;
    let mut answer = super::answer(recount_transcripts::FormatName::Archive, &archive.report);
    let all = archive
        .sessions
        .iter()
        .map(|session| session.entries.len() as u64)
        .fold(0, u64::saturating_add);
    let mut done = 0_u64;
    for (place, session) in archive.sessions.into_iter().enumerate() {
        let name = match (name, place) {
            (None, _) => session.header.session.clone(),
            (Some(name), 0) => name.to_owned(),
            (Some(name), place) => format!("{name}/{place}"),
        };
        check_name(&name)?;
        let count = session.entries.len() as u64;
        answer.sessions.push(bring(dir, &name, session)?);
        done = done.saturating_add(count);
        progress(done, all);
    }
    Ok(answer)
}

fn bring(
    dir: &Directory,
    name: &str,
    session: ArchivedSession,
) -> Result<api::ImportedSession, Error> {
    let checked = check(name, session)?;
    for number in 1..=NAMES {
        let candidate = if number == 1 {
            name.to_owned()
        } else {
            format!("{name}~{number}")
        };
        let slot = dir.slot(&candidate)?;
        let mut held = slot.hold();
        let log = dir.log()?;
        let Some(there) = common(dir, &log, slot.stream, &checked)? else {
            continue;
        };
        return take(dir, &mut held, &log, &candidate, checked, there);
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("too many sessions of that name; limit={NAMES}"),
    ))
}

/// How many of the records a stream holds already; none when it holds something else.
fn common(
    dir: &Directory,
    log: &Wal,
    stream: StreamId,
    checked: &Checked,
) -> Result<Option<usize>, Error> {
    let Some(heads) = log.heads(stream) else {
        return Ok(Some(0));
    };
    let mut count = 0_usize;
    let mut same = true;
    crate::host::stream::visit(dir, log, stream, 0, heads.accepted, &mut |read| {
        use crate::host::read::Read;
        let digest = match read {
            Read::Event(_, record) | Read::Unreadable(record) => Some(record.digest),
            Read::Gap(_) => None,
        };
        match checked.records.get(count) {
            None => {}
            Some((_, known)) if Some(*known) == digest => count = count.saturating_add(1),
            Some(_) => same = false,
        }
        Ok(())
    })?;
    let ends_within = count as u64 == heads.accepted.saturating_add(1);
    let holds_all = count == checked.records.len();
    Ok((same && (ends_within || holds_all)).then_some(count))
}

fn take(
    dir: &Directory,
    held: &mut Held<'_>,
    log: &Wal,
    name: &str,
    checked: Checked,
    there: usize,
) -> Result<api::ImportedSession, Error> {
    let state = match there {
        0 => "created",
        _ if there == checked.records.len() => "same",
        _ => "grown",
    };
    let written = checked.records.len().saturating_sub(there) as u64;
    let named = checked
        .events
        .iter()
        .flatten()
        .any(|event| name_in(event).as_deref() == Some(name));
    let at = checked
        .events
        .iter()
        .flatten()
        .next_back()
        .map_or(Millis(0), |event| event.at);
    held.forget();
    write(log, held.slot.stream, checked.records, there)?;
    // Also behind an import that was cut short before it came to its name.
    if !named && list::named(dir, log, held.slot.stream)?.is_none() {
        let live: &mut Live = dir.live(held)?;
        let event = Event {
            at,
            body: renamed(name),
            because: None,
            extra: None,
        };
        let decision = live
            .core
            .handle(at, Input::Own(vec![event]), &mut dir.salts())?;
        dir.write(held, decision, Terms::default())?;
    }
    super::line(dir, held, name, state, written, 0)
}

fn write(
    log: &Wal,
    stream: StreamId,
    records: Vec<(NewRecord, RecordDigest)>,
    there: usize,
) -> Result<(), Error> {
    let mut first = there as u64;
    let mut rest = records.into_iter().skip(there);
    loop {
        let (batch, digests): (Vec<NewRecord>, Vec<RecordDigest>) =
            rest.by_ref().take(BATCH).unzip();
        let (count, last) = (batch.len() as u64, digests.last().copied());
        if count == 0 {
            return Ok(());
        }
        let batch = Batch {
            stream,
            first,
            records: batch,
            tag: None,
            origin: None,
        };
        let receipt = log
            .append(batch, Class::Ordered)
            .map_err(|cause| refusal(&cause))?;
        if Some(receipt.digest) != last {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!("the log chained a record otherwise; seq={}", receipt.last),
            ));
        }
        first = first.saturating_add(count);
    }
}

/// Checks an archived session; refused when a digest does not hold.
fn check(name: &str, session: ArchivedSession) -> Result<Checked, Error> {
    if session.header.first.0 != 0 {
        return Err(Error::new(
            ErrorKind::Damaged,
            "the archive does not begin at its session's first position",
        )
        .with_next("export the session again, whole"));
    }
    let mut checked = Checked {
        events: Vec::new(),
        records: Vec::new(),
    };
    let mut previous = RecordDigest::ROOT;
    for (seq, archived) in (0_u64..).zip(session.entries) {
        previous = check_one(&mut checked, seq, archived.entry, previous)?;
    }
    let whole = session.trailer.is_some_and(|trailer| {
        trailer.count == checked.records.len() as u64
            && trailer.head.is_none_or(|head| head.0 == previous.0)
    });
    if !whole {
        return Err(broken(
            "the archive breaks off",
            checked.records.len() as u64,
        ));
    }
    let problems = verify::prompts_of(name, checked.events.clone());
    match problems.first() {
        Some(problem) => Err(Error::new(
            ErrorKind::Damaged,
            format!("the archive does not hold: {problem}"),
        )),
        None => Ok(checked),
    }
}

fn check_one(
    checked: &mut Checked,
    seq: u64,
    entry: Entry,
    previous: RecordDigest,
) -> Result<RecordDigest, Error> {
    let digest = RecordDigest::of(previous, seq, entry.kind, entry.schema, &entry.body);
    if entry.seq.0 != seq || digest.0 != entry.digest.0 {
        return Err(broken("a record digest does not hold", seq));
    }
    let event = entry.event().ok();
    if event
        .as_ref()
        .is_some_and(|event| event.texts().iter().any(|text| altered(text, &entry)))
    {
        return Err(broken("a content is not what its record commits to", seq));
    }
    let time = event.as_ref().map_or(0, |event| event.at.0);
    let contents = entry.contents.into_iter().map(content).collect();
    let record = NewRecord {
        time,
        kind: entry.kind,
        schema: entry.schema,
        body: entry.body,
        contents,
    };
    checked.records.push((record, digest));
    checked.events.push(event);
    Ok(digest)
}

/// The archive gave bytes for the text, and they are not its own.
fn altered(text: &recount_events::Text, entry: &Entry) -> bool {
    let lost = matches!(text.held, recount_events::Held::Lost);
    let unmarked = text
        .seal
        .is_some_and(|seal| seal.commitment != recount_events::LOST);
    lost && unmarked
        && entry
            .contents
            .iter()
            .all(|content| matches!(content, Found::Here { .. }))
}

fn content(found: Found) -> Content {
    match found {
        Found::Here { salt, bytes } => Content { salt, bytes },
        // Reads back as lost: no bytes have that commitment.
        Found::Lost | Found::Erased => Content {
            salt: [0; 16],
            bytes: Vec::new().into(),
        },
    }
}

fn broken(what: &str, seq: u64) -> Error {
    Error::new(ErrorKind::Damaged, format!("{what}; seq={seq}"))
        .with_next("nothing was written; get the archive again")
}
