//! Ledger, injections, replacements, causes, erasure, headers: rules 8, 21, 27, 29, 31, 32, 35.

use crate::host::*;
use recount_events::*;
use recount_projections::{Cause, Gap, MisfitKind::*, Problem, State, replay};

#[test]
fn rule_08_the_ledger_stays_and_the_timeline_goes() {
    let mut host = Host::new();
    host.user("one");
    host.usage("q", 10, 1).unwrap();
    host.put(Body::Budget(Budget {
        judged: vec![at(1, 0)],
    }))
    .unwrap();
    host.put(Body::Rendering(Rendering { version: 2 })).unwrap();
    let before = host.state.timeline().header.rendering;
    let admitted = host
        .state
        .admit(event(Body::Rollback(Rollback {
            asked: Target::Seq(Seq(1)),
            to: None,
        })))
        .unwrap();
    let applied = host.state.apply(admitted);
    assert!(applied.header);
    assert_eq!(applied.touched, None);
    assert_eq!(
        (before, host.state.timeline().header.rendering),
        (Some(2), None)
    );
    assert!(host.state.timeline().judged.is_empty());
    assert_eq!(host.state.timeline().usage, None);
    assert_eq!(host.state.ledger().totals.input, 10);
}

#[test]
fn rule_21_injections() {
    let mut host = Host::new();
    host.user("one");
    host.inject("a", "first", Lifetime::Once).unwrap();
    host.inject("a", "second", Lifetime::Session).unwrap();
    host.inject("t", "tail", Lifetime::Tail).unwrap();
    host.inject("u", "tail", Lifetime::Tail).unwrap();
    host.user("two");
    assert_eq!(host.view(), "u1 i2 i3 u6 t4 t5");
    host.inject("t", "newer", Lifetime::Tail).unwrap();
    assert_eq!(host.view(), "u1 i2 i3 u6 t5 t7");
    host.compact(1, 6).unwrap();
    assert_eq!(host.view(), "s8[1-6] t5 t7");
    host.undo(8).unwrap();
    host.undo(7).unwrap();
    assert_eq!(host.view(), "u1 i2 i3 u6 t4 t5");
    let end = host.inject("u", "", Lifetime::Tail).unwrap();
    assert_eq!(host.view(), "u1 i2 i3 u6 t4");
    assert_eq!(
        host.state.hidden_by(host.state.timeline(), Seq(5)),
        Some(Cause::Superseded(end))
    );
    let supersede = Inject {
        slot: Text::plain("a"),
        content: words("third"),
        lifetime: Lifetime::Once,
        supersede: true,
    };
    let third = host.put(Body::Inject(supersede)).unwrap();
    assert_eq!(host.view(), format!("u1 u6 i{third} t4"));
    assert_eq!(
        host.state.hidden_by(host.state.timeline(), Seq(2)),
        Some(Cause::Superseded(third))
    );
    host.undo(third.0).unwrap();
    assert_eq!(host.view(), "u1 i2 i3 u6 t4");
}

#[test]
fn rule_27_what_can_be_replaced() {
    let mut host = Host::new();
    host.say(&[
        text_block("a"),
        r#"{"type":"image","source":{"type":"url","url":"http://x"}}"#.into(),
    ])
    .unwrap();
    let thought = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    host.put(Body::Message(message(
        Role::Assistant,
        blocks(&[thought, &call_block("t1")]),
    )))
    .unwrap();
    host.interim("t1", "10 %").unwrap();
    host.replace(at(3, 0), "5 %").unwrap();
    host.result("t1", "all").unwrap();
    assert_eq!(host.view(), "u1 a2(r5)");
    host.replace(at(5, 0), "cut").unwrap();
    assert_eq!(host.view(), "u1 a2(r5*)");
    host.replace(at(1, 1), "a picture").unwrap();
    assert_eq!(host.view(), "u1* a2(r5*)");
    refused(
        host.replace(at(2, 0), "x"),
        Rejected,
        Problem::NotReplaceable(at(2, 0)),
    );
    refused(
        host.replace(at(2, 1), "x"),
        Rejected,
        Problem::NotReplaceable(at(2, 1)),
    );
    refused(
        host.replace(at(1, 2), "x"),
        Rejected,
        Problem::NoBlock(at(1, 2)),
    );
    refused(
        host.replace(at(0, 0), "x"),
        Rejected,
        Problem::NotReplaceable(at(0, 0)),
    );
    refused(
        host.replace(at(99, 0), "x"),
        Rejected,
        Problem::Future(Seq(99)),
    );
    let calls = Replace {
        blocks: vec![at(1, 0)],
        with: blocks(&[&call_block("t2")]),
        cause: None,
    };
    refused(
        host.put(Body::Replace(calls)),
        Invalid,
        Problem::BadReplacement,
    );
    let twice = Replace {
        blocks: vec![at(1, 0), at(1, 0)],
        with: words("x"),
        cause: None,
    };
    refused(
        host.put(Body::Replace(twice)),
        Invalid,
        Problem::Repeated(Seq(1)),
    );
    let none = Replace {
        blocks: vec![],
        with: words("x"),
        cause: None,
    };
    refused(host.put(Body::Replace(none)), Invalid, Problem::Empty);
}

#[test]
fn rule_27_a_hidden_block_is_replaced_when_it_shows_again() {
    let mut host = Host::new();
    host.user("one");
    host.user("two");
    let fold = host.compact(1, 1).unwrap().0;
    refused(
        host.replace(at(fold, 0), "x"),
        Rejected,
        Problem::NotReplaceable(at(fold, 0)),
    );
    let replace = host.replace(at(1, 0), "uno").unwrap();
    host.undo(fold).unwrap();
    assert_eq!(host.view(), "u1* u2");
    host.undo(replace.0).unwrap();
    assert_eq!(host.view(), "u1 u2");
    host.back(2);
    host.back(1);
    refused(
        host.replace(at(2, 0), "x"),
        Rejected,
        Problem::NoBlock(at(2, 0)),
    );
}

#[test]
fn rule_29_what_a_commit_causes_falls_with_it() {
    let mut host = Host::new();
    host.user("one");
    host.user("two");
    let fold = host.compact(1, 1).unwrap().0;
    let inject = Inject {
        slot: Text::plain("file"),
        content: words("restored"),
        lifetime: Lifetime::Once,
        supersede: false,
    };
    let caused = host
        .put_because(Body::Inject(inject.clone()), fold)
        .unwrap();
    assert_eq!(host.view(), "s3[1-1] u2 i4");
    let undo = host.undo(fold).unwrap();
    assert_eq!(host.view(), "u1 u2");
    assert_eq!(
        host.state.hidden_by(host.state.timeline(), caused),
        Some(Cause::Undo(undo))
    );
    refused(
        host.put_because(Body::Inject(inject.clone()), fold),
        Rejected,
        Problem::NoCause(Seq(fold)),
    );
    refused(
        host.put_because(Body::Inject(inject), 99),
        Rejected,
        Problem::Future(Seq(99)),
    );
    refused(
        host.undo(caused.0),
        Rejected,
        Problem::Undone {
            event: caused,
            by: undo,
        },
    );
    host.undo(undo.0).unwrap();
    assert_eq!(host.view(), "s3[1-1] u2 i4");
    host.back(2);
    assert_eq!(host.view(), "u1 u2");
}

#[test]
fn rule_31_one_request_counts_once_on_all_branches() {
    let mut host = Host::new();
    host.user("one");
    host.usage("q", 10, 1).unwrap();
    let again = host.usage("q", 10, 7).unwrap();
    assert_eq!(host.state.timeline().usage, Some(again));
    host.back(1);
    host.usage("p", 5, 2).unwrap();
    let totals = host.state.ledger().totals;
    assert_eq!((totals.requests, totals.input, totals.output), (2, 15, 9));
    let Body::Usage(usage) = &host.state.event(again).unwrap().event.body else {
        panic!()
    };
    assert_eq!(usage.repeats, Some(Seq(2)));
}

#[test]
fn rule_32_erasure_holds_at_every_past_cut() {
    let mut host = Host::new();
    host.user("secret");
    host.answer(&["t1"]);
    host.result("t1", "r").unwrap();
    host.compact(1, 1).unwrap();
    host.put(Body::Erased(Erased {
        events: vec![(Seq(1), Seq(1))],
        pieces: vec![],
    }))
    .unwrap();
    let held = |state: &State| {
        state
            .event(Seq(1))
            .unwrap()
            .event
            .texts()
            .iter()
            .all(|text| text.held == Held::Erased)
    };
    assert!(held(&host.state));
    assert_eq!(host.view(), "s4[1-1] a2(r3)");
    let past = host.state.timeline_at(Seq(3)).unwrap();
    let Some(recount_projections::Shown::Said(said)) = past.shown.get(&Seq(1)) else {
        panic!()
    };
    assert!(
        said.logged
            .event
            .texts()
            .iter()
            .all(|text| text.held == Held::Erased)
    );
    assert!(held(&host.state.fork(Seq(2)).unwrap()));
    assert_eq!(host.state.ledger().erased.size(), 1);
    assert_eq!(host.state.open_calls().len(), 0);
}

#[test]
fn rule_35_what_is_not_known_is_kept_and_shows_nothing() {
    let mut host = Host::new();
    host.user("one");
    host.put(Body::Kept(Kept {
        name: Text::plain("odd"),
        raw: Text::json("{}"),
    }))
    .unwrap();
    assert_eq!(host.view(), "u1");
    assert_eq!(host.state.ledger().unknown, 1);
}

#[test]
fn a_breaker_s_release_can_be_undone() {
    let mut host = Host::new();
    let breaker = |state| {
        Body::Breaker(Breaker {
            name: "auto".into(),
            state,
            value: 3,
        })
    };
    let trip = host.put(breaker(BreakerState::Trips)).unwrap();
    let release = host.put(breaker(BreakerState::Releases)).unwrap();
    refused(host.undo(trip.0), Rejected, Problem::NotUndoable(trip));
    let undo = host.undo(release.0).unwrap();
    let state = |host: &Host| {
        host.state
            .ledger()
            .breakers
            .get("auto")
            .map(|view| view.state)
    };
    assert_eq!(state(&host), Some(BreakerState::Trips));
    host.undo(undo.0).unwrap();
    assert_eq!(state(&host), Some(BreakerState::Releases));
}

#[test]
fn damage_is_skipped_and_reported_and_the_rest_is_there() {
    let mut host = Host::new();
    host.user("one");
    host.answer(&["t1"]);
    host.result("t1", "r").unwrap();
    host.user("two");
    host.compact(1, 3).unwrap();
    host.user("three");
    for lost in 0..host.log.len() {
        let events = host.log.iter().cloned().enumerate();
        let state =
            replay(events.map(|(index, event)| if index == lost { Err(Gap) } else { Ok(event) }));
        assert_eq!(state.head(), Some(Seq(6)));
        assert!(
            state
                .skipped()
                .any(|skipped| skipped.seq == Seq(lost as u64)),
            "{lost}"
        );
        let view = view(state.timeline());
        match lost {
            0..=3 => assert_eq!(view, "s5[1-3] u4 u6"),
            4 => assert_eq!(view, "s5[1-3] u6"),
            5 => assert_eq!(view, "u1 a2(r3) u4 u6"),
            _ => assert_eq!(view, "s5[1-3] u4"),
        }
    }
}

#[test]
fn a_fold_that_begins_where_a_superseded_injection_stood_comes_back() {
    let mut host = Host::new();
    host.inject("a", "old", Lifetime::Once).unwrap();
    host.user("one");
    host.compact(1, 1).unwrap();
    let outer = host.compact(1, 2).unwrap().0;
    let newer = Inject {
        slot: Text::plain("a"),
        content: words("new"),
        lifetime: Lifetime::Once,
        supersede: true,
    };
    host.put(Body::Inject(newer)).unwrap();
    assert_eq!(host.view(), "s4[1-2] i5");
    host.undo(outer).unwrap();
    assert_eq!(host.view(), "s3[1-1] u2 i5");
    host.undo(3).unwrap();
    assert_eq!(host.view(), "u2 i5");
}

#[test]
fn a16_the_call_of_a_compaction_is_counted_and_measures_no_prompt() {
    let mut host = Host::new();
    host.user("one");
    let own = host.usage("r1", 100, 10).unwrap();
    let call = Usage {
        request: Some(Text::plain("r2")),
        input: 7,
        output: 3,
        compaction: Some(Text::plain("c1")),
        ..Usage::default()
    };
    let first = host.put(Body::Usage(call.clone())).unwrap();
    assert_eq!(host.state.timeline().usage, Some(own));
    assert_eq!(host.state.ledger().totals.input, 107);
    assert_eq!(host.state.ledger().totals.requests, 2);
    let named = |host: &Host| -> Vec<Seq> {
        let usages = host.state.ledger().compaction_usages.keys();
        usages.copied().collect()
    };
    assert_eq!(named(&host), [first]);
    // Said again, it is the same call.
    let again = Usage { output: 5, ..call };
    host.put(Body::Usage(again)).unwrap();
    assert_eq!(named(&host), [first]);
    assert_eq!(host.state.ledger().totals.output, 15);
    host.back(1);
    assert_eq!(named(&host), [first]);
    assert_eq!(host.state.timeline().usage, None);
}

#[test]
fn m8_falls_of_the_cache_and_what_is_done_are_facts() {
    let mut host = Host::new();
    host.user("one");
    let usage = host.usage("r1", 100, 10).unwrap();
    let fall = CacheBreak {
        usage,
        before: 9_000,
        after: 100,
        byte: Some(12),
        piece: Some(at(1, 0)),
        event: Some(Seq(1)),
        cause: CacheCause::Changed,
    };
    let fall = host.put(Body::CacheBreak(fall)).unwrap();
    let done = |action: &str, error: Option<&str>| {
        Body::Done(Done {
            action: action.into(),
            error: error.map(Text::plain),
        })
    };
    host.put(done("s7/0", Some("disk full"))).unwrap();
    let last = host.put(done("s7/0", None)).unwrap();
    let other = host.put(done("s7/1", None)).unwrap();
    refused(host.undo(fall.0), Rejected, Problem::NotUndoable(fall));
    host.back(1);
    let ledger = host.state.ledger();
    let falls: Vec<Seq> = ledger.cache_breaks.keys().copied().collect();
    assert_eq!(falls, [fall]);
    assert_eq!(ledger.done.get("s7/0"), Some(&last));
    assert_eq!(ledger.done.get("s7/1"), Some(&other));
    // A state that was put away and read again says the same.
    let frozen = host.state.freeze().unwrap();
    let source = std::sync::Arc::new(Whole(host.state.clone()));
    let thawed = frozen.thaw(&mut |seq| host.state.event(seq), source);
    let thawed = thawed.unwrap();
    assert_eq!(thawed.ledger().done.get("s7/0"), Some(&last));
    assert_eq!(thawed.ledger().cache_breaks.size(), 1);
    assert_eq!(thawed.freeze().unwrap(), frozen);
    assert!(frozen.needs().contains(&fall));
    assert!(frozen.needs().contains(&last));
}
