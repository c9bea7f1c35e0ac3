//! Folders of recordings: a task is a folder of documents, and a tree holds many.
//!
//! - A task is found by its folder, or by naming one of its files. A tree is read folder by folder, in the order of their names; links
//!   to folders are not followed.

use super::{Folder, Progress, folder, refused, sessions};
use crate::host::engine::Engine;
use crate::{Error, ErrorKind, api};
use recount_transcripts::{ALL_TASKS, Files, FormatName, TASK_FILES, TASKS_BESIDE};
use std::path::{Path, PathBuf};

/// How deep a tree is read.
const DEEPEST: usize = 64;

/// What is read as a whole: the folder of a task, or a tree that holds recordings.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A task's folder.
    Task(PathBuf),
    /// A session of Cline's SDK.
    Session(PathBuf),
}

/// What a path that is to be imported stands for; none: a transcript of its own.
pub(super) fn task_of(path: &Path, format: Option<FormatName>) -> Option<PathBuf> {
    let named = path.file_name()?.to_str()?;
    let tasks = matches!(
        format,
        None | Some(FormatName::ClineTask | FormatName::RooTask)
    );
    (tasks && TASK_FILES.contains(&named)).then(|| {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or_else(|| Path::new(".")).to_path_buf()
    })
}

/// Reads a folder: a task, or all recordings of Cline and of Roo below it.
pub(super) fn folder_in(
    engine: &Engine,
    path: &Path,
    format: Option<FormatName>,
    ask: &api::Import,
    progress: Progress<'_>,
) -> Result<api::Imported, Error> {
    let mut found = Vec::new();
    find(path, 0, &mut found).map_err(|cause| {
        Error::new(ErrorKind::Io, format!("the folder cannot be read: {cause}"))
            .with_field("path")
            .with_next("check the path and its permissions")
    })?;
    if found.is_empty() {
        return Err(Error::invalid(
            "there is no task of Cline or Roo in the folder, nor in one below it",
        )
        .with_field("path")
        .with_next("name the file of another recording, or the folder of a task"));
    }
    if let (Some(_), true) = (&ask.name, found.len() > 1) {
        return Err(
            Error::invalid(format!("one name for {} recordings", found.len()))
                .with_field("name")
                .with_next("name one task's folder, or give no name"),
        );
    }
    let one = found.len() == 1;
    let mut whole: Option<api::Imported> = None;
    for what in found {
        let place = match &what {
            Found::Task(path) | Found::Session(path) => path.clone(),
        };
        let mut answer = match what {
            Found::Task(place) => task(engine, &place, format, ask.name.as_deref(), progress)?,
            Found::Session(file) => {
                let inner = api::Import {
                    path: file.to_string_lossy().into_owned(),
                    format: Some(FormatName::ClineSdk.as_str().to_owned()),
                    name: ask.name.clone(),
                };
                engine.import_with(&inner, progress)?
            }
        };
        if !one {
            let shown = place
                .strip_prefix(path)
                .unwrap_or(&place)
                .display()
                .to_string();
            for note in answer.damaged.iter_mut().chain(&mut answer.doubted) {
                note.problem = format!("{} (of {shown})", note.problem);
            }
        }
        match &mut whole {
            None => whole = Some(answer),
            Some(whole) => join(whole, answer),
        }
    }
    Ok(whole.unwrap_or_default())
}

fn join(whole: &mut api::Imported, answer: api::Imported) {
    if whole.format != answer.format
        && !whole
            .format
            .split(", ")
            .any(|format| format == answer.format)
    {
        whole.format = format!("{}, {}", whole.format, answer.format);
    }
    whole.sessions.extend(answer.sessions);
    whole.read = whole.read.saturating_add(answer.read);
    whole.kept = whole.kept.saturating_add(answer.kept);
    whole.doubted.extend(answer.doubted);
    whole.damaged.extend(answer.damaged);
}

/// Reads one task.
pub(super) fn task(
    engine: &Engine,
    place: &Path,
    format: Option<FormatName>,
    name: Option<&str>,
    progress: Progress<'_>,
) -> Result<api::Imported, Error> {
    let own = crate::place::whole(place);
    let own = own.file_name().map_or_else(
        || "task".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let files = TaskFolder {
        folder: Folder::at(place),
        tasks: place.join("../../state/taskHistory.json"),
        beside: Folder::at(&place.join("..")),
    };
    let mut import =
        recount_transcripts::read_task(format, &own, &files).map_err(|cause| refused(&cause))?;
    if let Some(name) = name {
        for session in &mut import.sessions {
            name.clone_into(&mut session.name);
        }
    }
    for session in &import.sessions {
        crate::host::directory::check_name(&session.name)?;
    }
    sessions(&engine.inner, import, progress)
}

/// A task's folder, the list of tasks where Cline keeps it, and the folders beside.
struct TaskFolder {
    folder: Folder,
    tasks: PathBuf,
    beside: Folder,
}

impl Files for TaskFolder {
    fn list(&self, folder: &str) -> Vec<String> {
        self.folder.list(folder)
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        if path == ALL_TASKS {
            return folder::file(&self.tasks);
        }
        match path.strip_prefix(TASKS_BESIDE) {
            Some(rest) => self.beside.read(rest),
            None => self.folder.read(path),
        }
    }
}

/// Looks for recordings, depth first.
fn find(path: &Path, depth: usize, found: &mut Vec<Found>) -> std::io::Result<()> {
    let mut folders = Vec::new();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            folders.push(entry.path());
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    folders.sort();
    let named = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .map(str::to_owned)
    };
    if files
        .iter()
        .filter_map(named)
        .any(|name| TASK_FILES.contains(&name.as_str()))
    {
        found.push(Found::Task(path.to_path_buf()));
    }
    let sessions = files
        .into_iter()
        .filter(|path| named(path).is_some_and(|name| name.ends_with(".messages.json")));
    found.extend(sessions.map(Found::Session));
    if depth < DEEPEST {
        for folder in folders {
            // A folder below that cannot be looked into hides nothing of what can.
            if let Err(cause) = find(&folder, depth.saturating_add(1), found) {
                tracing::warn!(folder = %folder.display(), %cause, "a folder was not looked into");
            }
        }
    }
    Ok(())
}
