//! Foreign transcripts in.
//!
//! - The same file again writes nothing; a file that grew adds what is new; a file that was written anew becomes a fork at the last
//!   event that is equal, under `NAME~2`, `NAME~3` …
//! - An archive that came under another name ends in the event that says so: one of the same session that grew since is another chain of
//!   records, and comes whole under `NAME~2`.
//! - Nothing is lost: what does not fit the rules is kept word for word, in its place, and reported.

mod archive;
mod compare;
mod folder;
mod shift;
mod task;

use super::directory::durable;
use super::directory::{Directory, Held};
use super::engine::Engine;
use super::write::Terms;
use crate::core::{Input, Misplaced};
use crate::{Error, ErrorKind, api, place};
use compare::{Known, Verdict};
pub(crate) use folder::Folder;
use recount_events::{Event, Millis, Seq};
use recount_transcripts::{FormatName, Import, Refused, Report, Source};
use recount_wal::Class;
use std::path::Path;

/// Events that are written at once.
const BATCH: usize = 256;
/// The most forks of one name.
const FORKS: u32 = 1_000;

/// Hears of events done and of all.
pub(super) type Progress<'a> = &'a mut dyn FnMut(u64, u64);

impl Engine {
    /// Reads a foreign transcript or an archive.
    ///
    /// # Errors
    /// `not_found` for the file, `invalid` when it is no file or its format is not known, `damaged` for an archive whose digests do not hold.
    pub fn import(&self, ask: &api::Import) -> Result<api::Imported, Error> {
        self.import_with(ask, &mut |_, _| {})
    }

    /// The same; `progress` hears of the work done and the whole, in events.
    ///
    /// # Errors
    /// As [`Engine::import`].
    pub fn import_with(
        &self,
        ask: &api::Import,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<api::Imported, Error> {
        let dir = &*self.inner;
        let path = Path::new(&ask.path);
        let format = ask.format.as_deref().map(named_format).transpose()?;
        if path.is_dir() {
            return task::folder_in(self, path, format, ask, progress);
        }
        if let Some(place) = task::task_of(path, format).filter(|_| path.is_file()) {
            return task::task(self, &place, format, ask.name.as_deref(), progress);
        }
        place::readable(path)?;
        let bytes = std::fs::read(path).map_err(|cause| {
            let kind = if cause.kind() == std::io::ErrorKind::NotFound {
                ErrorKind::NotFound
            } else {
                ErrorKind::Io
            };
            Error::new(kind, format!("the file cannot be read: {cause}"))
                .with_field("path")
                .with_next("check the path")
        })?;
        let format = match format.or_else(|| recount_transcripts::detect(&bytes)) {
            Some(format) => format,
            None => return Err(refused(&Refused::Unrecognised)),
        };
        if format == FormatName::Archive {
            return archive::import(self, &bytes, ask.name.as_deref(), progress);
        }
        let name = name_of(ask, path);
        super::directory::check_name(&name)?;
        let import = recount_transcripts::read(&bytes, Some(format), &name, &Folder::beside(path))
            .map_err(|cause| refused(&cause))?;
        sessions(dir, import, progress)
    }
}

fn named_format(name: &str) -> Result<FormatName, Error> {
    FormatName::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = FormatName::ALL
            .iter()
            .map(|format| format.as_str())
            .collect();
        Error::invalid(format!("there is no such format; format={name:?}"))
            .with_field("format")
            .with_next(format!(
                "name one of {}, or none to have it found out",
                known.join(", ")
            ))
    })
}

fn refused(cause: &Refused) -> Error {
    let kind = match cause {
        Refused::Newer { .. } => ErrorKind::Newer,
        _ => ErrorKind::Invalid,
    };
    Error::new(kind, format!("the file was not read: {cause}"))
        .with_next("name the format, or check the file")
}

fn name_of(ask: &api::Import, path: &Path) -> String {
    let stem = || {
        path.file_stem().map_or_else(
            || "imported".to_owned(),
            |stem| {
                let stem = stem.to_string_lossy();
                stem.strip_suffix(".messages").unwrap_or(&stem).to_owned()
            },
        )
    };
    ask.name.clone().unwrap_or_else(stem)
}

fn sessions(
    dir: &Directory,
    import: Import,
    progress: Progress<'_>,
) -> Result<api::Imported, Error> {
    let all = import
        .sessions
        .iter()
        .map(|session| session.events.len() as u64)
        .fold(0, u64::saturating_add);
    let mut answer = answer(import.format, &import.report);
    let mut done = 0_u64;
    for session in import.sessions {
        let (events, sources): (Vec<Event>, Vec<Source>) = session
            .events
            .into_iter()
            .map(|imported| (imported.event, imported.source))
            .unzip();
        let count = events.len() as u64;
        let mut heard = |here: u64| progress(done.saturating_add(here), all);
        let (line, misfits) = session_in(dir, &session.name, events, &mut heard)?;
        done = done.saturating_add(count);
        answer.doubted.extend(
            misfits
                .iter()
                .map(|misplaced| misfit_note(sources.get(misplaced.index), misplaced)),
        );
        answer.sessions.push(line);
    }
    Ok(answer)
}

fn answer(format: FormatName, report: &Report) -> api::Imported {
    let (damaged, doubted) = notes_of(report);
    api::Imported {
        format: format.as_str().to_owned(),
        sessions: Vec::new(),
        read: report.read,
        kept: report.kept,
        doubted,
        damaged,
    }
}

/// What a reader found damaged, and what doubtful, in the words of the protocol.
pub(crate) fn notes_of(report: &Report) -> (Vec<api::Note>, Vec<api::Note>) {
    let doubted = report.doubted.iter().map(|doubt| api::Note {
        line: doubt.line,
        offset: doubt.offset,
        bytes: None,
        problem: in_file(
            doubt.file.as_deref(),
            &format!("{}: {}", doubt.problem.words(), doubt.text),
        ),
    });
    let damaged = report.damaged.iter().map(|damage| api::Note {
        line: damage.line,
        offset: damage.offset,
        bytes: Some(damage.bytes),
        problem: in_file(damage.file.as_deref(), damage.problem.words()),
    });
    (damaged.collect(), doubted.collect())
}

fn in_file(file: Option<&str>, words: &str) -> String {
    match file {
        Some(file) => format!("{words} (in {file})"),
        None => words.to_owned(),
    }
}

fn misfit_note(source: Option<&Source>, misplaced: &Misplaced) -> api::Note {
    let what = if misplaced.kept {
        "does not fit, kept word for word"
    } else {
        "its result is not shown"
    };
    let (line, offset) = source.map_or((0, 0), |source| (source.line, source.offset));
    let file = source.and_then(|source| source.file.as_deref());
    api::Note {
        line,
        offset,
        bytes: None,
        problem: in_file(file, &format!("{what}: {}", misplaced.why)),
    }
}

/// Events of the session that did not fit as they came.
type Misfits = Vec<Misplaced>;

/// Brings one session in, under the first name where it fits.
fn session_in(
    dir: &Directory,
    name: &str,
    events: Vec<Event>,
    heard: &mut dyn FnMut(u64),
) -> Result<(api::ImportedSession, Misfits), Error> {
    let mut best: Option<(String, Seq)> = None;
    for number in 1..=FORKS {
        let candidate = if number == 1 {
            name.to_owned()
        } else {
            format!("{name}~{number}")
        };
        let slot = dir.slot(&candidate)?;
        let mut held = slot.hold();
        let verdict = match dir.whole(&mut held) {
            Ok(live) => compare::compare(&live.core.state, &events),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return begin(dir, &mut held, &candidate, events, best, heard);
            }
            Err(error) => return Err(error),
        };
        match verdict {
            Verdict::Same => {
                return Ok((line(dir, &mut held, &candidate, "same", 0, 0)?, Vec::new()));
            }
            Verdict::Grown(known) => {
                return grow(dir, &mut held, &candidate, "grown", events, &known, heard);
            }
            Verdict::Differs(at) => {
                let further = best
                    .as_ref()
                    .is_none_or(|(_, seq)| at.is_some_and(|at| at > *seq));
                if let (true, Some(at)) = (further, at) {
                    best = Some((candidate, at));
                }
            }
        }
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("too many forks of that name; limit={FORKS}"),
    ))
}

/// A new session: from nothing, or as a fork at the last event that is equal.
fn begin(
    dir: &Directory,
    held: &mut Held<'_>,
    name: &str,
    events: Vec<Event>,
    from: Option<(String, Seq)>,
    heard: &mut dyn FnMut(u64),
) -> Result<(api::ImportedSession, Misfits), Error> {
    let Some((parent, at)) = from else {
        // Who finds a session by its log wants its name there, also where the recording's own name was taken.
        let events = events
            .into_iter()
            .map(|event| compare::named(event, name))
            .collect();
        held.put(super::live::Live::fresh(
            crate::core::Core::default(),
            recount_wal::RecordDigest::ROOT,
        ));
        let done = grow(dir, held, name, "created", events, &Known::default(), heard);
        if done.is_err() {
            held.forget();
        }
        return done;
    };
    let now = events.first().map_or(Millis(0), |event| event.at);
    let fork = api::Fork {
        session: parent.clone(),
        at: api::At::Seq(at.0),
        new: name.to_owned(),
        now: Some(now.0),
        ..api::Fork::default()
    };
    super::fork::under(dir, held, &fork)?;
    let verdict = compare::compare(&dir.whole(held)?.core.state, &events);
    let Verdict::Grown(known) = verdict else {
        return Err(Error::new(
            ErrorKind::Conflict,
            "the recording does not continue its own fork",
        ));
    };
    let (mut line, misfits) = grow(dir, held, name, "forked", events, &known, heard)?;
    line.from = Some(parent);
    line.at = Some(at.0);
    Ok((line, misfits))
}

/// Writes the events that are not there yet; in order, without waiting for the disk until the end.
fn grow(
    dir: &Directory,
    held: &mut Held<'_>,
    name: &str,
    state: &str,
    events: Vec<Event>,
    known: &Known,
    heard: &mut dyn FnMut(u64),
) -> Result<(api::ImportedSession, Misfits), Error> {
    let all = events.len();
    let mut misfits = Misfits::new();
    let mut rest = events
        .into_iter()
        .skip(known.count)
        .map(|event| known.shifted(event));
    let mut place = known.count;
    loop {
        let batch: Vec<Event> = rest.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            break;
        }
        let count = batch.len();
        let decision = dir.ask(held, |live| {
            let input = Input::Import(batch.clone());
            live.core.handle(Millis(0), input, &mut dir.salts())
        })?;
        misfits.extend(decision.misplaced.iter().map(|misplaced| Misplaced {
            index: place.saturating_add(misplaced.index),
            ..misplaced.clone()
        }));
        write_in_order(dir, held, decision)?;
        place = place.saturating_add(count);
        heard(place as u64);
    }
    let written = all.saturating_sub(known.count) as u64;
    let kept = misfits.iter().filter(|misplaced| misplaced.kept).count() as u64;
    Ok((line(dir, held, name, state, written, kept)?, misfits))
}

fn write_in_order(
    dir: &Directory,
    held: &mut Held<'_>,
    decision: crate::core::Decision,
) -> Result<(), Error> {
    let terms = Terms {
        class: Some(Class::Ordered),
        ..Terms::default()
    };
    dir.write(held, decision, terms).map(|_| ())
}

/// What is said of an imported session; everything of it is on disk.
fn line(
    dir: &Directory,
    held: &mut Held<'_>,
    name: &str,
    state: &str,
    events: u64,
    kept: u64,
) -> Result<api::ImportedSession, Error> {
    let stream = held.slot.stream;
    let head = dir.live(held)?.core.head().map_or(0, |head| head.0);
    if durable(dir, stream)? != Some(head) {
        dir.log()?
            .sync(stream, head)
            .map_err(|cause| super::write::refusal(&cause))?;
    }
    Ok(api::ImportedSession {
        session: name.to_owned(),
        state: state.to_owned(),
        head,
        events,
        kept,
        from: None,
        at: None,
    })
}
