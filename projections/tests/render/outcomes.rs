//! Outcomes: rule 6.

use crate::desk::Desk;
use recount_events::{BlockId, Seq, Wire};
use recount_projections::Outcome;
use recount_projections::render::{Budget, Excess};

const CALLS: &str = r#"{"type":"tool_use","id":"t1","name":"n","input":{}},{"type":"tool_use","id":"t2","name":"n","input":{}}"#;

fn outcome(desk: &Desk) -> Outcome {
    desk.project(Wire::Anthropic).outcome
}

#[test]
fn open_calls_of_the_newest_response_are_waited_for() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.answers(CALLS);
    let block = |index| BlockId { seq: Seq(2), index };
    assert_eq!(
        outcome(&desk),
        Outcome::WaitingResults {
            calls: vec![block(0), block(1)]
        }
    );
    assert_eq!(
        desk.project_as(Wire::Anthropic, true, Budget::default())
            .outcome,
        Outcome::Ready
    );
    desk.log(r#"{"type":"tool_result","call":"t1","status":"interim","content":"r"}"#);
    assert_eq!(
        outcome(&desk),
        Outcome::WaitingResults {
            calls: vec![block(1)]
        }
    );
    let digest = desk.project(Wire::Anthropic).digest;
    assert_eq!(
        digest,
        desk.project_as(Wire::Anthropic, true, Budget::default())
            .digest
    );
    desk.log(r#"{"type":"inject","slot":"s","content":"not authored"}"#);
    assert_eq!(
        outcome(&desk),
        Outcome::WaitingResults {
            calls: vec![block(1)]
        }
    );
    desk.says("go on");
    assert_eq!(outcome(&desk), Outcome::Ready);
}

#[test]
fn the_person_is_waited_for() {
    assert_eq!(outcome(&Desk::new()), Outcome::WaitingPerson);
    let mut desk = Desk::new();
    desk.says("a");
    assert_eq!(outcome(&desk), Outcome::Ready);
    desk.answers(r#"{"type":"text","text":"x"}"#);
    assert_eq!(outcome(&desk), Outcome::WaitingPerson);
    desk.profile(r#"{"prefill":true}"#);
    assert_eq!(outcome(&desk), Outcome::Ready);
    desk.answers(r#"{"type":"text","text":"x "}"#);
    assert_eq!(outcome(&desk), Outcome::WaitingPerson);
    desk.answers(
        r#"{"type":"text","text":"x"},{"type":"thinking","thinking":"t","signature":"s"}"#,
    );
    assert_eq!(
        outcome(&desk),
        Outcome::Ready,
        "thinking is off and left out"
    );
    desk.profile(r#"{"prefill":true,"params":{"thinking":{"type":"adaptive"}}}"#);
    assert_eq!(outcome(&desk), Outcome::WaitingPerson);
}

#[test]
fn too_much_is_impossible_and_names_the_largest() {
    let mut desk = Desk::with(r#"{"window":60,"max_output":20,"overhead_tokens":5}"#);
    desk.says("a");
    let small = desk.project(Wire::Anthropic);
    assert_eq!(
        (small.tokens, small.estimate, small.max_tokens),
        (7, 12, 20)
    );
    desk.says(&"b".repeat(200));
    let much = desk.project(Wire::Anthropic);
    let Outcome::Impossible {
        excess: Excess::Tokens,
        need,
        limit: 60,
        largest,
    } = &much.outcome
    else {
        panic!("{:?}", much.outcome)
    };
    assert_eq!(*need, much.estimate + 1);
    assert_eq!(
        largest[0].0,
        BlockId {
            seq: Seq(2),
            index: 0
        }
    );
    desk.profile(r#"{"window":1000,"body_bytes":100}"#);
    let bytes = desk.project(Wire::Anthropic);
    assert!(
        matches!(&bytes.outcome, Outcome::Impossible { excess: Excess::Bytes, need, .. } if *need == bytes.bytes)
    );
}

#[test]
fn factor_and_margin_apply_where_nobody_knows_better() {
    let mut desk = Desk::with(r#"{"window":1000,"overhead_tokens":5}"#);
    desk.says("aaaa");
    desk.says("bbbb");
    let budget = Budget {
        factor_milli: 1600,
        margin_milli: 50,
        whole: None,
        window: None,
    };
    let all = desk.project_as(Wire::Anthropic, false, budget);
    assert_eq!((all.tokens, all.estimate), (16, 27 + 5));
    let room = Budget {
        whole: Some(990),
        ..budget
    };
    let known = desk.project_as(Wire::Anthropic, false, room);
    assert_eq!((known.estimate, known.max_tokens), (990, 10));
}

/// A provider that was seen to allow less than the profile says gets a shorter answer, down to what is worth a call; what fits is still
/// judged by the profile.
#[test]
fn a_window_that_was_seen_makes_the_answer_shorter() {
    for (thinking, least) in [
        ("", 1_024),
        (
            r#","params":{"thinking":{"type":"enabled","budget_tokens":1024}}"#,
            2_048,
        ),
    ] {
        let mut desk = Desk::with(&format!(
            r#"{{"window":100000,"max_output":8000{thinking}}}"#
        ));
        desk.says("hello");
        let limit = |window: u64| {
            let budget = Budget {
                whole: Some(20_000),
                window: Some(window),
                ..Budget::default()
            };
            let projected = desk.project_as(Wire::Anthropic, false, budget);
            assert_eq!(projected.outcome, Outcome::Ready);
            projected.max_tokens
        };
        assert_eq!(limit(90_000), 8_000);
        assert_eq!(limit(28_000), 8_000);
        assert_eq!(limit(27_999), 7_999);
        assert_eq!(limit(20_000 + least), least);
        assert_eq!(limit(20_000 + least - 1), 8_000);
        assert_eq!(limit(1), 8_000);
    }
}

#[test]
fn thinking_takes_what_the_window_leaves() {
    let mut desk = Desk::with(
        r#"{"window":2010,"params":{"thinking":{"type":"enabled","budget_tokens":2000,"display":"omitted"}}}"#,
    );
    let thinking = |desk: &Desk| {
        let projected = desk.project(Wire::Anthropic);
        assert_eq!(projected.outcome, Outcome::Ready);
        let params: serde_json::Value = serde_json::from_str(&projected.params).unwrap();
        assert_eq!(params["thinking"]["display"], "omitted");
        let budget = params["thinking"]["budget_tokens"].as_u64();
        (projected.max_tokens, budget)
    };
    desk.says("a");
    assert_eq!(thinking(&desk).1, Some(2000));
    desk.says("b");
    let (limit, budget) = thinking(&desk);
    assert_eq!(budget, Some(limit - 1));
    desk.says(&"b".repeat(4_000));
    let much = desk.project(Wire::Anthropic);
    assert!(
        matches!(much.outcome, Outcome::Impossible { need, .. } if need == much.estimate + 1_025),
        "{:?}",
        much.outcome
    );
}
