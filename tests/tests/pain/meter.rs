//! Section 11: what is counted, and what is only estimated.

use crate::desk::Desk;
use crate::live::Live;
use recount::api;
use serde_json::json;

#[test]
fn pain_86_a_request_counts_once_however_often_its_usage_is_told() {
    for outputs in [[1, 1, 268], [268, 1, 1], [1, 268, 268]] {
        let mut desk = Desk::new();
        desk.turn("one");
        for output in outputs {
            desk.log(&json!({"type": "usage", "request": "r1", "input": 100, "output": output, "cache_read": 40, "cache_write": {"5m": 7}}));
            desk.reopen();
        }
        let spent = desk.session().status().unwrap().usage;
        assert_eq!(
            (
                spent.requests,
                spent.input,
                spent.output,
                spent.cache_read,
                spent.cache_write
            ),
            (1, 100, 268, 40, 7)
        );
        // Another request is another one, also with the same numbers.
        desk.log(&json!({"type": "usage", "request": "r2", "input": 100, "output": 268}));
        let spent = desk.session().status().unwrap().usage;
        assert_eq!((spent.requests, spent.input, spent.output), (2, 200, 536));
        // What was spent stays spent.
        desk.session().rollback(api::To::Turns(1)).unwrap();
        assert_eq!(desk.session().status().unwrap().usage, spent);
    }
}

#[test]
fn pain_86_what_a_compaction_cost_is_counted_and_no_measure_of_a_prompt() {
    let mut live = Live::new("none", 200_000, &json!({}));
    for turn in 0..6 {
        let words = crate::live::said(&format!("turn{turn}"), 100);
        live.turn("go on", &words).tokens();
    }
    live.desk.says("and?");
    let before = live.status();
    let plan = live
        .desk
        .session()
        .compact(api::Compact::default())
        .unwrap();
    assert_eq!(live.summarise(&plan.compaction, plan.requests), "committed");
    let after = live.status();
    assert_eq!(after.usage.requests, before.usage.requests + 1);
    assert!(
        after.usage.input + after.usage.cache_read + after.usage.cache_write > before.usage.input
    );
    assert_eq!(after.compaction_calls.requests, 1);
    assert!(after.tokens.total < before.tokens.total / 2, "{after:?}");
}

const JAPANESE: &str = "今日は天気がいいので、散歩に出かけましょう。";

#[test]
fn pain_87_text_that_is_no_english_is_not_counted_by_its_length() {
    assert!(JAPANESE.chars().count() >= 22);
    let desk = Desk::new();
    desk.says(JAPANESE);
    let pieces = desk.project(api::At::Head).pieces.unwrap();
    let tokens = pieces.last().unwrap().tokens;
    assert!(tokens >= 12, "{tokens}: a quarter of its characters are 6");
    // The estimate leans to the safe side before anything is known of the model.
    let estimate = desk.project(api::At::Head).estimate;
    assert!(estimate > pieces.iter().map(|piece| piece.tokens).sum::<u64>());
}

#[test]
fn pain_87_the_estimate_follows_the_providers_counts_and_says_how_far_off_it_was() {
    let mut live = Live::new("claude-code", 64_000, &json!({}));
    let (mut worst, mut newest) = (0, 0);
    for turn in 0..40 {
        let text: String = (0..20)
            .map(|line| format!("{turn}、{line}。{JAPANESE}"))
            .collect();
        let real = live.turn(&text, &text).tokens();
        // The first answer was to a short prompt: it says little of longer ones. The margin is part of the estimate.
        if turn > 1 {
            newest = live.estimate.abs_diff(real) * 1_000 / real;
            worst = worst.max(newest);
            assert!(live.estimate >= real, "{turn}: {} {real}", live.estimate);
        }
    }
    assert!(live.made_by("model") > 0, "the trigger was reached");
    assert!(
        worst < 250 && newest < 50,
        "off by {worst} and at last by {newest} thousandths"
    );
    assert_eq!(live.refused, 0, "no trigger came too late");
    let status = live.status();
    let estimator = status.estimator.expect("its error is shown");
    assert!(
        estimator.counted > 0 && estimator.error_milli.abs() < 400,
        "{estimator:?}"
    );
    assert!(status.measured > 0);
}

#[test]
fn pain_88_a_resumed_session_knows_how_full_it_is() {
    let mut live = Live::new("claude-code", 64_000, &json!({}));
    for turn in 0..5 {
        let words = crate::live::said(&format!("turn{turn}"), 200);
        live.turn("go on", &words).tokens();
    }
    let meter = |live: &Live, session: &str| {
        let status = live
            .desk
            .engine()
            .session(session)
            .unwrap()
            .status()
            .unwrap();
        let full = (
            status.tokens.total,
            status.measured,
            status.source,
            status.compression_progress,
        );
        (full, status.usage, status.factor_milli)
    };
    let before = meter(&live, "s");
    assert!(before.0.1 > 1_000 && before.0.3 > 5, "{before:?}");
    live.desk.reopen();
    assert_eq!(meter(&live, "s"), before);
    // A fork is about as full as what it was forked from, though nobody counted its own prompts yet, and has spent nothing.
    let ask = api::Fork {
        session: "s".into(),
        new: "f".into(),
        ..Default::default()
    };
    live.desk.engine().fork(&ask).unwrap();
    let fork = meter(&live, "f");
    assert!(fork.0.0.abs_diff(before.0.0) * 5 < before.0.0, "{fork:?}");
    assert_eq!(fork.1.requests, 0);
    live.desk.reopen();
    assert_eq!(meter(&live, "f"), fork);
}
