//! Tasks of Cline: in from a folder or a tree, again, grown, rewritten, and out again.

use crate::common::Fixture;
use recount::{Engine, ErrorKind, api};
use serde_json::{Value, json};
use std::path::Path;

const FILES: [&str; 3] = [
    "api_conversation_history.json",
    "ui_messages.json",
    "context_history.json",
];

/// A task of some turns: history, records, edits.
#[derive(Clone, Default)]
struct Task {
    history: Vec<String>,
    ui: Vec<String>,
    edits: Vec<String>,
    range: Option<(usize, usize)>,
}

impl Task {
    fn at(&self) -> u64 {
        1_700_000_000_000 + 1_000 * self.ui.len() as u64
    }

    fn see(&mut self, say: &str, more: &str) {
        let range = self.range.map_or_else(String::new, |(first, last)| {
            format!(",\"conversationHistoryDeletedRange\":[{first},{last}]")
        });
        let (at, index) = (self.at(), self.history.len() as i64 - 1);
        self.ui.push(format!(
            "{{\"ts\":{at},\"type\":\"say\",\"say\":\"{say}\",\"text\":\"{{}}\",\"conversationHistoryIndex\":{index}{range}{more}}}"
        ));
    }

    fn say(&mut self, role: &str, text: &str) {
        self.history.push(format!(
            "{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}"
        ));
    }

    fn turn(&mut self, ask: &str) {
        self.see("api_req_started", "");
        self.say("user", ask);
        self.see("text", "");
        self.say("assistant", "well");
        self.see("checkpoint_created", ",\"lastCheckpointHash\":\"abc\"");
    }

    fn write(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let lists = [&self.history, &self.ui, &self.edits];
        for (name, list) in FILES.iter().zip(lists) {
            std::fs::write(folder.join(name), format!("[{}]", list.join(","))).unwrap();
        }
    }
}

fn talk(turns: usize) -> Task {
    let mut task = Task::default();
    (0..turns).for_each(|turn| task.turn(&format!("ask {turn}")));
    task
}

fn import(engine: &Engine, path: &Path) -> api::Imported {
    let ask = api::Import {
        path: path.to_string_lossy().into_owned(),
        ..Default::default()
    };
    engine.import(&ask).unwrap()
}

fn states(done: &api::Imported) -> Vec<(String, String)> {
    let sessions = done.sessions.iter();
    sessions
        .map(|session| (session.session.clone(), session.state.clone()))
        .collect()
}

fn body(engine: &Engine, session: &str) -> String {
    let ask = api::Project {
        session: session.into(),
        profile: Some("claude-sonnet-4-5".into()),
        ..Default::default()
    };
    engine.project(&ask).unwrap().digest
}

/// The bytes of a request that can be sent.
fn request(engine: &Engine) -> String {
    let ask = api::Project {
        session: "1700000000000".into(),
        profile: Some("claude-sonnet-4-5".into()),
        ..Default::default()
    };
    engine.project(&ask).unwrap().body_digest.unwrap()
}

fn export(engine: &Engine, session: &str, path: &Path) -> Result<api::Exported, recount::Error> {
    engine.export(&api::Export {
        session: session.to_owned(),
        format: Some("cline-task".to_owned()),
        path: Some(path.to_string_lossy().into_owned()),
    })
}

#[test]
fn a_folder_one_of_its_files_and_a_tree_are_the_same_task() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let folder = files.path().join("tasks/1700000000000");
    talk(3).write(&folder);
    talk(2).write(&files.path().join("tasks/1700000009999"));
    let named = |state: &str| vec![("1700000000000".to_owned(), state.to_owned())];
    assert_eq!(states(&import(&engine, &folder)), named("created"));
    for file in FILES {
        assert_eq!(states(&import(&engine, &folder.join(file))), named("same"));
    }
    let tree = import(&engine, files.path());
    assert_eq!(tree.format, "cline-task");
    assert_eq!(states(&tree)[0].1, "same");
    assert_eq!(
        states(&tree)[1],
        ("1700000009999".to_owned(), "created".to_owned())
    );
    let ask = api::Import {
        path: files.path().to_string_lossy().into_owned(),
        name: Some("one".to_owned()),
        ..Default::default()
    };
    assert_eq!(engine.import(&ask).unwrap_err().kind(), ErrorKind::Invalid);
    let empty = tempfile::tempdir().unwrap();
    let ask = api::Import {
        path: empty.path().to_string_lossy().into_owned(),
        ..Default::default()
    };
    assert_eq!(engine.import(&ask).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn the_list_of_tasks_where_cline_keeps_it_says_the_range() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let folder = files.path().join("tasks/1700000000000");
    talk(4).write(&folder);
    let before = body_of(&engine, &folder);
    std::fs::create_dir_all(files.path().join("state")).unwrap();
    std::fs::write(
        files.path().join("state/taskHistory.json"),
        "[{\"id\":\"1700000000000\",\"conversationHistoryDeletedRange\":[2,5]}]",
    )
    .unwrap();
    let done = import(&engine, &folder);
    assert_eq!(states(&done)[0].1, "grown");
    assert_ne!(body(&engine, "1700000000000"), before);
}

fn body_of(engine: &Engine, folder: &Path) -> String {
    body(engine, &import(engine, folder).sessions[0].session)
}

#[test]
fn a_task_that_went_on_adds_what_is_new() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let folder = files.path().join("1700000000000");
    let mut task = talk(3);
    task.see("api_req_started", "");
    task.say("user", "and on");
    // The announcement gets its costs, a record is no longer partial, and metadata are written anew.
    let started = task.ui.len() - 1;
    task.see("text", ",\"partial\":true");
    task.write(&folder);
    std::fs::write(
        folder.join("task_metadata.json"),
        "{\"files_in_context\":[1]}",
    )
    .unwrap();
    import(&engine, &folder);
    let mut grown = task.clone();
    grown.ui[started + 1] =
        grown.ui[started + 1].replace(",\"partial\":true", ",\"partial\":false");
    grown.say("assistant", "done");
    grown.range = Some((2, 5));
    grown.turn("more");
    grown.say("user", "and you?");
    grown.write(&folder);
    std::fs::write(
        folder.join("task_metadata.json"),
        "{\"files_in_context\":[1,2]}",
    )
    .unwrap();
    let done = import(&engine, &folder);
    assert_eq!(states(&done)[0].1, "grown");
    assert_eq!(states(&import(&engine, &folder))[0].1, "same");
    let (other, clean) = (Fixture::new(), grown);
    let fresh = other.engine();
    clean.write(&folder);
    import(&fresh, &folder);
    assert_eq!(request(&engine), request(&fresh));
    // What passed is not written any more.
    let out = files.path().join("out");
    export(&engine, "1700000000000", &out).unwrap();
    for file in FILES {
        let (before, after) = (
            std::fs::read(folder.join(file)).unwrap(),
            std::fs::read(out.join(file)).unwrap(),
        );
        assert_eq!(
            String::from_utf8(after).unwrap(),
            String::from_utf8(before).unwrap(),
            "{file}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(out.join("task_metadata.json")).unwrap(),
        "{\"files_in_context\":[1,2]}"
    );
}

#[test]
fn a_task_that_was_written_anew_is_a_fork() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let folder = files.path().join("1700000000000");
    let task = talk(4);
    task.write(&folder);
    import(&engine, &folder);
    // Restored to an earlier place, and gone on from there.
    let mut other = talk(2);
    other.turn("something else");
    other.write(&folder);
    let done = import(&engine, &folder);
    assert_eq!(
        states(&done),
        [("1700000000000~2".to_owned(), "forked".to_owned())]
    );
    assert!(done.sessions[0].at.unwrap() > 4);
    // An edit with an earlier time than what is there changes the past.
    let mut edited = other.clone();
    let at = edited.at() - 4_000;
    edited
        .edits
        .push(format!("[1,[0,[[0,[[{at},\"text\",[\"notice\"],[]]]]]]]"));
    edited.write(&folder);
    let done = import(&engine, &folder);
    assert_eq!(
        states(&done),
        [("1700000000000~3".to_owned(), "forked".to_owned())]
    );
    assert_eq!(states(&import(&engine, &folder))[0].1, "same");
}

#[test]
fn a_task_under_another_name_is_a_fork_too_when_it_was_written_anew() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let folder = files.path().join("1700000000000");
    let named = |task: &Task| {
        task.write(&folder);
        let ask = api::Import {
            path: folder.to_string_lossy().into_owned(),
            name: Some("mine".to_owned()),
            ..Default::default()
        };
        states(&engine.import(&ask).unwrap()).remove(0)
    };
    let state = |session: &str, state: &str| (session.to_owned(), state.to_owned());
    assert_eq!(named(&talk(4)), state("mine", "created"));
    for (at, name) in [(2, "mine~2"), (3, "mine~3")] {
        let mut other = talk(at);
        other.turn(&format!("something else {at}"));
        assert_eq!(named(&other), state(name, "forked"));
        assert_eq!(named(&other), state(name, "same"));
        other.turn("and on");
        assert_eq!(named(&other), state(name, "grown"));
    }
    // Nothing is equal but the name: a session of its own, and a fork of that one.
    let mut later = Task {
        ui: vec!["null".to_owned(); 60],
        ..Task::default()
    };
    later.turn("another task");
    later.ui.drain(..60);
    assert_eq!(named(&later), state("mine~4", "created"));
    later.turn("on");
    assert_eq!(named(&later), state("mine~4", "grown"));
    later.ui.truncate(3);
    later.history.truncate(2);
    later.turn("elsewhere");
    assert_eq!(named(&later), state("mine~5", "forked"));
}

#[test]
fn a_task_goes_out_as_it_came_in_and_never_over_another() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let folder = files.path().join("1700000000000");
    let mut task = talk(4);
    task.range = Some((2, 3));
    let at = task.at();
    task.edits
        .push(format!("[1,[0,[[0,[[{at},\"text\",[\"notice\"],[]]]]]]]"));
    task.turn("on");
    task.write(&folder);
    import(&engine, &folder);
    let out = files.path().join("out/1700000000000");
    let done = export(&engine, "1700000000000", &out).unwrap();
    assert_eq!((done.format.as_str(), done.notes.len()), ("cline-task", 0));
    for file in FILES {
        assert_eq!(
            std::fs::read(out.join(file)).unwrap(),
            std::fs::read(folder.join(file)).unwrap(),
            "{file}"
        );
    }
    assert_eq!(states(&import(&engine, &out))[0].1, "same");
    let again = export(&engine, "1700000000000", &out).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
    let own = export(&engine, "1700000000000", &fixture.path().join("segments")).unwrap_err();
    assert_eq!(own.kind(), ErrorKind::Invalid);
    let nowhere = api::Export {
        session: "1700000000000".to_owned(),
        format: Some("cline-task".to_owned()),
        path: None,
    };
    assert_eq!(
        engine.export(&nowhere).unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

/// A task of Roo that starts another one.
fn family(tasks: &Path) -> [(&'static str, std::path::PathBuf); 2] {
    let (parent, child) = (
        "0bbbbbbb-0000-4000-8000-000000000001",
        "0aaaaaaa-0000-4000-8000-000000000002",
    );
    let write = |task: &str, history: &str, item: &str| {
        let folder = tasks.join(task);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(FILES[0]), history).unwrap();
        std::fs::write(folder.join("history_item.json"), item).unwrap();
        folder
    };
    let call = "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"new_task\",\"input\":{\"mode\":\"code\",\"message\":\"part\"}}";
    let above = write(
        parent,
        &format!(
            "[{{\"role\":\"user\",\"content\":\"whole\",\"ts\":1}},{{\"role\":\"assistant\",\"content\":[{call}],\"ts\":2}}]"
        ),
        &format!("{{\"id\":\"{parent}\",\"childIds\":[\"{child}\"]}}"),
    );
    let below = write(
        child,
        "[{\"role\":\"user\",\"content\":\"part\",\"ts\":3}]",
        &format!("{{\"id\":\"{child}\",\"task\":\"part\",\"parentTaskId\":\"{parent}\"}}"),
    );
    [(parent, above), (child, below)]
}

/// What the opening of a session says of what started it.
fn started(engine: &Engine, session: &str) -> (Value, Value) {
    let ask = api::Log {
        session: session.to_owned(),
        ..Default::default()
    };
    let page = engine.log(&ask).unwrap();
    let opening: Value = serde_json::from_str(page.events[0].get()).unwrap();
    (opening["kind"].clone(), opening["parent"].clone())
}

#[test]
fn subtasks_name_the_task_that_started_them_in_any_order_of_import() {
    let files = tempfile::tempdir().unwrap();
    let tasks = files.path().join("tasks");
    let [(parent, above), (child, below)] = family(&tasks);
    let sub = (json!("main"), json!({"session": parent, "seq": 2}));
    for order in [[&tasks; 2], [&below, &above], [&above, &below]] {
        let (fixture, mut seen) = (Fixture::new(), 0);
        let engine = fixture.engine();
        for path in order {
            seen += import(&engine, path).sessions.len();
        }
        assert!(seen >= 2);
        assert_eq!(started(&engine, child), sub, "{order:?}");
        assert_eq!(started(&engine, parent), (json!("main"), Value::Null));
        let again = states(&import(&engine, &tasks));
        assert!(
            again.len() == 2 && again.iter().all(|(_, state)| state == "same"),
            "{again:?}"
        );
    }
}

#[test]
fn a_parent_that_comes_later_makes_no_second_session() {
    let files = tempfile::tempdir().unwrap();
    let tasks = files.path().join("tasks");
    let [(parent, above), (child, below)] = family(&tasks);
    let away = files.path().join("away");
    std::fs::rename(&above, &away).unwrap();
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let done = import(&engine, &below);
    assert!(
        done.doubted
            .iter()
            .any(|note| note.problem.contains("started this session")),
        "{:?}",
        done.doubted
    );
    let first = started(&engine, child);
    assert_eq!(first.1, json!({"session": parent, "seq": 0}));
    std::fs::rename(&away, &above).unwrap();
    let named = |state: &str| (child.to_owned(), state.to_owned());
    assert_eq!(states(&import(&engine, &below)), [named("same")]);
    // The child goes on, and no longer knows its parent.
    std::fs::remove_file(below.join("history_item.json")).unwrap();
    std::fs::write(
        below.join(FILES[0]),
        "[{\"role\":\"user\",\"content\":\"part\",\"ts\":3},{\"role\":\"assistant\",\"content\":\"done\",\"ts\":4}]",
    )
    .unwrap();
    assert_eq!(states(&import(&engine, &below)), [named("grown")]);
    assert_eq!(started(&engine, child), first);
}

#[test]
fn the_doctor_knows_a_task() {
    let files = tempfile::tempdir().unwrap();
    let folder = files.path().join("1700000000000");
    talk(1).write(&folder);
    let diagnosis = recount::doctor::plan(&folder, false);
    assert_eq!(diagnosis.what, api::What::Transcript);
    assert!(
        diagnosis.summary.contains("cline-task"),
        "{}",
        diagnosis.summary
    );
}
