//! Compactions, replacements, attachments: what stands in for what.

use crate::common::sketch;
use crate::lines::*;
use recount_events::Body;
use recount_transcripts::Problem;

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
