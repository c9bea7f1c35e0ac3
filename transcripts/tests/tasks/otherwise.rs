//! Where a prompt of ours says something else than Cline would send: both sides, for the rows that have no test beside their kind.

use crate::cline::{NAME, Running, answer, call, talk, words};
use crate::recorded;
use crate::sent::{plain, same};
use crate::world::World;
use recount_cline::{Edits, Message, Stamped, Task, UiMessage};
use recount_events::{Body, Millis, Target};
use recount_transcripts::Problem;
use serde_json::{Value, json};

/// The task as Cline has it in memory.
fn cline(running: &Running) -> Task {
    let history = Value::Array(running.history.clone()).to_string();
    let edits = Value::Array(running.edits.clone()).to_string();
    let said = running.ui.iter().map(|record| Stamped {
        message: UiMessage::from_json(&record.to_string()),
        history: record["conversationHistoryIndex"].as_i64().unwrap(),
        range: None,
    });
    Task {
        history: Message::list(&history).unwrap(),
        edits: Edits::from_json(&edits).unwrap(),
        said: said.collect(),
        ..Task::default()
    }
}

fn value(messages: &[Message]) -> Value {
    serde_json::from_str(&recount_cline::to_json(messages)).unwrap()
}

fn ours(running: &Running) -> World {
    let world = World::new(&running.import());
    assert_eq!(world.misfits, Vec::<String>::new());
    world
}

#[test]
fn what_every_prompt_says_otherwise() {
    let mut task = Running {
        history: vec![
            json!({"role": "user", "content": "a string", "ts": 5}),
            json!({"role": "user", "content": [{"type": "text", "text": "a block", "more": 1}]}),
            json!({"role": "assistant", "content": [{"type": "text", "text": " \n"}, {"type": "text", "text": "an answer"}], "modelInfo": {"modelId": "m"}}),
            json!({"role": "user", "content": [{"type": "text", "text": "  "}]}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "another"}]}),
        ],
        ..Running::default()
    };
    task.see("text", "on");
    let theirs = value(&cline(&task).render());
    assert_eq!(theirs, Value::Array(task.history.clone()));
    assert_eq!(
        ours(&task).sent(),
        json!([
            {"role": "user", "content": [{"type": "text", "text": "a string"}, {"type": "text", "text": "a block"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "an answer"}, {"type": "text", "text": "another"}]},
        ])
    );
}

#[test]
fn a_result_that_is_made_up_says_that_it_failed_and_the_last_call_waits() {
    let mut task = talk(1);
    task.turn(words("go"), call("t0"));
    // At the very end nothing is said for it: what is shown in its place goes when the result comes.
    let import = task.import();
    let closed = import.sessions[0]
        .events
        .iter()
        .filter(|imported| matches!(imported.event.body, Body::ToolResult(_)));
    assert_eq!((closed.count(), import.report.doubted.len()), (0, 0));
    assert!(
        !value(&cline(&task).render())
            .to_string()
            .contains("tool_result")
    );
    task.turn(words("no result"), words("well"));
    let theirs = value(&cline(&task).render());
    assert_eq!(
        theirs[4]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "t0", "content": "result missing"})
    );
    assert_eq!(
        ours(&task).sent()[4]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "t0", "content": "result missing", "is_error": true})
    );
}

#[test]
fn a_range_over_a_call_that_waits_hides_it_when_its_result_is_there() {
    let mut task = talk(2);
    task.turn(words("go"), call("t0"));
    task.range = Some((2, 5));
    task.see("text", "cut");
    let (here, there) = (plain(&ours(&task).sent()), plain(&task.cline()));
    assert_eq!(there.as_array().unwrap().len(), 2);
    assert!(!there.to_string().contains("tool_use"));
    assert!(here.to_string().contains("tool_use") && !here.to_string().contains("ask 1"));
    // Nothing is asked for between a call and its result; then both are the same.
    task.say("user", answer("t0", "found"));
    task.see("text", "on");
    let world = ours(&task);
    same(&world.sent(), &task.cline(), "once the result is there");
    assert!(!world.sent().to_string().contains("tool_use"));
}

#[test]
fn of_several_results_the_last_one_answers_and_results_for_none_are_not_shown() {
    let result = |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]});
    let text = || json!({"type": "text", "text": "words"});
    // What stands in the message, and how many results Cline sends of it.
    let cases = [
        // Twice behind one another: Cline sends both.
        (json!([result("t0", "one"), result("t0", "two"), text()]), 2),
        // In another order it sends the last one.
        (json!([text(), result("t0", "one"), result("t0", "two")]), 1),
        // One for none beside one that answers is dropped.
        (
            json!([result("nobody", "late"), text(), result("t0", "two")]),
            1,
        ),
    ];
    for (content, count) in cases {
        let mut task = Running::default();
        task.turn(words("<task>go</task>"), call("t0"));
        task.turn(content, words("well"));
        let theirs = plain(&task.cline());
        let results = |messages: &Value| -> Vec<Value> {
            let blocks = messages[2]["content"].as_array().unwrap().iter();
            blocks
                .filter(|block| block["type"] == "tool_result")
                .cloned()
                .collect()
        };
        assert_eq!(results(&theirs).len(), count);
        let import = task.import();
        assert_eq!(import.report.doubted[0].problem, Problem::UnknownReference);
        let world = World::new(&import);
        assert_eq!(world.misfits, Vec::<String>::new());
        let sent = plain(&world.sent());
        assert_eq!(results(&sent), [result("t0", "two")]);
        assert_eq!(sent[2]["content"][1], text());
        // Nothing of it is lost.
        let history = &world.written(NAME).files[0].1;
        assert_eq!(*history, Value::Array(task.history).to_string());
    }
    // Where no call stands before it, Cline sends a result for none as it is.
    let mut task = talk(1);
    task.turn(json!([result("nobody", "late"), text()]), words("well"));
    assert!(task.cline().to_string().contains("nobody"));
    let sent = ours(&task).sent();
    assert!(!sent.to_string().contains("nobody") && sent.to_string().contains("words"));
}

#[test]
fn a_restored_checkpoint_keeps_the_edits_up_to_its_time() {
    let mut task = talk(3);
    let saved = task.ui[5]["ts"].as_u64().unwrap();
    let update = |at: u64, text: &str| json!([at, "text", [text], []]);
    task.edits.push(json!([
        1,
        [
            0,
            [[0, [update(saved - 1, "early"), update(saved + 1, "late")]]]
        ]
    ]));
    task.see("text", "on");
    let mut theirs = cline(&task);
    assert!(value(&theirs.render()).to_string().contains("late"));
    #[allow(clippy::cast_precision_loss, reason = "a time in ms")]
    let restored = theirs.restore(saved as f64, 0, saved as f64 + 9_000.0);
    assert!(restored);
    let after = value(&theirs.render()).to_string();
    assert!(!after.contains("early") && !after.contains("late"));
    let mut world = ours(&task);
    world.roll_back(Target::Time(Millis(saved)));
    let after = world.sent().to_string();
    assert!(after.contains("early") && !after.contains("late"));
    // So does its own rule for edits.
    let mut edits = cline(&task).edits;
    #[allow(clippy::cast_precision_loss, reason = "a time in ms")]
    edits.truncate(saved as f64);
    assert!(edits.to_json().contains("early") && !edits.to_json().contains("late"));
}

#[test]
fn of_records_of_one_ms_going_back_is_before_the_message() {
    let mut task = talk(1);
    task.see("text", "does not know it");
    let at = task.ui[3]["ts"].as_u64().unwrap();
    task.say("user", words("the message"));
    task.see("text", "knows it");
    task.ui[4]["ts"] = json!(at);
    task.say("assistant", words("the answer"));
    task.see("text", "on");
    let world = ours(&task);
    assert_eq!(
        plain(&world.sent_at(at).unwrap()).as_array().unwrap().len(),
        2
    );
    assert_eq!(
        plain(&world.sent_at(at + 1).unwrap())
            .as_array()
            .unwrap()
            .len(),
        3
    );
    // Cline goes by the first record of that time, and keeps the message behind it.
    let mut theirs = cline(&task);
    #[allow(clippy::cast_precision_loss, reason = "a time in ms")]
    let restored = theirs.restore(at as f64, 0, at as f64 + 9_000.0);
    assert!(restored);
    assert_eq!(theirs.history.len(), 3);
    // What was shown last in that ms is a state of its own, which no time names alone.
    assert_eq!(
        recorded::Task::read(&task.files())
            .moments
            .last()
            .unwrap()
            .at,
        task.ui[5]["ts"].as_u64().unwrap()
    );
}

/// Names of tests: functions right behind a `#[test]`.
fn tests() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tasks");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        let behind = lines.windows(2).filter(|pair| pair[0] == "#[test]");
        let named = behind.filter_map(|pair| pair[1].strip_prefix("fn ")?.split('(').next());
        names.extend(named.map(str::to_owned));
    }
    names
}

#[test]
fn each_row_of_the_table_names_tests_that_are_there() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cline.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page
        .split_once("## What is shown otherwise than Cline would send it")
        .unwrap();
    let rows: Vec<&str> = table
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(rows.len() >= 10, "{}", rows.len());
    let there = tests();
    for row in rows {
        let last = row.trim_matches([' ', '|']).rsplit('|').next().unwrap();
        let named: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test: {row}");
        for name in named {
            assert!(
                there.iter().any(|test| test == name),
                "no test of that name: {name}"
            );
        }
    }
}
