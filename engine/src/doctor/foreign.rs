//! What is no data directory of Recount: recordings, archives, evidence, something else, nothing.

use crate::host::Folder;
use crate::{ErrorKind, api, evidence};
use recount_transcripts::{FormatName, Import, Refused, Report, TASK_FILES, archive};
use std::path::Path;

/// The largest file that is read whole, in bytes: 1 GiB.
const LARGEST: u64 = 1 << 30;

/// Adds what is wrong with the whole.
fn wrong(diagnosis: &mut api::Diagnosis, what: &str, next: &str) {
    diagnosis.summary = what.to_owned();
    diagnosis.problems.push(api::Ailment {
        what: what.to_owned(),
        next: next.to_owned(),
        ..api::Ailment::default()
    });
}

pub(super) fn missing(diagnosis: &mut api::Diagnosis) {
    diagnosis.what = api::What::Missing;
    wrong(
        diagnosis,
        "nothing stands there",
        "check the path; a data directory is made by the first verb that writes",
    );
}

pub(super) fn unread(diagnosis: &mut api::Diagnosis, cause: &std::io::Error) {
    diagnosis.what = api::What::Foreign;
    wrong(
        diagnosis,
        &format!("it cannot be looked at: {cause}"),
        "see to the permissions of the path and of the folders above it",
    );
}

/// Neither a file nor a directory: reading it may never end.
pub(super) fn device(diagnosis: &mut api::Diagnosis) {
    diagnosis.what = api::What::Foreign;
    wrong(
        diagnosis,
        "it is neither a directory nor a file",
        "name a data directory of Recount, or a recording's file",
    );
}

/// A directory that is not ours.
pub(super) fn folder(diagnosis: &mut api::Diagnosis, path: &Path) {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries.count(),
        Err(cause) => return unread(diagnosis, &cause),
    };
    if entries == 0 {
        diagnosis.what = api::What::Empty;
        diagnosis.summary = "an empty directory: no session was ever written here".to_owned();
        return;
    }
    let task = TASK_FILES.iter().any(|file| path.join(file).is_file());
    if task {
        return recording(
            diagnosis,
            recount_transcripts::read_task(None, "recording", &Folder::at(path)),
        );
    }
    diagnosis.what = api::What::Foreign;
    wrong(
        diagnosis,
        "not a data directory of Recount: it has neither segments nor a key",
        "check the path; to look at a recording of another host, name its file",
    );
}

/// A file.
pub(super) fn file(diagnosis: &mut api::Diagnosis, path: &Path) {
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(cause) => return unread(diagnosis, &cause),
    };
    if is_heads(&bytes) {
        return heads(diagnosis, &bytes);
    }
    match recount_transcripts::detect(&bytes) {
        Some(FormatName::Archive) => archived(diagnosis, &bytes),
        Some(format) => transcript(diagnosis, &bytes, format, path),
        None => {
            diagnosis.what = api::What::Foreign;
            wrong(
                diagnosis,
                "a file of no known format",
                "check the path; `recount hello` lists the formats that are read",
            );
        }
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if std::fs::metadata(path)?.len() > LARGEST {
        return Err(std::io::Error::other("larger than 1 GiB"));
    }
    std::fs::read(path)
}

fn is_heads(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"recount_heads\"")
}

fn heads(diagnosis: &mut api::Diagnosis, bytes: &[u8]) {
    diagnosis.what = api::What::Heads;
    match evidence::read(bytes) {
        Ok(heads) => {
            diagnosis.summary = format!("heads of sessions: {}", heads.len());
            note(
                diagnosis,
                "evidence of what sessions ended in",
                "hold a directory against it with `recount verify --against FILE`",
            );
        }
        Err(error) => {
            diagnosis.summary = "heads of sessions".to_owned();
            wrong(diagnosis, error.message(), error.next());
        }
    }
}

fn archived(diagnosis: &mut api::Diagnosis, bytes: &[u8]) {
    diagnosis.what = api::What::Archive;
    match archive::read(bytes) {
        Ok(read) => {
            report(diagnosis, &read.report);
            let events: usize = read.sessions.iter().map(|one| one.entries.len()).sum();
            let doubtful = !read.report.doubted.is_empty();
            told(
                diagnosis,
                "an archive of Recount",
                read.sessions.len(),
                events,
                doubtful,
            );
            if let Err(error) = evidence::read(bytes)
                && diagnosis.is_well()
                && error.kind() == ErrorKind::Damaged
            {
                wrong(diagnosis, error.message(), error.next());
            }
        }
        Err(cause) => wrong(diagnosis, &cause.to_string(), "check the file"),
    }
}

fn transcript(diagnosis: &mut api::Diagnosis, bytes: &[u8], format: FormatName, path: &Path) {
    let read = recount_transcripts::read(bytes, Some(format), "recording", &Folder::beside(path));
    recording(diagnosis, read);
}

fn recording(diagnosis: &mut api::Diagnosis, read: Result<Import, Refused>) {
    diagnosis.what = api::What::Transcript;
    match read {
        Ok(read) => {
            report(diagnosis, &read.report);
            let events: usize = read.sessions.iter().map(|one| one.events.len()).sum();
            let what = format!("a recording of another host ({})", read.format.as_str());
            told(diagnosis, &what, read.sessions.len(), events, false);
        }
        Err(cause) => wrong(diagnosis, &cause.to_string(), "check the file"),
    }
}

fn report(diagnosis: &mut api::Diagnosis, report: &Report) {
    (diagnosis.damaged, diagnosis.doubted) = crate::host::notes_of(report);
}

/// Says what was read, and whether anything is wrong with it.
fn told(
    diagnosis: &mut api::Diagnosis,
    what: &str,
    sessions: usize,
    events: usize,
    doubtful: bool,
) {
    let summary = format!(
        "{what}: {sessions} sessions, {events} events, {} places damaged, {} doubted",
        diagnosis.damaged.len(),
        diagnosis.doubted.len()
    );
    let import = "`recount import` reads what is whole and keeps the rest word for word";
    if diagnosis.damaged.is_empty() && !doubtful {
        note(diagnosis, "nothing in it is damaged", import);
    } else if diagnosis.what == api::What::Archive {
        wrong(
            diagnosis,
            "the archive does not add up",
            "use another copy of it; what is whole of it is named above",
        );
    } else {
        wrong(diagnosis, "bytes in it cannot be read", import);
    }
    diagnosis.summary = summary;
}

fn note(diagnosis: &mut api::Diagnosis, what: &str, next: &str) {
    diagnosis.notes.push(api::Ailment {
        what: what.to_owned(),
        next: next.to_owned(),
        ..api::Ailment::default()
    });
}
