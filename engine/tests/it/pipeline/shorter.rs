//! R1, R2: a prompt that fits by itself goes out again with a shorter answer.

use super::desk::{Desk, NONE, SMALL};
use crate::common::digest;
use recount::api;
use serde_json::Value;

/// What the provider allows for both, less than the profile says.
const LIMIT: u64 = 9_000;

/// Refusals that count the answer in: prompt, answer, limit.
const REFUSALS: &[fn(u64, u64, u64) -> String] = &[
    |input, answer, limit| {
        format!(
            "input length and `max_tokens` exceed context limit: {input} + {answer} > {limit}, decrease input length or `max_tokens` and try again"
        )
    },
    |input, answer, limit| {
        format!(
            "This model's maximum context length is {limit} tokens. However, you requested {} tokens ({input} in the messages, {answer} in the completion).",
            input + answer
        )
    },
    |input, answer, limit| {
        format!(
            "too many tokens: total number of tokens (prompt and prediction) cannot exceed {limit} - received {}.",
            input + answer
        )
    },
    |input, answer, limit| {
        format!(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= {limit}. Given: {input} `inputs` tokens and {answer} `max_new_tokens`"
        )
    },
    |input, answer, limit| {
        format!(
            "'max_tokens' is too large: {answer}. This model's maximum context length is {limit} tokens and your request has {input} input tokens ({answer} > {limit} - {input})."
        )
    },
];

/// A session whose prompt was sent, and the answer's limit that it was sent with.
fn sent(policy: &str) -> (Desk, u64) {
    let desk = Desk::new(SMALL, policy);
    desk.talks(6, 300);
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    (desk, prepared.prompt.max_tokens)
}

fn asked(body: &Value) -> u64 {
    body["max_completion_tokens"].as_u64().unwrap()
}

#[test]
fn r2_a_prompt_that_fits_but_for_its_answer_goes_out_again_with_a_shorter_one() {
    for off in [
        NONE,
        r#"{"type":"policy","preset":"none","auto":false,"reactive":false}"#,
    ] {
        for refusal in REFUSALS {
            let (desk, answer) = sent(off);
            let before = digest(&desk.session);
            let input = LIMIT - answer + 300;
            let words = refusal(input, answer, LIMIT);
            let again = desk.refused(&words);
            assert_eq!(again.outcome, "retry", "{words} {:?}", again.why);
            assert_eq!(
                (again.actual, again.limit),
                (Some(input), Some(LIMIT)),
                "{words}"
            );
            assert_eq!(desk.logged("overflow")[0]["actual"], input, "{words}");
            assert!(
                !again.run_stop_hooks && again.tiers.is_empty(),
                "{:?}",
                again.tiers
            );
            let retry = again.retry.unwrap();
            let body = super::desk::parsed(retry.prompt.request.as_ref().unwrap());
            assert_eq!(asked(&body), retry.prompt.max_tokens);
            assert!(
                asked(&body) + input <= LIMIT && asked(&body) >= 1_024,
                "{body}"
            );
            assert_eq!(digest(&desk.session), before, "nothing was taken out");
            assert!(desk.logged("compact_plan").is_empty());
        }
    }
}

/// Once: where that was no help, it goes on as ever.
#[test]
fn r2_a_shorter_answer_is_tried_once_a_turn_also_over_a_restart() {
    let (desk, answer) = sent(NONE);
    let words = REFUSALS[0](LIMIT - answer + 300, answer, LIMIT);
    assert_eq!(desk.refused(&words).outcome, "retry");
    let desk = desk.reopened();
    assert_eq!(desk.refused(&words).outcome, "summarise");
    assert_eq!(desk.refused(&words).outcome, "retry");
    assert_eq!(desk.logged("compact_commit").len(), 1, "without a model");
    // An answer of the model begins anew.
    desk.answers("Well.");
    desk.says("more?");
    let sent = desk.prepares().prompt.max_tokens;
    let words = REFUSALS[0](LIMIT - sent + 300, sent, LIMIT);
    assert_eq!(desk.refused(&words).outcome, "retry");
    assert_eq!(desk.logged("compact_commit").len(), 1);
}

/// A summary that was asked for before is not given up because a shorter answer was tried first.
#[test]
fn r2_after_a_shorter_answer_the_summary_that_waits_is_asked_for() {
    let desk = Desk::new(SMALL, r#"{"type":"policy","preset":"claude-code"}"#);
    desk.talks(12, 300);
    let prepared = desk.prepares();
    assert_eq!(prepared.actions[0].kind, "summarise");
    let answer = prepared.prompt.max_tokens;
    let limit = prepared.prompt.estimate + answer;
    let words = REFUSALS[0](limit - answer + 300, answer, limit);
    assert_eq!(desk.refused(&words).outcome, "retry");
    let desk = desk.reopened();
    let asked = desk.refused(&words);
    assert_eq!(
        (asked.outcome.as_str(), asked.compaction),
        ("summarise", prepared.actions[0].compaction.clone())
    );
    assert_eq!(desk.refused(&words).outcome, "retry");
    assert_eq!(desk.logged("compact_commit").len(), 1, "without a model");
}

/// Who sends the same prompt again without having done what was asked has tried nothing: a shorter answer is one only where it is shorter.
#[test]
fn r2_the_same_prompt_sent_again_as_it_was_is_no_shorter_answer() {
    let desk = Desk::new(SMALL, r#"{"type":"policy","preset":"claude-code"}"#);
    desk.talks(12, 300);
    let planned = desk.prepares();
    assert_eq!(planned.actions[0].kind, "summarise");
    let asked = desk.refused("prompt is too long");
    assert_eq!(asked.outcome, "summarise");
    let again = desk.prepares();
    assert_eq!(
        (again.prompt.digest, again.prompt.max_tokens),
        (planned.prompt.digest, planned.prompt.max_tokens)
    );
    let answer = desk.refused("prompt is too long");
    assert_eq!(answer.outcome, "retry", "without a model");
    assert_eq!(desk.logged("compact_commit").len(), 1);
}

/// An answer of fewer tokens than that is worth no call: then something is taken out.
#[test]
fn r2_the_shortest_answer_is_of_1024_tokens() {
    for (room, outcome) in [(1_024, "retry"), (1_023, "summarise"), (0, "summarise")] {
        let (desk, answer) = sent(NONE);
        assert!(answer > 1_024);
        let words = REFUSALS[0](LIMIT - room, answer, LIMIT);
        assert_eq!(desk.refused(&words).outcome, outcome, "{room}");
    }
    // The prompt alone is over.
    let (desk, answer) = sent(NONE);
    assert_eq!(
        desk.refused(&REFUSALS[1](LIMIT + 1, answer, LIMIT)).outcome,
        "summarise"
    );
}

/// Who did not count on has said nothing of the prompt, unless we counted less.
#[test]
fn r1_a_count_that_was_broken_off_is_no_measure() {
    let at_least = |input: u64, answer: u64| {
        format!(
            "This model's maximum context length is {LIMIT} tokens. However, you requested {answer} output tokens and your prompt contains at least {input} input tokens, for a total of at least {} tokens.",
            LIMIT + 1
        )
    };
    let (desk, answer) = sent(NONE);
    let ours = desk.logged("issued")[0]["estimate"].as_u64().unwrap();
    let told = desk.refused(&at_least(ours - 1, answer));
    assert_eq!((told.actual, told.limit), (None, Some(LIMIT)));
    let (desk, answer) = sent(NONE);
    assert_eq!(desk.refused(&at_least(ours, answer)).actual, Some(ours));
}
