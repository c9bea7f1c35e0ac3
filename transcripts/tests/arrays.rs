//! Plain lists of messages.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod common;

use common::{corpus, files, sketch};
use recount_events::{BlockKind, Body, Shape};
use recount_transcripts::{FormatName, Import, NoFiles, detect, read};

fn import(text: &str) -> Import {
    read(text.as_bytes(), None, "s", &NoFiles).unwrap()
}

#[test]
fn an_anthropic_request() {
    let text = r#"{"model":"claude-x","system":"be brief","tools":[{"name":"b"},{"name":"a"}],"messages":[
        {"role":"user","content":"hi"},
        {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"\ud800"}],"ts":3}]}"#;
    let import = import(text);
    assert_eq!(import.format, FormatName::AnthropicMessages);
    let expected = [
        "opened s main",
        "kept messages/document",
        "profile claude-x 200000",
        "system",
        "tools 2",
        "user \"hi\"",
        "assistant {\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"a\",\"input\":{}}",
        "user {\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"\\ud800\"}",
    ];
    assert_eq!(sketch(&import.sessions[0]), expected);
    let last = import.sessions[0].events.last().unwrap();
    assert_eq!(
        common::words(last.event.extra.as_ref().unwrap()),
        "{\"message\":{\"ts\":3}}"
    );
    assert_eq!(last.source.line, 4);
}

#[test]
fn openai_calls_and_results() {
    let text = r#"[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"go"}]},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c1","name":"f","content":"out"},{"role":"exit","content":"bye"}]"#;
    let import = import(text);
    assert_eq!(import.format, FormatName::OpenaiMessages);
    let bodies: Vec<&Body> = import.sessions[0]
        .events
        .iter()
        .map(|imported| &imported.event.body)
        .collect();
    assert!(matches!(bodies[1], Body::System(_)));
    let Body::Message(answer) = bodies[3] else {
        panic!("{:?}", bodies[3])
    };
    assert_eq!(
        (answer.content.shape, answer.content.blocks[0].kind),
        (Shape::Absent, BlockKind::Call)
    );
    let Body::ToolResult(result) = bodies[4] else {
        panic!("{:?}", bodies[4])
    };
    assert_eq!(common::words(result.call.as_ref().unwrap()), "c1");
    assert!(matches!(bodies[5], Body::Kept(_)));
    assert_eq!(import.report.kept, 1);
}

#[test]
fn what_holds_no_messages_is_not_taken() {
    for text in [
        "[]",
        "{}",
        "[1]",
        "{\"messages\":[]}",
        "[{\"role\":1}]",
        "",
        "nonsense",
        "{\"messages\":{\"role\":\"user\"}}",
    ] {
        assert_eq!(detect(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn a_list_that_grew_gives_the_old_events_first() {
    let items = [
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"assistant","content":"b"}"#,
        r#"{"role":"user","content":"c"}"#,
    ];
    let whole = import(&format!("[{}]", items.join(",")));
    for count in 1..items.len() {
        let part = import(&format!("[{}]", items[..count].join(",")));
        assert_eq!(whole.sessions[0].events[..=count], part.sessions[0].events);
    }
}

#[test]
fn the_lists_in_the_recordings() {
    let Some(corpus) = corpus() else { return };
    let mut found = files(&corpus.join("llm-message-fixture"));
    found.extend(files(&corpus.join("mini-swe-agent-traj")));
    for path in found {
        let bytes = std::fs::read(&path).unwrap();
        let import = read(&bytes, None, "s", &NoFiles).unwrap();
        assert!(
            import.sessions[0].events.len() as u64 > import.report.read && import.report.read > 0,
            "{}",
            path.display()
        );
        for imported in import.sessions[0]
            .events
            .iter()
            .filter(|imported| imported.source.bytes > 0)
        {
            let from = imported.source.offset as usize;
            assert_eq!(
                (
                    bytes[from],
                    bytes[from + imported.source.bytes as usize - 1]
                ),
                (b'{', b'}')
            );
        }
    }
    for path in files(&corpus.join("swe-agent-traj")) {
        let document: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let list = serde_json::to_vec(&document["history"]).unwrap();
        let import = read(&list, None, "s", &NoFiles).unwrap();
        assert_eq!(import.format, FormatName::OpenaiMessages);
        assert_eq!(import.report.kept, 0);
    }
}
