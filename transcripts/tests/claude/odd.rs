//! What cannot be read, or was written oddly.

use crate::common::{assert_accounted, sketch, words};
use crate::lines::*;
use recount_events::{Body, Form, Held};
use recount_transcripts::{FormatName, NoFiles, Problem, read};
use std::collections::BTreeMap;

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
