//! The same over JSON-RPC: names, shapes, errors.

use crate::common::Fixture;
use recount::Dispatcher;
use serde_json::{Value, json};

fn ask(dispatcher: &Dispatcher, method: &str, params: Value) -> Value {
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    serde_json::from_str(&dispatcher.call(&line).unwrap()).unwrap()
}

fn talk(dispatcher: &Dispatcher) {
    let profile: Value = serde_json::from_str(super::desk::SMALL).unwrap();
    let opened = ask(
        dispatcher,
        "v1.session.open",
        json!({"session": "s", "create": true, "profile": profile}),
    );
    assert_eq!(opened["result"]["created"], true, "{opened}");
    let mut events = Vec::new();
    for turn in 0..5 {
        let words = super::desk::word(turn).repeat(200);
        events.push(json!({"type": "message", "role": "user", "content": format!("question {turn} {words}")}));
        events.push(json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": format!("answer {turn} {words}")}]}));
    }
    events.push(json!({"type": "message", "role": "user", "content": "and now?"}));
    let appended = ask(
        dispatcher,
        "v1.session.append",
        json!({"session": "s", "events": events}),
    );
    assert!(appended["error"].is_null(), "{appended}");
}

#[test]
fn a2_a_compaction_over_json_rpc() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    talk(&dispatcher);
    let plan = ask(
        &dispatcher,
        "v1.session.compact",
        json!({"session": "s", "now": 5, "custom_instruction": "heed the crows"}),
    );
    let plan = &plan["result"];
    let request = &plan["requests"][0]["request"];
    assert!(request["body"].as_str().unwrap().contains("heed the crows"));
    assert!(request["headers"].is_object());
    let actions = ask(
        &dispatcher,
        "v1.session.actions",
        json!({"session": "s", "as": "object"}),
    );
    let action = &actions["result"]["actions"][0];
    assert_eq!(action["kind"], "summarise");
    assert!(action["request"]["body"].is_object());
    let done = ask(
        &dispatcher,
        "v1.session.summarised",
        json!({"session": "s", "compaction": plan["compaction"], "chunk": 0, "text": super::desk::SUMMARY,
            "stop": "end_turn", "usage": {"input": 3, "output": 4}}),
    );
    assert_eq!(done["result"]["outcome"], "committed", "{done}");
    assert!(done["result"]["after"].as_u64() < done["result"]["before"].as_u64());
    let void = ask(
        &dispatcher,
        "v1.session.summarised",
        json!({"session": "s", "compaction": "c99999", "chunk": 0, "text": "x"}),
    );
    assert_eq!(void["result"]["outcome"], "rejected", "no error: {void}");
}

#[test]
fn r2_a_refusal_over_json_rpc() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    talk(&dispatcher);
    ask(&dispatcher, "v1.session.prepare", json!({"session": "s"}));
    let error = json!({"status": 400, "code": "context_length_exceeded",
        "body": "This model's maximum context length is 20000 tokens. However, your messages resulted in 24000 tokens."});
    let refuse = || {
        ask(
            &dispatcher,
            "v1.session.overflowed",
            json!({"session": "s", "now": 9, "error": error}),
        )["result"]
            .clone()
    };
    let asked = refuse();
    assert_eq!(
        (&asked["outcome"], &asked["run_stop_hooks"]),
        (&json!("summarise"), &json!(false)),
        "{asked}"
    );
    assert!(asked["requests"][0]["request"]["body"].is_string());
    let abandoned = ask(
        &dispatcher,
        "v1.session.abandon",
        json!({"session": "s", "compaction": asked["compaction"], "reason": "no model at hand"}),
    );
    assert!(abandoned["result"]["head"].is_u64());
    let retry = refuse();
    assert_eq!(retry["outcome"], "retry");
    let prepared = &retry["retry"];
    assert!(
        prepared["issued"].is_u64() && prepared["request"]["body"].is_string(),
        "{retry}"
    );
    for field in ["digest", "tokens", "bytes", "tiers", "actions", "status"] {
        assert!(!prepared[field].is_null(), "prepare's field {field}");
    }
}

#[test]
fn unknown_parameters_and_actions_are_refused_by_kind() {
    let fixture = Fixture::new();
    let dispatcher = fixture.dispatcher();
    talk(&dispatcher);
    let kind = |method: &str, params: Value| {
        let answer = ask(&dispatcher, method, params);
        assert!(answer["error"]["data"]["next"].is_string(), "{answer}");
        answer["error"]["data"]["kind"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        kind("v1.session.compact", json!({"session": "s", "hard": true})),
        "invalid"
    );
    assert_eq!(
        kind("v1.session.compact", json!({"session": "nobody"})),
        "not_found"
    );
    assert_eq!(
        kind("v1.session.overflowed", json!({"session": "s"})),
        "invalid"
    );
    assert_eq!(
        kind(
            "v1.session.done",
            json!({"session": "s", "action": "tell-1"})
        ),
        "not_found"
    );
    assert_eq!(
        kind(
            "v1.session.abandon",
            json!({"session": "s", "compaction": "c1", "reason": ""})
        ),
        "rejected"
    );
    assert_eq!(
        kind(
            "v1.session.summarised",
            json!({"session": "s", "compaction": "c1"})
        ),
        "invalid"
    );
}
