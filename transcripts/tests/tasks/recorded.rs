//! Recorded tasks, where they lie beside the checkout: every recorded state, every checkpoint, and out again.

use crate::sent::same;
use crate::world::{Disk, World, corpus, folders};
use recount_cline::{Edits, Message, Range, render, to_json};
use recount_events::{Millis, Target};
use recount_transcripts::{Files, FormatName, Import, read_task};
use serde_json::Value;
use std::path::Path;

/// A state of a task as its own files say it.
pub(crate) struct Moment {
    pub(crate) at: u64,
    history: usize,
    range: Option<Range>,
    saved: bool,
}

impl Moment {
    /// Messages that were said by then.
    pub(crate) fn said(&self) -> usize {
        self.history
    }

    /// What was left out.
    pub(crate) fn range(&self) -> Option<Range> {
        self.range
    }
}

/// A task as its host has it.
pub(crate) struct Task {
    pub(crate) history: Vec<Message>,
    pub(crate) edits: Edits,
    pub(crate) moments: Vec<Moment>,
}

impl Task {
    pub(crate) fn read(files: &dyn Files) -> Self {
        let text = |name: &str| {
            let bytes = files.read(name).unwrap_or_default();
            String::from_utf8(bytes)
                .unwrap()
                .trim_start_matches('\u{feff}')
                .to_owned()
        };
        let history = Message::list(&text("api_conversation_history.json")).unwrap_or_default();
        let edits = Edits::from_json(&text("context_history.json")).unwrap_or_default();
        let ui: Vec<Value> = serde_json::from_str(&text("ui_messages.json")).unwrap_or_default();
        let mut least = i64::try_from(history.len()).unwrap() - 1;
        let mut moments: Vec<Moment> = Vec::new();
        for record in ui.iter().rev() {
            let Some(index) = record["conversationHistoryIndex"].as_i64() else {
                continue;
            };
            // What a record knows and a later one does not was said again: the file has the last one.
            least = least.min(index);
            let at = record["ts"].as_u64().unwrap();
            // Of records of one time the last says what was then.
            if moments.last().is_some_and(|later| later.at <= at) {
                continue;
            }
            moments.push(Moment {
                at,
                history: usize::try_from(least + 1).unwrap(),
                range: Range::from_json(&record["conversationHistoryDeletedRange"].to_string()),
                saved: record["say"] == "checkpoint_created",
            });
        }
        moments.reverse();
        Self {
            history,
            edits,
            moments,
        }
    }

    pub(crate) fn now(&self, range: Option<Range>) -> Value {
        sent(&self.history, range, &self.edits)
    }

    /// What Cline would send there, with the edits that its own rule leaves at that time.
    pub(crate) fn then(&self, moment: &Moment) -> Value {
        let mut edits = self.edits.clone();
        #[allow(clippy::cast_precision_loss, reason = "a time in ms")]
        edits.truncate(moment.at as f64);
        sent(&self.history[..moment.history], moment.range, &edits)
    }
}

fn sent(history: &[Message], range: Option<Range>, edits: &Edits) -> Value {
    serde_json::from_str(&to_json(&render(history, range, edits).messages)).unwrap()
}

fn import(path: &Path) -> Import {
    let name = path.file_name().unwrap().to_str().unwrap();
    read_task(None, name, &Disk(path.to_owned())).unwrap()
}

#[test]
fn every_recorded_state_is_what_cline_would_have_sent() {
    let Some(corpus) = corpus("cline-task") else {
        return;
    };
    let (mut tasks, mut states) = (0, 0);
    for path in folders(&corpus) {
        let import = import(&path);
        assert_eq!(import.format, FormatName::ClineTask);
        assert_eq!(import.report.damaged, []);
        let world = World::new(&import);
        assert_eq!(world.misfits, Vec::<String>::new());
        let task = Task::read(&Disk(path.clone()));
        same(
            &world.sent(),
            &task.now(task.moments.last().and_then(|last| last.range)),
            "now",
        );
        for moment in &task.moments {
            let ours = world.sent_at(moment.at).unwrap();
            same(
                &ours,
                &task.then(moment),
                &format!("{} at {}", path.display(), moment.at),
            );
            states += 1;
        }
        tasks += 1;
    }
    eprintln!("{tasks} tasks, {states} states");
    assert!(tasks >= 3 && states > 100);
}

#[test]
fn going_back_to_a_recorded_checkpoint_is_what_the_rule_for_edits_says_and_undo_restores() {
    let Some(corpus) = corpus("cline-task") else {
        return;
    };
    let mut checkpoints = 0;
    for path in folders(&corpus) {
        let mut world = World::new(&import(&path));
        let task = Task::read(&Disk(path.clone()));
        let whole = world.sent();
        for moment in task.moments.iter().filter(|moment| moment.saved) {
            let back = world.roll_back(Target::Time(Millis(moment.at)));
            same(
                &world.sent(),
                &task.then(moment),
                &format!("back to {}", moment.at),
            );
            world.undo(back);
            assert_eq!(world.sent(), whole, "undone");
            let label = recount_events::Text::plain(&format!("cline/{}", moment.at));
            let back = world.roll_back(Target::Checkpoint(label));
            same(
                &world.sent(),
                &task.then(moment),
                &format!("back to the checkpoint of {}", moment.at),
            );
            world.undo(back);
            checkpoints += 1;
        }
        assert_eq!(world.sent(), whole);
    }
    eprintln!("{checkpoints} checkpoints");
    assert!(checkpoints > 50);
}

#[test]
fn written_again_the_files_say_the_same() {
    for format in ["cline-task", "roo-task"] {
        let Some(corpus) = corpus(format) else { return };
        let (mut equal, mut all) = (0, 0);
        for path in folders(&corpus) {
            let read = import(&path);
            let name = &read.sessions[0].name;
            let written = World::new(&read).written(name);
            assert_eq!(written.notes, Vec::<String>::new());
            for file in Disk(path.clone()).list("") {
                let before = std::fs::read(path.join(&file)).unwrap();
                let after = written.files.iter().find(|(name, _)| *name == file);
                let (_, after) = after
                    .unwrap_or_else(|| panic!("{} is not written", path.join(&file).display()));
                all += 1;
                equal += usize::from(after.as_bytes() == before);
                let before = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&before);
                let before: Value = serde_json::from_slice(before).unwrap();
                assert_eq!(
                    serde_json::from_str::<Value>(after).unwrap(),
                    before,
                    "{}",
                    path.join(&file).display()
                );
            }
            let files = written
                .files
                .into_iter()
                .map(|(name, text)| (name, text.into_bytes()))
                .collect::<crate::world::Memory>();
            let again = read_task(None, name, &files).unwrap();
            let events = |import: &Import| {
                import.sessions[0]
                    .events
                    .iter()
                    .map(|imported| imported.event.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(events(&again), events(&read), "{}", path.display());
        }
        eprintln!("{format}: {equal} of {all} files byte for byte");
    }
}

#[test]
fn every_task_of_roo_is_what_it_would_have_sent() {
    let Some(corpus) = corpus("roo-task") else {
        return;
    };
    let mut tasks = 0;
    for path in folders(&corpus) {
        let import = import(&path);
        assert_eq!(import.format, FormatName::RooTask, "{}", path.display());
        let world = World::new(&import);
        assert_eq!(world.misfits, Vec::<String>::new());
        let bytes = Disk(path.clone()).read("api_conversation_history.json");
        let history: Vec<Value> = bytes
            .map(|bytes| serde_json::from_slice(&bytes).unwrap())
            .unwrap_or_default();
        same(
            &world.sent(),
            &Value::Array(crate::roo::sent(&history)),
            &path.display().to_string(),
        );
        tasks += 1;
    }
    assert!(tasks >= 7);
}
