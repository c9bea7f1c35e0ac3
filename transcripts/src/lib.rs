//! Readers of other hosts' session formats: bytes in, events and a report out.
//!
//! - No I/O: bytes are given by the caller, and files beside them through [`Files`].
//! - Total: any bytes of a line format give events and a report. Nothing is dropped in silence: what is no part of the
//!   conversation, or cannot be read, is an event of kind [`recount_events::Kept`] that holds its bytes.
//! - Deterministic, and stable: a transcript that grew gives the same events and more (each reader says when it cannot).

pub mod archive;
mod array;
mod blocks;
mod claude;
mod cline;
mod files;
mod format;
mod import;
mod json;
mod lines;
mod profile;
mod refused;
mod report;
mod time;

pub use cline::write::{InForce, Written, write as write_task};
pub use cline::{ALL_TASKS, TASK_FILES, TASKS_BESIDE};
pub use files::{Files, NoFiles};
pub use format::{FormatName, detect};
pub use import::{Import, Imported, ImportedSession, Source};
pub use refused::Refused;
pub use report::{Branch, Damage, Doubt, Problem, Report};

/// Reads a transcript.
///
/// `name` becomes the name of the main session (for a file: its name without the ending); sub-agents are named below it.
/// `format` is detected when it is not given.
///
/// # Errors
///
/// [`Refused`] when the bytes are of no known format, or not of the one named.
pub fn read(
    bytes: &[u8],
    format: Option<FormatName>,
    name: &str,
    files: &dyn Files,
) -> Result<Import, Refused> {
    match format
        .or_else(|| detect(bytes))
        .ok_or(Refused::Unrecognised)?
    {
        FormatName::ClaudeCode => Ok(claude::read(bytes, name, files)),
        FormatName::ClaudeCodeWeb => claude::read_web(bytes, name),
        format @ (FormatName::AnthropicMessages | FormatName::OpenaiMessages) => {
            array::read(bytes, format, name)
        }
        format @ (FormatName::ClineTask | FormatName::RooTask) => {
            cline::read(bytes, format, name, files)
        }
        FormatName::ClineSdk => cline::sdk::read(bytes, name, files),
        FormatName::Archive => Err(Refused::Archive),
    }
}

/// Reads a task of Cline or of Roo from its folder; `files` shows that folder. `name` is the folder's own name, and becomes the
/// session's.
///
/// # Errors
///
/// [`Refused`] when none of [`TASK_FILES`] is there.
pub fn read_task(
    format: Option<FormatName>,
    name: &str,
    files: &dyn Files,
) -> Result<Import, Refused> {
    cline::folder(format, name, files)
}

/// A record that is kept word for word and that its host writes anew as things go on. Where a recording has something else by now,
/// it was only an earlier word on the same thing.
#[must_use]
pub fn is_passing(event: &recount_events::Event) -> bool {
    let kept = match &event.body {
        recount_events::Body::Kept(kept) => kept,
        // What a workspace was saved as becomes known later.
        recount_events::Body::Checkpoint(named) => {
            let label = named.label.as_str().unwrap_or_default();
            let ours = label.starts_with("cline/") || label.starts_with("roo/");
            return ours && named.workspace.is_none();
        }
        _ => return false,
    };
    let name = kept.name.as_str().unwrap_or_default();
    let Some((host, what)) = name.split_once('/') else {
        return false;
    };
    let beside = [
        "task_metadata",
        "history_item",
        "task_history_item",
        "empty",
        "session",
    ];
    what == "damaged"
        || (["cline", "roo", "cline-sdk"].contains(&host)
            && (what.starts_with("ui/") || beside.contains(&what)))
}
