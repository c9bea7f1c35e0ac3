//! Section 2 and 9: identity, emptiness, shape, bytes.

use crate::desk::{Desk, repairs};
use recount::api;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Calls with ids of their own, each with its result, in order.
fn distinct(desk: &Desk, words: &[&str]) {
    let sent = desk.sent();
    let (calls, results) = (sent.blocks("tool_use"), sent.blocks("tool_result"));
    let ids: BTreeSet<String> = calls.iter().map(|call| call["id"].to_string()).collect();
    assert_eq!((ids.len(), results.len()), (words.len(), words.len()));
    for ((call, result), word) in calls.iter().zip(&results).zip(words) {
        assert_eq!(call["id"], result["tool_use_id"]);
        assert!(result["content"].to_string().contains(word), "{result}");
    }
}

#[test]
fn pain_17_an_id_used_in_every_turn_drops_no_result() {
    let desk = Desk::new();
    for word in ["first", "second", "third"] {
        desk.says("do it");
        desk.calls(&["call_0"]);
        desk.result("call_0", word);
    }
    distinct(&desk, &["first", "second", "third"]);
}

#[test]
fn pain_18_an_id_twice_in_one_response_is_two_calls() {
    let desk = Desk::new();
    desk.says("do it");
    desk.calls(&["x", "x"]);
    desk.result("x", "first");
    desk.result("x", "second");
    assert!(
        desk.try_log(&json!({"type": "tool_result", "call": "x", "content": "third"}))
            .is_err(),
        "there is no third call"
    );
    distinct(&desk, &["first", "second"]);
}

#[test]
fn pain_19_an_empty_id_is_an_id() {
    let desk = Desk::new();
    desk.says("do it");
    desk.calls(&["", "", "ok"]);
    desk.result("", "first");
    desk.result("", "second");
    desk.result("ok", "third");
    distinct(&desk, &["first", "second", "third"]);
}

#[test]
fn pain_20_a_blank_text_reaches_no_wire_and_stays_in_the_log() {
    let desk = Desk::new();
    desk.says("tell me");
    let blank = desk.log(
        &json!({"type": "message", "role": "assistant", "stop": "interrupted",
        "content": [{"type": "text", "text": "\n\n"}]}),
    );
    desk.says("well?");
    desk.sent();
    assert!(repairs(&desk.project(api::At::Head)).contains(&"blank"));
    let logged = desk.session().log(blank, 1).unwrap();
    assert!(
        logged.events[0].get().contains(r#""text":"\n\n""#),
        "{}",
        logged.events[0]
    );
}

#[test]
fn pain_21_an_empty_result_has_words_on_the_wire() {
    let desk = Desk::new();
    desk.says("do it");
    desk.calls(&["t1"]);
    let result = desk.result("t1", "");
    assert!(desk.sent().shows("(no output)"));
    let logged: Value =
        serde_json::from_str(desk.session().log(result, 1).unwrap().events[0].get()).unwrap();
    assert_eq!(logged["content"], "");
}

#[test]
fn pain_22_a_stream_of_snapshots_is_one_message() {
    let desk = Desk::new();
    desk.says("do it");
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    for (index, id) in ["a", "b", "c"].iter().enumerate() {
        for _ in 0..3 {
            let draft =
                json!({"type": "draft", "response": "m1", "index": index, "block": call(id)});
            desk.session().append(&[&draft.to_string()]).unwrap();
        }
    }
    let final_one = json!({"type": "message", "role": "assistant", "response": "m1",
        "content": [call("a"), call("b"), call("c")]});
    let append = || {
        let event = serde_json::value::to_raw_value(&final_one).unwrap();
        let ask = api::Append {
            events: vec![event],
            key: Some("m1".into()),
            ..Default::default()
        };
        desk.session().append_with(ask).unwrap()
    };
    let once = append();
    let again = append();
    assert_eq!((again.first, again.repeated), (once.first, true));
    for id in ["a", "b", "c"] {
        desk.result(id, id);
    }
    distinct(&desk, &["a", "b", "c"]);
}

#[test]
fn pain_81_any_bytes_of_a_tool_are_kept_and_sent_safely() {
    let mut noise = recount_tests::recordings::Dice::new("noise");
    let bytes: Vec<u8> = (0..1_024)
        .map(|_| u8::try_from(noise.below(256)).unwrap())
        .collect();
    let coded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &bytes);
    let mut desk = Desk::new();
    desk.says("do it");
    desk.calls(&["t1", "t2"]);
    let result = desk.log(&json!({"type": "tool_result", "call": "t1", "bytes": coded}));
    desk.session()
        .append(&[r#"{"type":"tool_result","call":"t2","content":"nul \u0000, half a pair \ud83d, separators \u2028\u2029\u0085"}"#])
        .unwrap();
    desk.sent();
    let before = desk.digest();
    desk.reopen();
    assert_eq!(desk.digest(), before);
    let logged: Value =
        serde_json::from_str(desk.session().log(result, 1).unwrap().events[0].get()).unwrap();
    assert_eq!(logged["bytes"], coded);
    let kept = desk.session().log(result + 1, 1).unwrap();
    assert!(
        kept.events[0].get().contains(r"\ud83d"),
        "{}",
        kept.events[0]
    );
}
