//! Bodies of the fuzz targets: any bytes in, a panic for every promise that does not hold.
//!
//! - One file a target; `fuzz/` calls them from libFuzzer, `tests/tests/fuzz_bodies.rs` over corpora and mutations of them.
//! - Each says what must hold of what came out, not only that something came out.
//! - They are functions of their bytes: no clock, no chance, no disk.

#![expect(clippy::expect_used, clippy::panic, reason = "a body fails by panics")]

mod decode_event;
mod import_task;
mod import_transcript;
mod lines;
mod mutate;
mod prompts;
mod recover_log;
mod render_prompt;
mod replay_log;

pub use decode_event::decode_event;
pub use import_task::import_task;
pub use import_transcript::import_transcript;
pub use mutate::mutated;
pub use recover_log::recover_log;
pub use render_prompt::render_prompt;
pub use replay_log::replay_log;

/// A target: its body.
pub type Body = fn(&[u8]);

/// The targets by name; the names are those of the folders in `fuzz/corpus/`.
pub const TARGETS: [(&str, Body); 6] = [
    ("decode_event", decode_event),
    ("recover_log", recover_log),
    ("replay_log", replay_log),
    ("import_task", import_task),
    ("import_transcript", import_transcript),
    ("render_prompt", render_prompt),
];
