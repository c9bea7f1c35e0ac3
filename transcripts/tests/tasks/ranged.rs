//! What a session left out, as the range of a task's files: what Cline would send with them is what the session shows, and no call is without a result.
//!
//! - A session is a host's own: answers with calls or without, results with words beside them or without.
//! - What is left out is what the preset leaves out (half, a quarter, again and again), or what a host says.
//! - Where the files cannot say it, a note does. That the results of the first answer's calls go is Cline's own way, and noted too.

use crate::cline::NAME;
use crate::next::kit::Host;
use crate::recorded::Task;
use crate::sent::{plain, same};
use crate::world::{Memory, World};
use proptest::prelude::*;
use recount_cline::{Range, Role};
use recount_events::{
    BlockId, Body, Content, Covered, DeleteRange, Event, Millis, Replace, Role as Who, Seq, Text,
};
use recount_policies::cline;
use recount_transcripts::read_task;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const WINDOW: &str = r#"{"window":64000,"max_output":1000}"#;
const HIDDEN: &str = "messages are hidden that no range";
const FIRST: &str = "results of the first answer's calls";
const NOTICE: &str = "Some previous conversation history";

/// An answer, and what follows it.
#[derive(Clone, Debug)]
struct Turn {
    calls: usize,
    words: bool,
}

#[derive(Clone, Copy, Debug)]
enum Cut {
    Half,
    Quarter,
    /// From one event of the conversation to another, both in hundredths of what is shown.
    Host(usize, usize),
}

fn turn() -> impl Strategy<Value = Turn> {
    (0_usize..3, any::<bool>()).prop_map(|(calls, words)| Turn { calls, words })
}

fn cut() -> impl Strategy<Value = Cut> {
    prop_oneof![
        3 => Just(Cut::Half),
        3 => Just(Cut::Quarter),
        2 => (0_usize..100, 0_usize..100).prop_map(|(one, other)| Cut::Host(one.min(other), one.max(other)))
    ]
}

fn goes_on(host: &mut Host, turns: &[Turn], from: usize) {
    for (at, turn) in turns.iter().enumerate() {
        let number = from + at;
        let mut blocks = vec![json!({"type": "text", "text": format!("answer {number}")})];
        let id = |call: usize| format!("t{number}_{call}");
        blocks.extend(
            (0..turn.calls)
                .map(|call| json!({"type": "tool_use", "id": id(call), "name": "n", "input": {}})),
        );
        host.log(&json!({"type": "message", "role": "assistant", "content": blocks}).to_string());
        for call in 0..turn.calls {
            let said = json!({"type": "tool_result", "call": id(call), "content": format!("result {number}.{call}")});
            host.log(&said.to_string());
        }
        if turn.words || turn.calls == 0 {
            host.says(&format!("ask {number}"));
        }
    }
}

fn leaves_out(host: &mut Host, cut: Cut) {
    let tokens = match cut {
        Cut::Half => 37_000,
        Cut::Quarter => 74_001,
        Cut::Host(first, last) => {
            let spoken: Vec<Seq> = (0..host.log.len())
                .filter(|at| matches!(host.log[*at].body, Body::Message(_) | Body::ToolResult(_)))
                .map(|at| Seq(at as u64))
                .filter(|seq| host.state.timeline().visible(*seq))
                .collect();
            let place = |hundredth: usize| spoken[hundredth * spoken.len() / 100];
            let cut = Event {
                at: Millis(host.now),
                body: Body::DeleteRange(DeleteRange {
                    range: recount_events::Range::Closed {
                        first: place(first),
                        last: place(last),
                    },
                    cause: None,
                    covered: Covered::default(),
                }),
                because: None,
                extra: None,
            };
            // One that parts calls from their results is refused.
            if host.state.admit(cut.clone()).is_ok() {
                host.take(cut);
            }
            return;
        }
    };
    host.usage("r", tokens, 0);
    host.runs(cline::propose);
}

fn world(host: &Host) -> World {
    World::of(host.state.clone())
}

/// What Cline has: the files, the range of the task's item, and what it sends.
struct Theirs {
    files: Memory,
    range: Option<Range>,
    sent: Value,
    notes: Vec<String>,
}

fn theirs(world: &World) -> Theirs {
    let written = world.written(NAME);
    let files: Memory = written
        .files
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()))
        .collect();
    let task = Task::read(&files);
    let items: Value = files
        .get("taskHistory.json")
        .map_or(Value::Null, |bytes| serde_json::from_slice(bytes).unwrap());
    let range = Range::from_json(&items[0]["conversationHistoryDeletedRange"].to_string());
    if let Some(range) = range {
        let end = &task.history[usize::try_from(range.end).unwrap()];
        assert_eq!(end.role(), Role::Assistant, "the end of {range:?}");
    }
    Theirs {
        sent: task.now(range),
        files,
        range,
        notes: written.notes,
    }
}

fn ids(message: &Value, kind: &str, key: &str) -> BTreeSet<String> {
    let blocks = message["content"].as_array().into_iter().flatten();
    let of_kind = blocks.filter(|block| block["type"] == kind);
    of_kind
        .map(|block| block[key].as_str().unwrap().to_owned())
        .collect()
}

/// Each call is answered in the next message, and only what the message before called.
fn paired(sent: &Value) {
    let sent = sent.as_array().unwrap();
    for (at, message) in sent.iter().enumerate() {
        let answered = ids(message, "tool_result", "tool_use_id");
        let called = |at: usize| ids(&sent[at], "tool_use", "id");
        let asked = at.checked_sub(1).map(called).unwrap_or_default();
        assert_eq!(answered, asked, "results of message {at} in {sent:#?}");
    }
    let last = sent.last().map(|message| ids(message, "tool_use", "id"));
    assert!(last.is_none_or(|calls| calls.is_empty()), "{sent:#?}");
}

/// What we send, but for the results of the first answer's calls.
fn without_first_results(sent: &Value) -> Value {
    let mut sent = plain(sent);
    let first = sent
        .get(1)
        .map(|message| ids(message, "tool_use", "id"))
        .unwrap_or_default();
    for message in sent.as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            if block["tool_use_id"]
                .as_str()
                .is_some_and(|id| first.contains(id))
            {
                block["content"] = json!("result missing");
            }
        }
    }
    sent
}

/// The law; answers what kind of case it was.
fn holds(host: &Host) -> &'static str {
    let world = world(host);
    let theirs = theirs(&world);
    paired(&theirs.sent);
    let has = |start: &str| theirs.notes.iter().any(|note| note.starts_with(start));
    let noticed = theirs.sent.to_string().contains(NOTICE);
    assert!(theirs.range.is_some() || !noticed, "{:#}", theirs.sent);
    if has(HIDDEN) {
        return "noted";
    }
    let ours = world.sent();
    let first = has(FIRST);
    if first {
        same(&without_first_results(&ours), &theirs.sent, "sent");
    } else {
        same(&ours, &theirs.sent, "sent");
    }
    // Read again, a session shows the first results as before.
    let again = World::new(&read_task(None, NAME, &theirs.files).unwrap());
    same(&again.sent(), &ours, "read again");
    match (theirs.range.is_some(), first) {
        (true, true) => "a range, without the first results",
        (true, false) => "a range",
        (false, _) => "no range",
    }
}

fn begun() -> Host {
    let mut host = Host::new("cline", "");
    host.profile(WINDOW);
    host.says("the task");
    host
}

fn turns(all: &[(usize, bool)]) -> Vec<Turn> {
    let all = all.iter();
    all.map(|(calls, words)| Turn {
        calls: *calls,
        words: *words,
    })
    .collect()
}

#[test]
fn a_range_ends_with_an_answer_though_the_first_one_made_calls() {
    for words in [true, false] {
        let mut host = begun();
        let all = [
            (1, words),
            (1, false),
            (1, false),
            (1, false),
            (1, false),
            (0, true),
        ];
        goes_on(&mut host, &turns(&all), 0);
        leaves_out(&mut host, Cut::Half);
        let theirs = theirs(&world(&host));
        assert_eq!(theirs.range, Some(Range { start: 2, end: 5 }), "{words}");
        assert_eq!(theirs.notes.len(), 1, "{:?}", theirs.notes);
        assert_eq!(holds(&host), "a range, without the first results");
    }
}

#[test]
fn where_no_range_is_written_no_notice_says_so() {
    let mut host = begun();
    goes_on(&mut host, &turns(&[(0, true); 3]), 0);
    let spoken = |host: &Host, of: Who| {
        let mut all = (0..host.log.len()).filter(
            |at| matches!(&host.log[*at].body, Body::Message(message) if message.role == of),
        );
        all.nth(usize::from(of == Who::User)).unwrap() as u64
    };
    let words = Seq(spoken(&host, Who::User));
    let range = host.put(Body::DeleteRange(DeleteRange {
        range: recount_events::Range::Closed {
            first: words,
            last: words,
        },
        cause: None,
        covered: Covered::default(),
    }));
    let answer = spoken(&host, Who::Assistant);
    host.take(Event {
        at: Millis(host.now),
        body: Body::Replace(Replace {
            blocks: vec![BlockId {
                seq: Seq(answer),
                index: 0,
            }],
            with: Content::string(&json!(NOTICE).to_string()),
            cause: Some(Text::plain("cline: it says that something is left out")),
        }),
        because: Some(Seq(range)),
        extra: None,
    });
    let theirs = theirs(&world(&host));
    assert_eq!(theirs.range, None);
    assert!(!theirs.files.contains_key("context_history.json"));
    assert_eq!(theirs.notes.len(), 2, "{:?}", theirs.notes);
    assert_eq!(holds(&host), "noted");
}

#[test]
fn what_is_left_out_of_any_session_is_left_out_by_the_files_or_noted() {
    let census = std::cell::RefCell::new(BTreeMap::<&str, usize>::new());
    let of_preset = std::cell::RefCell::new(BTreeMap::<&str, usize>::new());
    let cases = prop::collection::vec((prop::collection::vec(turn(), 1..7), cut()), 1..4);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..ProptestConfig::default()
    });
    runner
        .run(&cases, |parts| {
            let mut host = begun();
            let mut number = 0;
            let mut preset = true;
            for (turns, cut) in &parts {
                goes_on(&mut host, turns, number);
                number += turns.len();
                leaves_out(&mut host, *cut);
                preset &= !matches!(cut, Cut::Host(..));
                let kind = holds(&host);
                *census.borrow_mut().entry(kind).or_default() += 1;
                if preset {
                    *of_preset.borrow_mut().entry(kind).or_default() += 1;
                }
            }
            Ok(())
        })
        .unwrap();
    let (census, of_preset) = (census.into_inner(), of_preset.into_inner());
    eprintln!("{census:?}, of the preset alone {of_preset:?}");
    for kind in ["a range, without the first results", "a range", "no range"] {
        assert!(of_preset[kind] >= 30, "{of_preset:?}");
    }
    assert!(census["noted"] >= 30, "{census:?}");
    assert_eq!(of_preset.get("noted"), None, "{of_preset:?}");
}
