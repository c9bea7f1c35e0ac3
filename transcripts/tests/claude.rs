//! Claude Code sessions, shape by shape.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod common;

use common::{assert_accounted, assert_lossless, assert_sound, sketch, words};
use recount_events::{Body, Form, Held, SessionKind, Stop};
use recount_transcripts::{FormatName, Import, NoFiles, Problem, read};
use std::collections::BTreeMap;

fn import(lines: &[String]) -> Import {
    let bytes = (lines.join("\n") + "\n").into_bytes();
    let import = read(&bytes, Some(FormatName::ClaudeCode), "s", &NoFiles).unwrap();
    assert_accounted(&bytes, &import);
    assert_lossless(&bytes, &import);
    assert_sound(&import);
    import
}

fn problems(import: &Import) -> Vec<Problem> {
    import
        .report
        .doubted
        .iter()
        .map(|doubt| doubt.problem)
        .collect()
}

fn parent(of: &str) -> String {
    if of.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{of}\"")
    }
}

/// A prompt.
fn user(uuid: &str, follows: &str, said: &str) -> String {
    let parent = parent(follows);
    format!(
        r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"{said}"}}}}"#
    )
}

/// A line of a response without usage; `block` is a raw block.
fn model(uuid: &str, follows: &str, id: &str, block: &str) -> String {
    let parent = parent(follows);
    format!(
        r#"{{"parentUuid":{parent},"message":{{"id":"{id}","role":"assistant","content":[{block}]}},"type":"assistant","uuid":"{uuid}"}}"#
    )
}

fn text(said: &str) -> String {
    format!(r#"{{"type":"text","text":"{said}"}}"#)
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}"#)
}

fn result(uuid: &str, follows: &str, id: &str) -> String {
    let parent = parent(follows);
    format!(
        r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"out"}}]}}}}"#
    )
}

fn replaced(id: &str) -> String {
    format!(
        r#"{{"type":"content-replacement","uuid":"x{id}","replacements":[{{"kind":"tool-result","toolUseId":"{id}","replacement":"short"}}]}}"#
    )
}

fn other(kind: &str, uuid: &str, follows: &str, rest: &str) -> String {
    let parent = parent(follows);
    format!(r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent}{rest}}}"#)
}

fn rollbacks(import: &Import) -> Vec<String> {
    sketch(&import.sessions[0])
        .into_iter()
        .filter(|line| line.starts_with("rollback"))
        .collect()
}

#[test]
fn a_turn() {
    let usage = r#"{"input_tokens":3,"output_tokens":9,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":4,"ephemeral_5m_input_tokens":1}}"#;
    let answer = format!(
        r#"{{"type":"assistant","uuid":"b","parentUuid":"a","timestamp":"2026-01-01T00:00:01Z","cwd":"/x","message":{{"model":"m[1m]","id":"msg_1","content":[{{"type":"thinking","thinking":"","signature":"s"}}],"stop_reason":"tool_use","usage":{usage}}}}}"#
    );
    let import = import(&[user("a", "", "hi"), answer]);
    let expected = [
        "opened s main",
        "user \"hi\"",
        "profile m[1m] 1000000",
        "assistant response=msg_1 {\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s\"}",
        "usage 3/9",
    ];
    assert_eq!(sketch(&import.sessions[0]), expected);
    let events = &import.sessions[0].events;
    let Body::Usage(counted) = &events[4].event.body else {
        panic!()
    };
    assert_eq!((counted.cache_write_5m, counted.cache_write_1h), (1, 4));
    assert_eq!(words(counted.raw.as_ref().unwrap()), usage);
    let Body::Message(message) = &events[3].event.body else {
        panic!()
    };
    assert_eq!(message.stop, Some(Stop::ToolUse));
    let extra = words(events[3].event.extra.as_ref().unwrap());
    assert_eq!(
        extra,
        r#"{"claude_code":{"type":"assistant","uuid":"b","parentUuid":"a","timestamp":"2026-01-01T00:00:01Z","cwd":"/x","message":{"model":"m[1m]","id":"msg_1","stop_reason":"tool_use"}}}"#
    );
    assert_eq!(
        (events[0].event.at.0, events[3].event.at.0),
        (1_767_225_600_000, 1_767_225_601_000)
    );
}

#[test]
fn parallel_calls_with_hooks_are_one_line() {
    let lines = [
        user("u", "", "go"),
        model("a1", "u", "m", &call("c1")),
        other(
            "progress",
            "p1",
            "a1",
            r#","data":{"type":"hook_progress"}"#,
        ),
        model("a2", "a1", "m", &call("c2")),
        result("r1", "a1", "c1"),
        model("a3", "p1", "m", &call("c3")),
        result("r2", "a2", "c2"),
        result("r3", "a3", "c3"),
        model("b", "r1", "n", &text("done")),
        result("late", "a1", "c1"),
        model("b2", "b", "n", &text("really")),
        user("u2", "b2", "thanks"),
    ];
    let import = import(&lines);
    assert_eq!(rollbacks(&import), Vec::<String>::new());
    assert_eq!(import.report.types["progress/hook_progress"], 1);
}

#[test]
fn a_rewind_is_a_rollback_to_the_end_of_its_parent() {
    let lines = [
        user("u1", "", "one"),                 // 1
        model("a1", "u1", "m1", &call("c")),   // 2
        result("r1", "a1", "c"),               // 3
        user("u2", "r1", "two"),               // 4
        model("a2", "u2", "m2", &text("no")),  // 5
        user("u3", "a1", "two again"),         // 6 rollback, 7
        model("a3", "u3", "m3", &text("yes")), // 8
        user("u4", "a2", "back on the first"), // 9 rollback, 10
    ];
    let import = import(&lines);
    assert_eq!(rollbacks(&import), ["rollback 3", "rollback 5"]);
    assert_eq!(
        import
            .report
            .branches
            .iter()
            .map(|branch| branch.line)
            .collect::<Vec<_>>(),
        [6, 8]
    );
    assert!(problems(&import).is_empty());
}

#[test]
fn a_retried_answer_takes_the_place_of_the_first() {
    let lines = [
        user("u", "", "hi"),
        model("a", "u", "m1", &text("half")),
        model("b", "u", "m2", &text("whole")),
    ];
    assert_eq!(rollbacks(&import(&lines)), ["rollback 1"]);
}

#[test]
fn lines_of_a_response_may_all_follow_the_prompt() {
    let lines = [
        user("u", "", "hi"),
        model("a1", "u", "m", &text("x")),
        model("a2", "u", "m", &text("y")),
    ];
    assert_eq!(rollbacks(&import(&lines)), Vec::<String>::new());
}

#[test]
fn what_stands_before_two_lines_of_a_response_is_not_overlooked() {
    let lines = [
        user("u", "", "hi"),
        model("x", "u", "m1", &text("first try")),
        model("a1", "x", "m2", &text("y")),
        model("a2", "a1", "m2", &text("y")),
        model("a3", "u", "m2", &text("z")),
    ];
    assert_eq!(rollbacks(&import(&lines)), ["rollback 1"]);
}

#[test]
fn a_branch_that_is_taken_up_again_has_all_that_it_had() {
    let lines = [
        user("u", "", "hi"),              // 1
        model("a", "u", "m", &call("c")), // 2
        result("r", "a", "c"),            // 3
        replaced("c"),                    // 4
        user("u2", "", "something else"), // 5, 6
        user("u3", "r", "after all"),
    ];
    assert_eq!(rollbacks(&import(&lines)), ["rollback 0", "rollback 4"]);
}

#[test]
fn a_rewind_keeps_results_that_came_late() {
    let lines = [
        user("u", "", "hi"),                  // 1
        model("a", "u", "m1", &call("c")),    // 2
        model("b", "a", "m2", &text("busy")), // 3
        result("r", "a", "c"),                // 4
        user("u2", "b", "one way"),           // 5
        user("u3", "b", "another"),
    ];
    assert_eq!(rollbacks(&import(&lines)), ["rollback 4"]);
}

#[test]
fn a_profile_stands_before_each_model_on_its_branch() {
    let named = |line: String, model: &str| {
        line.replace("\"id\":\"m", &format!("\"model\":\"{model}\",\"id\":\"m"))
    };
    let lines = [
        user("u", "", "hi"),
        named(model("a", "u", "m1", &text("x")), "old"),
        user("u2", "a", "on"),
        named(model("b", "u2", "m2", &text("y")), "new"),
        user("u3", "a", "on, again"),
        named(model("c", "u3", "m3", &text("z")), "new"),
        named(model("d", "c", "m4", &text("z")), "new"),
    ];
    let profiles = |line: &String| line.starts_with("profile").then(|| line.clone());
    let import = import(&lines);
    let found: Vec<String> = sketch(&import.sessions[0])
        .iter()
        .filter_map(profiles)
        .collect();
    assert_eq!(
        found,
        [
            "profile old 200000",
            "profile new 200000",
            "profile new 200000"
        ]
    );
}

#[test]
fn a_profile_says_whether_requests_ask_for_thinking() {
    let told = |line: String, metadata: &str| {
        line.replace(
            "\"type\"",
            &format!("\"thinkingMetadata\":{metadata},\"type\""),
        )
    };
    let answer = |uuid: &str, follows: &str, block: &str| {
        model(uuid, follows, uuid, block).replace("\"role\":\"assistant\"", "\"model\":\"m\"")
    };
    let lines = [
        user("u1", "", "hi"),
        answer("a1", "u1", &text("x")),
        answer(
            "a2",
            "a1",
            r#"{"type":"thinking","thinking":"","signature":"s"}"#,
        ),
        told(
            user("u2", "a2", "on"),
            r#"{"level":"high","disabled":true}"#,
        ),
        answer("a3", "u2", &text("x")),
        told(user("u3", "a3", "on"), r#"{"maxThinkingTokens":1024}"#),
        answer("a4", "u3", &text("x")),
    ];
    let import = import(&lines);
    let params =
        import.sessions[0]
            .events
            .iter()
            .filter_map(|imported| match &imported.event.body {
                Body::Profile(profile) => Some(profile.params.as_ref().map(words)),
                _ => None,
            });
    let asks = |tokens: u64| {
        Some(format!(
            r#"{{"thinking":{{"type":"enabled","budget_tokens":{tokens}}}}}"#
        ))
    };
    assert_eq!(
        params.collect::<Vec<_>>(),
        [None, asks(31_999), None, asks(1024)]
    );
}

#[test]
fn a_rewind_to_the_very_start_begins_again() {
    let lines = [
        other("progress", "p", "", r#","data":{"type":"hook_progress"}"#), // 1
        user("u1", "p", "one"),                                            // 2
        model("a1", "u1", "m1", &text("a")),                               // 3
        user("u2", "p", "one, better"),
        user("u3", "", "from nothing"),
    ];
    let import = import(&lines);
    assert_eq!(rollbacks(&import), ["rollback 1", "rollback 4"]);
    assert_eq!(problems(&import), [Problem::NewRoot]);
}

#[test]
fn a_rewind_through_a_hook_is_found() {
    let lines = [
        user("u1", "", "one"),
        model("a1", "u1", "m1", &text("a")),
        user("u2", "a1", "two"),
        model("a2", "u2", "m2", &text("b")),
        other("progress", "p", "a1", r#","data":{"type":"hook_progress"}"#),
        user("u3", "p", "two again"),
    ];
    assert_eq!(rollbacks(&import(&lines)), ["rollback 2"]);
}

#[test]
fn an_error_written_late_leads_nowhere_back() {
    let lines = [
        user("u", "", "hi"),
        other("system", "e1", "u", r#","subtype":"api_error""#),
        model("a", "e1", "m", &text("answer")),
        other("system", "e2", "e1", r#","subtype":"api_error""#),
        other(
            "assistant",
            "e3",
            "e1",
            r#","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[]}"#,
        ),
    ];
    for last in ["e2", "e3"] {
        let mut lines = lines.to_vec();
        lines.push(user("u2", last, "more"));
        let import = import(&lines);
        assert_eq!(rollbacks(&import), Vec::<String>::new());
        assert_eq!(problems(&import)[0], Problem::Synthetic);
    }
}

#[test]
fn two_writers_keep_their_branches_apart() {
    let lines = [
        user("u", "", "hi"),                  // 1
        model("x1", "u", "mx", &call("cx")),  // 2
        model("y1", "u", "my", &call("cy")),  // 3, 4
        result("rx", "x1", "cx"),             // 5, 6
        result("ry", "y1", "cy"),             // 7, 8
        model("x2", "rx", "mx2", &text("x")), // 9, 10
    ];
    assert_eq!(
        rollbacks(&import(&lines)),
        ["rollback 1", "rollback 2", "rollback 4", "rollback 6"]
    );
}

#[test]
fn broken_chains_go_on() {
    let lines = [
        user("u", "u", "my own parent"),
        model("a", "never written", "m", &text("x")),
        model("c", "d", "m2", &text("child first")),
        user("d", "a", "its parent, late"),
        user("e", "c", "on"),
    ];
    let import = import(&lines);
    assert_eq!(rollbacks(&import), Vec::<String>::new());
    assert_eq!(
        problems(&import),
        [
            Problem::SelfParent,
            Problem::PhantomParent,
            Problem::LateParent
        ]
    );
}

#[test]
fn a_circle_of_parents_is_reported_once() {
    let lines = [
        user("a", "c", "1"),
        user("b", "a", "2"),
        user("c", "b", "3"),
        user("d", "c", "4"),
    ];
    let import = import(&lines);
    assert_eq!(rollbacks(&import), Vec::<String>::new());
    assert_eq!(
        problems(&import)
            .iter()
            .filter(|problem| **problem == Problem::Cycle)
            .count(),
        1
    );
}

#[test]
fn history_replayed_is_not_said_twice() {
    let lines = [
        user("a", "", "hi"),
        model("b", "a", "m", &text("x")),
        user("a", "", "hi"),
        model("b", "a", "m", &text("x")),
        user("c", "b", "on"),
        user("c", "b", "other words"),
    ];
    let import = import(&lines);
    let expected = [
        "opened s main",
        "user \"hi\"",
        "assistant response=m {\"type\":\"text\",\"text\":\"x\"}",
        "kept claude-code/user",
        "kept claude-code/assistant",
        "user \"on\"",
        "rollback 4",
        "user \"other words\"",
    ];
    assert_eq!(sketch(&import.sessions[0]), expected);
    assert_eq!(
        problems(&import),
        [Problem::Replayed, Problem::Replayed, Problem::UuidReused]
    );
}

fn boundary(uuid: &str, follows: &str, metadata: &str) -> String {
    format!(
        r#"{{"type":"system","subtype":"compact_boundary","uuid":"{uuid}","parentUuid":null,"logicalParentUuid":"{follows}","compactMetadata":{metadata}}}"#
    )
}

fn summary(uuid: &str, follows: &str) -> String {
    user(uuid, follows, "the story so far")
        .replace("\"type\"", "\"isCompactSummary\":true,\"type\"")
}

#[test]
fn a_compaction_folds_what_stands_before_its_boundary() {
    let lines = [
        user("u", "", "hi"),
        model("a", "u", "m", &text("x")),
        boundary("b", "a", r#"{"preTokens":9.0,"postTokens":2}"#),
        summary("s", "b"),
        user("u2", "s", "on"),
        user("u3", "a", "before the compaction"),
    ];
    let import = import(&lines);
    let lines = sketch(&import.sessions[0]);
    assert_eq!(
        lines[3..],
        [
            "kept claude-code/system/compact_boundary",
            "compact before 3: the story so far",
            "user \"on\"",
            "rollback 3",
            "user \"before the compaction\""
        ]
    );
    let Body::CompactCommit(commit) = &import.sessions[0].events[4].event.body else {
        panic!()
    };
    assert_eq!((commit.before, commit.after), (Some(9), Some(2)));
}

#[test]
fn a_kept_tail_is_not_folded_and_leads_on() {
    let lines = [
        user("u", "", "hi"),                // 1
        model("a", "u", "m", &call("c")),   // 2
        result("r", "a", "c"),              // 3
        model("a2", "r", "m2", &text("y")), // 4
        boundary(
            "b",
            "a2",
            r#"{"preservedSegment":{"headUuid":"r","anchorUuid":"s","tailUuid":"a2"}}"#,
        ), // 5
        summary("s", "b"),                  // 6
        user("u2", "a2", "on"),
    ];
    let import = import(&lines);
    assert_eq!(
        sketch(&import.sessions[0])[6..],
        ["compact before 2: the story so far", "user \"on\""]
    );
}

#[test]
fn an_open_call_is_closed_before_it_is_folded() {
    let lines = [
        user("u", "", "hi"),
        model("a", "u", "m", &call("c")),
        boundary("b", "a", "{}"),
        summary("s", "b"),
    ];
    let import = import(&lines);
    assert_eq!(
        sketch(&import.sessions[0])[4..],
        [
            "result Some((2, 0)) Unknown",
            "compact before 5: the story so far"
        ]
    );
    assert_eq!(problems(&import), [Problem::OpenCall]);
    // What a fold hid is not closed once more by the next one.
    let more = [
        user("u2", "s", "on"),
        boundary("b2", "u2", "{}"),
        summary("s2", "b2"),
    ];
    let import = self::import(&[&lines[..], &more].concat());
    assert_eq!(problems(&import), [Problem::OpenCall]);
}

#[test]
fn a_summary_of_another_file_is_a_message() {
    let import = import(&[
        boundary("b", "elsewhere", "{}"),
        summary("s", "b"),
        user("u", "s", "on"),
    ]);
    assert_eq!(
        sketch(&import.sessions[0])[2],
        "user authored=false \"the story so far\""
    );
    assert!(problems(&import).contains(&Problem::NothingToFold));
}

#[test]
fn results_give_way_to_what_replaced_them() {
    let lines = [
        user("u", "", "hi"),
        model("a", "u", "m", &call("c")),
        result("r", "a", "c"),
        replaced("c"),
        replaced("none"),
    ];
    let import = import(&lines);
    assert_eq!(
        sketch(&import.sessions[0])[4..],
        ["replace [(3, 0)]", "kept claude-code/content-replacement"]
    );
    assert_eq!(problems(&import), [Problem::UnknownReference]);
}

#[test]
fn attachments_are_told_where_their_words_are_known() {
    let attached = |uuid: &str, follows: &str, rest: &str| {
        other(
            "attachment",
            uuid,
            follows,
            &format!(r#","attachment":{{{rest}}}"#),
        )
    };
    let lines = [
        user("u", "", "hi"),
        attached(
            "t1",
            "u",
            r#""type":"queued_command","prompt":"also this","commandMode":"prompt""#,
        ),
        attached(
            "t2",
            "t1",
            r#""type":"queued_command","prompt":"<x>","commandMode":"task-notification""#,
        ),
        attached(
            "t3",
            "t2",
            r#""type":"file","content":{"type":"text","file":{"filePath":"/a","content":"words"}}"#,
        ),
        attached(
            "t4",
            "t3",
            r#""type":"deferred_tools_delta","addedLines":["a","b"]"#,
        ),
        attached("t5", "t4", r#""type":"hook_success","content":"""#),
        attached("t6", "t5", r#""type":"todo_reminder","content":[{}]"#),
        model("a", "t6", "m", &text("x")),
        user("u2", "a", "more"),
        attached("t7", "u", r#""type":"skill_listing","content":"late""#),
        user("u3", "a", "again"),
    ];
    let import = import(&lines);
    let expected = [
        "user \"also this\"",
        "user authored=false \"<x>\"",
        "inject claude-code/file",
        "inject claude-code/deferred_tools_delta",
        "kept claude-code/attachment/hook_success",
        "kept claude-code/attachment/todo_reminder",
        "assistant response=m {\"type\":\"text\",\"text\":\"x\"}",
        "user \"more\"",
        "kept claude-code/attachment/skill_listing",
        "rollback 8",
        "user \"again\"",
    ];
    assert_eq!(sketch(&import.sessions[0])[2..], expected);
    assert_eq!(problems(&import), [Problem::LateAttachment]);
}

#[test]
fn injected_text_is_nobodys_turn() {
    let meta = user("m", "u", "Caveat: …").replace("\"type\"", "\"isMeta\":true,\"type\"");
    let lines = [
        user("u", "", "hi"),
        meta,
        user("n", "m", "<local-command-stdout>x"),
        user("v", "n", "on"),
    ];
    let authored: Vec<Option<bool>> = import(&lines).sessions[0].events[1..]
        .iter()
        .map(|imported| match &imported.event.body {
            Body::Message(message) => message.authored,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(authored, [None, Some(false), Some(false), None]);
    // Who wrote a message with results is for the fold to say, together with what the results answer.
    let meta =
        result("r", "", "c").replace("\"type\":\"user\"", "\"isMeta\":true,\"type\":\"user\"");
    let import = import(&[meta]);
    let Body::Message(message) = &import.sessions[0].events[1].event.body else {
        panic!()
    };
    assert_eq!(message.authored, None);
}

fn side(line: &str) -> String {
    line.replace(
        "\"type\":\"user\",\"uuid\"",
        "\"isSidechain\":true,\"type\":\"user\",\"uuid\"",
    )
    .replace(
        "\"type\":\"assistant\"",
        "\"isSidechain\":true,\"type\":\"assistant\"",
    )
}

fn task(id: &str, prompt: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Task","input":{{"prompt":"{prompt}"}}}}"#)
}

#[test]
fn sub_agents_among_the_others_are_children() {
    let lines = [
        user("u", "", "hi"),
        model("a1", "u", "m", &task("t1", "look")),   // 2
        model("a2", "a1", "m", &task("t2", "write")), // 3
        side(&user("s1", "", "write")),
        side(&user("s2", "", "look")),
        side(&model("s3", "s1", "n", &text("wrote"))),
        side(&model("s4", "s2", "o", &text("looked"))),
        result("r1", "a1", "t1"),
    ];
    let import = import(&lines);
    let children: Vec<_> = import.sessions[1..]
        .iter()
        .map(|child| {
            (
                child.name.as_str(),
                child.kind,
                child.parent.as_ref().unwrap().1,
                child.events.len(),
            )
        })
        .collect();
    assert_eq!(
        children,
        [
            ("s/sidechain-1", SessionKind::Sub, 3, 3),
            ("s/sidechain-2", SessionKind::Sub, 2, 3)
        ]
    );
    assert_eq!(import.sessions[0].events.len(), 5);
}

#[test]
fn sub_agents_in_files_beside_are_children() {
    let answered = result("r", "a", "t1").replace(
        "\"type\":\"user\",\"uuid\"",
        "\"toolUseResult\":{\"agentId\":\"x1\"},\"type\":\"user\",\"uuid\"",
    );
    let main = [
        user("u", "", "hi"),
        model("a", "u", "m", &task("t1", "look")),
        model("a2", "a", "m", &task("t2", "look")),
        answered,
    ]
    .join("\n");
    let agent = |said: &str| side(&user("s", "", said)).into_bytes();
    let files: BTreeMap<String, Vec<u8>> = [
        ("agent-x1.jsonl".to_owned(), agent("look")),
        ("agent-other.jsonl".to_owned(), agent("not ours")),
        ("s/subagents/agent-x2.jsonl".to_owned(), agent("?")),
        (
            "s/subagents/agent-x2.meta.json".to_owned(),
            br#"{"toolUseId":"t1"}"#.to_vec(),
        ),
        (
            "s/subagents/agent-acompact-3.jsonl".to_owned(),
            side(&user("s", "r", "sum up")).into_bytes(),
        ),
        ("s/subagents/notes.txt".to_owned(), b"no".to_vec()),
    ]
    .into();
    let import = read(main.as_bytes(), None, "s", &files).unwrap();
    assert_sound(&import);
    let children: Vec<_> = import.sessions[1..]
        .iter()
        .map(|child| {
            (
                child.name.as_str(),
                child.kind,
                child.parent.as_ref().map(|parent| parent.1),
            )
        })
        .collect();
    assert_eq!(
        children,
        [
            ("s/agent-acompact-3", SessionKind::Side, Some(4)),
            ("s/agent-x2", SessionKind::Sub, Some(2)),
            ("s/agent-x1", SessionKind::Sub, Some(2))
        ]
    );
}

#[test]
fn what_cannot_be_read_is_kept() {
    let bytes = b"\xef\xbb\xbf{\"type\":\"mode\"}{\"type\":\"tag\"} junk\r\n\n  \r\nnull\n{\"type\":\"user\",\xff}\n{\"type\":\"new\",\"uuid\":\"x\"}\n{\"type\":\"us";
    let import = read(bytes, Some(FormatName::ClaudeCode), "s", &NoFiles).unwrap();
    assert_accounted(bytes, &import);
    let expected = [
        "opened s main",
        "kept claude-code/mode",
        "kept claude-code/tag",
        "kept claude-code/damaged",
        "kept claude-code/null",
        "kept claude-code/damaged",
        "kept claude-code/new",
        "kept claude-code/damaged",
    ];
    assert_eq!(sketch(&import.sessions[0]), expected);
    let torn = bytes.len() as u64 - 11;
    let damage: Vec<_> = import
        .report
        .damaged
        .iter()
        .map(|damage| (damage.line, damage.offset, damage.bytes, damage.problem))
        .collect();
    assert_eq!(
        damage,
        [
            (1, 33, 4, Problem::NotJson),
            (5, 49, 17, Problem::NotUtf8),
            (7, torn, 11, Problem::Torn)
        ]
    );
    let forms: Vec<Form> = import.sessions[0]
        .events
        .iter()
        .filter_map(|imported| match &imported.event.body {
            Body::Kept(kept) => Some((kept.raw.form, matches!(kept.raw.held, Held::Here(_)))),
            _ => None,
        })
        .map(|(form, _)| form)
        .collect();
    assert_eq!(
        forms[2..],
        [
            Form::Plain,
            Form::Json,
            Form::Bytes,
            Form::Json,
            Form::Plain
        ]
    );
    assert_eq!(
        problems(&import),
        [
            Problem::ByteOrderMark,
            Problem::SharedLine,
            Problem::UnknownType,
            Problem::UnknownType
        ]
    );
}

#[test]
fn text_stays_as_it_was_written() {
    let line = user("u", "", "\\ud83d \\u0000 \u{2028} é \\u00e9 \\/");
    let import = import(&[line]);
    let Body::Message(message) = &import.sessions[0].events[1].event.body else {
        panic!()
    };
    assert_eq!(
        words(&message.content.blocks[0].raw),
        "\"\\ud83d \\u0000 \u{2028} é \\u00e9 \\/\""
    );
}

#[test]
fn a_web_session_is_read_too() {
    let document = format!(
        "{{\n\"name\": 1, \"loglines\": [\n{},\n{}\n]}}",
        user("u", "", "hi"),
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"x"}]}}"#
    );
    let import = read(document.as_bytes(), None, "s", &NoFiles).unwrap();
    assert_eq!(import.format, FormatName::ClaudeCodeWeb);
    assert_eq!(
        sketch(&import.sessions[0]),
        [
            "opened s main",
            "kept claude-code/document",
            "user \"hi\"",
            "assistant {\"type\":\"text\",\"text\":\"x\"}"
        ]
    );
    assert_eq!(import.sessions[0].events[3].source.line, 4);
}

#[test]
fn hostile_shapes_are_read() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let lines = [
        "{\"\\ud800\":1,\"type\":\"mode\"}".to_owned(),
        format!("{{\"type\":\"user\",\"message\":{{\"content\":{deep}}}}}"),
        format!("{{\"type\":\"new\",\"x\":{deep}}}"),
        "{\"type\":\"user\",\"message\":{\"content\":{}}}".to_owned(),
        "{\"type\":\"user\",\"message\":7}".to_owned(),
        "{\"type\":\"assistant\",\"type\":\"mode\"}".to_owned(),
        "{\"type\":7,\"uuid\":8}".to_owned(),
    ];
    let import = import(&lines);
    assert!(import.report.damaged.is_empty());
    let kept = sketch(&import.sessions[0]);
    assert_eq!(kept[1], "kept claude-code/mode");
    assert_eq!(
        kept[3..],
        [
            "kept claude-code/new",
            "kept claude-code/user",
            "kept claude-code/user",
            "kept claude-code/mode",
            "kept claude-code/untyped"
        ]
    );
}

#[test]
fn an_agent_id_is_no_path() {
    let answered = result("r", "", "t1").replace(
        "\"type\":\"user\",\"uuid\"",
        "\"toolUseResult\":{\"agentId\":\"/../../x\"},\"type\":\"user\",\"uuid\"",
    );
    let files: BTreeMap<String, Vec<u8>> = [(
        "agent-/../../x.jsonl".to_owned(),
        side(&user("s", "", "hi")).into_bytes(),
    )]
    .into();
    let import = read(answered.as_bytes(), None, "s", &files).unwrap();
    assert_eq!(import.sessions.len(), 1);
}
