//! Tasks of Cline and of Roo: any bytes in any of their files give a session that can be kept, shown, and written as a task again.
//!
//! - The bytes are files one after the other, in the order of [`FILES`], with a record separator (0x1e) between them.

use super::import_transcript::{can_be_kept_and_shown, hangs_together};
use recount_events::{Seq, raw};
use recount_transcripts::{FormatName, InForce, read_task, write_task};
use std::collections::BTreeMap;

/// The files, in order.
const FILES: [&str; 6] = [
    "api_conversation_history.json",
    "ui_messages.json",
    "context_history.json",
    "task_metadata.json",
    "taskHistory.json",
    "history_item.json",
];

/// Reads a task as each host's.
pub fn import_task(data: &[u8]) {
    let parts = data.split(|byte| *byte == 0x1e);
    let files: BTreeMap<String, Vec<u8>> = FILES
        .iter()
        .zip(parts)
        .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()))
        .collect();
    for format in [FormatName::ClineTask, FormatName::RooTask] {
        let read = || read_task(Some(format), "1700000000000", &files);
        let import = read().expect("the history is there");
        assert_eq!(
            read().as_ref(),
            Ok(&import),
            "the same files, the same events"
        );
        hangs_together(&import);
        import.sessions.iter().for_each(can_be_kept_and_shown);
        for session in &import.sessions {
            let log: Vec<InForce<'_>> = (0..)
                .map(Seq)
                .zip(&session.events)
                .map(|(seq, imported)| InForce {
                    seq,
                    event: &imported.event,
                    hidden: false,
                })
                .collect();
            for (name, text) in write_task("1700000000000", &log).files {
                assert!(raw::is_json(&text), "{name} is JSON: {text}");
            }
        }
    }
}
