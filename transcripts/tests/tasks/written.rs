//! Tasks out: equal while nothing was changed, and saying what was.

use crate::cline::{NAME, Running, talk, words};
use crate::sent::same;
use crate::world::{Memory, World, memory};
use recount_events::{
    BlockId, Body, Content, DeleteRange, Event, Millis, Range, Replace, Seq, Target, Text,
};
use recount_transcripts::{FormatName, read_task};
use serde_json::{Value, json};

fn files(world: &World) -> Memory {
    let written = world.written(NAME);
    let files = written.files.into_iter();
    files
        .map(|(name, text)| (name, text.into_bytes()))
        .collect()
}

fn said(role: &str, text: &str) -> Body {
    let raw = format!(
        r#"{{"type":"message","role":"{role}","content":{}}}"#,
        json!(text)
    );
    Event::from_json(&raw, Millis(0)).unwrap().body
}

/// The position of the n-th message.
fn message(world: &World, n: usize) -> Seq {
    let head = world.state.head().unwrap().0;
    let mut said = (0..=head).map(Seq).filter(|seq| {
        matches!(
            world.state.event(*seq).unwrap().event.body,
            Body::Message(_)
        )
    });
    said.nth(n).unwrap()
}

fn text(files: &Memory, name: &str) -> Value {
    serde_json::from_slice(&files[name]).unwrap()
}

/// What was written says the same when it is read again.
fn holds(world: &World) {
    let again = World::new(&read_task(None, NAME, &files(world)).unwrap());
    assert_eq!(again.misfits, Vec::<String>::new());
    same(&again.sent(), &world.sent(), "read again");
}

pub(crate) fn odd() -> Running {
    let mut task = talk(3);
    task.range = Some((2, 3));
    task.see("text", "cut");
    task.say(
        "user",
        json!([
            {"type": "tool_result", "tool_use_id": "nobody", "content": "late"},
            {"type": "text", "text": "and words", "extra": {"b": 1, "a": [1.0, "\u{e9}"]}}
        ]),
    );
    task.say("assistant", json!([{"type": "tool_use", "id": "t", "name": "n", "input": {"z": 1, "a": 2}, "call_id": "c"}, {"type": "reasoning", "text": "r"}]));
    task.say("user", json!([
        {"type": "text", "text": "before"},
        {"tool_use_id": "t", "type": "tool_result", "content": "ok", "is_error": true, "more": null},
        {"type": "text", "text": "behind"}
    ]));
    task.say("robot", json!("who?"));
    task.history.push(json!(17));
    task.see("deleted_api_reqs", "{}");
    task.edits
        .push(json!([6, [2, [[1, [[task.time(), "text", ["x"], []]]]]]]));
    task.edits.push(json!([
        5,
        [
            4,
            [[0, [[task.time(), "text", ["y"], [["a"], ["a", "b"]]]]]]
        ]
    ]));
    task
}

#[test]
fn an_unchanged_task_is_written_as_it_was() {
    let task = odd();
    let mut given = task.files();
    given.insert(
        "task_metadata.json".to_owned(),
        b"{\"files_in_context\":[] }".to_vec(),
    );
    let import = read_task(None, NAME, &given).unwrap();
    let written = files(&World::new(&import));
    let names = |files: &Memory| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&written), names(&given));
    for (name, bytes) in &given {
        assert_eq!(
            text(&written, name),
            serde_json::from_slice::<Value>(bytes).unwrap(),
            "{name}"
        );
        assert_eq!(written[name], *bytes, "{name}, byte for byte");
    }
}

#[test]
fn empty_files_are_written_as_empty_lists() {
    let given = memory(&[
        ("api_conversation_history.json", "[ ]"),
        ("ui_messages.json", "[]"),
        ("context_history.json", "[]"),
    ]);
    let import = read_task(None, NAME, &given).unwrap();
    assert_eq!(import.report.damaged, []);
    let written = files(&World::new(&import));
    assert_eq!(written.len(), 3);
    assert!(written.values().all(|bytes| bytes == b"[]"));
}

#[test]
fn what_a_host_added_takes_the_form_of_a_task() {
    let mut world = World::new(&talk(2).import());
    world.append(said("user", "one more"));
    let call = r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]}"#;
    world.append(Event::from_json(call, Millis(0)).unwrap().body);
    let result = r#"{"type":"tool_result","call":"t1","content":"forty-two"}"#;
    world.append(Event::from_json(result, Millis(0)).unwrap().body);
    world.append(said("assistant", "well"));
    let history = text(&files(&world), "api_conversation_history.json");
    let roles: Vec<&str> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant"
        ]
    );
    assert_eq!(history[6]["content"][0]["content"], "forty-two");
    holds(&world);
}

#[test]
fn what_a_host_hid_and_replaced_is_range_and_edits() {
    let mut world = World::new(&talk(4).import());
    let (first, last) = (message(&world, 2), message(&world, 5));
    let hidden = world.append(Body::DeleteRange(DeleteRange {
        range: Range::Closed { first, last },
        cause: None,
        covered: recount_events::Covered::default(),
    }));
    let block = BlockId {
        seq: message(&world, 1),
        index: 0,
    };
    let replaced = world.append(Body::Replace(Replace {
        blocks: vec![block],
        with: Content::string("\"shorter\""),
        cause: None,
    }));
    let written = files(&world);
    let item = text(&written, "taskHistory.json");
    assert_eq!(item[0]["conversationHistoryDeletedRange"], json!([2, 5]));
    assert_eq!(text(&written, "context_history.json")[0][0], 1);
    assert_eq!(world.written(NAME).notes, Vec::<String>::new());
    holds(&world);
    world.undo(hidden);
    world.undo(replaced);
    let written = files(&world);
    assert!(
        !written.contains_key("taskHistory.json") && !written.contains_key("context_history.json")
    );
    holds(&world);
}

#[test]
fn a_range_that_was_undone_is_not_written() {
    let mut task = talk(4);
    task.range = Some((2, 5));
    task.see("text", "cut");
    let import = task.import();
    let mut world = World::new(&import);
    let cut = import.sessions[0]
        .events
        .iter()
        .position(|imported| matches!(imported.event.body, Body::DeleteRange(_)));
    world.undo(Seq(cut.unwrap() as u64));
    assert_eq!(
        text(&files(&world), "taskHistory.json")[0]["conversationHistoryDeletedRange"],
        Value::Null
    );
    holds(&world);
}

#[test]
fn what_was_rolled_away_is_not_written() {
    let mut task = talk(4);
    task.edits.push(json!([
        1,
        [0, [[0, [[task.time(), "text", ["late"], []]]]]]
    ]));
    task.see("text", "on");
    let mut world = World::new(&task.import());
    world.roll_back(Target::Checkpoint(Text::plain("cline/1700000005000")));
    let written = files(&world);
    assert_eq!(
        text(&written, "api_conversation_history.json")
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(
        text(&written, "ui_messages.json").as_array().unwrap().len(),
        5
    );
    assert!(!written.contains_key("context_history.json"));
    holds(&world);
}

#[test]
fn what_the_files_cannot_say_is_noted() {
    let mut world = World::new(&talk(4).import());
    let at = message(&world, 3);
    let raw = format!(
        r#"{{"type":"compact_commit","range":[{},{}],"summary":"so far"}}"#,
        at.0,
        message(&world, 4).0
    );
    match Event::from_json(&raw, Millis(0)) {
        Ok(event) => {
            world.append(event.body);
        }
        Err(_) => {
            let raw = format!(
                r#"{{"type":"compact_commit","first":{},"last":{},"summary":"so far"}}"#,
                at.0,
                message(&world, 4).0
            );
            world.append(Event::from_json(&raw, Millis(0)).unwrap().body);
        }
    }
    let notes = world.written(NAME).notes;
    assert_eq!(notes.len(), 2, "{notes:?}");
}

#[test]
fn a_conversation_of_another_kind_can_be_written_as_a_task() {
    let list = json!([{"role": "user", "content": "hello"}, {"role": "assistant", "content": words("hi")}]).to_string();
    let import = recount_transcripts::read(
        list.as_bytes(),
        Some(FormatName::AnthropicMessages),
        "s",
        &recount_transcripts::NoFiles,
    )
    .unwrap();
    let world = World::new(&import);
    assert_eq!(
        text(&files(&world), "api_conversation_history.json")
            .as_array()
            .unwrap()
            .len(),
        2
    );
    holds(&world);
}

#[test]
fn halves_of_pairs_and_every_other_escape_stay_as_they_were_written() {
    let history = concat!(
        r#"[{"role":"user","content":"half \ud83d and \uDE00, whole \uD83D\uDE00, \/ \u00e9 \u0000 \u2028","ts":1,"\udfff":"\ud800"},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"\ud83d"},{"type":"tool_use","id":"t\ud83d","name":"read_file","input":{"path":"\udc00/\ud83d"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t\ud83d","content":[{"type":"text","text":"\ude00\ud83d"}]},{"type":"text","text":"\ud83d"}]},"#,
        r#"{"role":"assistant","content":"\udead"}]"#
    );
    let ui = r#"[{"ts":1,"type":"say","say":"text","text":"\ud83d","conversationHistoryIndex":-1},{"ts":9,"type":"say","say":"\ud83d","text":"\udfff","conversationHistoryIndex":3}]"#;
    let edits = r#"[[1,[0,[[0,[[5,"text",["\ude00 \u00e9"],[]]]]]]],[2,[2,[[0,[[6,"text",["\ud83d"],[["\ud83d"],["\ud83d"]]]]]]]]]"#;
    let given = memory(&[
        ("api_conversation_history.json", history),
        ("ui_messages.json", ui),
        ("context_history.json", edits),
        ("task_metadata.json", r#"{"files_in_context":["\ud83d"]}"#),
    ]);
    let import = read_task(None, NAME, &given).unwrap();
    assert_eq!(import.report.damaged, []);
    let world = World::new(&import);
    assert_eq!(world.misfits, Vec::<String>::new());
    // What is sent is JSON that anyone reads.
    assert_eq!(world.sent().as_array().unwrap().len(), 4);
    let written = files(&world);
    for (name, bytes) in &given {
        assert_eq!(
            String::from_utf8_lossy(&written[name]),
            String::from_utf8_lossy(bytes),
            "{name}"
        );
    }
    assert_eq!(written.len(), given.len());
}
