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
mod files;
mod format;
mod import;
mod json;
mod lines;
mod profile;
mod refused;
mod report;
mod time;

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
        FormatName::Archive => Err(Refused::Archive),
    }
}
