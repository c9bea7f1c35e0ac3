//! A1, A2, A3, A4, A6, A7, A10: when a summary is asked for, of what, in which pieces.

use super::common::Host;
use super::talk::*;
use recount_events::{Body, Range, Seq, Trigger};
use recount_policies::compact::{self, Ask, Refusal, propose};

#[test]
fn a1_the_trigger_of_claude_code_is_the_window_less_33000() {
    let mut host = Host::new("claude-code", r#"{"collapse":{"on":false}}"#);
    turn(&mut host, 1, 60_000);
    turn(&mut host, 2, 60_000);
    turn(&mut host, 3, 100);
    let mut view = host.view();
    assert_eq!(view.lines.effective, 180_000);
    assert_eq!(view.lines.trigger, 167_000);
    view.fill.total = 166_999;
    assert!(propose(&view.at()).is_empty());
    view.fill.total = 167_000;
    let proposal = propose(&view.at());
    let plan = plan_in(&proposal).unwrap();
    assert_eq!(plan.trigger, Trigger::Auto);
    assert_eq!(plan.id.as_str(), Some(&*format!("c{}", host.head() + 1)));
}

#[test]
fn a1_five_layer_triggers_at_12000_tokens_of_messages() {
    let mut host = Host::new("five-layer", "");
    for number in 0..12 {
        turn(&mut host, number, 1_000);
    }
    let mut view = host.view();
    view.fill.floor = 40_000;
    view.fill.total = 51_999;
    assert!(propose(&view.at()).is_empty());
    view.fill.total = 52_000;
    let plan = plan_in(&propose(&view.at())).unwrap();
    // What stays has at most 60 % of the trigger together, a quarter of that left for files.
    let (_, last) = ends(plan.range);
    let kept: u64 = view
        .projection
        .pieces
        .iter()
        .filter(|piece| piece.source.seq.0 > last)
        .map(|piece| piece.tokens)
        .sum();
    assert!(kept <= 7_200 * 3 / 4, "{kept}");
    assert!(kept >= 7_200 / 2, "{kept}");
}

#[test]
fn a1_side_sessions_and_auto_off_plan_nothing() {
    for (kind, auto, planned) in [
        ("main", true, true),
        ("sub", true, true),
        ("side", true, false),
        ("main", false, false),
    ] {
        let mut host = Host::of(kind, "claude-code", SMALL);
        host.profile(r#"{"window":8000,"max_output":800}"#);
        fill(&mut host, 7_000, 800);
        let mut view = host.view();
        view.auto = auto;
        assert_eq!(!propose(&view.at()).is_empty(), planned, "{kind} {auto}");
    }
}

#[test]
fn a1_one_plan_at_a_time() {
    let mut host = window(8_000, SMALL);
    fill(&mut host, 6_500, 800);
    assert!(plan_in(&host.runs(propose)).is_some());
    assert!(host.asks(propose).is_empty());
    assert!(host.reopened().asks(propose).is_empty());
}

#[test]
fn a2_force_folds_all_but_the_last_turn_below_the_trigger() {
    let mut host = window(100_000, SMALL);
    turn(&mut host, 1, 200);
    turn(&mut host, 2, 200);
    let last = turn(&mut host, 3, 200);
    assert!(host.asks(propose).is_empty());
    let ask = Ask {
        whole: true,
        custom: Some("mind the tests"),
        ..Ask::default()
    };
    let plan = plan(&host, &ask).unwrap();
    assert_eq!(ends(plan.range).1, last - 1);
    assert_eq!(plan.trigger, Trigger::Manual);
    let asked = plan.instruction.unwrap();
    let asked = asked.as_str().unwrap();
    assert!(asked.contains("<summary>") && asked.ends_with("mind the tests"));
}

#[test]
fn a2_the_instruction_of_the_person_replaces_the_request_in_five_layer() {
    let mut host = Host::new("five-layer", "");
    turn(&mut host, 1, 200);
    turn(&mut host, 2, 200);
    let ask = Ask {
        whole: true,
        custom: Some("  Say it in one line. "),
        ..Ask::default()
    };
    let plan = plan(&host, &ask).unwrap();
    assert_eq!(
        plan.instruction.unwrap().as_str(),
        Some("Say it in one line.")
    );
}

#[test]
fn a2_nothing_to_fold_is_refused() {
    let mut host = window(100_000, SMALL);
    assert_eq!(plan(&host, &Ask::default()), Err(Refusal::Nothing));
    host.says("hello");
    let ask = Ask {
        whole: true,
        ..Ask::default()
    };
    assert_eq!(plan(&host, &ask), Err(Refusal::Nothing));
    host.answers("hello yourself");
    assert_eq!(plan(&host, &ask), Err(Refusal::Nothing));
}

#[test]
fn a4_the_request_asks_for_words_and_nine_sections() {
    let mut host = window(100_000, SMALL);
    turn(&mut host, 1, 200);
    turn(&mut host, 2, 200);
    let plan = plan(
        &host,
        &Ask {
            whole: true,
            ..Ask::default()
        },
    )
    .unwrap();
    let asked = plan.instruction.unwrap();
    let asked = asked.as_str().unwrap();
    for needed in [
        "<analysis>",
        "</analysis>",
        "<summary>",
        "</summary>",
        "no tool",
    ] {
        assert!(asked.contains(needed), "{needed}");
    }
    for number in 1..=9 {
        assert!(asked.contains(&format!("\n{number}. ")), "{number}");
    }
    assert!(!asked.contains("\n10. "));
}

/// At least so many tokens and so many messages with words, whichever is more; never beyond the cap.
#[test]
fn a6_the_tail_has_enough_tokens_and_enough_words() {
    let params = |tokens: u64, texts: u64, most: u64| {
        format!(
            r#"{{"compact":{{"keep_tokens":{tokens},"keep_texts":{texts},"keep_most":{most},"restore_files":0}}}}"#
        )
    };
    for (tokens, texts, most, kept) in [
        // Each turn: words (21), an exchange, words: 21+14+50+21 or so.
        (1, 1, 100_000, 1),
        (1, 2, 100_000, 3),
        (1, 5, 100_000, 7),
        (10_000, 1, 100_000, 30),
        (10_000, 30, 60, 1),
    ] {
        let mut host = Host::new("claude-code", &params(tokens, texts, most));
        for number in 0..10 {
            turn(&mut host, number, 100);
        }
        let result = plan(&host, &Ask::default());
        let shown = host.state.timeline().shown.size();
        match result {
            Ok(plan) => {
                let (_, last) = ends(plan.range);
                let after = host.state.timeline().shown.range(Seq(last + 1)..).count();
                assert_eq!(after, kept, "{tokens} {texts} {most}");
            }
            Err(refusal) => assert_eq!((refusal, shown), (Refusal::Nothing, kept)),
        }
    }
}

#[test]
fn a6_nothing_before_the_last_summary_is_kept() {
    let mut host = Host::new("claude-code", r#"{"compact":{"restore_files":0}}"#);
    for number in 0..4 {
        turn(&mut host, number, 400);
    }
    let ask = Ask {
        whole: true,
        ..Ask::default()
    };
    compacts(&mut host, &ask, "the first summary");
    let first_kept = ends(commit_of(&host).range).1 + 1;
    turn(&mut host, 5, 400);
    // 10,000 tokens would reach beyond the summary.
    assert_eq!(plan(&host, &Ask::default()), Err(Refusal::Nothing));
    let last = turn(&mut host, 6, 400);
    let again = plan(&host, &ask).unwrap();
    let (first, end) = ends(again.range);
    assert!(first < first_kept, "the earlier fold goes whole");
    assert_eq!(end, last - 1);
}

fn commit_of(host: &Host) -> recount_events::CompactCommit {
    host.log
        .iter()
        .rev()
        .find_map(|event| match &event.body {
            Body::CompactCommit(commit) => Some(commit.clone()),
            _ => None,
        })
        .unwrap()
}

#[test]
fn a6_a_response_and_its_results_are_kept_or_folded_whole() {
    let mut host = window(100_000, SMALL);
    turn(&mut host, 1, 400);
    // Two parts of one response, results between and behind, words of the person in between.
    host.log(r#"{"type":"message","role":"assistant","response":"r1","content":[{"type":"tool_use","id":"a1","name":"Bash","input":{}}]}"#);
    host.result("a1", &words(200));
    host.log(r#"{"type":"message","role":"assistant","response":"r1","content":[{"type":"tool_use","id":"a2","name":"Bash","input":{}}]}"#);
    let said = host.says("still there?");
    host.result("a2", &words(200));
    host.answers("done");
    let whole = plan(&host, &Ask::default()).unwrap();
    let (_, last) = ends(whole.range);
    let unit: Vec<u64> = (said - 3..=said + 1).collect();
    let kept = unit.iter().filter(|seq| **seq > last).count();
    assert!(kept == 0 || kept == unit.len(), "{last}: {unit:?}");
}

#[test]
fn a6_with_an_open_call_in_the_middle_the_largest_range_beside_it_is_taken() {
    let mut host = window(100_000, SMALL);
    turn(&mut host, 1, 100);
    let open = host.calls(&[("late", "Bash", "{}")]);
    for number in 2..6 {
        turn(&mut host, number, 400);
    }
    let behind = plan(&host, &Ask::default()).unwrap();
    let (first, _) = ends(behind.range);
    assert_eq!(first, open + 1);
    host.put(Body::CompactPlan(behind));

    let mut host = window(100_000, SMALL);
    for number in 1..5 {
        turn(&mut host, number, 400);
    }
    let open = host.calls(&[("late", "Bash", "{}")]);
    turn(&mut host, 6, 100);
    turn(&mut host, 7, 400);
    let before = plan(&host, &Ask::default()).unwrap();
    assert_eq!(ends(before.range).1, open - 1);
}

#[test]
fn a7_from_a_message_on_the_prefix_stays() {
    let mut host = window(100_000, SMALL);
    let one = turn(&mut host, 1, 200);
    let two = turn(&mut host, 2, 200);
    let three = turn(&mut host, 3, 200);
    let head = host.head();
    assert_eq!(ends(plan(&host, &from(two)).unwrap().range), (two, head));
    assert_eq!(
        ends(plan(&host, &up_to(three)).unwrap().range),
        (one, three - 1)
    );
    assert_eq!(
        ends(plan(&host, &up_to(head + 1)).unwrap().range),
        (one, head)
    );
    // A message that nobody answered yet stays.
    let asked = host.says("and now?");
    assert_eq!(
        ends(plan(&host, &from(two)).unwrap().range),
        (two, asked - 1)
    );
    let both = Ask {
        from: Some(Seq(two)),
        up_to: Some(Seq(three)),
        ..Ask::default()
    };
    assert_eq!(ends(plan(&host, &both).unwrap().range), (two, three - 1));
}

#[test]
fn a7_a_position_within_a_response_is_refused_with_the_nearest() {
    let mut host = window(100_000, SMALL);
    turn(&mut host, 1, 200);
    let unit = host.exchange("x", "Bash", "{}", &words(100));
    turn(&mut host, 2, 200);
    for ask in [from(unit + 1), up_to(unit + 1)] {
        let refused = plan(&host, &ask).unwrap_err();
        let nearest = Refusal::Splits {
            at: Seq(unit + 1),
            nearest: Some(Seq(unit)),
        };
        assert_eq!(refused, nearest);
        assert!(refused.to_string().contains(&format!("nearest={unit}")));
    }
    assert!(plan(&host, &from(unit)).is_ok());
    assert!(plan(&host, &up_to(unit)).is_ok());
    let beyond = host.head() + 2;
    assert_eq!(
        plan(&host, &from(beyond)),
        Err(Refusal::Future(Seq(beyond)))
    );
    assert_eq!(plan(&host, &from(beyond - 1)), Err(Refusal::Nothing));
}

#[test]
fn a7_an_open_call_in_a_partial_range_is_named() {
    let mut host = window(100_000, SMALL);
    let one = turn(&mut host, 1, 200);
    let open = host.calls(&[("late", "Bash", "{}")]);
    let two = turn(&mut host, 2, 200);
    turn(&mut host, 3, 200);
    let refused = plan(&host, &up_to(two)).unwrap_err();
    assert!(
        matches!(refused, Refusal::Open { call, nearest } if call.seq.0 == open && nearest == Some(Seq(open))),
        "{refused}"
    );
    assert!(plan(&host, &up_to(open)).is_ok());
    // From a message on, what follows an open call goes only as far as that.
    let (first, last) = ends(plan(&host, &from(one)).unwrap().range);
    assert_eq!((first, last), (one, open - 1));
}

#[test]
fn a10_one_piece_while_the_whole_prompt_fits_its_request() {
    let mut host = window(20_000, SMALL);
    fill(&mut host, 12_000, 1_000);
    let whole = plan(&host, &Ask::default()).unwrap();
    assert_eq!(
        whole.chunks,
        vec![(Seq(ends(whole.range).0), Seq(ends(whole.range).1))]
    );
    assert!(compact::reuses_prompt(&whole));

    // Larger than the window less a summary: pieces, in order, without gaps, each small enough.
    fill(&mut host, 30_000, 1_000);
    let cut = plan(&host, &Ask::default()).unwrap();
    let view = host.view();
    assert!(cut.chunks.len() > 1);
    assert!(!compact::reuses_prompt(&cut));
    let (first, last) = ends(cut.range);
    assert_eq!(cut.chunks.first().unwrap().0.0, first);
    assert_eq!(cut.chunks.last().unwrap().1.0, last);
    for pair in cut.chunks.windows(2) {
        assert!(pair[0].1 < pair[1].0);
        let between = host
            .state
            .timeline()
            .content
            .range(pair[0].1.next()..pair[1].0);
        assert_eq!(between.count(), 0);
    }
    for chunk in &cut.chunks {
        assert!(!compact::is_oversized(&view.at(), &cut, *chunk));
    }
    host.put(Body::CompactPlan(cut.clone()));
    let again = compact::again(&host.view().at(), &cut).unwrap();
    assert_eq!((again.level, again.range), (1, cut.range));
    assert!(again.chunks.len() > cut.chunks.len());
    assert_eq!(again.instruction, cut.instruction);
}

#[test]
fn a10_a_response_larger_than_the_window_is_a_piece_without_a_request() {
    let mut host = window(10_000, SMALL);
    turn(&mut host, 1, 400);
    let unit = host.exchange("big", "Bash", "{}", &words(15_000));
    turn(&mut host, 2, 400);
    turn(&mut host, 3, 400);
    let cut = plan(&host, &Ask::default()).unwrap();
    let view = host.view();
    let oversized: Vec<_> = cut
        .chunks
        .iter()
        .filter(|chunk| compact::is_oversized(&view.at(), &cut, **chunk))
        .collect();
    assert_eq!(oversized, vec![&(Seq(unit), Seq(unit + 1))]);
    let text = compact::rule_text(&view.at(), Seq(unit), Seq(unit + 1));
    assert!(text.contains("Bash") && text.len() < 4_000, "{text}");
}

/// What the tier proposes holds the words of such pieces at once; where no piece has a request, no model is asked at all.
#[test]
fn a10_pieces_without_a_request_are_summed_up_with_the_plan() {
    let mut host = window(10_000, SMALL);
    turn(&mut host, 1, 400);
    host.exchange("big", "Bash", r#"{"command":"make"}"#, &words(15_000));
    turn(&mut host, 2, 400);
    turn(&mut host, 3, 400);
    let proposal = host.runs(propose);
    let plan = plan_in(&proposal).unwrap();
    let said: Vec<u32> = proposal
        .events
        .iter()
        .filter_map(|proposed| match &proposed.body {
            Body::CompactChunk(chunk) => Some(chunk.chunk),
            _ => None,
        })
        .collect();
    assert_eq!(said, [1]);
    assert_eq!(plan.chunks.len(), 3);

    let mut host = window(10_000, SMALL);
    host.exchange("big", "Bash", r#"{"command":"make"}"#, &words(15_000));
    host.says("and?");
    let proposal = host.asks(propose);
    assert!(plan_in(&proposal).is_none());
    assert!(commit_in(&proposal).is_some());
}

#[test]
fn r5_a_smaller_model_is_planned_for_at_once() {
    let mut host = window(200_000, SMALL);
    fill(&mut host, 30_000, 1_000);
    assert!(host.asks(propose).is_empty());
    let before = host.head();
    host.profile(r#"{"window":20000,"max_output":2000}"#);
    let plan = plan_in(&host.asks(propose)).unwrap();
    assert!(
        plan.chunks.len() > 1,
        "the whole prompt does not fit the new window"
    );
    let view = host.view();
    assert!(
        plan.chunks
            .iter()
            .all(|piece| !compact::is_oversized(&view.at(), &plan, *piece))
    );
    host.undo(before + 1);
    assert!(host.asks(propose).is_empty());
}

/// A provider's own summary is carried on by the rule.
#[test]
fn a12_a_compaction_block_is_not_lost() {
    let mut host = window(100_000, SMALL);
    turn(&mut host, 1, 400);
    // For its issuer it is all that is shown of what came before, so it has to be worth a summary.
    let more = "The ships wait outside. ".repeat(200);
    host.log(&format!(r#"{{"type":"message","role":"assistant","issuer":"anthropic","content":[{{"type":"compaction","content":"The harbour is closed. {more}"}},{{"type":"text","text":"Go on."}}]}}"#));
    let last = host.head();
    turn(&mut host, 2, 400);
    let text = compact::rule_text(&host.view().at(), Seq(0), Seq(last));
    assert!(text.contains("The harbour is closed."), "{text}");
}

/// At any window from 2,000 tokens: when the trigger is reached and there is more than one entry, there is something to fold.
#[test]
fn a6_small_windows_keep_the_newest_entry_and_let_the_rest_go() {
    for size in [2_000, 3_000, 5_000, 8_000, 32_000] {
        let mut host = window(size, r#"{"collapse":{"on":false}}"#);
        let mut view = host.view();
        let mut number = 0;
        while view.at().weighed() < view.lines.trigger {
            number += 1;
            turn(&mut host, number, 300);
            view = host.view();
        }
        let proposal = propose(&view.at());
        let plan = plan_in(&proposal).unwrap_or_else(|| panic!("{size}: {}", proposal.did));
        assert!(matches!(plan.range, Range::Closed { .. }));
        host.accept(&proposal);
        let kept = host
            .state
            .timeline()
            .shown
            .range(Seq(ends(plan.range).1 + 1)..)
            .count();
        assert!(kept >= 1, "{size}");
    }
}
