//! A4, A10, A11, A13, A14, A16: what a model answers, and what becomes of it.

use super::desk::{Desk, NONE, SMALL, SUMMARY, bodies, said};
use crate::common::digest;
use recount::{ErrorKind, api};
use serde_json::json;

fn planned() -> (Desk, String) {
    let desk = Desk::plain();
    desk.talks(4, 40);
    let plan = desk.plans().compaction;
    (desk, plan)
}

#[test]
fn a4_only_the_summary_enters() {
    let (desk, plan) = planned();
    assert_eq!(desk.hands_in(&plan, 0, SUMMARY).outcome, "committed");
    let commit = &desk.logged("compact_commit")[0];
    let summary = commit["summary"].as_str().unwrap();
    assert!(summary.contains("They counted birds, and wrote it down."));
    assert!(!summary.contains("let me see") && !summary.contains("<analysis>"));
}

#[test]
fn any_process_may_bring_the_summary() {
    let (desk, plan) = planned();
    let desk = desk.reopened();
    let done = desk.hands_in(&plan, 0, SUMMARY);
    assert_eq!(done.outcome, "committed");
    let after = digest(&desk.session);
    let desk = desk.reopened();
    assert_eq!(digest(&desk.session), after);
    assert!(desk.session.actions().unwrap().is_empty());
}

#[test]
fn a11_the_boundary_says_what_was_cut_and_how() {
    let (desk, plan) = planned();
    let done = desk
        .session
        .summarised(api::Summarised {
            compaction: plan.clone(),
            text: Some(SUMMARY.into()),
            now: Some(1_800_000_000_000),
            ..Default::default()
        })
        .unwrap();
    let commit = &desk.logged("compact_commit")[0];
    let boundary = &commit["boundary"];
    assert_eq!(
        (&boundary["trigger"], &boundary["by"], &boundary["level"]),
        (&json!("manual"), &json!("model"), &json!(0))
    );
    let planned = desk.logged("compact_plan")[0]["at"].as_u64().unwrap();
    assert_eq!(boundary["millis"], 1_800_000_000_000 - planned);
    assert!(boundary["messages"].as_u64().unwrap() >= 8, "{boundary}");
    assert_eq!(commit["before"], done.before);
    assert_eq!(
        Some(&commit["after"]),
        done.after.map(|after| json!(after)).as_ref()
    );
    assert_eq!(commit["id"], json!(plan));
}

#[test]
fn a13_a_summary_that_is_not_smaller_is_rejected() {
    let (desk, plan) = planned();
    let before = digest(&desk.session);
    let long = format!("<summary>{}</summary>", "much ado ".repeat(2_000));
    let answer = desk.hands_in(&plan, 0, &long);
    assert_eq!(
        (answer.outcome.as_str(), answer.why.as_deref()),
        ("rejected", Some("does not shrink"))
    );
    assert!(desk.logged("compact_commit").is_empty());
    let abandoned = desk.logged("compact_abandon");
    assert_eq!(abandoned[0]["reason"], "does not shrink");
    assert!(!desk.logged("breaker").is_empty(), "it counts as a failure");
    assert_eq!(digest(&desk.session), before);
    let desk = desk.reopened();
    assert_eq!(digest(&desk.session), before);
    assert!(desk.session.actions().unwrap().is_empty());
}

#[test]
fn a14_what_is_no_summary_is_tried_once_more_then_counted() {
    let bad: &[(&str, Option<&str>)] = &[
        ("", Some("end_turn")),
        ("I call a tool.", Some("tool_use")),
        ("<summary>it goes on and", Some("max_tokens")),
        ("no such thing as a summary", Some("end_turn")),
    ];
    for (text, stop) in bad {
        let (desk, plan) = planned();
        let before = digest(&desk.session);
        let hand_in = |desk: &Desk| {
            desk.session
                .summarised(api::Summarised {
                    compaction: plan.clone(),
                    text: Some((*text).to_owned()),
                    stop: stop.map(str::to_owned),
                    ..Default::default()
                })
                .unwrap()
        };
        let mut answer = hand_in(&desk);
        let desk = if answer.outcome == "retry" {
            assert_eq!(answer.requests.len(), 1);
            // That it was tried again is in the log.
            let desk = desk.reopened();
            answer = hand_in(&desk);
            desk
        } else {
            desk
        };
        assert_eq!(answer.outcome, "abandoned", "{text:?}: {answer:?}");
        assert!(answer.why.is_some());
        assert_eq!(digest(&desk.session), before, "nothing of it enters");
        assert!(desk.logged("compact_chunk").is_empty());
        assert!(
            desk.session
                .actions()
                .unwrap()
                .iter()
                .all(|one| one.kind != "summarise")
        );
    }
}

#[test]
fn a14_a_call_that_failed_is_tried_once_more() {
    let (desk, plan) = planned();
    let first = desk.fails(&plan, 0, "overloaded_error: try again later");
    assert_eq!(first.outcome, "retry");
    let desk = desk.reopened();
    assert_eq!(desk.hands_in(&plan, 0, SUMMARY).outcome, "committed");
    let (desk, plan) = planned();
    desk.fails(&plan, 0, "overloaded");
    let second = desk.fails(&plan, 0, "overloaded");
    assert_eq!(second.outcome, "abandoned");
    assert!(second.why.unwrap().contains("overloaded"));
}

#[test]
fn a9_three_failures_stop_it_and_a_success_by_hand_lets_it_run_again() {
    let desk = Desk::plain();
    desk.talks(4, 40);
    for _ in 0..3 {
        let plan = desk.plans().compaction;
        while desk.fails(&plan, 0, "no luck").outcome == "retry" {}
    }
    let desk = desk.reopened();
    let tripped = |desk: &Desk| {
        let status = desk.session.status().unwrap();
        status.breaker.iter().any(|one| one.state == "trips")
    };
    assert!(
        tripped(&desk),
        "{:?}",
        desk.session.status().unwrap().breaker
    );
    let plan = desk.plans().compaction;
    assert_eq!(desk.hands_in(&plan, 0, SUMMARY).outcome, "committed");
    assert!(
        !tripped(&desk),
        "{:?}",
        desk.session.status().unwrap().breaker
    );
}

#[test]
fn a10_a_request_that_was_itself_too_long_is_cut_smaller_then_done_without_a_model() {
    let desk = Desk::new(SMALL, NONE);
    desk.talks(8, 800);
    let mut plan = desk.plans();
    let mut seen = vec![plan.compaction.clone()];
    let too_long = "This model's maximum context length is 9000 tokens. However, your messages resulted in 12000 tokens.";
    let mut desk = desk;
    loop {
        let open = plan.requests[0].chunk;
        let answer = desk.fails(&plan.compaction, open, too_long);
        desk = desk.reopened();
        if answer.outcome == "model_free" {
            break;
        }
        assert_eq!(answer.outcome, "retry", "{answer:?}");
        let next = answer.compaction.clone().unwrap();
        assert!(!seen.contains(&next), "a plan of its own");
        let longest = |bodies: &[String]| bodies.iter().map(String::len).max();
        assert!(
            longest(&bodies(&answer.requests)) < longest(&bodies(&plan.requests)),
            "smaller requests"
        );
        seen.push(next.clone());
        plan.compaction = next;
        plan.requests = answer.requests;
        assert!(seen.len() <= 4, "at most three times");
    }
    assert!(seen.len() > 1, "tried at least once with less");
    let commit = &desk.logged("compact_commit")[0];
    assert_eq!(commit["boundary"]["by"], "rule");
    assert!(
        desk.logged("overflow").is_empty(),
        "it is not the session's own refusal"
    );
    assert!(desk.body().contains("and now?"));
}

#[test]
fn a16_what_the_call_cost_is_in_the_totals_and_moves_no_meter() {
    let (desk, plan) = planned();
    let before = desk.session.status().unwrap();
    desk.session
        .summarised(api::Summarised {
            compaction: plan.clone(),
            text: Some(SUMMARY.into()),
            usage: Some(
                serde_json::from_str(
                    r#"{"request":"q1","input":11,"output":22,"cache_read":33,"cache_write":{"5m":44}}"#,
                )
                .unwrap(),
            ),
            ..Default::default()
        })
        .unwrap();
    let status = desk.session.status().unwrap();
    let spent = status.usage;
    assert_eq!(
        (
            spent.input,
            spent.output,
            spent.cache_read,
            spent.cache_write
        ),
        (11, 22, 33, 44)
    );
    assert_eq!(spent.requests, before.usage.requests + 1);
    assert_eq!(
        status.measured, 0,
        "it says nothing about the session's own prompts"
    );
    assert_eq!(desk.logged("usage")[0]["compaction"], json!(plan));
}

#[test]
fn a16_a_cost_is_kept_even_where_the_answer_is_void() {
    let (desk, plan) = planned();
    let seq = desk.logged("compact_plan")[0]["seq"].as_u64().unwrap();
    desk.session.rollback(api::To::Seq(seq - 1)).unwrap();
    let ask = |compaction: &str| api::Summarised {
        compaction: compaction.to_owned(),
        text: Some(SUMMARY.into()),
        usage: Some(serde_json::from_str(r#"{"input":5,"output":6}"#).unwrap()),
        ..Default::default()
    };
    let answer = desk.session.summarised(ask(&plan)).unwrap();
    assert_eq!(answer.outcome, "rejected");
    assert!(answer.why.unwrap().starts_with("void"));
    assert_eq!(desk.session.status().unwrap().usage.input, 5);
    let head = desk.head();
    let answer = desk.session.summarised(ask("c9999")).unwrap();
    assert!(answer.why.unwrap().starts_with("void"));
    assert_eq!(desk.head(), head, "nobody asked for it: nothing is logged");
}

#[test]
fn a_plan_that_was_rolled_away_is_void_and_comes_back_with_its_timeline() {
    let (desk, plan) = planned();
    let seq = desk.logged("compact_plan")[0]["seq"].as_u64().unwrap();
    let back = desk.session.rollback(api::To::Seq(seq - 1)).unwrap();
    assert!(desk.session.actions().unwrap().is_empty());
    let void = desk.hands_in(&plan, 0, SUMMARY);
    assert_eq!(void.outcome, "rejected");
    assert!(
        void.why
            .as_deref()
            .is_some_and(|why| why.starts_with("void")),
        "{void:?}"
    );
    desk.session.undo(back.event).unwrap();
    assert_eq!(desk.hands_in(&plan, 0, SUMMARY).outcome, "committed");
}

#[test]
fn the_same_answer_twice_is_acknowledged_another_one_is_not() {
    let desk = Desk::new(SMALL, NONE);
    desk.talks(8, 2_000);
    let plan = desk.plans();
    assert!(plan.requests.len() > 1);
    let id = plan.compaction;
    assert_eq!(
        desk.hands_in(&id, 0, "<summary>one</summary>").outcome,
        "next"
    );
    let head = desk.head();
    let again = desk.hands_in(&id, 0, "<summary>one</summary>");
    assert_eq!((again.outcome.as_str(), desk.head()), ("next", head));
    let other = desk
        .session
        .summarised(api::Summarised {
            compaction: id.clone(),
            text: Some("<summary>two</summary>".into()),
            ..Default::default()
        })
        .unwrap_err();
    assert_eq!((other.kind(), desk.head()), (ErrorKind::Rejected, head));
    for chunk in 1..plan.requests.len() {
        desk.hands_in(
            &id,
            u32::try_from(chunk).unwrap(),
            "<summary>more</summary>",
        );
    }
    let head = desk.head();
    let again = desk.hands_in(&id, 0, "<summary>one</summary>");
    assert_eq!((again.outcome.as_str(), desk.head()), ("committed", head));
    let void = desk.hands_in(&id, 0, "<summary>two</summary>");
    assert_eq!(void.outcome, "rejected");
}

#[test]
fn bad_answers_are_told_and_log_nothing() {
    let (desk, plan) = planned();
    let head = desk.head();
    let refuse = |ask: api::Summarised| {
        desk.session
            .summarised(api::Summarised {
                compaction: plan.clone(),
                ..ask
            })
            .unwrap_err()
    };
    let neither = refuse(api::Summarised::default());
    let both = refuse(api::Summarised {
        text: Some("a".into()),
        error: Some(said("b")),
        ..Default::default()
    });
    let nowhere = refuse(api::Summarised {
        chunk: 7,
        text: Some(SUMMARY.into()),
        ..Default::default()
    });
    let number = refuse(api::Summarised {
        error: Some(serde_json::from_str("17").unwrap()),
        ..Default::default()
    });
    let usage = refuse(api::Summarised {
        text: Some(SUMMARY.into()),
        usage: Some(serde_json::from_str(r#"{"input":"many"}"#).unwrap()),
        ..Default::default()
    });
    let fields = [neither, both, nowhere, number, usage].map(|error| {
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        error.field().map(str::to_owned)
    });
    assert_eq!(
        fields.map(Option::unwrap),
        ["text", "text", "chunk", "error", "usage"]
    );
    assert_eq!(desk.head(), head);
}

#[test]
fn a_key_takes_an_answer_once() {
    let (desk, plan) = planned();
    let ask = |text: &str| api::Summarised {
        compaction: plan.clone(),
        text: Some(text.to_owned()),
        key: Some("once".into()),
        ..Default::default()
    };
    let done = desk.session.summarised(ask(SUMMARY)).unwrap();
    let head = desk.head();
    let again = desk.session.summarised(ask(SUMMARY)).unwrap();
    assert_eq!(
        (again.outcome, again.before, again.after),
        (done.outcome, done.before, done.after)
    );
    assert_eq!(desk.head(), head);
    let other = desk.session.summarised(ask("else")).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Conflict);
}

#[test]
fn a_history_that_left_memory_changes_no_request_and_no_step() {
    let warm = Desk::new(SMALL, NONE);
    let fixture = crate::common::Fixture::new();
    let options = recount::Options {
        checkpoint_every: Some(4),
        ..Default::default()
    };
    let engine = recount::Engine::open(fixture.path(), options).unwrap();
    let cold = Desk::on(fixture, &engine, SMALL, NONE);
    let too_long = "prompt is too long: 24000 tokens > 20000 maximum";
    let mut seen = Vec::new();
    for desk in [&warm, &cold] {
        desk.talks(6, 300);
        let plan = desk.plans();
        let asked = bodies(&plan.requests);
        for turn in 10..14 {
            desk.answers("so it is");
            desk.says(&format!("and {turn}?"));
        }
        let again: Vec<String> = desk
            .session
            .actions()
            .unwrap()
            .iter()
            .map(|action| super::desk::text(action.request.as_ref().unwrap()))
            .collect();
        assert_eq!(again, asked);
        let done = desk.hands_in(&plan.compaction, 0, SUMMARY);
        assert_eq!(done.outcome, "committed");
        let void = desk.hands_in(&plan.compaction, 0, "<summary>else</summary>");
        desk.prepares();
        let steps = [desk.refused(too_long), desk.refused(too_long)];
        let steps = steps.map(|step| (step.outcome, step.level));
        seen.push((asked, done.before, done.after, void.why, steps, desk.body()));
    }
    assert_eq!(seen[0], seen[1]);
}
