//! Sessions of Cline's SDK: the messages, and a compaction that holds or does not.

use crate::sent::{plain, same};
use crate::world::{Disk, World, corpus, memory};
use recount_events::{Body, Seq};
use recount_transcripts::{FormatName, Import, Problem, read};
use serde_json::{Value, json};

fn messages() -> Vec<Value> {
    let said = |at: u64, role: &str, text: &str| json!({"id": format!("m{at}"), "role": role, "ts": 1_700_000_000_000_u64 + at, "content": text});
    vec![
        said(0, "user", "<user_input mode=\"act\">fix it</user_input>"),
        said(1, "assistant", "looking"),
        said(2, "user", "and the other"),
        said(3, "assistant", "both done"),
        said(4, "user", "thanks"),
    ]
}

fn document(messages: &[Value]) -> String {
    json!({"version": 1, "updated_at": "2026-07-15T05:42:04.818Z", "agent": "lead", "sessionId": "s1", "messages": messages, "system_prompt": "Be brief."}).to_string()
}

/// The digest of the first four messages, worked out from the rule with another program.
const DIGEST: &str = "sha256:b2a69061231bff1dee97127482993a4fce5b490406fe94b584cdbe9fc12ca14b";

fn sidecar(count: usize, anchor: &Value) -> String {
    let mut sidecar = json!({
        "version": 1, "updated_at": "2026-07-15T05:42:04.818Z", "source_message_count": count,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Context summary:\n\nboth fixed"}], "metadata": {"kind": "compaction_summary"}},
            {"role": "assistant", "content": "both done"}
        ]
    });
    for (key, value) in anchor.as_object().unwrap() {
        sidecar[key] = value.clone();
    }
    sidecar.to_string()
}

fn import(document: &str, sidecar: &str) -> Import {
    let files = memory(&[
        ("s1.compaction.json", sidecar),
        ("s1.json", "{\"status\":\"completed\"}"),
    ]);
    read(document.as_bytes(), None, "s1", &files).unwrap()
}

fn problems(import: &Import) -> Vec<Problem> {
    import
        .report
        .doubted
        .iter()
        .map(|doubt| doubt.problem)
        .collect()
}

#[test]
fn a_compaction_that_holds_stands_for_what_it_was_made_of() {
    let import = import(
        &document(&messages()),
        &sidecar(4, &json!({"source_prefix_hash": DIGEST})),
    );
    assert_eq!(import.format, FormatName::ClineSdk);
    assert_eq!(problems(&import), []);
    let mut world = World::new(&import);
    assert_eq!(world.misfits, Vec::<String>::new());
    let compacted: Value = serde_json::from_str(&sidecar(4, &json!({}))).unwrap();
    let mut expected = compacted["messages"].as_array().unwrap().clone();
    expected.push(messages()[4].clone());
    same(&world.sent(), &Value::Array(expected), "compacted");
    let fold = import.sessions[0]
        .events
        .iter()
        .position(|imported| matches!(imported.event.body, Body::DeleteRange(_)));
    world.undo(Seq(fold.unwrap() as u64));
    same(&world.sent(), &Value::Array(messages()), "undone");
}

#[test]
fn the_digest_is_of_what_a_script_writes_again() {
    let source = r#"{ "version": 1, "agent": "lead", "messages": [
        { "ts": 1, "role": "user", "content": [ {"type":"text", "text":"<user_input>see \u00e9</user_input>"}, {"type":"file","path":"a","2":[1.0,5e-1],"x":1e21} ] },
        { "id": "x", "modelInfo": {"id":"m", "provider":"p"}, "content": [ {"type":"tool_use","id":"t","name":"n","input":{"z":1,"a":"\/"}} ], "role": "assistant" },
        { "role": "user", "content": [ {"type":"tool_result","tool_use_id":"t","content":"late"} ] } ] }"#;
    let digest = "sha256:7084c0e800636e117adaebb2df5ce958c87f212bc0d69af15fcde5aa279fce20";
    let import = import(source, &sidecar(2, &json!({"source_prefix_hash": digest})));
    // The call was folded with its result still to come.
    assert!(
        !problems(&import).contains(&Problem::Stale),
        "{:?}",
        import.report.doubted
    );
}

#[test]
fn the_digest_does_not_know_names_times_and_wrappings() {
    let mut other = messages();
    other[0]["content"] = json!("fix it");
    for message in &mut other {
        message["id"] = json!("another");
        message["ts"] = json!(1);
    }
    let import = import(
        &document(&other),
        &sidecar(4, &json!({"source_prefix_hash": DIGEST})),
    );
    assert_eq!(problems(&import), []);
}

#[test]
fn a_compaction_of_other_messages_is_kept_and_not_applied() {
    let mut other = messages();
    other[1]["content"] = json!("looking again");
    let anchors = [
        (4, json!({"source_prefix_hash": DIGEST}), other.clone()),
        (3, json!({"source_prefix_hash": DIGEST}), messages()),
        (9, json!({"source_prefix_hash": DIGEST}), messages()),
        (4, json!({}), messages()),
        (4, json!({"source_last_message_key": "id:m9"}), messages()),
    ];
    for (count, anchor, source) in anchors {
        let sidecar = sidecar(count, &anchor);
        let import = import(&document(&source), &sidecar);
        assert_eq!(problems(&import), [Problem::Stale], "{count} {anchor}");
        let world = World::new(&import);
        same(&world.sent(), &Value::Array(source), "the source");
        let kept = import.sessions[0]
            .events
            .iter()
            .any(|imported| match &imported.event.body {
                Body::Kept(kept) => kept.raw.as_str() == Some(&sidecar),
                _ => false,
            });
        assert!(kept, "word for word");
    }
}

#[test]
fn an_older_compaction_names_its_last_message() {
    let mut nameless = messages();
    nameless[3].as_object_mut().unwrap().remove("id");
    let mut timeless = nameless.clone();
    timeless[3].as_object_mut().unwrap().remove("ts");
    for (key, source) in [
        ("id:m3", messages()),
        ("ts:assistant:1700000000003", nameless),
        ("content:assistant:\"both done\"", timeless),
    ] {
        let sidecar = sidecar(4, &json!({"source_last_message_key": key}));
        let import = import(&document(&source), &sidecar);
        assert_eq!(problems(&import), [Problem::OldAnchor]);
        let sent = plain(&World::new(&import).sent());
        assert_eq!(sent.as_array().unwrap().len(), 3);
    }
}

#[test]
fn broken_sidecars_are_damage() {
    for broken in [
        "",
        "{",
        "[1,",
        "{\"version\":1}",
        "{\"messages\":{},\"source_message_count\":\"x\"}",
        "null",
    ] {
        let import = import(&document(&messages()), broken);
        let told = import.report.damaged.len() + import.report.doubted.len();
        assert_eq!(told, 1, "{broken:?}");
        same(
            &World::new(&import).sent(),
            &Value::Array(messages()),
            broken,
        );
    }
}

#[test]
fn the_recorded_session_is_what_was_said() {
    let Some(corpus) = corpus("cline-sdk-session") else {
        return;
    };
    let folder = corpus.join("cline+cline/sdk/packages/core/fixtures/session");
    let bytes = std::fs::read(folder.join("session.messages.json")).unwrap();
    let import = read(&bytes, None, "session", &Disk(folder)).unwrap();
    assert_eq!(import.format, FormatName::ClineSdk);
    let world = World::new(&import);
    assert_eq!(world.misfits, Vec::<String>::new());
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    let (mut ours, mut theirs) = (world.sent(), document["messages"].clone());
    as_text(&mut ours);
    as_text(&mut theirs);
    same(&ours, &theirs, "the session");
}

/// What is no block of the API (files, and what tools of the SDK answer) is shown as text: its JSON, written in one way.
fn as_text(value: &mut Value) {
    const KNOWN: [&str; 5] = ["text", "image", "tool_use", "tool_result", "thinking"];
    let Some(content) = value.get_mut("content").or(None) else {
        if let Some(messages) = value.as_array_mut() {
            messages.iter_mut().for_each(as_text);
        }
        return;
    };
    for block in content.as_array_mut().into_iter().flatten() {
        let known = block["type"]
            .as_str()
            .is_some_and(|kind| KNOWN.contains(&kind));
        let written = block["text"]
            .as_str()
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        if !known {
            *block = json!({"type": "text", "text": block.to_string()});
        } else if let Some(written) = written.filter(Value::is_object) {
            block["text"] = json!(written.to_string());
        }
        as_text(block);
    }
}
