//! Calls, results, responses: rules 9 to 14, 30, 36.

use crate::host::*;
use recount_events::*;
use recount_projections::{Cause, MisfitKind::*, Problem};

#[test]
fn rule_09_an_open_call_stays_at_its_place_and_its_result_comes_there() {
    let mut host = Host::new();
    host.user("look");
    host.answer(&["t1"]);
    host.user("and?");
    assert_eq!(host.view(), "u1 a2(-) u3");
    assert_eq!(host.state.open_calls().len(), 1);
    assert_eq!(host.state.open_calls()[0].block, at(2, 1));
    host.result("t1", "seen").unwrap();
    assert_eq!(host.view(), "u1 a2(r4) u3");
    assert!(host.state.open_calls().is_empty());
}

#[test]
fn rule_10_results_stand_in_call_order_and_words_beside_them_stay() {
    let mut host = Host::new();
    host.user("look");
    host.answer(&["t1", "t2"]);
    host.result("t2", "two").unwrap();
    host.say(&[result_block("t1", "one"), text_block("please stop")])
        .unwrap();
    assert_eq!(host.view(), "u1 a2(r4,r3) u4");
    let timeline = host.state.timeline();
    assert_eq!(timeline.authored_last, Some(Seq(4)));
    host.answer(&["t3"]);
    host.say(&[result_block("t3", "three")]).unwrap();
    assert_eq!(host.view(), "u1 a2(r4,r3) u4 a5(r6)");
    assert_eq!(host.state.turns(), [Seq(1), Seq(4)]);
}

#[test]
fn rule_10_results_stand_behind_all_joined_parts() {
    let mut host = Host::new();
    host.user("look");
    host.part("m1", &["t1"]);
    host.result("t1", "one").unwrap();
    host.part("m1", &["t2"]);
    host.result("t2", "two").unwrap();
    assert_eq!(host.view(), "u1 a2+4(r3,r5)");
}

#[test]
fn rule_11_a_result_whose_call_was_rolled_away_is_rejected_and_one_after_reopening_is_welcome() {
    let mut host = Host::new();
    host.user("look");
    host.answer(&["t1"]);
    host.back(1);
    refused(host.result("t1", "late"), Rejected, Problem::CallElsewhere);
    let exact = ToolResult {
        call: None,
        block: Some(at(2, 1)),
        ..result("", "late", Status::Ok)
    };
    refused(
        host.put(Body::ToolResult(exact)),
        Rejected,
        Problem::CallElsewhere,
    );
    host.back(2);
    host.result("t1", "first").unwrap();
    host.back(4);
    host.result("t1", "second").unwrap();
    assert_eq!(host.view(), "u1 a2(r7)");
}

#[test]
fn rule_11_a_second_result_repeats_or_is_rejected() {
    let mut host = Host::new();
    host.user("look");
    host.answer(&["t1"]);
    host.result("t1", "one").unwrap();
    refused(
        host.result("t1", "other"),
        Rejected,
        Problem::CallClosed(at(2, 1)),
    );
    refused(host.result("t9", "none"), Rejected, Problem::NoCall);
    let again = host
        .state
        .admit(event(Body::ToolResult(result("t1", "one", Status::Ok))))
        .unwrap();
    assert_eq!(again.repeats(), Some(at(2, 1)));
    host.result("t1", "one").unwrap();
    host.say(&[result_block("t1", "one")]).unwrap();
    assert_eq!(host.view(), "u1 a2(r3)");
    refused(
        host.say(&[result_block("t1", "other")]),
        Rejected,
        Problem::CallClosed(at(2, 1)),
    );
}

#[test]
fn rule_11_in_a_log_that_exists_an_orphan_is_reported_and_the_words_beside_it_stay() {
    let mut host = Host::new();
    host.user("look");
    let raws = [result_block("gone", "x"), text_block("please stop")];
    refused(host.say(&raws), Rejected, Problem::NoCall);
    let content = blocks(&[&raws[0], &raws[1]]);
    let admitted = host
        .state
        .readmit(event(Body::Message(message(Role::User, content))))
        .unwrap();
    host.state.apply(admitted);
    assert_eq!(host.view(), "u1 u2");
    let reports: Vec<_> = host
        .state
        .skipped()
        .map(|skipped| (skipped.seq, skipped.misfit.problem))
        .collect();
    assert_eq!(reports, [(Seq(2), Problem::NoCall)]);
}

#[test]
fn rule_11_in_a_log_that_exists_a_result_follows_its_hidden_call() {
    let mut host = Host::new();
    host.user("look");
    host.answer(&["t1"]);
    host.user("go on");
    // The result that closed the call was lost; the fold that rests on it was not.
    let mut log = host.log.clone();
    log.push(event(Body::CompactCommit(compact_commit(closed(1, 2)))));
    let mut state = recount_projections::replay(log.into_iter().map(Ok));
    assert_eq!(view(state.timeline()), "s4[1-2] u3");
    let late = state
        .readmit(event(Body::ToolResult(result("t1", "late", Status::Ok))))
        .unwrap();
    state.apply(late);
    assert_eq!(view(state.timeline()), "s4[1-2] u3");
    assert_eq!(
        state.hidden_by(state.timeline(), Seq(2)),
        Some(Cause::Mask(Seq(4)))
    );
    assert_eq!(
        state.hidden_by(state.timeline(), Seq(5)),
        Some(Cause::Mask(Seq(4)))
    );
}

#[test]
fn rule_12_an_id_means_the_latest_message_and_in_it_the_first_open_call() {
    let mut host = Host::new();
    host.answer(&["x", "x"]);
    host.user("hm");
    host.answer(&["x", "x"]);
    host.result("x", "one").unwrap();
    assert_eq!(host.view(), "a1(-,-) u2 a3(r4,-)");
    host.result("x", "two").unwrap();
    host.result("x", "three").unwrap();
    assert_eq!(host.view(), "a1(r6,-) u2 a3(r4,r5)");
    let exact = ToolResult {
        call: None,
        block: Some(at(1, 2)),
        ..result("", "four", Status::Ok)
    };
    host.put(Body::ToolResult(exact)).unwrap();
    assert_eq!(host.view(), "a1(r6,r7) u2 a3(r4,r5)");
    let words = ToolResult {
        call: None,
        block: Some(at(1, 0)),
        ..result("", "four", Status::Ok)
    };
    refused(
        host.put(Body::ToolResult(words)),
        Rejected,
        Problem::NotACall(at(1, 0)),
    );
    let nothing = ToolResult {
        call: None,
        ..result("", "four", Status::Ok)
    };
    refused(
        host.put(Body::ToolResult(nothing)),
        Invalid,
        Problem::CallMissing,
    );
}

#[test]
fn rule_12_results_in_one_message_bind_one_after_the_other() {
    let mut host = Host::new();
    host.answer(&["x", "x"]);
    host.say(&[
        result_block("x", "one"),
        result_block("x", "two"),
        result_block("x", "two"),
    ])
    .unwrap();
    let timeline = host.state.timeline();
    assert_eq!(timeline.closing(at(1, 1)).unwrap().block, at(2, 0));
    assert_eq!(timeline.closing(at(1, 2)).unwrap().block, at(2, 1));
}

#[test]
fn rule_13_the_last_interim_result_stands_until_the_closing_one() {
    let mut host = Host::new();
    host.user("look");
    host.answer(&["t1"]);
    host.interim("t1", "10 %").unwrap();
    host.interim("t1", "20 %").unwrap();
    assert_eq!(host.view(), "u1 a2(i4)");
    assert_eq!(host.state.open_calls()[0].interim, Some(Seq(4)));
    host.result("t1", "all").unwrap();
    assert_eq!(host.view(), "u1 a2(r5)");
    refused(
        host.interim("t1", "all"),
        Rejected,
        Problem::CallClosed(at(2, 1)),
    );
    // Interim results belong to the unit.
    host.user("next");
    suggests(host.compact(1, 3), range(1, 5));
    assert_eq!(
        host.state.hidden_by(host.state.timeline(), Seq(3)),
        Some(Cause::Superseded(Seq(5)))
    );
}

#[test]
fn rule_14_a_part_joins_only_directly_behind_its_response() {
    let mut host = Host::new();
    host.user("look");
    host.part("m1", &["t1"]);
    host.usage("m1", 10, 1).unwrap();
    host.part("m1", &[]);
    assert_eq!(host.view(), "u1 a2+4(-)");
    host.user("and?");
    host.part("m1", &[]);
    assert_eq!(host.view(), "u1 a2+4(-) u5 a6");
    host.part("m2", &[]);
    host.part("m2", &[]);
    host.part("m2", &[]);
    assert_eq!(host.view(), "u1 a2+4(-) u5 a6 a7+8+9");
}

#[test]
fn rule_14_a_part_does_not_join_what_is_hidden() {
    let mut host = Host::new();
    host.user("look");
    host.part("m1", &[]);
    host.delete(2, 2).unwrap();
    host.part("m1", &[]);
    assert_eq!(host.view(), "u1 a4");
}

#[test]
fn rule_30_an_id_travels_once() {
    let mut host = Host::new();
    host.answer(&["a", "a", "", "call_1_2", "b b"]);
    host.back(0);
    host.answer(&["a", "c"]);
    let given = |seq: u64| match &host.state.event(Seq(seq)).unwrap().event.body {
        Body::Message(message) => message
            .calls
            .iter()
            .map(|mark| mark.as_given)
            .collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    assert_eq!(given(1), [true, false, false, false, false]);
    assert_eq!(given(3), [false, true]);
    // A fork knows what it inherits, and only that.
    let mut early = Host {
        state: host.state.fork(Seq(0)).unwrap(),
        ..Host::default()
    };
    early.answer(&["a"]);
    let mut late = Host {
        state: host.state.fork(Seq(1)).unwrap(),
        ..Host::default()
    };
    late.answer(&["a"]);
    let first = |host: &Host, seq: u64| host.state.timeline().call(at(seq, 1)).unwrap().as_given;
    assert!(first(&early, 1));
    assert!(!first(&late, 2));
}

#[test]
fn rule_36_foreign_calls_and_results_follow_the_same_rules() {
    let mut host = Host::new();
    let call = Block::from_raw(
        Format::OpenaiChat,
        r#"{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}"#,
    );
    let chat = |blocks: Vec<Block>| Content {
        format: Format::OpenaiChat,
        shape: Shape::Blocks,
        blocks,
    };
    host.put(Body::Message(message(Role::Assistant, chat(vec![call]))))
        .unwrap();
    let open = host.state.open_calls();
    assert_eq!(open.len(), 1);
    host.result("c1", "done").unwrap();
    assert_eq!(host.view(), "a1(r2)");

    let call = Block::from_raw(Format::Gemini, r#"{"functionCall":{"name":"f","args":{}}}"#);
    let answer = Block::from_raw(
        Format::Gemini,
        r#"{"functionResponse":{"name":"f","response":{"ok":1}}}"#,
    );
    let gemini = |block: Block| Content {
        format: Format::Gemini,
        shape: Shape::Blocks,
        blocks: vec![block],
    };
    host.put(Body::Message(message(Role::Assistant, gemini(call))))
        .unwrap();
    host.put(Body::Message(message(Role::User, gemini(answer))))
        .unwrap();
    assert_eq!(host.view(), "a1(r2) a3(r4)");
}

#[test]
fn rule_30_a_log_cannot_make_two_calls_travel_under_one_id() {
    let mut host = Host::new();
    host.user("look");
    let call = host.answer(&["t1"]);
    host.result("t1", "seen").unwrap();
    let mut log = host.log.clone();
    log.push(log[call as usize].clone());
    let state = recount_projections::replay(log.into_iter().map(Ok));
    let marks = |seq: u64| match &state.event(Seq(seq)).unwrap().event.body {
        Body::Message(message) => message.calls.clone(),
        other => panic!("{other:?}"),
    };
    assert!(marks(call)[0].as_given, "the first keeps its id");
    assert!(!marks(4)[0].as_given, "the second gets one of its own");
}
