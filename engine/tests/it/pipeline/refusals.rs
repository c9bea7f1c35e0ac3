//! R1 to R6, T3: a provider refuses a prompt for its size.

use super::desk::{Desk, NONE, SMALL, SUMMARY, said, text};
use crate::common::digest;
use recount::{ErrorKind, api};
use serde_json::json;

const TOO_LONG: &str = "This model's maximum context length is 20000 tokens. However, your messages resulted in 24000 tokens. Please reduce the length of the messages.";

/// A session whose prompt was sent.
fn sent() -> Desk {
    let desk = Desk::new(SMALL, NONE);
    desk.talks(6, 300);
    assert_eq!(desk.prepares().prompt.outcome, api::Outcome::Ready);
    desk
}

#[test]
fn r1_the_true_counts_are_read_and_logged_with_the_prompt_that_was_refused() {
    let desk = sent();
    let digest = desk.logged("issued")[0]["digest"].clone();
    let answer = desk.refused(TOO_LONG);
    assert_eq!(
        (answer.refused_for.as_str(), answer.actual, answer.limit),
        ("tokens", Some(24_000), Some(20_000))
    );
    let logged = &desk.logged("overflow")[0];
    assert_eq!(
        (&logged["actual"], &logged["limit"], &logged["kind"]),
        (&json!(24_000), &json!(20_000), &json!("tokens"))
    );
    assert_eq!(logged["issued"], digest);
    assert_eq!(logged["error"], TOO_LONG);
}

#[test]
fn r1_an_error_may_be_words_a_status_and_a_body_or_the_providers_own_object() {
    let shapes = [
        json!(TOO_LONG),
        json!({"status": 400, "code": "context_length_exceeded", "body": TOO_LONG}),
        json!({"status": 400, "body": {"error": {"message": TOO_LONG, "code": "context_length_exceeded"}}}),
        json!({"error": {"message": TOO_LONG, "code": "context_length_exceeded"}}),
    ];
    for shape in shapes {
        let desk = sent();
        let answer = desk
            .session
            .overflowed(api::Overflowed {
                error: Some(serde_json::from_str(&shape.to_string()).unwrap()),
                ..Default::default()
            })
            .unwrap();
        assert_eq!(answer.actual, Some(24_000), "{shape}");
    }
}

#[test]
fn r1_what_is_not_about_size_is_the_hosts_own_and_logs_nothing() {
    let desk = sent();
    let head = desk.head();
    let others = [
        "Rate limit reached: 30000 tokens per minute, please try again later",
        "Incorrect API key provided",
        "",
    ];
    for words in others {
        let answer = desk.refused(words);
        assert_eq!(
            (
                answer.outcome.as_str(),
                answer.refused_for.as_str(),
                answer.run_stop_hooks
            ),
            ("surface", "none", true),
            "{words}"
        );
        assert_eq!(desk.head(), head);
    }
    assert!(desk.session.actions().unwrap().is_empty());
}

#[test]
fn r1_bad_words_are_told_and_log_nothing() {
    let desk = sent();
    let head = desk.head();
    let refuse = |ask: api::Overflowed| desk.session.overflowed(ask).unwrap_err();
    let missing = refuse(api::Overflowed::default());
    let number = refuse(api::Overflowed {
        error: Some(serde_json::from_str("413").unwrap()),
        ..Default::default()
    });
    for error in [&missing, &number] {
        assert_eq!(
            (error.kind(), error.field()),
            (ErrorKind::Invalid, Some("error"))
        );
    }
    let unknown = refuse(api::Overflowed {
        error: Some(said(TOO_LONG)),
        issued: Some("ab".repeat(32)),
        ..Default::default()
    });
    assert_eq!(
        (unknown.kind(), unknown.field()),
        (ErrorKind::NotFound, Some("issued"))
    );
    let garbled = refuse(api::Overflowed {
        error: Some(said(TOO_LONG)),
        issued: Some("x".into()),
        ..Default::default()
    });
    assert_eq!(
        (garbled.kind(), garbled.field()),
        (ErrorKind::Invalid, Some("issued"))
    );
    assert_eq!(desk.head(), head);
}

#[test]
fn r2_first_a_summary_is_asked_for_and_the_answer_is_withheld() {
    let desk = sent();
    let before = desk.session.status().unwrap().tokens.total;
    let answer = desk.refused(TOO_LONG);
    assert_eq!(
        (answer.outcome.as_str(), answer.run_stop_hooks, answer.level),
        ("summarise", false, 0)
    );
    let plan = answer.compaction.unwrap();
    assert_eq!(desk.logged("compact_plan")[0]["trigger"], "overflow");
    let desk = desk.reopened();
    for open in &answer.requests {
        assert!(text(&open.request).len() / 4 < 20_000);
        desk.hands_in(&plan, open.chunk, SUMMARY);
    }
    assert_eq!(desk.logged("compact_commit")[0]["id"], json!(plan));
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    let after = desk.session.status().unwrap().tokens.total;
    assert!(after < before, "{after} of {before}");
}

#[test]
fn r2_refused_again_without_an_answer_it_goes_on_without_a_model() {
    let desk = sent();
    let before = digest(&desk.session);
    let asked = desk.refused(TOO_LONG);
    assert_eq!(asked.outcome, "summarise");
    let desk = desk.reopened();
    let answer = desk.refused(TOO_LONG);
    assert_eq!(
        (answer.outcome.as_str(), answer.run_stop_hooks),
        ("retry", false)
    );
    let retry = answer.retry.unwrap();
    assert!(retry.issued.is_some() && retry.prompt.request.is_some());
    assert_ne!(retry.prompt.digest, before);
    let commit = &desk.logged("compact_commit")[0];
    assert_eq!(
        (&commit["boundary"]["by"], &commit["boundary"]["trigger"]),
        (&json!("rule"), &json!("overflow"))
    );
    let void = desk.hands_in(asked.compaction.as_deref().unwrap(), 0, SUMMARY);
    assert_eq!(void.outcome, "rejected", "it came too late");
    // And back.
    desk.session.undo(commit["seq"].as_u64().unwrap()).unwrap();
    assert_eq!(digest(&desk.session), before);
}

#[test]
fn r2_a_summary_that_cannot_be_had_is_made_without_a_model() {
    let desk = sent();
    let plan = desk.refused(TOO_LONG).compaction.unwrap();
    let mut answer = desk.fails(&plan, 0, "overloaded");
    assert_eq!(answer.outcome, "retry");
    answer = desk.fails(&plan, 0, "overloaded");
    assert_eq!(answer.outcome, "model_free", "{answer:?}");
    assert!(answer.after.unwrap() < answer.before);
    assert_eq!(desk.prepares().prompt.outcome, api::Outcome::Ready);
}

#[test]
fn r3_levels_go_on_after_a_restart_until_the_error_surfaces() {
    let mut desk = sent();
    let mut outcomes = Vec::new();
    let mut levels = Vec::new();
    for _ in 0..8 {
        let answer = desk.refused(TOO_LONG);
        assert!(!answer.run_stop_hooks);
        outcomes.push(answer.outcome.clone());
        if answer.level > 0 {
            levels.push(answer.level);
        }
        desk = desk.reopened();
        if answer.outcome == "surface" {
            let why = answer.why.unwrap();
            assert!(why.contains("20000"), "{why}");
            break;
        }
    }
    assert_eq!(outcomes.first().map(String::as_str), Some("summarise"));
    assert_eq!(outcomes.get(1).map(String::as_str), Some("retry"));
    assert_eq!(
        outcomes.last().map(String::as_str),
        Some("surface"),
        "{outcomes:?}"
    );
    assert!(levels.is_sorted(), "{levels:?}");
    assert!(levels.iter().all(|level| *level <= 3));
    // The person is told, once.
    let told = desk.session.actions().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (told[0].kind.as_str(), told[0].level.as_deref()),
        ("tell", Some("error"))
    );
    assert!(
        told[0]
            .text
            .as_ref()
            .unwrap()
            .contains("24000 of 20000 tokens")
    );
    desk.session
        .done(api::Done {
            action: told[0].id.clone(),
            ..Default::default()
        })
        .unwrap();
    assert!(desk.reopened().session.actions().unwrap().is_empty());
}

/// What was tried in a turn that is rolled away was tried for another prompt; the levels are another turn's as well.
#[test]
fn r2_a_turn_that_is_rolled_away_takes_its_cascade_along() {
    let mut desk = sent();
    while desk.refused(TOO_LONG).outcome != "surface" {}
    assert_eq!(desk.session.actions().unwrap()[0].kind, "tell");
    desk.session.rollback(api::To::Turns(1)).unwrap();
    assert!(desk.session.actions().unwrap().is_empty());
    desk.says("and now?");
    desk = desk.reopened();
    let again = desk.refused(TOO_LONG);
    assert_eq!((again.outcome.as_str(), again.level), ("summarise", 0));
}

#[test]
fn r2_an_answer_of_the_model_begins_the_cascade_anew() {
    let desk = sent();
    desk.refused(TOO_LONG);
    assert_eq!(desk.refused(TOO_LONG).outcome, "retry");
    desk.answers("It went through.");
    for turn in 10..14 {
        desk.turn(turn, 200);
    }
    desk.says("more?");
    desk.prepares();
    let again = desk.refused(TOO_LONG);
    assert_eq!(again.outcome, "summarise", "each step once a turn");
}

#[test]
fn t3_while_something_helps_the_refusal_is_withheld() {
    let desk = sent();
    let mut last = desk.refused(TOO_LONG);
    let mut withheld = 0;
    while last.outcome != "surface" {
        withheld += 1;
        assert!(
            desk.session
                .actions()
                .unwrap()
                .iter()
                .all(|one| one.kind != "tell")
        );
        assert!(withheld < 8);
        last = desk.refused(TOO_LONG);
    }
    assert!(withheld >= 2, "{withheld}");
    let surfaced = desk.session.actions().unwrap();
    assert!(surfaced.iter().any(|one| one.kind == "tell"));
}

#[test]
fn r4_one_turn_larger_than_the_window_is_cut_inside() {
    let desk = Desk::new(SMALL, NONE);
    desk.says("read them all");
    for call in 0..5 {
        let words = super::desk::word(call).repeat(1_000);
        let events = [
            json!({"type": "message", "role": "assistant", "response": format!("r{call}"), "stop": "tool_use", "content": [
                {"type": "tool_use", "id": format!("t{call}"), "name": "read", "input": {"path": format!("{call}")}}]}),
            json!({"type": "tool_result", "call": format!("t{call}"), "content": words}),
        ]
        .map(|event| event.to_string());
        desk.session.append(&[&events[0], &events[1]]).unwrap();
    }
    desk.prepares();
    let mut answer = desk.refused(TOO_LONG);
    for _ in 0..6 {
        if answer.outcome == "retry" {
            break;
        }
        assert_ne!(answer.outcome, "surface", "{answer:?}");
        answer = desk.refused(TOO_LONG);
    }
    let retry = answer.retry.expect("a smaller prompt");
    assert_eq!(retry.prompt.outcome, api::Outcome::Ready);
    assert!(
        desk.body().contains("read them all"),
        "the person's words stay"
    );
}

#[test]
fn r4_a_floor_that_does_not_fit_is_told_with_the_numbers() {
    let desk = Desk::new(SMALL, NONE);
    let long = super::desk::word(1).repeat(30_000);
    desk.session
        .append(&[&json!({"type": "system", "content": long}).to_string()])
        .unwrap();
    desk.says("hello");
    let mut answer = desk.refused(TOO_LONG);
    while answer.outcome == "summarise" {
        answer = desk.refused(TOO_LONG);
    }
    assert_eq!(
        (answer.outcome.as_str(), answer.run_stop_hooks),
        ("surface", false)
    );
    let why = answer.why.unwrap();
    assert!(why.contains("limit=20000"), "{why}");
}

#[test]
fn r6_with_auto_and_reactive_off_nothing_changes_and_the_plan_is_attached() {
    let off = r#"{"type":"policy","preset":"none","auto":false,"reactive":false}"#;
    let desk = Desk::new(SMALL, off);
    desk.talks(6, 300);
    desk.prepares();
    let before = digest(&desk.session);
    let answer = desk.refused(TOO_LONG);
    assert_eq!(
        (answer.outcome.as_str(), answer.run_stop_hooks),
        ("surface", false)
    );
    assert!(!answer.requests.is_empty(), "the plan is attached");
    assert!(answer.compaction.is_none() && answer.retry.is_none());
    assert_eq!(desk.logged("overflow").len(), 1);
    assert!(desk.logged("compact_plan").is_empty());
    assert_eq!(digest(&desk.session), before);
    // By the host's word it runs all the same.
    let plan = desk.plans();
    assert_eq!(plan.outcome, "planned");
    let reactive = r#"{"type":"policy","preset":"none","auto":false,"reactive":true}"#;
    let desk = Desk::new(SMALL, reactive);
    desk.talks(6, 300);
    desk.prepares();
    assert_eq!(desk.refused(TOO_LONG).outcome, "summarise");
}

#[test]
fn r2_a_key_takes_a_step_once() {
    let desk = sent();
    let ask = |key: &str| api::Overflowed {
        error: Some(said(TOO_LONG)),
        key: Some(key.into()),
        ..Default::default()
    };
    let first = desk.session.overflowed(ask("one")).unwrap();
    let head = desk.head();
    let again = desk.session.overflowed(ask("one")).unwrap();
    assert_eq!(
        (again.outcome, again.compaction, desk.head()),
        (first.outcome, first.compaction, head)
    );
    let second = desk.session.overflowed(ask("two")).unwrap();
    assert_eq!(second.outcome, "retry");
    let head = desk.head();
    let desk = desk.reopened();
    let again = desk.session.overflowed(ask("two")).unwrap();
    assert_eq!((again.outcome.as_str(), desk.head()), ("retry", head));
    let (one, other) = (second.retry.unwrap(), again.retry.unwrap());
    assert_eq!(
        (one.prompt.digest, one.issued),
        (other.prompt.digest, other.issued)
    );
}

#[test]
fn r1_a_count_that_cannot_be_of_the_prompt_is_no_measure_of_it() {
    let refused = |actual: u64| {
        let desk = Desk::new(super::desk::THINKER, NONE);
        desk.says("hello there");
        assert_eq!(desk.prepares().prompt.outcome, api::Outcome::Ready);
        let before = desk.session.status().unwrap().tokens.total;
        let words = format!("prompt is too long: {actual} tokens > 200000 maximum");
        desk.refused(&words);
        assert_eq!(desk.logged("overflow")[0]["actual"], actual);
        (desk, before)
    };
    let total = |desk: &Desk| desk.session.status().unwrap().tokens.total;
    let (desk, before) = refused(210_118);
    let estimate = desk.logged("issued")[0]["estimate"].as_u64().unwrap();
    assert_eq!(total(&desk), before);
    assert_eq!(desk.prepares().prompt.outcome, api::Outcome::Ready);
    let desk = desk.reopened();
    assert_eq!(total(&desk), before);
    assert_eq!(desk.prepares().prompt.outcome, api::Outcome::Ready);
    // Up to what a provider may count of such a prompt, its word is taken.
    let most = estimate * 8 + 10_000;
    assert_eq!(total(&refused(most).0), most);
    assert_eq!(total(&refused(most + 1).0), before);
}
