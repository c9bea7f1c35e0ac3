//! Files that break off, lie, or say nothing: clear words about each, nothing lost, and a session all the same.

use crate::cline::{NAME, talk};
use crate::world::{Memory, World, memory};
use recount_events::Body;
use recount_transcripts::{Import, Problem, Refused, read_task};
use serde_json::Value;

const FILES: [&str; 3] = [
    "api_conversation_history.json",
    "ui_messages.json",
    "context_history.json",
];

fn import(files: &Memory) -> Import {
    let import = read_task(None, NAME, files).unwrap();
    let world = World::new(&import);
    world.sent();
    world.written(NAME);
    import
}

/// The bytes that are kept of a file because they could not be read.
fn kept(import: &Import) -> Vec<Vec<u8>> {
    let events = import.sessions[0].events.iter();
    events
        .filter_map(|imported| match &imported.event.body {
            Body::Kept(kept) if kept.name.as_str()?.ends_with("/damaged") => {
                kept.raw.bytes().map(<[u8]>::to_vec)
            }
            _ => None,
        })
        .collect()
}

#[test]
fn every_file_may_break_off_anywhere() {
    let whole = {
        let mut task = talk(3);
        task.range = Some((2, 3));
        task.see("text", "cut");
        task.edits.push(serde_json::json!([
            1,
            [0, [[0, [[task.time(), "text", ["n"], []]]]]]
        ]));
        task.files()
    };
    for name in FILES {
        let bytes = &whole[name];
        for end in 0..bytes.len() {
            let mut files = whole.clone();
            files.insert(name.to_owned(), bytes[..end].to_vec());
            let read = read_task(None, NAME, &files).unwrap();
            let damaged: Vec<Problem> = read
                .report
                .damaged
                .iter()
                .map(|damage| damage.problem)
                .collect();
            assert!(!damaged.is_empty(), "{name} up to {end}");
            let damage = &read.report.damaged[0];
            let file = (name != FILES[0] || damage.file.is_some()).then(|| name.to_owned());
            assert_eq!(damage.file, file);
            assert!(damage.offset as usize <= end);
            assert_eq!(
                (damage.offset + damage.bytes) as usize,
                bytes[..end].trim_ascii_end().len(),
                "{name} up to {end}"
            );
            assert_eq!(
                kept(&read),
                [bytes[damage.offset as usize..end].trim_ascii().to_vec()]
            );
            if end % 97 == 0 {
                import(&files);
            }
        }
    }
}

#[test]
fn what_is_no_list_is_kept_whole() {
    for (text, problem) in [
        ("", Problem::Torn),
        (" \n", Problem::Torn),
        ("{}", Problem::Malformed),
        ("null", Problem::Malformed),
        ("\"[]\"", Problem::Malformed),
        ("[1,]", Problem::NotJson),
        ("[1] [2]", Problem::NotJson),
        ("[nul]", Problem::NotJson),
        ("\u{0}", Problem::NotJson),
    ] {
        for name in FILES {
            let mut files = talk(1).files();
            files.insert(name.to_owned(), text.as_bytes().to_vec());
            let read = import(&files);
            let told: Vec<Problem> = read
                .report
                .damaged
                .iter()
                .map(|damage| damage.problem)
                .collect();
            assert_eq!(told, [problem], "{name}: {text:?}");
        }
    }
    let mut files = talk(1).files();
    files.insert(
        "ui_messages.json".to_owned(),
        b"[{\"ts\":1,\"say\":\"\xff\"}]".to_vec(),
    );
    let read = import(&files);
    assert_eq!(read.report.damaged[0].problem, Problem::NotUtf8);
}

#[test]
fn values_of_other_types_are_kept_and_doubted() {
    let files = memory(&[
        (
            FILES[0],
            r#"[null,1,"x",[],{},{"role":7,"content":[]},{"role":"user"},{"role":"user","content":{"a":1}},{"role":"user","content":[1,null,"x",{}]},
            {"role":"user","role":"assistant","content":"twice","content":"\ud800\u0000"},{"role":"assistant","content":[{"type":"tool_use"},{"type":"tool_use","id":7}]},
            {"role":"user","content":[{"type":"tool_result"},{"type":"tool_result","tool_use_id":null,"content":7}],"ts":99999999999999999999999}]"#,
        ),
        (
            FILES[1],
            r#"[null,{},{"ts":"x","say":{},"conversationHistoryIndex":1e300},{"ts":-5,"conversationHistoryIndex":-7,"conversationHistoryDeletedRange":"all"},
            {"ts":18446744073709551615,"conversationHistoryIndex":9007199254740993,"conversationHistoryDeletedRange":[1e300,-1e300]},
            {"ts":1e308,"say":"checkpoint_created","lastCheckpointHash":5,"conversationHistoryDeletedRange":[2]},
            {"ts":8640000000000000,"say":"api_req_started","text":"{\"tokensIn\":1e400,\"tokensOut\":-1}","conversationHistoryIndex":3,"conversationHistoryDeletedRange":[2,3,4]}]"#,
        ),
        (
            FILES[2],
            r#"[[-1,[0,[[0,[[1,"text",["x"],[]]]]]]],[0,[0,[]]],[0,[0,[[0,[]]]]],[1e9,[2,[[1e9,[[1e300,"text",["x"],[]]]]]]],[1,[9,[[0,[[0,"image",["x"],[]],[0,"text",[],[]],[0,"text",["\udfff"],[[],[]],7]]]]]]]"#,
        ),
        (
            "task_metadata.json",
            "{\"model_usage\":[1,null,{\"model_id\":{}}]}",
        ),
        (
            "taskHistory.json",
            "[{\"id\":\"1700000000000\",\"conversationHistoryDeletedRange\":{}}]",
        ),
    ]);
    let read = import(&files);
    assert_eq!(read.report.damaged, []);
    assert!(read.report.doubted.len() > 8);
}

#[test]
fn names_that_go_in_circles_end() {
    let files = memory(&[(
        FILES[0],
        r#"[{"role":"user","content":"a","condenseParent":"x","truncationParent":"y"},{"role":"assistant","content":"b","isSummary":true,"condenseId":"x","condenseParent":"x"},
        {"role":"user","content":"c","isTruncationMarker":true,"truncationId":"y","condenseParent":"x"},{"role":"assistant","content":"d","isSummary":true,"condenseId":"z","condenseParent":"z","truncationParent":"y"}]"#,
    )]);
    let read = import(&files);
    assert_eq!(read.sessions.len(), 1);
}

#[test]
fn nothing_but_other_files_is_no_task() {
    let files = memory(&[("task_metadata.json", "{}"), ("notes.txt", "[]")]);
    assert_eq!(
        read_task(None, NAME, &files).unwrap_err(),
        Refused::Unrecognised
    );
}

#[test]
fn many_calls_and_many_ranges_take_no_time() {
    let calls: Vec<String> = (0..3_000)
        .map(|at| {
            format!("{{\"type\":\"tool_use\",\"id\":\"t{at}\",\"name\":\"n\",\"input\":{{}}}}")
        })
        .collect();
    let results: Vec<String> = (0..3_000)
        .map(|at| {
            format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"t{at}\",\"content\":\"r\"}}")
        })
        .collect();
    let history = format!(
        "[{{\"role\":\"user\",\"content\":\"go\"}},{{\"role\":\"assistant\",\"content\":[{}]}},{{\"role\":\"user\",\"content\":[{}]}}]",
        calls.join(","),
        results.join(",")
    );
    let records: Vec<String> = (0..2_000).map(|at| format!("{{\"ts\":{at},\"conversationHistoryIndex\":2,\"conversationHistoryDeletedRange\":[2,{}]}}", 1 + at % 2)).collect();
    let files = memory(&[
        (FILES[0], &history),
        (FILES[1], &format!("[{}]", records.join(","))),
    ]);
    let read = read_task(None, NAME, &files).unwrap();
    assert!(read.sessions[0].events.len() > 5_000);
}

/// Numbers from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as usize
    }
}

/// Values of a file give way to others, or are said twice.
fn mutated(text: &str, dice: &mut Dice) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    for _ in 0..=dice.below(3) {
        mutate(&mut value, dice);
    }
    value.to_string()
}

fn mutate(value: &mut Value, dice: &mut Dice) {
    const OTHERS: [&str; 22] = [
        "null",
        "[]",
        "{}",
        "\"\"",
        "0",
        "-1",
        "1e300",
        "2",
        "[2,3]",
        "[2,4]",
        "[2,6]",
        "[2,11]",
        "[2,99]",
        "[2,-1]",
        "\"t\"",
        "\"tool_use\"",
        "\"tool_result\"",
        "\"user\"",
        "\"assistant\"",
        "\"\\u0000\"",
        "true",
        "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":[{\"type\":\"text\",\"text\":\"r\"}]}",
    ];
    let length = match &*value {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if length == 0 || dice.below(6) == 0 {
        *value = serde_json::from_str(OTHERS[dice.below(OTHERS.len())]).unwrap();
        return;
    }
    let place = dice.below(length);
    match value {
        Value::Array(list) if dice.below(8) == 0 => {
            let copy = list[dice.below(length)].clone();
            list.insert(place, copy);
        }
        Value::Array(list) => mutate(&mut list[place], dice),
        Value::Object(map) => mutate(map.values_mut().nth(place).unwrap(), dice),
        _ => {}
    }
}

#[test]
fn whatever_the_values_are_what_was_read_is_written_again() {
    let mut seed = crate::written::odd();
    seed.say("assistant", serde_json::json!([{"type": "tool_use", "id": "t", "name": "n", "input": {}}, {"type": "tool_use", "id": "t", "name": "n", "input": {}}]));
    seed.say("user", serde_json::json!([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "r"}]}]));
    seed.range = Some((2, 9));
    seed.see("text", "cut");
    let whole = seed.files();
    let cases = std::env::var("RECOUNT_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(400);
    for case in 0..cases {
        let mut dice = Dice(case);
        let mut files = whole.clone();
        for _ in 0..=dice.below(2) {
            let name = FILES[dice.below(3)];
            let text = String::from_utf8(files[name].clone()).unwrap();
            files.insert(name.to_owned(), mutated(&text, &mut dice).into_bytes());
        }
        for format in [None, Some(recount_transcripts::FormatName::RooTask)] {
            let read = read_task(format, NAME, &files).unwrap();
            let world = World::new(&read);
            assert_eq!(world.misfits, Vec::<String>::new(), "case {case}");
            world.sent();
            let written = world.written(NAME);
            if !read.report.damaged.is_empty() {
                continue;
            }
            let again: Memory = written
                .files
                .into_iter()
                .map(|(name, text)| (name, text.into_bytes()))
                .collect();
            for (name, bytes) in &files {
                let value =
                    |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
                assert_eq!(value(&again[name]), value(bytes), "case {case}: {name}");
            }
            let events = |import: &Import| {
                import.sessions[0]
                    .events
                    .iter()
                    .map(|imported| imported.event.clone())
                    .collect::<Vec<_>>()
            };
            let names = |files: &Memory| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(
                names(&again),
                names(&files),
                "case {case}: a file more; {:?} {:?}",
                world.misfits,
                read.report.doubted
            );
            let format = Some(read.format);
            let (now, before) = (
                events(&read_task(format, NAME, &again).unwrap()),
                events(&read),
            );
            let at = now
                .iter()
                .zip(&before)
                .take_while(|(one, other)| one == other)
                .count();
            let show = |list: &[recount_events::Event]| {
                list.get(at)
                    .map(|event| event.to_json(recount_events::Seq(at as u64), None))
            };
            assert!(
                now == before,
                "case {case}: {:?}\n{:?}",
                show(&now),
                show(&before)
            );
        }
    }
}
