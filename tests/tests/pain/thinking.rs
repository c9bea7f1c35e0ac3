//! Section 3: thinking, signatures, opaque items.

use crate::desk::{Desk, repairs, thinking_profile};
use recount::{ErrorKind, api};
use serde_json::{Value, json};

fn thought(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": "c2lnbmVk"})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

#[test]
fn pain_23_signed_thinking_is_verbatim_or_absent() {
    let desk = Desk::thinking("");
    desk.says("think");
    let long = thought(&"deep ".repeat(1_800));
    let block = desk.blocks(&json!([long, {"type": "text", "text": "done"}]));
    desk.says("and?");
    assert_eq!(desk.sent().blocks("thinking"), vec![long]);
    let error = desk
        .try_log(&json!({"type": "replace", "block": [block, 0], "with": "short"}))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rejected);
    desk.log(&json!({"type": "snip", "messages": [block]}));
    assert_eq!(desk.sent().blocks("thinking"), Vec::<Value>::new());
}

#[test]
fn pain_24_a_fold_behind_a_thinking_tool_turn_is_valid() {
    let desk = Desk::thinking("");
    desk.turn("one");
    let kept = desk.says("do it");
    let last = json!([thought("which file?"), call("t1")]);
    desk.blocks(&last);
    desk.result("t1", "found");
    desk.fold(kept, "s");
    assert_eq!(desk.sent().blocks("thinking"), vec![thought("which file?")]);
}

#[test]
fn pain_25_kept_messages_are_never_appended_again() {
    let desk = Desk::thinking("");
    desk.turn("one");
    let kept = desk.says("do it");
    desk.blocks(&json!([thought("which file?"), call("t1")]));
    desk.result("t1", "found");
    let tail = |projected: api::Projected| -> Vec<String> {
        let pieces = projected.pieces.unwrap().into_iter();
        pieces
            .filter(|piece| piece.event.is_some_and(|event| event >= kept))
            .map(|piece| piece.digest)
            .collect()
    };
    let before = tail(desk.project(api::At::Head));
    let commit = desk.fold(kept, "s");
    assert_eq!(commit, desk.head(), "the fold is one event");
    let after = tail(desk.project(api::At::Seq(commit)));
    assert_eq!(after[after.len() - before.len()..], before);
}

#[test]
fn pain_26_interleaved_thinking_comes_back_byte_for_byte() {
    let mut desk = Desk::thinking("");
    desk.says("do it");
    let blocks = r#"[{"type":"thinking","signature":"YQ==","thinking":"one \u00e9"},{ "thinking":"two", "type":"thinking","signature":"Yg=="},{"type":"thinking","thinking":"three","signature":"Yw=="},{"type":"tool_use","id":"t1","name":"read","input":{"b":1.0,"a":2e3}}]"#;
    let message = format!(r#"{{"type":"message","role":"assistant","content":{blocks}}}"#);
    desk.session().append(&[&message]).unwrap();
    desk.result("t1", "found");
    let body = |desk: &Desk| recount_tests::host::body(&desk.project(api::At::Head)).unwrap();
    let before = body(&desk);
    for part in [
        r#"{"type":"thinking","signature":"YQ==","thinking":"one \u00e9"},{"thinking":"two","type":"thinking","signature":"Yg=="}"#,
        r#""input":{"b":1.0,"a":2e3}"#,
    ] {
        assert!(before.contains(part), "{before}");
    }
    desk.reopen();
    assert_eq!(body(&desk), before);
    assert_eq!(desk.sent().blocks("thinking").len(), 3);
}

#[test]
fn pain_27_another_issuer_never_sees_what_it_cannot_read() {
    let desk = Desk::thinking("");
    desk.says("think");
    desk.log(&json!({"type": "message", "role": "assistant", "issuer": "anthropic",
        "content": [thought("mine"), {"type": "redacted_thinking", "data": "ZW5j"}, {"type": "text", "text": "done"}]}));
    desk.says("and?");
    let ask = |provider: &str| {
        let profile = Some(thinking_profile(provider, ""));
        desk.session()
            .project(api::Project {
                profile,
                ..Default::default()
            })
            .unwrap()
    };
    let (own, other) = (ask("anthropic"), ask("someone"));
    let body = |projected: &api::Projected| recount_tests::host::body(projected).unwrap();
    assert!(body(&own).contains("ZW5j") && body(&own).contains("mine"));
    assert!(!body(&other).contains("ZW5j") && !body(&other).contains("mine"));
    assert!(
        repairs(&other).contains(&"left out: issuer"),
        "{:?}",
        other.repairs
    );
    desk.sent();
}

#[test]
fn pain_28_a_private_item_reaches_another_provider_as_words() {
    let desk = Desk::new();
    let first = desk.says("question one");
    desk.log(&json!({"type": "message", "role": "assistant", "issuer": "someone", "format": "openai_responses",
        "content": [{"type": "compaction", "encrypted_content": "b3BhcXVl"}]}));
    desk.says("and?");
    let sent = desk.sent();
    assert!(sent.blocks("compaction").is_empty());
    assert!(
        sent.shows("question one"),
        "what it stands for is still there; first={first}"
    );
}

#[test]
fn pain_29_a_side_call_stays_on_its_side() {
    let desk = Desk::new();
    desk.says("question");
    let before = desk.digest();
    let ask = api::Open {
        session: "side".into(),
        profile: Some(thinking_profile("anthropic", "")),
        kind: Some("side".into()),
        parent: Some(
            serde_json::value::to_raw_value(&json!({"session": "s", "seq": desk.head()})).unwrap(),
        ),
        create: true,
        ..Default::default()
    };
    desk.engine().open_session(&ask).unwrap();
    let side = desk.engine().session("side").unwrap();
    side.append(&[
        r#"{"type":"message","role":"user","content":"summarise"}"#,
        &json!({"type": "message", "role": "assistant", "response": "r", "content": [thought("of the side"), {"type": "text", "text": "a summary"}]}).to_string(),
        r#"{"type":"usage","request":"r","input":100,"output":10}"#,
    ])
    .unwrap();
    assert_eq!(desk.digest(), before);
    assert!(!desk.sent().shows("of the side"));
}

#[test]
fn pain_31_old_opaque_blocks_need_not_grow_for_ever() {
    let desk = Desk::thinking(r#","thinking":{"keeps":"last"}"#);
    let turn = |number: u64| {
        desk.says(&format!("question {number}"));
        desk.blocks(
            &json!([thought(&"deep thought ".repeat(100)), {"type": "text", "text": "done"}]),
        );
    };
    turn(0);
    desk.says("next");
    let first = desk.project(api::At::Head).tokens.total;
    for number in 1..20 {
        turn(number);
    }
    desk.says("next");
    let last = desk.project(api::At::Head).tokens.total;
    assert!(last < first + 20 * 40, "{first} {last}");
    desk.sent();
}
