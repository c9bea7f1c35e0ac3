//! Sub-agents, in the file and beside it.

use crate::common::assert_sound;
use crate::lines::*;
use recount_events::SessionKind;
use recount_transcripts::read;
use std::collections::BTreeMap;

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
