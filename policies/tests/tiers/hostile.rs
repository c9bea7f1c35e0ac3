//! Any session and any numbers: a tier answers, and what it proposes fits.

use crate::common::{Host, View};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use recount_events::{Event, Held, Millis};
use recount_policies::{budget, micro, snip};
use std::cell::RefCell;

/// Events as odd as hosts and damage make them; `@` stands for a small number.
const EVENTS: &[&str] = &[
    r#"{"type":"message","role":"user","content":"@"}"#,
    r#"{"type":"message","role":"user","content":[]}"#,
    r#"{"type":"message","role":"system","content":"\ud800"}"#,
    r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"t@","name":"Read","input":{"file_path":"a","file_path":"b"}}]}"#,
    r#"{"type":"message","role":"assistant","response":"r","content":[{"type":"tool_use","id":"t@","name":"Bash","input":"\udc00"},{"type":"tool_use","id":"t@","name":"Bash","input":7}]}"#,
    r#"{"type":"message","role":"assistant","response":"r","content":[{"type":"text","text":7},{"type":"thinking","thinking":"","signature":"s"}]}"#,
    r#"{"type":"message","role":"assistant","content":[{"type":"tool_use"}]}"#,
    r#"{"type":"message","role":"assistant","content":null}"#,
    r#"{"type":"message","format":"openai_chat","role":"assistant","content":null,"tool_calls":[{"id":"t@","type":"function","function":{"name":"Grep","arguments":"{broken"}}]}"#,
    r#"{"type":"message","format":"openai_chat","role":"tool","tool_call_id":"t@","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
    r#"{"type":"message","format":"gemini","role":"model","content":[{"functionCall":{"id":"t@","name":"Read","args":{}}}]}"#,
    r#"{"type":"message","format":"gemini","role":"user","content":[{"functionResponse":{"id":"t@","response":{"output":"\ud83d"}}}]}"#,
    r#"{"type":"message","format":"openai_responses","role":"assistant","content":[{"type":"function_call","call_id":"t@","name":"Read","arguments":"{}"}]}"#,
    r#"{"type":"message","format":"openai_responses","role":"user","content":[{"type":"function_call_output","call_id":"t@","output":[{"type":"input_text","text":"words"},{"type":"input_image","image_url":"x"}]}]}"#,
    r#"{"type":"message","role":"user","content":[{"type":"tool_result","tool_use_id":"t@","content":{"odd":1}},{"type":"tool_result","tool_use_id":"t@"},{"type":"text","text":"mine"}]}"#,
    r#"{"type":"message","role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"document"}]}"#,
    r#"{"type":"tool_result","call":"t@","content":"words of a result that is longer than what stands for it"}"#,
    r#"{"type":"tool_result","call":"t@","content":[{"type":"document","source":{}},{"type":"image"},{"odd":true},"text"]}"#,
    r#"{"type":"tool_result","call":"t@","status":"interim","content":"…"}"#,
    r#"{"type":"tool_result","call":"t@","status":"error","bytes":"//79AAA="}"#,
    r#"{"type":"tool_result","call":"t@","tool":"Read"}"#,
    r#"{"type":"tool_result","call":"t@","content":"\ud83d\ude00\ud83d e\u0301\u0000\\\" 👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦"}"#,
    r#"{"type":"inject","slot":"progress","content":"@"}"#,
    r#"{"type":"inject","slot":"\ud800","content":["x"],"lifetime":"session"}"#,
    r#"{"type":"inject","slot":"t","content":"","lifetime":"tail"}"#,
    r#"{"type":"file_read","path":"a","block":[@,0],"digest":"0000000000000000000000000000000000000000000000000000000000000000"}"#,
    r#"{"type":"replace","block":[@,0],"with":[{"type":"image","source":{"type":"url","url":"u"}}]}"#,
    r#"{"type":"replace","block":[@,0],"with":null}"#,
    r#"{"type":"budget","judged":[[@,0]]}"#,
    r#"{"type":"cache_edit","id":"e@","calls":[[@,0]],"baseline":18446744073709551615}"#,
    r#"{"type":"cache_edit","id":"e@","calls":[]}"#,
    r#"{"type":"cache_ack","id":"e@","deleted_tokens":18446744073709551615}"#,
    r#"{"type":"cache_reset","reason":"x"}"#,
    r#"{"type":"usage","request":"q@","input":1,"output":1,"cache_deleted":18446744073709551615}"#,
    r#"{"type":"snip","messages":[@]}"#,
    r#"{"type":"delete_range","first":@,"last":@}"#,
    r#"{"type":"compact_commit","first":@,"last":@,"summary":"s"}"#,
    r#"{"type":"undo","event":@}"#,
    r#"{"type":"rollback","to":{"seq":@}}"#,
    r#"{"type":"tools","tools":[{"name":7},"x",{"type":"function","function":{"name":"f"}}]}"#,
];

/// Numbers of a policy at their ends.
fn number() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![0, 1, 2, 5, 40, 100, 1_000, u64::MAX])
}

fn params() -> impl Strategy<Value = String> {
    let numbers = prop::collection::vec(number(), 16);
    (numbers, any::<[bool; 5]>()).prop_map(|(number, on)| {
        let cached = if on[4] { "cache_edits" } else { "context_management" };
        format!(
            r#"{{"budget":{{"result_limit":{},"tool_limits":{{"Bash":{},"Read":{}}},"response_limit":{},"preview_bytes":{},"result_tokens":{},"head_percent":{},"tail_percent":{},"bytes_percent":{}}},
            "snip":{{"superseded_reads":{},"duplicates":{},"empty":{},"markers":true,"before_thinking":{},"least_tokens":{}}},
            "micro":{{"idle_minutes":{},"keep":{},"cached":"{cached}","cached_trigger":{},"cached_keep":{}}}}}"#,
            number[0], number[1], number[2], number[3], number[4], number[5], number[6], number[7], number[8],
            on[0], on[1], on[2], on[3], number[9],
            number[10], number[11], number[12], number[13],
        )
    })
}

/// The event of this line; now and then a text of it is gone.
fn event(line: usize, numbers: [u8; 2], at: u64, gone: u8) -> Event {
    let mut parts = EVENTS[line % EVENTS.len()].split('@');
    let mut raw = parts.next().unwrap_or_default().to_owned();
    for (number, part) in numbers.iter().cycle().zip(parts) {
        raw.push_str(&number.to_string());
        raw.push_str(part);
    }
    let mut event =
        Event::from_json(&raw, Millis(at)).unwrap_or_else(|refusal| panic!("{refusal:?} in {raw}"));
    for (place, text) in (0_u8..).zip(event.texts_mut()) {
        if gone == place {
            text.held = Held::Lost;
        } else if gone == place.saturating_add(100) {
            text.held = Held::Erased;
        }
    }
    event
}

/// What a session is made of: lines, their numbers, their times, and which text is gone.
type Steps = Vec<(usize, [u8; 2], u64, u8)>;

fn steps() -> impl Strategy<Value = Steps> {
    let time = prop_oneof![9 => 0_u64..10_000_000, 1 => any::<u64>()];
    prop::collection::vec(
        (any::<usize>(), [4_u8..16, 4..16], time, any::<u8>()),
        0..60,
    )
}

/// The session of these steps: as a host may append it where that fits, else as a damaged log may hold it.
fn session(params: &str, steps: &Steps, [bytes, images]: [u64; 2]) -> Host {
    let mut host = Host::new("claude-code", params);
    let count = images % 1_000;
    host.profile(&format!(
        r#"{{"cache_edits":true,"body_bytes":{bytes},"images":{{"count":{count}}},"thinking":{{"binds":true,"keeps":"all"}}}}"#
    ));
    for (line, numbers, at, gone) in steps {
        let mut event = event(*line, *numbers, *at, *gone);
        if let Ok(admitted) = host.state.admit(event.clone()) {
            event = admitted.event().clone();
        }
        host.log.push(event.clone());
        host.state.retake(event);
    }
    host
}

#[test]
fn b1_s1_m2_a_tier_answers_whatever_the_session() {
    let given = (
        params(),
        steps(),
        any::<u64>(),
        any::<bool>(),
        [number(), number(), number()],
    );
    let mut runner = TestRunner::new(Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    });
    let answers = RefCell::new([0_u64; 3]);
    let ran = runner.run(&given, |(params, steps, now, spills, limits)| {
        let mut host = session(&params, &steps, [limits[0], limits[1]]);
        host.spills = spills;
        host.now = now;
        let tiers = [budget::propose, snip::propose, micro::propose];
        for (place, tier) in tiers.into_iter().enumerate() {
            let mut view = View::of(&host.state, Millis(host.now), host.spills);
            view.fill.factor_milli = limits[2];
            let proposal = tier(&view.at());
            prop_assert_eq!(proposal.is_empty(), proposal.did.is_empty());
            let _ = micro::request_params(&view.constants, &view.profile, view.state.timeline());
            host.accept(&proposal);
            answers.borrow_mut()[place] += u64::from(!proposal.is_empty());
        }
        Ok(())
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
    let answers = answers.into_inner();
    assert!(answers.iter().all(|times| *times > 10), "{answers:?}");
}
