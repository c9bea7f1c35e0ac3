//! ③ Old results.

use crate::budget::replaces;
use crate::common::Host;
use recount_events::{Body, SessionKind, Usage};
use recount_policies::{Proposal, micro};

/// An hour, in ms.
const HOUR: u64 = 60 * 60 * 1_000;

/// Position of nothing.
const NONE: [u64; 0] = [];

/// What a tool brought, each another.
fn brought(number: usize) -> String {
    format!("{number}: {}", "some words of a file; ".repeat(10))
}

/// So many exchanges with a tool and a last answer; their calls' messages stand at 4, 6, 8 …, the results behind them.
fn works(preset: &str, params: &str, tool: &str, exchanges: usize) -> Host {
    let mut host = Host::new(preset, params);
    host.says("Go.");
    for number in 0..exchanges {
        host.exchange(&format!("t{number}"), tool, "{}", &brought(number));
    }
    host.answers("Done.");
    host
}

fn cleared(proposal: &Proposal) -> Vec<u64> {
    replaces(proposal).iter().map(|block| block.seq.0).collect()
}

/// The messages whose calls a proposal names in a cache edit.
fn edited(proposal: &Proposal) -> Vec<u64> {
    let bodies = proposal.events.iter().map(|proposed| &proposed.body);
    bodies
        .flat_map(|body| match body {
            Body::CacheEdit(edit) => edit.calls.iter().map(|block| block.seq.0).collect(),
            _ => Vec::new(),
        })
        .collect()
}

fn names(proposal: &Proposal) -> Vec<&'static str> {
    let events = proposal.events.iter();
    events.map(|proposed| proposed.body.name()).collect()
}

#[test]
fn m1_only_one_time_observations_are_cleared() {
    for tool in [
        "Read",
        "Bash",
        "PowerShell",
        "Grep",
        "Glob",
        "WebSearch",
        "WebFetch",
        "Edit",
        "Write",
    ] {
        let mut host = works("claude-code", "", tool, 6);
        host.wait(HOUR);
        assert_eq!(cleared(&host.asks(micro::propose)), [5], "{tool}");
    }
    for tool in ["read", "write", "grep", "find", "script"] {
        let mut host = works("five-layer", "", tool, 6);
        host.wait(HOUR);
        assert_eq!(cleared(&host.asks(micro::propose)), [5], "{tool}");
    }
    for (preset, tool) in [
        ("claude-code", "TodoWrite"),
        ("claude-code", "read"),
        ("five-layer", "todo"),
    ] {
        let mut host = works(preset, "", tool, 6);
        host.wait(HOUR);
        assert!(host.asks(micro::propose).is_empty(), "{tool}");
    }
}

#[test]
fn m1_state_is_neither_cleared_nor_counted() {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    for number in 0..6 {
        host.exchange(&format!("r{number}"), "Read", "{}", &brought(number));
        host.exchange(&format!("w{number}"), "TodoWrite", "{}", &brought(number));
    }
    host.answers("Done.");
    host.wait(HOUR);
    assert_eq!(cleared(&host.asks(micro::propose)), [5]);
}

#[test]
fn m2_an_hour_of_silence_clears_all_but_the_newest_five() {
    let mut host = works("claude-code", "", "Read", 8);
    host.wait(HOUR - 1);
    assert!(host.asks(micro::propose).is_empty(), "59 min 59.999 s");
    host.wait(1);
    let before = host.view().fill.counted;
    let proposal = host.runs(micro::propose);
    assert_eq!(cleared(&proposal), [5, 7, 9]);
    assert_eq!(names(&proposal), ["replace"], "one event");
    let prompt = host.prompt();
    assert_eq!(
        prompt
            .matches(r#""content":"[Old tool result content cleared]""#)
            .count(),
        3
    );
    assert!(!prompt.contains(&brought(2)) && prompt.contains(&brought(3)));
    let freed = before - host.view().fill.counted;
    assert!(
        proposal.freed.abs_diff(freed) <= 6,
        "{} for {freed}",
        proposal.freed
    );
    assert!(proposal.did.contains("60 minutes"), "{}", proposal.did);
    assert!(host.asks(micro::propose).is_empty());
}

#[test]
fn m2_a_clock_that_runs_backwards_sets_nothing_off() {
    let mut host = works("claude-code", "", "Read", 8);
    host.now -= 2 * HOUR;
    assert!(host.asks(micro::propose).is_empty());
    host.now = 0;
    assert!(host.asks(micro::propose).is_empty());
    host.now = u64::MAX;
    assert_eq!(cleared(&host.asks(micro::propose)).len(), 3);
}

#[test]
fn m2_at_least_one_result_stays() {
    for (keep, cleared_then) in [(0, vec![5, 7]), (1, vec![5, 7]), (2, vec![5]), (3, vec![])] {
        let params = format!(r#"{{"micro":{{"keep":{keep}}}}}"#);
        let mut host = works("claude-code", &params, "Read", 3);
        host.wait(HOUR);
        assert_eq!(cleared(&host.asks(micro::propose)), cleared_then, "{keep}");
    }
}

#[test]
fn m2_what_no_answer_followed_was_never_read_and_stays() {
    let mut host = Host::new("claude-code", r#"{"micro":{"keep":1}}"#);
    host.says("Go.");
    host.exchange("t0", "Read", "{}", &brought(0));
    host.calls(&[
        ("t1", "Read", "{}"),
        ("t2", "Read", "{}"),
        ("t3", "Read", "{}"),
    ]);
    for number in 1..4 {
        host.result(&format!("t{number}"), &brought(number));
    }
    host.wait(HOUR);
    assert_eq!(cleared(&host.asks(micro::propose)), [5]);
    host.answers("I see.");
    host.wait(HOUR);
    assert_eq!(cleared(&host.asks(micro::propose)), [5, 7, 8]);
}

#[test]
fn m2_what_would_not_get_smaller_stays() {
    let mut host = Host::new("claude-code", r#"{"micro":{"keep":1}}"#);
    host.says("Go.");
    host.exchange("t0", "Bash", "{}", &"x".repeat(33));
    host.exchange("t1", "Bash", "{}", &"x".repeat(34));
    host.exchange("t2", "Bash", "{}", "");
    host.exchange("t3", "Bash", "{}", "last");
    host.answers("Done.");
    host.wait(HOUR);
    assert_eq!(cleared(&host.asks(micro::propose)), [7]);
}

#[test]
fn m2_the_switch_and_who_it_is_for() {
    let mut host = works("claude-code", r#"{"micro":{"idle_minutes":0}}"#, "Read", 8);
    host.wait(100 * HOUR);
    assert!(host.asks(micro::propose).is_empty());
    let mut host = works("claude-code", r#"{"micro":{"idle_minutes":1}}"#, "Read", 8);
    host.wait(60_000);
    assert_eq!(cleared(&host.asks(micro::propose)).len(), 3);
    for kind in [SessionKind::Sub, SessionKind::Side] {
        let mut view = host.view();
        view.kind = kind;
        assert!(micro::propose(&view.at()).is_empty(), "{kind:?}");
    }
    let mut view = host.view();
    view.auto = false;
    assert!(micro::propose(&view.at()).is_empty());
    host.policy("none", "");
    assert!(host.asks(micro::propose).is_empty());
}

#[test]
fn m2_the_same_after_a_reopening_and_the_way_back() {
    let mut host = works("claude-code", "", "Read", 8);
    host.wait(HOUR);
    let (before, cut) = (host.prompt(), host.head());
    assert_eq!(
        host.reopened().asks(micro::propose),
        host.asks(micro::propose)
    );
    host.runs(micro::propose);
    let after = host.prompt();
    let again = host.reopened();
    assert_eq!(again.prompt(), after);
    assert!(again.asks(micro::propose).is_empty());
    let undo = host.undo(cut + 1);
    assert_eq!(host.prompt(), before);
    assert!(
        host.asks(micro::propose).is_empty(),
        "what was brought back stays"
    );
    host.undo(undo);
    assert_eq!(host.prompt(), after);
    host.back(cut);
    host.runs(micro::propose);
    assert_eq!(host.prompt(), after);
}

/// A session of a model that takes cache edits, with so many results and an answer.
fn warm(exchanges: usize) -> Host {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"cache_edits":true}"#);
    host.says("Go.");
    for number in 0..exchanges {
        host.exchange(&format!("t{number}"), "Read", "{}", &brought(number));
    }
    host.answers("Done.");
    host
}

#[test]
fn m3_more_results_than_the_trigger_are_deleted_on_the_providers_side() {
    assert!(warm(12).asks(micro::propose).is_empty(), "just the trigger");
    let mut host = warm(13);
    let before = host.prompt();
    let next = host.head() + 1;
    let proposal = host.runs(micro::propose);
    assert_eq!(
        edited(&proposal),
        [5, 7, 9, 11, 13, 15, 17, 19],
        "all but the newest five"
    );
    assert_eq!(names(&proposal), ["cache_edit"]);
    assert_eq!(proposal.freed, 0, "nobody knows yet");
    match &proposal.events[0].body {
        Body::CacheEdit(edit) => {
            assert_eq!(edit.id.as_str(), Some(format!("e{next}").as_str()));
            assert_eq!(edit.baseline, 0);
        }
        other => unreachable!("{other:?}"),
    }
    assert_eq!(host.prompt(), before, "not one local byte changes");
    assert_eq!(
        host.reopened().asks(micro::propose),
        host.asks(micro::propose)
    );
}

#[test]
fn m3_it_needs_the_model_and_the_form() {
    let mut host = warm(13);
    host.policy("claude-code", r#"{"micro":{"cached":"none"}}"#);
    assert!(host.asks(micro::propose).is_empty());
    host.policy(
        "claude-code",
        r#"{"micro":{"cached":"context_management"}}"#,
    );
    assert!(host.asks(micro::propose).is_empty());
    host.policy("claude-code", "");
    assert!(!host.asks(micro::propose).is_empty());
    host.profile(r#"{"cache_edits":false}"#);
    assert!(host.asks(micro::propose).is_empty());
    host.profile(r#"{"cache_edits":true}"#);
    for kind in [SessionKind::Sub, SessionKind::Side] {
        let mut view = host.view();
        view.kind = kind;
        assert!(micro::propose(&view.at()).is_empty(), "{kind:?}");
    }
}

#[test]
fn m3_at_least_one_result_stays() {
    let mut host = warm(4);
    host.policy(
        "claude-code",
        r#"{"micro":{"cached_trigger":3,"cached_keep":0}}"#,
    );
    assert_eq!(edited(&host.asks(micro::propose)), [5, 7, 9]);
}

#[test]
fn m3_what_no_answer_followed_is_not_deleted() {
    let mut host = Host::new(
        "claude-code",
        r#"{"micro":{"cached_trigger":3,"cached_keep":1}}"#,
    );
    host.profile(r#"{"cache_edits":true}"#);
    host.says("Go.");
    let ids = ["t0", "t1", "t2", "t3", "t4"];
    host.calls(&ids.map(|id| (id, "Read", "{}")));
    for (number, id) in ids.iter().enumerate() {
        host.result(id, &brought(number));
    }
    assert!(host.asks(micro::propose).is_empty());
    host.answers("I see.");
    assert_eq!(edited(&host.asks(micro::propose)).len(), 4);
}

/// An answer's usage with the provider's count of deleted tokens.
fn told(host: &mut Host, request: &str, deleted: u64) {
    host.log(&format!(
        r#"{{"type":"usage","request":"{request}","input":10,"output":5,"cache_deleted":{deleted}}}"#
    ));
}

#[test]
fn m5_nothing_more_until_the_answer_tells() {
    let mut host = warm(13);
    told(&mut host, "r0", 700);
    let first = host.runs(micro::propose);
    match &first.events[0].body {
        Body::CacheEdit(edit) => assert_eq!(edit.baseline, 700),
        other => unreachable!("{other:?}"),
    }
    for number in 13..30 {
        host.exchange(&format!("t{number}"), "Read", "{}", &brought(number));
    }
    host.answers("Done.");
    assert!(host.asks(micro::propose).is_empty(), "pending");
    host.log(r#"{"type":"usage","request":"r1","input":10,"output":5}"#);
    assert!(
        host.asks(micro::propose).is_empty(),
        "this answer does not tell"
    );

    let usage = |deleted: Option<u64>| Usage {
        cache_deleted: deleted,
        ..Usage::default()
    };
    let ack = |host: &Host, deleted| micro::acknowledge(&host.state, &usage(deleted));
    assert_eq!(ack(&host, None), None);
    assert_eq!(ack(&host, Some(700)), None);
    assert_eq!(ack(&host, Some(699)), None);
    let ack = ack(&host, Some(2_700)).unwrap();
    assert_eq!(ack.deleted_tokens, 2_000);
    told(&mut host, "r2", 2_700);
    host.put(Body::CacheAck(ack));
    assert_eq!(
        micro::acknowledge(&host.state, &usage(Some(9_000))),
        None,
        "told already"
    );

    let second = host.runs(micro::propose);
    assert_eq!(
        edited(&second).len(),
        5 + 17 - 5,
        "those that stayed, and the new ones but five"
    );
    assert!(
        edited(&second)
            .iter()
            .all(|call| !edited(&first).contains(call))
    );
    match &second.events[0].body {
        Body::CacheEdit(edit) => assert_eq!(edit.baseline, 2_700),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn m5_an_answer_that_tells_of_nothing_ends_the_wait() {
    let mut host = warm(13);
    host.runs(micro::propose);
    told(&mut host, "r1", 0);
    for number in 13..22 {
        host.exchange(&format!("t{number}"), "Read", "{}", &brought(number));
    }
    host.answers("Done.");
    assert_eq!(edited(&host.asks(micro::propose)).len(), 5 + 9 - 5);
}

#[test]
fn m6_what_is_gone_is_never_named() {
    let mut host = warm(20);
    let cut = host.head();
    host.runs(micro::propose);
    // Rolled back: the edit is gone with what followed, and so are the results after the cut.
    host.back(25);
    assert!(host.state.timeline().cache_edits.is_empty());
    assert!(
        host.asks(micro::propose).is_empty(),
        "eleven results are left"
    );
    host.back(cut);
    assert_eq!(edited(&host.asks(micro::propose)).len(), 15);
    // Compacted: what is summed up is not named.
    host.log(r#"{"type":"compact_commit","first":4,"last":12,"summary":"So."}"#);
    let named = edited(&host.asks(micro::propose));
    assert_eq!(named.len(), 11);
    assert!(named.iter().all(|call| *call > 12));
    host.log(r#"{"type":"compact_commit","first":4,"last":24,"summary":"So it was."}"#);
    assert!(host.asks(micro::propose).is_empty());
}

#[test]
fn m7_time_goes_before_count_and_resets_what_was_cached() {
    let mut host = warm(13);
    host.runs(micro::propose);
    host.wait(HOUR);
    let proposal = host.runs(micro::propose);
    assert_eq!(names(&proposal), ["replace", "cache_reset"]);
    assert_eq!(
        cleared(&proposal).len(),
        8,
        "those that the void edit named are cleared for good"
    );
    assert!(host.state.timeline().cache_edits.is_empty());
    assert!(host.asks(micro::propose).is_empty());
    assert_eq!(host.reopened().prompt(), host.prompt());

    let mut host = warm(13);
    host.wait(HOUR);
    assert_eq!(names(&host.asks(micro::propose)), ["replace"]);
}

#[test]
fn m7_a_cold_cache_resets_even_when_nothing_is_left_to_clear() {
    let mut host = warm(13);
    host.policy("claude-code", r#"{"micro":{"keep":20}}"#);
    host.runs(micro::propose);
    host.wait(HOUR);
    assert_eq!(names(&host.runs(micro::propose)), ["cache_reset"]);
    assert!(
        host.asks(micro::propose).is_empty(),
        "in a cold cache there is nothing to edit"
    );
    host.answers("Back again.");
    assert_eq!(edited(&host.asks(micro::propose)).len(), 8);
}

#[test]
fn m4_results_that_may_be_edited_carry_a_reference_from_the_beginning() {
    let sources = |host: &Host| -> Vec<u64> {
        let view = host.view();
        let pieces = &view.projection.pieces;
        micro::references(
            pieces,
            view.state.timeline(),
            &view.constants,
            &view.profile,
        )
        .into_iter()
        .map(|index| pieces.get(index).unwrap().source.seq.0)
        .collect()
    };
    let mut host = warm(2);
    host.exchange("w", "TodoWrite", "{}", "ok");
    assert_eq!(sources(&host), [6, 8]);
    // An edit changes nothing of that; what is cleared here needs none.
    host.log(r#"{"type":"cache_edit","id":"e1","calls":[[5,0]],"baseline":0}"#);
    assert_eq!(sources(&host), [6, 8]);
    host.log(r#"{"type":"replace","block":[6,0],"with":"gone"}"#);
    assert_eq!(sources(&host), [8]);
    host.profile(r#"{"cache_edits":false}"#);
    assert_eq!(sources(&host), NONE);
}

#[test]
fn m4_the_public_form_is_a_parameter_of_the_request() {
    let mut host = Host::new(
        "claude-code",
        r#"{"micro":{"cached":"context_management"}}"#,
    );
    host.log(r#"{"type":"tools","tools":[{"name":"TodoWrite","input_schema":{"type":"object"}},{"name":"Read","input_schema":{"type":"object"}},{"name":"Ask","input_schema":{"type":"object"}}]}"#);
    let params = |host: &Host| {
        let view = host.view();
        micro::request_params(&view.constants, &view.profile, view.state.timeline())
    };
    assert_eq!(
        params(&host).as_deref(),
        Some(
            r#"{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":12},"keep":{"type":"tool_uses","value":5},"exclude_tools":["Ask","TodoWrite"]}]}"#
        )
    );
    assert_eq!(micro::BETA, "context-management-2025-06-27");
    host.profile(r#"{"params":{"context_management":{"edits":[]}}}"#);
    assert_eq!(params(&host), None, "the host's own");
    host.profile(r#"{"wire":"openai_chat"}"#);
    assert_eq!(params(&host), None);
    host.profile("{}");
    host.policy("claude-code", "");
    assert_eq!(params(&host), None);
}

#[test]
fn m2_nothing_to_do_names_no_position() {
    assert_eq!(cleared(&Proposal::default()), NONE);
    let host = Host::new("claude-code", "");
    assert!(
        host.asks(micro::propose).is_empty(),
        "before the first word"
    );
}
