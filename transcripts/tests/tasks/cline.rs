//! Small tasks of Cline: ranges, edits, pairs, and where a prompt of ours says something else than Cline would.

use crate::recorded::Task;
use crate::sent::{plain, same};
use crate::world::{Memory, World, memory};
use recount_cline::Range;
use recount_events::{Body, Millis, Seq, Target};
use recount_transcripts::{FormatName, Import, Problem, read_task};
use serde_json::{Value, json};

pub(crate) const NAME: &str = "1700000000000";
const START: u64 = 1_700_000_000_000;

/// A task while it goes on: history and records in step, as Cline stamps them.
#[derive(Clone, Default)]
pub(crate) struct Running {
    pub(crate) history: Vec<Value>,
    pub(crate) ui: Vec<Value>,
    pub(crate) edits: Vec<Value>,
    pub(crate) range: Option<(i64, i64)>,
}

impl Running {
    pub(crate) fn time(&self) -> u64 {
        START + 1_000 * self.ui.len() as u64
    }

    pub(crate) fn see(&mut self, say: &str, text: &str) {
        let mut record = json!({
            "ts": self.time(), "type": "say", "say": say, "text": text,
            "conversationHistoryIndex": i64::try_from(self.history.len()).unwrap() - 1,
        });
        if let Some((first, last)) = self.range {
            record["conversationHistoryDeletedRange"] = json!([first, last]);
        }
        if say == "checkpoint_created" {
            record["lastCheckpointHash"] = json!(format!("hash{}", self.ui.len()));
        }
        self.ui.push(record);
    }

    pub(crate) fn say(&mut self, role: &str, content: Value) {
        self.history.push(json!({"role": role, "content": content}));
    }

    /// A request with its answer, and a checkpoint behind it.
    pub(crate) fn turn(&mut self, asked: Value, answered: Value) {
        self.see("api_req_started", "{\"request\":\"…\",\"tokensIn\":10,\"tokensOut\":2,\"cacheReads\":5,\"cacheWrites\":1}");
        self.say("user", asked);
        self.see("text", "streaming");
        self.say("assistant", answered);
        self.see("checkpoint_created", "");
    }

    pub(crate) fn files(&self) -> Memory {
        let text = |list: &Vec<Value>| Value::Array(list.clone()).to_string();
        let mut files = memory(&[
            ("api_conversation_history.json", &text(&self.history)),
            ("ui_messages.json", &text(&self.ui)),
        ]);
        if !self.edits.is_empty() {
            files.insert(
                "context_history.json".to_owned(),
                text(&self.edits).into_bytes(),
            );
        }
        files
    }

    pub(crate) fn import(&self) -> Import {
        read_task(None, NAME, &self.files()).unwrap()
    }

    /// What Cline would send.
    pub(crate) fn cline(&self) -> Value {
        let range = self.range.map(|(start, end)| Range { start, end });
        Task::read(&self.files()).now(range)
    }
}

pub(crate) fn words(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Some turns of words.
pub(crate) fn talk(turns: usize) -> Running {
    let mut task = Running::default();
    for turn in 0..turns {
        task.turn(
            words(&format!("ask {turn}")),
            words(&format!("answer {turn}")),
        );
    }
    task
}

fn edit(message: usize, kind: u8, block: usize, at: u64, text: &str) -> Value {
    json!([message, [kind, [[block, [[at, "text", [text], []]]]]]])
}

fn problems(import: &Import) -> Vec<Problem> {
    import
        .report
        .doubted
        .iter()
        .map(|doubt| doubt.problem)
        .collect()
}

fn bodies(import: &Import) -> Vec<&Body> {
    import.sessions[0]
        .events
        .iter()
        .map(|imported| &imported.event.body)
        .collect()
}

/// Every recorded state, and the last one.
fn states(task: &Running) -> World {
    let import = task.import();
    let world = World::new(&import);
    assert_eq!(world.misfits, Vec::<String>::new());
    let theirs = Task::read(&task.files());
    for moment in &theirs.moments {
        same(
            &world.sent_at(moment.at).unwrap(),
            &theirs.then(moment),
            &moment.at.to_string(),
        );
    }
    same(&world.sent(), &task.cline(), "now");
    world
}

#[test]
fn a_range_that_grows_is_deleted_piece_by_piece() {
    let mut task = talk(4);
    task.range = Some((2, 3));
    task.turn(words("ask on"), words("answer on"));
    task.range = Some((2, 7));
    task.see("text", "more");
    let import = task.import();
    let deleted = bodies(&import)
        .iter()
        .filter(|body| matches!(body, Body::DeleteRange(_)))
        .count();
    assert_eq!(deleted, 2);
    assert_eq!(problems(&import), []);
    states(&task);
}

#[test]
fn a_range_that_shrinks_shows_again_what_it_left_out() {
    let mut task = talk(5);
    task.range = Some((2, 7));
    task.see("text", "cut");
    task.range = Some((2, 6));
    task.see("text", "shrunk by one");
    states(&task);
    task.range = None;
    task.see("text", "restored");
    let world = states(&task);
    assert_eq!(plain(&world.sent()).as_array().unwrap().len(), 10);
}

#[test]
fn the_range_of_the_list_of_tasks_is_the_newest() {
    let task = talk(4);
    let mut files = task.files();
    let item = format!(
        "[{{\"id\":\"other\"}},{{\"id\":\"{NAME}\",\"conversationHistoryDeletedRange\":[2,5]}}]"
    );
    files.insert("state/taskHistory.json".to_owned(), item.into_bytes());
    let world = World::new(&read_task(None, NAME, &files).unwrap());
    let theirs = Task::read(&files).now(Some(Range { start: 2, end: 5 }));
    same(&world.sent(), &theirs, "by the list");
}

#[test]
fn odd_ranges_are_doubted_and_nothing_is_shown_twice() {
    for (range, shown) in [
        ((2, -1), 8),
        ((2, 1), 8),
        ((2, 99), 2),
        ((-5, 3), 6),
        ((0, i64::from(u32::MAX)), 2),
    ] {
        let mut task = talk(4);
        task.range = Some(range);
        task.see("text", "cut");
        let import = task.import();
        let world = World::new(&import);
        assert_eq!(world.misfits, Vec::<String>::new(), "{range:?}");
        assert_eq!(
            plain(&world.sent()).as_array().unwrap().len(),
            shown,
            "{range:?}"
        );
        assert_eq!(
            problems(&import).contains(&Problem::OddRange),
            range.0 != 2 || range.1 < 1,
            "{range:?}"
        );
    }
    // Cline itself shows the first pair twice then.
    let mut task = talk(4);
    task.range = Some((2, -1));
    assert_eq!(task.cline().as_array().unwrap().len(), 10);
}

#[test]
fn edits_are_replacements_at_their_times() {
    let mut task = talk(3);
    let (early, late) = (task.time() - 4_000, task.time() - 1_000);
    task.edits.push(edit(2, 2, 0, early, "[read before]"));
    task.edits.push(json!([
        1,
        [
            0,
            [[
                0,
                [
                    [early, "text", ["first notice"], []],
                    [late, "text", ["second notice"], []]
                ]
            ]]
        ]
    ]));
    task.see("text", "on");
    let import = task.import();
    assert_eq!(
        bodies(&import)
            .iter()
            .filter(|body| matches!(body, Body::Replace(_)))
            .count(),
        3
    );
    let mut world = states(&task);
    let whole = world.sent();
    let back = world.roll_back(Target::Time(Millis(early)));
    assert!(world.sent().to_string().contains("first notice"));
    world.undo(back);
    assert_eq!(world.sent(), whole);
    let back = world.roll_back(Target::Time(Millis(early - 1)));
    assert!(!world.sent().to_string().contains("notice"));
    world.undo(back);
    assert_eq!(world.sent(), whole);
}

#[test]
fn an_edit_of_what_cannot_be_shown_otherwise_is_kept_and_doubted() {
    let mut task = talk(2);
    task.say("user", json!("a string"));
    task.see("text", "on");
    let at = task.time() - 1_000;
    for (message, block) in [(4, 0), (0, 9), (99, 0)] {
        task.edits.push(edit(message, 2, block, at, "never shown"));
    }
    task.edits.push(json!([3, [2, "of another shape"]]));
    task.edits.push(json!(null));
    let import = task.import();
    let doubts = problems(&import);
    assert_eq!(
        doubts
            .iter()
            .filter(|problem| **problem == Problem::NotShown)
            .count(),
        3
    );
    assert_eq!(
        doubts
            .iter()
            .filter(|problem| **problem == Problem::Malformed)
            .count(),
        2
    );
    let world = World::new(&import);
    assert!(!world.sent().to_string().contains("never shown"));
    let written = world.written(NAME);
    let edits = written
        .files
        .iter()
        .find(|(name, _)| name == "context_history.json")
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&edits.1).unwrap(),
        Value::Array(task.edits)
    );
}

pub(crate) fn call(id: &str) -> Value {
    json!([{"type": "text", "text": "I look."}, {"type": "tool_use", "id": id, "name": "read_file", "input": {"path": "a"}}])
}

pub(crate) fn answer(id: &str, text: &str) -> Value {
    json!([
        {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}], "call_id": "c"},
        {"type": "text", "text": format!("<environment_details>{text}</environment_details>")}
    ])
}

/// Turns with calls: each answer is the next request.
fn calls(turns: usize) -> Running {
    let mut task = Running::default();
    task.turn(words("<task>go</task>"), call("t0"));
    for turn in 1..turns {
        task.turn(
            answer(&format!("t{}", turn - 1), &format!("result {turn}")),
            call(&format!("t{turn}")),
        );
    }
    task
}

#[test]
fn a_range_between_a_call_and_its_result_hides_both_and_leaves_the_words() {
    let mut task = calls(5);
    task.range = Some((2, 5));
    task.say("user", answer("t4", "last"));
    task.see("text", "on");
    let world = World::new(&task.import());
    assert_eq!(world.misfits, Vec::<String>::new());
    let (ours, theirs) = (plain(&world.sent()), plain(&task.cline()));
    // The result of the first pair's call stays, where Cline says that it is missing.
    assert_eq!(ours[2]["content"][0]["tool_use_id"], "t0");
    assert_eq!(ours[2]["content"][0]["content"][0]["text"], "result 1");
    assert_eq!(theirs[2]["content"][0]["content"], "result missing");
    // All else is the same: the orphan's words are there, its result is not.
    assert_eq!(ours[2]["content"][1], theirs[2]["content"][1]);
    assert_eq!(
        ours[2]["content"][1]["text"],
        "<environment_details>result 3</environment_details>"
    );
    assert_eq!(
        ours.as_array().unwrap()[3..],
        theirs.as_array().unwrap()[3..]
    );
}

#[test]
fn a_range_may_begin_and_end_at_what_shows_nothing() {
    for (at, empty) in [(2, json!([])), (5, json!([])), (4, Value::Null)] {
        let mut task = talk(4);
        task.history[at]["content"] = empty;
        task.range = Some((2, 5));
        task.see("text", "cut");
        let world = states(&task);
        let written = world.written(NAME);
        let names: Vec<&str> = written.files.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            ["api_conversation_history.json", "ui_messages.json"],
            "{at}"
        );
    }
}

#[test]
fn a_call_without_a_result_says_what_cline_says() {
    let mut task = Running::default();
    task.turn(words("<task>go</task>"), call("t0"));
    task.turn(words("[read_file for 'a'] Result:\nno id"), words("done"));
    let import = task.import();
    assert_eq!(problems(&import), [Problem::OpenCall]);
    let world = states(&task);
    assert_eq!(world.sent()[2]["content"][0]["content"], "result missing");
}

#[test]
fn words_that_follow_a_call_as_a_string_are_not_lost() {
    let mut task = Running::default();
    task.turn(words("<task>go</task>"), call("t0"));
    task.turn(json!("stop at once"), words("stopped"));
    let world = World::new(&task.import());
    let ours = plain(&world.sent());
    assert_eq!(ours[2]["content"][1]["text"], "stop at once");
    // Cline loses them.
    assert!(!task.cline().to_string().contains("stop at once"));
}

#[test]
fn an_edit_of_a_kept_message_stays_on_its_own_block() {
    let mut task = calls(4);
    task.range = Some((2, 3));
    task.say("user", answer("t3", "last"));
    task.edits
        .push(edit(4, 2, 0, task.time() - 1_000, "[file shown elsewhere]"));
    task.see("text", "on");
    let world = World::new(&task.import());
    // The result went with its call; its edit changes nothing else. Cline writes it over the words beside it.
    let ours = plain(&world.sent());
    assert_eq!(
        ours[2]["content"][1]["text"],
        "<environment_details>result 2</environment_details>"
    );
    assert!(task.cline().to_string().contains("[file shown elsewhere]"));
    assert!(!ours.to_string().contains("[file shown elsewhere]"));
}

#[test]
fn an_edit_of_a_result_changes_its_first_text() {
    let mut task = calls(3);
    task.edits
        .push(edit(2, 2, 0, task.time() - 1_000, "[file shown elsewhere]"));
    task.say("user", answer("t2", "last"));
    task.see("text", "on");
    let world = states(&task);
    assert!(world.sent().to_string().contains("[file shown elsewhere]"));
}

#[test]
fn times_and_costs_come_from_the_records() {
    let task = talk(2);
    let import = task.import();
    let said: Vec<u64> = import.sessions[0]
        .events
        .iter()
        .filter(|imported| matches!(imported.event.body, Body::Message(_)))
        .map(|imported| imported.event.at.0 - START)
        .collect();
    assert_eq!(said, [1, 1_001, 3_001, 4_001]);
    let used: Vec<u64> = bodies(&import)
        .iter()
        .filter_map(|body| match body {
            Body::Usage(usage) => Some(usage.input + usage.cache_read),
            _ => None,
        })
        .collect();
    assert_eq!(used, [15, 15]);
    let labels: Vec<String> = bodies(&import)
        .iter()
        .filter_map(|body| match body {
            Body::Checkpoint(named) => Some(format!(
                "{} {}",
                named.label.as_str()?,
                named.workspace.as_ref()?.as_str()?
            )),
            _ => None,
        })
        .collect();
    assert_eq!(
        labels,
        ["cline/1700000002000 hash2", "cline/1700000005000 hash5"]
    );
}

#[test]
fn a_task_that_went_on_gives_the_old_events_first() {
    let mut task = talk(3);
    let mut before = task.import();
    for turn in 0..4 {
        task.turn(words(&format!("more {turn}")), words("well"));
        if turn == 1 {
            task.range = Some((2, 5));
        }
        let now = task.import();
        let old: Vec<_> = before.sessions[0]
            .events
            .iter()
            .map(|imported| &imported.event)
            .collect();
        let new: Vec<_> = now.sessions[0]
            .events
            .iter()
            .map(|imported| &imported.event)
            .take(old.len())
            .collect();
        assert_eq!(old, new);
        before = now;
    }
}

#[test]
fn without_records_messages_have_their_own_times_or_none() {
    let mut task = talk(2);
    task.history[1]["ts"] = json!(START + 7);
    let history = Value::Array(task.history.clone()).to_string();
    let import = read_task(
        None,
        NAME,
        &memory(&[("api_conversation_history.json", &history)]),
    )
    .unwrap();
    assert_eq!(problems(&import), [Problem::NoTime]);
    let times: Vec<u64> = import.sessions[0]
        .events
        .iter()
        .map(|imported| imported.event.at.0)
        .collect();
    assert_eq!(times, [START + 7; 5]);
    same(&World::new(&import).sent(), &task.cline(), "all of it");
}

#[test]
fn a_task_of_records_only_keeps_them() {
    let ui = Value::Array(talk(2).ui).to_string();
    let import = read_task(None, NAME, &memory(&[("ui_messages.json", &ui)])).unwrap();
    assert_eq!(problems(&import), [Problem::NoHistory]);
    assert_eq!(import.report.kept, 6);
    let written = World::new(&import).written(NAME);
    assert_eq!(written.files, [("ui_messages.json".to_owned(), ui)]);
}

#[test]
fn an_event_names_its_host_and_its_model() {
    let mut task = talk(1);
    task.history[1]["modelInfo"] =
        json!({"modelId": "claude-sonnet-4-5", "providerId": "anthropic", "mode": "act"});
    let import = task.import();
    assert_eq!(import.format, FormatName::ClineTask);
    let model = bodies(&import).iter().find_map(|body| match body {
        Body::Profile(profile) => profile.model.as_str(),
        _ => None,
    });
    assert_eq!(model, Some("claude-sonnet-4-5"));
    assert!(matches!(
        World::new(&import).state.event(Seq(0)).unwrap().event.body,
        Body::Opened(_)
    ));
}
