//! Chains and branches: what follows what, and where a recording turns back.

use crate::common::{sketch, words};
use crate::lines::*;
use recount_events::{Body, Stop};
use recount_transcripts::Problem;

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
