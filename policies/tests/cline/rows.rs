//! K1 to K7, K9: what sets each rule off, one below and one above; frozen by the log, the same after a reopening, and the way back.

use crate::both::{Both, Part};
use recount_cline::{CONTINUE, READ_AGAIN, TRUNCATED};
use recount_events::{Body, Range};
use recount_policies::{Proposal, cline, compact};

/// How many ranges, replacements and plans a proposal has.
fn count(proposal: &Proposal) -> (usize, usize, usize) {
    let of = |is: fn(&Body) -> bool| proposal.events.iter().filter(|one| is(&one.body)).count();
    (
        of(|body| matches!(body, Body::DeleteRange(_))),
        of(|body| matches!(body, Body::Replace(_))),
        of(|body| matches!(body, Body::CompactPlan(_))),
    )
}

/// A read of a file, as Cline says it, of so many letters.
fn read(path: &str, letters: usize) -> String {
    format!("[read_file for '{path}'] Result:\n{}", "x".repeat(letters))
}

/// What was decided is frozen: nothing more comes of it, it is the same in another process, and when it was undone it is not done again.
#[track_caller]
fn frozen(both: &mut Both, proposal: &Proposal, before: &str) {
    let after = both.host.prompt();
    assert_ne!(before, after);
    assert!(both.ours().is_empty(), "one request decides once");
    assert_eq!(both.host.prompt(), after);
    assert_eq!(both.host.reopened().prompt(), after);
    let first = both.host.head() + 1 - proposal.events.len() as u64;
    let heads = (first..).zip(&proposal.events);
    let own = heads
        .filter(|(_, one)| one.because.is_none())
        .map(|(seq, _)| seq);
    let own: Vec<u64> = own.collect();
    // The way back, by a rollback and by undos.
    let mut back = both.host.clone();
    back.back(first - 1);
    assert_eq!(back.prompt(), before);
    let again = back.runs(cline::propose);
    let bodies = |proposal: &Proposal| {
        let events = proposal.events.iter();
        events.map(|one| one.body.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        bodies(&again),
        bodies(proposal),
        "before it, it is decided anew"
    );
    assert_eq!(back.prompt(), after);
    for seq in own.into_iter().rev() {
        both.host.undo(seq);
    }
    assert_eq!(
        both.host.prompt(),
        before,
        "notices go with what they speak of"
    );
    assert!(both.ours().is_empty(), "what was undone stays undone");
    assert_eq!(both.host.reopened().prompt(), before);
}

#[test]
fn k1_the_table_of_windows_and_its_lines() {
    // Window, limit, the smallest total of which half is over it.
    let table = [
        (64_000, 37_000, 74_001),
        (128_000, 98_000, 196_001),
        (200_000, 160_000, 320_001),
        (100_001, 80_001, 160_002),
        (131_072, 104_858, 209_716),
        (1_000_000, 960_000, 1_920_001),
    ];
    for (window, limit, quarter) in table {
        let ran = |tokens: u64| {
            let mut both = Both::new(window);
            both.talk(10);
            let proposal = both.makes_room(tokens);
            both.same();
            (proposal.events.len(), both.range.map(|range| range.end))
        };
        assert_eq!(ran(limit - 1), (0, None), "{window}");
        assert_eq!(ran(limit), (2, Some(9)), "{window}");
        assert_eq!(ran(quarter - 1).1, Some(9), "{window}: half");
        assert_eq!(ran(quarter).1, Some(15), "{window}: quarter");
    }
    assert_eq!(Both::new(200_000).host.view().lines.trigger, 160_000);
}

#[test]
fn k1_without_a_usage_nothing_is_decided_and_all_its_parts_count() {
    let mut both = Both::new(200_000);
    both.talk(10);
    assert!(both.ours().is_empty());
    let parts = |total: u64| {
        format!(
            r#"{{"type":"usage","request":"q","input":1,"output":2,"cache_read":3,"cache_write":{{"5m":4,"1h":{}}}}}"#,
            total - 10
        )
    };
    both.host.log(&parts(159_999));
    assert!(both.ours().is_empty());
    // The same request, said again: the largest counts.
    both.host.log(&parts(160_000));
    assert_eq!(count(&both.ours()), (1, 1, 0));
    // And once more, behind what it decided: it is no other request.
    both.host.log(&parts(160_001));
    assert!(both.ours().is_empty());
}

#[test]
fn k2_the_first_pair_stays_ranges_nest_and_end_on_an_answer() {
    let mut both = Both::new(64_000);
    both.talk(10);
    let before = both.host.prompt();
    let proposal = both.makes_room(40_000);
    both.same();
    assert_eq!(count(&proposal), (1, 1, 0));
    frozen(&mut both, &proposal, &before);

    let mut both = Both::new(64_000);
    both.talk(10);
    let mut ends = Vec::new();
    for turn in 0..4 {
        both.makes_room(40_000);
        both.same();
        let sent = both.sends();
        assert_eq!(sent[0].1, ["question 0"]);
        ends.push(both.range.unwrap().end);
        both.answers(&format!("late answer {turn}"), 0);
        both.asks(&format!("late question {turn}"));
    }
    assert_eq!(ends, [9, 15, 19, 21], "each range covers the one before");
}

#[test]
fn k2_a_call_is_never_split_from_its_results() {
    let mut both = Both::new(64_000);
    both.asks("the task");
    both.answers("an answer", 0);
    for turn in 0..8 {
        both.asks(&format!("question {turn}"));
        both.answers("looking", 2);
        both.says(&[
            Part::Result(0, format!("left {turn}")),
            Part::Result(1, format!("right {turn}")),
            Part::Text(format!("environment {turn}")),
        ]);
        both.answers("seen", 0);
    }
    both.asks("and now?");
    both.makes_room(40_000);
    both.same();
    both.makes_room(100_000);
    both.same();
}

#[test]
fn k3_reads_are_replaced_first_and_thirty_per_cent_are_enough() {
    // What counts besides: the first pair, the notice and the header. The last read stands.
    let with = |first: usize| {
        let mut both = Both::new(64_000);
        both.asks("the task of the person");
        both.answers("yes", 0);
        both.asks(&read("a", first));
        both.answers("n", 0);
        both.asks(&read("a", 1_000));
        both.answers("n", 0);
        both.asks("go on");
        both
    };
    let mut sizes = (100..3_000).filter(|size| {
        let mut both = with(*size);
        both.exact(40_000);
        both.range.is_none()
    });
    let enough = sizes.next().unwrap();
    let mut both = with(enough);
    let before = both.host.prompt();
    let proposal = both.makes_room(40_000);
    assert_eq!(count(&proposal), (0, 1, 0), "the reads are enough");
    both.same();
    assert!(both.host.prompt().contains(READ_AGAIN));
    frozen(&mut both, &proposal, &before);

    let mut both = with(enough - 1);
    let before = both.host.prompt();
    let proposal = both.makes_room(40_000);
    assert_eq!(count(&proposal), (1, 2, 0), "replaced, and half left out");
    both.same();
    frozen(&mut both, &proposal, &before);
}

#[test]
fn k3_written_files_and_mentions_count_as_reads() {
    let mut both = Both::new(64_000);
    let body = "y".repeat(2_000);
    both.asks("the task");
    both.answers("yes", 0);
    both.asks(&format!(
        "see 'a' and 'b'\n<file_content path=\"a\">{body}</file_content>\n<file_content path=\"b\">{body}</file_content>"
    ));
    both.answers("seen", 0);
    both.asks(&format!(
        "[write_to_file for 'a'] Result:\nsaved\n<final_file_content path=\"a\">{body}</final_file_content>\nthanks"
    ));
    both.answers("written", 0);
    both.asks(&read("a", 2_000));
    both.answers("read", 0);
    both.asks("go on");
    let proposal = both.makes_room(40_000);
    assert_eq!(count(&proposal), (0, 2, 0));
    both.same();
    assert_eq!(both.host.prompt().matches(READ_AGAIN).count(), 2);
    // The other file of the same mention, later.
    both.answers("more", 0);
    both.asks(&read("b", 9_000));
    both.answers("more", 0);
    both.asks(&read("b", 10));
    assert_eq!(count(&both.makes_room(40_000)), (0, 2, 0));
    both.same();
    assert_eq!(both.host.prompt().matches(READ_AGAIN).count(), 4);
    // Nothing is left to replace.
    both.answers("more", 0);
    both.asks("go on");
    let proposal = both.makes_room(40_000);
    both.same();
    assert_eq!(count(&proposal).0, 1);
}

#[test]
fn k4_the_notice_comes_with_the_range_once() {
    let mut both = Both::new(64_000);
    both.talk(10);
    both.makes_room(40_000);
    let said = both.sends();
    assert_eq!(said[1].1[0], TRUNCATED);
    assert_eq!(said[0].1, ["question 0"], "the task stays as it was said");
    both.answers("more", 0);
    both.asks("more");
    assert_eq!(
        count(&both.makes_room(40_000)),
        (1, 0, 0),
        "it stands already"
    );
    both.same();
}

#[test]
fn k4_an_answer_that_begins_with_a_call_shows_no_notice_on_either_side() {
    let mut both = Both::new(64_000);
    both.asks("the task");
    // Nothing but a call: there is no text to take the place of.
    let message = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t0_0","name":"n","input":{}},{"type":"text","text":"behind it"}]}"#;
    both.host
        .log(&format!(r#"{{"type":"message",{}"#, &message[1..]));
    both.history
        .push(recount_cline::Message::from_json(message));
    both.says(&[Part::Result(0, "found".into()), Part::Text("env".into())]);
    both.answers("a", 0);
    for turn in 0..6 {
        both.asks(&format!("q{turn}"));
        both.answers("a", 0);
    }
    both.asks("and now?");
    let proposal = both.makes_room(40_000);
    assert_eq!(count(&proposal), (1, 0, 0));
    assert!(!both.host.prompt().contains("[NOTE]"));
    assert!(!format!("{:?}", both.theirs()).contains("[NOTE]"));
}

#[test]
fn k5_a_refusal_keeps_a_quarter_with_both_notices_once_for_each_refusal() {
    let mut both = Both::new(200_000);
    both.talk(20);
    let refused = |both: &mut Both, refusals: u32| {
        both.host
            .log(r#"{"type":"overflow","error":"too long","kind":"tokens"}"#);
        let proposal = cline::overflowed(&both.host.view().at(), refusals);
        both.host.accept(&proposal);
        proposal
    };
    let before = both.host.prompt();
    let first = refused(&mut both, 1);
    assert_eq!(count(&first), (1, 2, 0));
    let said = both.sends();
    assert_eq!(
        (said[0].1[0].as_str(), said[1].1[0].as_str()),
        (CONTINUE, TRUNCATED)
    );
    assert_eq!(said.len(), 2 + 39 - 28);
    assert!(
        cline::overflowed(&both.host.view().at(), 1).is_empty(),
        "once for each"
    );
    // The previous request does not decide once more in the same turn.
    both.used(100);
    // Cline's retries: three, each of which may leave out more.
    for (refusals, left) in [(2, 5), (3, 3), (4, 3)] {
        let ran = refused(&mut both, refusals);
        assert_eq!(both.sends().len(), left, "{refusals}");
        assert_eq!(ran.is_empty(), refusals == 4, "nothing is left");
    }
    let mut long = Both::new(200_000);
    long.talk(200);
    let ran: Vec<bool> = (1..=5)
        .map(|refusals| refused(&mut long, refusals).is_empty())
        .collect();
    assert_eq!(ran, [false, false, false, false, true]);

    let mut both = Both::new(200_000);
    both.talk(20);
    refused(&mut both, 1);
    let seq = both.host.head() - 2;
    both.host.undo(seq);
    assert_eq!(both.host.prompt(), before);
}

#[test]
fn k6_a_condensation_keeps_the_first_pair_and_the_last_two_behind_an_answer() {
    let ask = compact::Ask {
        whole: true,
        ..compact::Ask::default()
    };
    for answered in [false, true] {
        let mut both = Both::new(200_000);
        both.talk(10);
        if answered {
            both.answers("the newest answer", 0);
        }
        let view = both.host.view();
        let plan = compact::plan(&view.at(), &ask).unwrap();
        let Range::Closed { first, last } = plan.range else {
            panic!("{plan:?}")
        };
        // Behind the header and the first pair; up to the last answer, less two messages behind an answer.
        assert_eq!(first.0, 6);
        assert_eq!(last.0, 23);
        let range = recount_cline::Range::next(
            &both.history,
            None,
            if answered {
                recount_cline::Keep::LastTwo
            } else {
                recount_cline::Keep::None
            },
        );
        assert_eq!(range.end, 19);
        both.host.put(Body::CompactPlan(plan.clone()));
        let at = both.host.head();
        let before = both.host.prompt();
        let view = both.host.view();
        let commit = compact::commit(
            &view.at(),
            &plan,
            &["what was done".to_owned()],
            recount_events::Maker::Model,
            1,
        );
        both.host.accept(&commit);
        let sent = both.sends();
        assert_eq!(sent[0].1, [CONTINUE]);
        assert_eq!(sent[1].1, [TRUNCATED]);
        assert_eq!(
            sent[2].1,
            [
                "<summary>\nwhat was done\n</summary>",
                "the newest question"
            ]
        );
        assert_eq!(sent.len(), 3 + usize::from(answered));
        assert_eq!(both.host.reopened().prompt(), both.host.prompt());
        // The way back takes the notices with it.
        let mut back = both.host.clone();
        back.undo(at + 1);
        assert_eq!(back.prompt(), before);
        both.host.back(at);
        assert_eq!(both.host.prompt(), before);
    }
}

const CONDENSES: &str = r#"{"cline":{"auto_condense":true}}"#;

/// A session of a model that sums up itself.
fn condensing(exchanges: usize) -> Both {
    let mut both = Both::of("main", 200_000, CONDENSES);
    both.host.profile(r#"{"model":"claude-sonnet-4-5"}"#);
    both.talk(exchanges);
    both
}

#[test]
fn k7_a_model_of_the_next_generation_is_asked_for_a_summary_at_the_limit() {
    for (tokens, plans) in [(159_999, 0), (160_000, 1)] {
        let mut both = condensing(10);
        both.used(tokens);
        assert!(both.ours().is_empty(), "nothing is truncated");
        let proposal = both.host.runs(cline::condense);
        assert_eq!(count(&proposal), (0, 0, plans));
        assert!(both.host.runs(cline::condense).is_empty(), "asked once");
    }
    // Off, or for another model: truncated.
    for (params, model) in [("", "claude-sonnet-4-5"), (CONDENSES, "claude-3-5-sonnet")] {
        let mut both = Both::of("main", 200_000, params);
        both.host.profile(&format!(r#"{{"model":"{model}"}}"#));
        both.talk(10);
        both.used(160_000);
        assert_eq!(count(&both.ours()), (1, 1, 0));
        assert!(both.host.runs(cline::condense).is_empty());
    }
}

#[test]
fn k7_reads_come_first_and_what_was_given_up_waits_for_the_next_words() {
    let mut both = Both::of("main", 200_000, CONDENSES);
    both.host.profile(r#"{"model":"claude-sonnet-4-5"}"#);
    both.asks("the task");
    both.answers("yes", 0);
    both.asks(&read("a", 5_000));
    both.answers("seen", 0);
    both.asks(&read("a", 1_000));
    both.answers("seen", 0);
    both.asks("go on");
    both.used(160_000);
    let before = both.host.prompt();
    let proposal = both.host.runs(cline::condense);
    assert_eq!(count(&proposal), (0, 1, 0));
    let after = both.host.prompt();
    assert!(after.contains(READ_AGAIN));
    assert!(both.host.runs(cline::condense).is_empty());
    assert_eq!(both.host.reopened().prompt(), after);
    let seq = both.host.head();
    both.host.undo(seq);
    assert_eq!(both.host.prompt(), before);
    assert!(both.host.runs(cline::condense).is_empty());
}

#[test]
fn k7_hardly_more_than_a_summary_is_not_summed_up_again() {
    // Messages behind the first pair when the next request is too full: summary, then so many exchanges.
    for (exchanges, plans) in [(0, 0), (1, 1)] {
        let mut both = condensing(10);
        both.used(160_000);
        let proposal = both.host.runs(cline::condense);
        let Some(Body::CompactPlan(plan)) = proposal.events.first().map(|one| one.body.clone())
        else {
            panic!("{proposal:?}")
        };
        let texts = ["in short".to_owned()];
        let commit = compact::commit(
            &both.host.view().at(),
            &plan,
            &texts,
            recount_events::Maker::Model,
            1,
        );
        both.host.accept(&commit);
        assert!(
            both.host.runs(cline::condense).is_empty(),
            "one request decides once"
        );
        both.answers("more", 0);
        for turn in 0..exchanges {
            both.asks(&format!("q{turn}"));
            both.answers("more", 0);
        }
        both.asks("go on");
        both.used(160_000);
        let proposal = both.host.asks(cline::condense);
        assert_eq!(count(&proposal).2, plans, "{exchanges}: {}", proposal.did);
    }
}

#[test]
fn k9_a_sub_agent_keeps_a_quarter_without_notices() {
    for (tokens, ranges) in [(159_999, 0), (160_000, 1)] {
        let mut both = Both::of("sub", 200_000, "");
        both.talk(10);
        both.used(tokens);
        let before = both.host.prompt();
        let proposal = both.ours();
        assert_eq!(count(&proposal), (ranges, 0, 0));
        let mut helper = recount_cline::Helper {
            conversation: both.history.clone(),
            ..recount_cline::Helper::default()
        };
        if ranges == 1 {
            assert!(helper.compact(1.0));
            let theirs = crate::both::sent(&recount_cline::to_json(&helper.render()));
            assert_eq!(both.sends(), theirs);
            frozen(&mut both, &proposal, &before);
        }
    }
    // Three quarters of the window, for a model that may sum up itself.
    for (tokens, ranges) in [(149_999, 0), (150_000, 1)] {
        let mut both = Both::of("sub", 200_000, CONDENSES);
        both.host.profile(r#"{"model":"claude-sonnet-4-5"}"#);
        both.talk(10);
        both.used(tokens);
        assert!(both.host.asks(cline::condense).is_empty());
        assert_eq!(count(&both.ours()).0, ranges);
    }
    // A helper of another session changes nothing.
    let mut both = Both::of("side", 200_000, "");
    both.talk(10);
    both.used(1_000_000);
    assert!(both.ours().is_empty() && both.host.asks(cline::condense).is_empty());
    assert!(cline::overflowed(&both.host.view().at(), 1).is_empty());
}

#[test]
fn k9_a_sub_agent_replaces_reads_first_and_is_tried_three_times() {
    let mut both = Both::of("sub", 200_000, "");
    both.asks("the task");
    both.answers("yes", 0);
    both.asks(&read("a", 5_000));
    both.answers("seen", 0);
    both.asks(&read("a", 1_000));
    both.answers("seen", 0);
    both.asks("go on");
    both.used(160_000);
    assert_eq!(count(&both.ours()), (0, 1, 0));

    let mut both = Both::of("sub", 200_000, "");
    both.talk(100);
    let mut ran = Vec::new();
    for refusals in 1..=3 {
        both.host
            .log(r#"{"type":"overflow","error":"too long","kind":"tokens"}"#);
        let proposal = cline::overflowed(&both.host.view().at(), refusals);
        both.host.accept(&proposal);
        ran.push(count(&proposal));
    }
    assert_eq!(ran, [(1, 0, 0), (1, 0, 0), (0, 0, 0)]);
}

#[test]
fn k2_with_auto_off_nothing_is_done_unasked() {
    let mut both = Both::new(64_000);
    both.talk(10);
    both.host
        .log(r#"{"type":"policy","preset":"cline","auto":false}"#);
    both.used(64_000);
    assert!(both.ours().is_empty());
    assert!(both.host.asks(cline::condense).is_empty());
}
