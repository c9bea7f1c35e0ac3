//! Section 3: thinking, signatures, opaque items.

use crate::desk::{Desk, repairs, thinking_profile};
use crate::live::{Live, said};
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

/// A host whose model thinks, under a preset.
fn thinker(preset: &'static str, window: u64) -> Live {
    let policy = json!({"type": "policy", "preset": preset});
    let thinks = json!({"params": {"thinking": {"type": "enabled", "budget_tokens": 1_024}}});
    Live::under(preset, window, &policy, &thinks)
}

#[test]
fn pain_24_the_request_for_a_summary_of_thinking_turns_is_valid() {
    // By force, and at the trigger in the middle of a tool turn.
    for (preset, window) in [
        ("none", 200_000),
        ("claude-code", 32_000),
        ("five-layer", 64_000),
    ] {
        let mut live = thinker(preset, window);
        live.desk.says("do it");
        for step in 0..20 {
            let id = format!("t{step}");
            let block = json!([thought(&format!("which file {step}?")), {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": id}}]);
            live.reply(&block).tokens();
            live.desk.result(&id, &said(&id, 250));
            if step % 5 == 4 {
                live.reply(&json!([thought("that is all"), {"type": "text", "text": "done"}]))
                    .tokens();
                live.desk.says(&format!("now the next ones, {step}"));
            }
        }
        if preset == "none" {
            live.desk.says("and now?");
            live.reply(&json!([thought("which file?"), call("last")]))
                .tokens();
            live.desk.result("last", "found");
            let plan = live
                .desk
                .session()
                .compact(api::Compact::default())
                .unwrap();
            assert_eq!(live.summarise(&plan.compaction, plan.requests), "committed");
        }
        // Each of these requests was judged like any other.
        assert!(live.asked > 0 && live.made_by("model") > 0, "{preset}");
        assert_eq!(live.refused, 0, "{preset}");
        live.reply(&json!([thought("so"), {"type": "text", "text": "done"}]))
            .tokens();
        live.desk.reopen();
        live.turn("thanks", "yes").tokens();
    }
}

#[test]
fn pain_29_thinking_of_the_call_that_sums_up_does_not_enter() {
    let mut live = thinker("none", 200_000);
    for turn in 0..3 {
        live.turn("go on", &said(&format!("turn{turn}"), 100))
            .tokens();
    }
    live.desk.says("and?");
    let plan = live
        .desk
        .session()
        .compact(api::Compact::default())
        .unwrap();
    let ask = api::Summarised {
        compaction: plan.compaction,
        text: Some(
            "<analysis>what nobody is to see</analysis><summary>what counts</summary>".into(),
        ),
        usage: Some(crate::live::raw(
            &json!({"request": "side", "input": 4_000, "output": 900}),
        )),
        ..Default::default()
    };
    assert_eq!(
        live.desk.session().summarised(ask).unwrap().outcome,
        "committed"
    );
    let sent = live.desk.sent();
    assert!(sent.shows("what counts") && !sent.shows("what nobody is to see"));
    assert!(
        live.status().tokens.total < 1_000,
        "{:?}",
        live.status().tokens
    );
}

/// Turns with an opaque block of so many characters each; the host, and the turns in which something was taken out.
fn opaque_turns(turns: u64, characters: u64) -> (Live, Vec<u64>) {
    let mut live = thinker("claude-code", 32_000);
    let (mut commits, mut last) = (Vec::new(), 0);
    for turn in 0..turns {
        let letter = |at: u64| {
            const LETTERS: &[u8; 62] =
                b"0aA1bB2cC3dD4eE5fF6gG7hH8iI9jJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ";
            char::from(LETTERS[usize::try_from((at * at * 7 + turn * 13 + at) % 62).unwrap()])
        };
        let data: String = (0..characters).map(letter).collect();
        live.desk.says(&format!("question {turn}"));
        let blocks =
            json!([{"type": "redacted_thinking", "data": data}, {"type": "text", "text": "done"}]);
        live.reply(&blocks).tokens();
        let count = live.count("compact_commit");
        if last < count {
            commits.push(turn);
        }
        last = count;
        if turn % 20 == 0 {
            live.desk.reopen();
        }
    }
    (live, commits)
}

#[test]
fn pain_31_opaque_blocks_leave_with_the_turns_that_they_belong_to() {
    // 660 characters are 600 tokens of the provider's.
    let (live, commits) = opaque_turns(200, 660);
    let status = live.status();
    assert!(commits.len() > 4, "it came to that: {commits:?}");
    // What a compaction left is no floor that fills the window: many turns lie between two.
    let gaps = commits.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps.min() >= Some(5), "{commits:?}");
    assert!(live.made_by("model") > 0 && !live.tripped("refill"));
    assert!(
        status.floor.tokens < 2_000 && !status.floor.latched,
        "{:?}",
        status.floor
    );
    assert_eq!(live.refused, 0);
}

#[test]
fn pain_31_opaque_blocks_that_count_for_more_than_they_look_end_in_no_circle() {
    // The provider counts more than ten times what these characters look like.
    let (live, commits) = opaque_turns(100, 1_600);
    assert!(commits.len() > 2, "it came to that: {commits:?}");
    assert!(live.asked < 10, "{}", live.asked);
    assert!(commits.len() < 20, "{commits:?}");
    assert!(!live.status().floor.latched);
}
