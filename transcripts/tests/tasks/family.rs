//! Roo's subtasks: who started one, and where; whatever is missing, wrong or in a circle.

use crate::world::{Memory, World, corpus, folders};
use recount_events::{Body, Opened, Seq, SessionKind, Text};
use recount_transcripts::{Files, FormatName, Import, Problem, TASKS_BESIDE, read_task};
use serde_json::{Value, json};
use std::path::PathBuf;

const PARENT: &str = "0aaaaaaa-0000-4000-8000-000000000001";
const CHILD: &str = "0bbbbbbb-0000-4000-8000-000000000002";
const OTHER: &str = "0ccccccc-0000-4000-8000-000000000003";

/// Folders of tasks, as the task of one sees them.
struct Tree<'a> {
    all: &'a Memory,
    task: &'a str,
}

impl Files for Tree<'_> {
    fn list(&self, folder: &str) -> Vec<String> {
        self.all.list(&format!("{}/{folder}", self.task))
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let beside = path.strip_prefix(TASKS_BESIDE).map(str::to_owned);
        self.all
            .read(&beside.unwrap_or_else(|| format!("{}/{path}", self.task)))
    }
}

/// Writes a task: its history, and its item with what is said of its family.
fn put(all: &mut Memory, task: &str, history: &Value, family: Value) {
    let mut item = json!({"id": task, "number": 1, "ts": 1, "task": ""});
    for (key, value) in family.as_object().unwrap() {
        item[key] = value.clone();
    }
    let mut file = |name: &str, value: &Value| {
        all.insert(format!("{task}/{name}"), value.to_string().into_bytes());
    };
    file("api_conversation_history.json", history);
    file("history_item.json", &item);
}

fn read(all: &Memory, task: &str) -> Import {
    let import = read_task(None, task, &Tree { all, task }).unwrap();
    assert_eq!(import.format, FormatName::RooTask);
    assert_eq!(World::new(&import).misfits, Vec::<String>::new());
    import
}

/// What the opening says of who started it, which is what the session says.
fn opened(import: &Import) -> Option<(String, usize)> {
    let session = &import.sessions[0];
    let Body::Opened(Opened { kind, parent, .. }) = &session.events[0].event.body else {
        panic!("no opening");
    };
    let named = session
        .parent
        .as_ref()
        .map(|(name, event)| (Text::plain(name), Seq(*event as u64)));
    assert_eq!((parent, *kind), (&named, session.kind));
    // It is a task as any other to its host.
    assert_eq!(session.kind, SessionKind::Main);
    session.parent.clone()
}

fn problems(import: &Import) -> Vec<Problem> {
    let doubted = import.report.doubted.iter();
    doubted.map(|doubt| doubt.problem).collect()
}

fn said(role: &str, content: Value) -> Value {
    json!({"role": role, "content": content, "ts": 5})
}

fn words(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn starts(id: &str, message: &str) -> Value {
    said(
        "assistant",
        json!([
            {"type": "text", "text": "I hand it on."},
            {"type": "tool_use", "id": id, "name": "new_task", "input": {"mode": "code", "message": message}}
        ]),
    )
}

fn result(id: &str, text: &str) -> Value {
    said(
        "user",
        json!([{"type": "tool_result", "tool_use_id": id, "content": text}]),
    )
}

fn child(asked: &str) -> Value {
    json!([
        said("user", words(&format!("<task>\n{asked}\n</task>"))),
        said("assistant", words("done"))
    ])
}

/// The position of the n-th message of an assistant.
fn answer(import: &Import, n: usize) -> usize {
    let events = import.sessions[0].events.iter().enumerate();
    let mut said = events.filter(|(_, imported)| {
        matches!(&imported.event.body, Body::Message(message) if message.role == recount_events::Role::Assistant)
    });
    said.nth(n).unwrap().0
}

fn sub(event: usize) -> Option<(String, usize)> {
    Some((PARENT.to_owned(), event))
}

/// A parent with three calls, native ones: the first was refused, the last has no result yet.
fn native() -> Value {
    json!([
        said("user", words("<task>\nall of it\n</task>")),
        said(
            "assistant",
            json!([{"type": "tool_use", "id": "r", "name": "read_file", "input": {"path": "tasks"}}])
        ),
        result("r", &format!("{CHILD} and {OTHER}")),
        starts("c0", "do this"),
        result("c0", "The user denied this operation."),
        starts("c1", "do this"),
        result(
            "c1",
            &format!("Subtask {CHILD} completed.\n\nResult:\nwell")
        ),
        starts("c2", "do that"),
    ])
}

#[test]
fn a_subtask_is_linked_to_the_call_whose_result_names_it() {
    let mut all = Memory::new();
    put(
        &mut all,
        PARENT,
        &native(),
        json!({"childIds": [CHILD, OTHER]}),
    );
    put(
        &mut all,
        CHILD,
        &child("do this"),
        json!({"parentTaskId": PARENT, "rootTaskId": PARENT}),
    );
    let parent = read(&all, PARENT);
    assert_eq!(opened(&parent), None);
    let import = read(&all, CHILD);
    assert_eq!(opened(&import), sub(answer(&parent, 2)));
    assert!(!problems(&import).contains(&Problem::UnknownParent));
}

#[test]
fn a_subtask_without_a_result_is_linked_to_the_call_that_says_its_first_words() {
    let mut all = Memory::new();
    put(
        &mut all,
        PARENT,
        &native(),
        json!({"childIds": [CHILD, OTHER]}),
    );
    put(
        &mut all,
        OTHER,
        &child(" do that\n"),
        json!({"parentTaskId": PARENT}),
    );
    assert_eq!(
        opened(&read(&all, OTHER)),
        sub(answer(&read(&all, PARENT), 3))
    );
}

#[test]
fn calls_that_are_written_into_the_text_start_subtasks_too() {
    let wrote = |message: &str| {
        said(
            "assistant",
            words(&format!(
                "Well.\n<new_task>\n<mode>code</mode>\n<message>\n{message}\n</message>\n</new_task>"
            )),
        )
    };
    let history = json!([
        said("user", words("<task>\nall\n</task>")),
        wrote("do this </message> or <message> that"),
        said("user", words("[new_task completed] Result: well")),
        wrote("do more"),
    ]);
    let mut all = Memory::new();
    put(&mut all, PARENT, &history, json!({}));
    put(
        &mut all,
        CHILD,
        &child("do this </message> or <message> that"),
        json!({"parentTaskId": PARENT}),
    );
    put(
        &mut all,
        OTHER,
        &child("do more"),
        json!({"parentTaskId": PARENT}),
    );
    let parent = read(&all, PARENT);
    assert_eq!(opened(&read(&all, CHILD)), sub(answer(&parent, 0)));
    assert_eq!(opened(&read(&all, OTHER)), sub(answer(&parent, 1)));
}

#[test]
fn calls_of_equal_words_are_told_apart_by_the_place_among_the_children() {
    let history = json!([
        said("user", words("<task>\nall\n</task>")),
        starts("c0", "again"),
        result("c0", "well"),
        starts("c1", "again"),
        result("c1", "well"),
    ]);
    let mut all = Memory::new();
    put(
        &mut all,
        PARENT,
        &history,
        json!({"childIds": [OTHER, CHILD]}),
    );
    put(
        &mut all,
        CHILD,
        &child("again"),
        json!({"parentTaskId": PARENT}),
    );
    put(
        &mut all,
        OTHER,
        &child("again"),
        json!({"parentTaskId": PARENT}),
    );
    let parent = read(&all, PARENT);
    assert_eq!(opened(&read(&all, OTHER)), sub(answer(&parent, 0)));
    assert_eq!(opened(&read(&all, CHILD)), sub(answer(&parent, 1)));
}

#[test]
fn the_list_of_all_items_and_the_metadata_name_a_parent_too() {
    let mut all = Memory::new();
    put(&mut all, PARENT, &native(), json!({}));
    let history = child("do that").to_string().into_bytes();
    all.insert(format!("{OTHER}/api_conversation_history.json"), history);
    assert_eq!(opened(&read(&all, OTHER)), None);
    let there = sub(answer(&read(&all, PARENT), 3));
    for (file, value) in [
        (
            "_index.json".to_owned(),
            json!({"version": 1, "entries": [{"id": 7}, {"id": OTHER, "parentTaskId": PARENT}]}),
        ),
        (
            "_index.json".to_owned(),
            json!({"version": 1, "entries": [{"id": PARENT, "childIds": [CHILD, OTHER]}]}),
        ),
        (
            format!("{OTHER}/task_metadata.json"),
            json!({"parentTaskId": PARENT}),
        ),
        (
            format!("{OTHER}/taskHistory.json"),
            json!([{"id": OTHER, "parentTaskId": PARENT}]),
        ),
    ] {
        let mut all = all.clone();
        all.insert(file.clone(), value.to_string().into_bytes());
        assert_eq!(opened(&read(&all, OTHER)), there, "{file} {value}");
    }
    // An empty name is none.
    all.insert(
        format!("{OTHER}/task_metadata.json"),
        br#"{"parentTaskId":""}"#.to_vec(),
    );
    assert_eq!(opened(&read(&all, OTHER)), None);
}

#[test]
fn a_parent_that_is_not_there_is_named_and_doubted() {
    let mut all = Memory::new();
    put(
        &mut all,
        CHILD,
        &child("do this"),
        json!({"parentTaskId": PARENT}),
    );
    let alone = read(&all, CHILD);
    assert_eq!(opened(&alone), sub(0));
    assert_eq!(alone.report.doubted[0].problem, Problem::UnknownParent);
    assert_eq!(alone.report.doubted[0].text, format!("parent={PARENT}"));
    // Nor does a parent that never started anything say where.
    put(&mut all, PARENT, &child("idle"), json!({}));
    let import = read(&all, CHILD);
    assert_eq!(opened(&import), sub(0));
    assert_eq!(problems(&import), [Problem::UnknownParent]);
    // Only the place is another one, whatever becomes known of the parent.
    put(&mut all, PARENT, &native(), json!({}));
    let known = read(&all, CHILD);
    assert_eq!(alone.sessions[0].events[1..], known.sessions[0].events[1..]);
}

#[test]
fn names_that_lead_elsewhere_or_in_a_circle_are_no_parents() {
    let mut all = Memory::new();
    let asked = |all: &Memory, task: &str| {
        let import = read(all, task);
        (opened(&import), problems(&import))
    };
    let nobody = None::<(String, usize)>;
    for name in [
        "..",
        "../x",
        "a/b",
        "a\\b",
        ".hidden",
        "a\u{0}b",
        &"x".repeat(300),
    ] {
        put(&mut all, CHILD, &child("x"), json!({"parentTaskId": name}));
        assert_eq!(
            asked(&all, CHILD),
            (nobody.clone(), vec![Problem::UnknownParent]),
            "{name:?}"
        );
    }
    put(&mut all, CHILD, &child("x"), json!({"parentTaskId": CHILD}));
    assert_eq!(
        asked(&all, CHILD),
        (nobody.clone(), vec![Problem::SelfParent])
    );
    put(
        &mut all,
        CHILD,
        &child("x"),
        json!({"parentTaskId": PARENT}),
    );
    put(&mut all, PARENT, &native(), json!({"parentTaskId": OTHER}));
    put(&mut all, OTHER, &native(), json!({"parentTaskId": CHILD}));
    for task in [CHILD, PARENT, OTHER] {
        let (told, problems) = asked(&all, task);
        assert_eq!(told, nobody, "{task}");
        assert!(problems.contains(&Problem::Cycle), "{task}");
    }
    // A circle above is not this task's.
    put(&mut all, OTHER, &native(), json!({"parentTaskId": PARENT}));
    assert!(asked(&all, CHILD).0.is_some());
    // Names of other types are none.
    for odd in [
        json!(7),
        json!(null),
        json!([PARENT]),
        json!({"id": PARENT}),
    ] {
        put(
            &mut all,
            CHILD,
            &child("x"),
            json!({"parentTaskId": odd, "childIds": odd}),
        );
        assert_eq!(asked(&all, CHILD), (nobody.clone(), vec![]), "{odd}");
    }
}

#[test]
fn a_chain_of_many_parents_ends() {
    let mut all = Memory::new();
    let name = |at: usize| format!("0ddddddd-0000-4000-8000-{at:012}");
    for at in 0..2_000 {
        put(
            &mut all,
            &name(at),
            &child("x"),
            json!({"parentTaskId": name(at + 1)}),
        );
    }
    assert_eq!(opened(&read(&all, &name(0))), Some((name(1), 0)));
}

/// Recorded tasks in a folder, and those beside them.
struct Folder(PathBuf);

impl Files for Folder {
    fn list(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let beside = path.strip_prefix(TASKS_BESIDE);
        let place = beside.map_or_else(|| self.0.join(path), |rest| self.0.join("..").join(rest));
        std::fs::read(place).ok()
    }
}

#[test]
fn recorded_subtasks_are_linked() {
    let Some(corpus) = corpus("roo-task") else {
        return;
    };
    let mut linked = Vec::new();
    for path in folders(&corpus) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let import = read_task(None, &name, &Folder(path)).unwrap();
        if let Some((parent, event)) = &import.sessions[0].parent {
            linked.push((name[..8].to_owned(), parent[..8].to_owned(), *event > 0));
        }
    }
    linked.sort();
    let row = |child: &str, parent: &str, place| (child.to_owned(), parent.to_owned(), place);
    assert_eq!(
        linked,
        [
            row("305b3f90", "91e837de", true),
            // Its parent is not among them.
            row("38948ef0", "03deadab", false),
            // Its parent never said its words.
            row("8a1b2c3d", "305b3f90", false),
        ]
    );
}
