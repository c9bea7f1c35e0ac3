//! R3, R4: levels without a model.

use super::common::Host;
use recount_events::{Body, Maker, Trigger};
use recount_policies::overflow::{LEVELS, level, reached, wanted};
use recount_policies::{Proposal, compact};

fn words(tokens: usize) -> String {
    "abc ".repeat(tokens)
}

/// A session with a window of so many tokens, and turns of about so many.
fn session(window: u64, turns: usize, tokens: usize) -> Host {
    let mut host = Host::new("claude-code", r#"{"compact":{"buffer":1000}}"#);
    host.profile(&format!(
        r#"{{"window":{window},"max_output":{}}}"#,
        window / 10
    ));
    for number in 0..turns {
        host.says(&format!("question {number} {}", words(tokens / 4)));
        host.exchange(
            &format!("c{number}"),
            "Bash",
            &format!(r#"{{"command":"run {number}"}}"#),
            &words(tokens / 2),
        );
        host.answers(&format!("answer {number} {}", words(tokens / 4)));
    }
    host
}

fn at_level(host: &Host, number: u8) -> Proposal {
    level(&host.view().at(), number)
}

fn kinds(proposal: &Proposal) -> Vec<&'static str> {
    proposal
        .events
        .iter()
        .map(|proposed| proposed.body.name())
        .collect()
}

#[test]
fn r3_a_level_clears_results_then_folds_and_says_so() {
    let mut host = session(10_000, 12, 800);
    let before = host.view();
    let prompt = host.prompt();
    let proposal = at_level(&host, 1);
    assert_eq!(kinds(&proposal)[0], "breaker");
    let Body::Breaker(breaker) = &proposal.events[0].body else {
        panic!("{proposal:?}")
    };
    assert_eq!((breaker.name.as_str(), breaker.value), ("level", 1));
    let commit = proposal
        .events
        .iter()
        .find_map(|proposed| match &proposed.body {
            Body::CompactCommit(commit) => commit.boundary,
            _ => None,
        });
    let boundary = commit.unwrap();
    assert_eq!(
        (boundary.level, boundary.by, boundary.trigger),
        (1, Maker::Rule, Trigger::Overflow)
    );
    let head = host.head();
    host.accept(&proposal);
    let after = host.view();
    assert_eq!(before.fill.total - after.fill.total, proposal.freed);
    assert!(after.fill.total <= before.lines.trigger * 70 / 100);
    assert_eq!(host.reopened().prompt(), host.prompt());
    // The newest words of the person and the newest three results stay as they were.
    assert!(host.prompt().contains("question 11"));
    host.back(head);
    assert_eq!(host.prompt(), prompt);
}

#[test]
fn r3_each_level_leaves_less() {
    let totals: Vec<u64> = (1..=LEVELS)
        .map(|number| {
            let mut host = session(20_000, 20, 900);
            host.accept(&at_level(&host, number));
            host.view().fill.total
        })
        .collect();
    assert!(totals[0] > totals[1] && totals[1] > totals[2], "{totals:?}");
}

#[test]
fn r3_results_are_cleared_but_the_newest_few() {
    for (number, kept) in [(1, 3), (2, 1), (3, 0)] {
        // Small results, so that clearing alone is enough or all is kept.
        let mut host = session(200_000, 1, 100);
        for call in 0..6 {
            host.exchange(
                &format!("r{call}"),
                "Read",
                r#"{"file_path":"/f"}"#,
                &words(20_000),
            );
        }
        let proposal = at_level(&host, number);
        let cleared: usize = proposal
            .events
            .iter()
            .filter_map(|proposed| match &proposed.body {
                Body::Replace(replace)
                    if replace.with.blocks[0].words().unwrap().contains("cleared") =>
                {
                    Some(replace.blocks.len())
                }
                _ => None,
            })
            .sum();
        let folded = kinds(&proposal).contains(&"compact_commit");
        if folded {
            assert!(cleared <= 6 - kept, "{number}");
        } else {
            // The six, and that of the first turn.
            assert_eq!(cleared, 7 - kept, "{number}");
        }
    }
}

#[test]
fn r3_the_level_holds_until_an_answer_and_over_a_restart() {
    let mut host = session(10_000, 12, 800);
    host.says("next");
    assert_eq!(reached(&host.view().at()), 0);
    host.accept(&at_level(&host, 2));
    assert_eq!(reached(&host.view().at()), 2);
    assert_eq!(reached(&host.reopened().view().at()), 2);
    host.says("still there?");
    assert_eq!(reached(&host.view().at()), 2);
    host.answers("yes");
    assert_eq!(reached(&host.view().at()), 0);
}

#[test]
fn r3_the_level_goes_with_what_it_did_when_a_rollback_takes_that_away() {
    let mut host = session(10_000, 12, 800);
    let before = host.says("next");
    host.accept(&at_level(&host, 3));
    let reached_3 = host.head();
    // The answer is taken back, what the level did is not: so far the cutting has come.
    host.answers("yes");
    host.back(reached_3);
    assert_eq!(reached(&host.view().at()), 3);
    host.answers("yes");
    assert_eq!(reached(&host.view().at()), 0);
    // The whole turn is: nothing is cut, and all levels are there again.
    host.back(before - 1);
    assert_eq!(reached(&host.view().at()), 0);
    host.says("next");
    assert_eq!(reached(&host.view().at()), 0);
    assert_eq!(reached(&host.reopened().view().at()), 0);
}

#[test]
fn r3_an_answer_that_a_fold_hides_is_an_answer() {
    let mut host = session(10_000, 12, 800);
    host.says("next");
    host.accept(&at_level(&host, 2));
    host.answers("yes");
    let last = host.says("and now?");
    let done = host.log(&format!(
        r#"{{"type":"compact_commit","first":4,"last":{},"summary":"short"}}"#,
        last - 1
    ));
    assert!(done > last);
    assert_eq!(reached(&host.view().at()), 0);
}

#[test]
fn r3_the_level_is_chosen_from_the_excess() {
    let host = session(100_000, 10, 8_000);
    let mut view = host.view();
    view.fill.total = 100_000;
    let trigger = view.lines.trigger;
    let at = view.at();
    // Level 1 leaves half of the trigger, 2 leaves 30 %, 3 leaves 15 %.
    let frees = |percent: u64| 100_000 - trigger * percent / 100;
    for (excess, reached, level) in [
        (None, 0, Some(1)),
        (None, 1, Some(2)),
        (None, 2, Some(3)),
        (None, 3, None),
        (None, u8::MAX, None),
        (Some(1), 0, Some(1)),
        (Some(frees(50)), 0, Some(1)),
        (Some(frees(50) + 1), 0, Some(2)),
        (Some(frees(30) + 1), 0, Some(3)),
        (Some(u64::MAX), 0, Some(3)),
        (Some(1), 1, Some(2)),
        (Some(1), 3, None),
    ] {
        assert_eq!(wanted(&at, excess, reached), level, "{excess:?} {reached}");
    }
}

/// One turn larger than the window: its results lose their middle, largest first; the person's words never.
#[test]
fn r4_results_in_the_running_loop_are_cut() {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"window":20000,"max_output":2000}"#);
    let said = format!("please {}", words(500));
    host.says(&said);
    host.exchange("small", "Bash", r#"{"command":"a"}"#, &words(300));
    host.calls(&[
        ("big", "Bash", r#"{"command":"b"}"#),
        ("mid", "Bash", r#"{"command":"c"}"#),
    ]);
    host.result("big", &format!("head-of-big {} tail-of-big", words(40_000)));
    host.result("mid", &words(2_000));
    let before = host.prompt();
    let head = host.head();
    let proposal = at_level(&host, 1);
    host.accept(&proposal);
    let view = host.view();
    assert!(view.fill.total <= view.lines.effective, "{}", proposal.did);
    let prompt = host.prompt();
    assert!(prompt.contains("head-of-big") && prompt.contains("tail-of-big"));
    assert!(prompt.contains("[...truncated...]"));
    assert!(prompt.contains(&words(500)) && prompt.contains(words(2_000).trim_end()));
    assert_eq!(host.reopened().prompt(), prompt);
    host.back(head);
    assert_eq!(host.prompt(), before);
}

#[test]
fn r4_what_cannot_be_made_smaller_is_not() {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"window":4000,"max_output":400}"#);
    host.says(&words(10_000));
    for number in 1..=LEVELS {
        let proposal = at_level(&host, number);
        assert!(proposal.is_empty() && !proposal.did.is_empty());
    }
    assert!(host.prompt().contains(&words(9_000)));
}

/// Levels one after the other end: each frees something, or proposes nothing.
#[test]
fn r3_levels_come_to_an_end() {
    let mut host = session(5_000, 20, 600);
    let mut total = host.view().fill.total;
    let mut steps = 0;
    for number in [1, 2, 3].into_iter().cycle().take(60) {
        let proposal = at_level(&host, number);
        if proposal.is_empty() {
            continue;
        }
        host.accept(&proposal);
        let now = host.view().fill.total;
        assert!(now < total);
        total = now;
        steps += 1;
    }
    assert!((1..30).contains(&steps), "{steps}");
    assert!(at_level(&host, 1).is_empty() && at_level(&host, 3).is_empty());
}

#[test]
fn r3_a_plan_that_waits_stays_while_the_fold_lies_within_it() {
    let mut host = session(20_000, 20, 900);
    let ask = compact::Ask {
        whole: true,
        ..compact::Ask::default()
    };
    let plan = compact::plan(&host.view().at(), &ask).unwrap();
    host.put(Body::CompactPlan(plan.clone()));
    let soft = at_level(&host, 1);
    assert!(!kinds(&soft).contains(&"compact_abandon"));
    host.accept(&soft);
    assert!(host.state.timeline().work.plan.is_some());
    let done = compact::commit(
        &host.view().at(),
        &plan,
        &["all".to_owned()],
        Maker::Model,
        1,
    );
    assert!(!done.is_empty(), "{}", done.did);
    host.accept(&done);
}
