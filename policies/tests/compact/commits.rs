//! A5, A10, A11, A13: commits, by a model, by notes, by rule; and the way back.

use super::common::Host;
use super::talk::*;
use recount_events::{Body, Maker, Seq, Trigger};
use recount_policies::compact::{self, Ask, Refusal, propose};

const WHOLE: Ask<'static> = Ask {
    trigger: Trigger::Manual,
    level: 0,
    custom: None,
    from: None,
    up_to: None,
    whole: true,
};

fn session() -> Host {
    let mut host = window(100_000, SMALL);
    for number in 1..5 {
        turn(&mut host, number, 400);
    }
    host
}

#[test]
fn a11_the_boundary_says_who_why_and_how_much() {
    let mut host = session();
    let plan = plan(&host, &WHOLE).unwrap();
    host.put(Body::CompactPlan(plan.clone()));
    let proposal = committed(&host, &plan, "short");
    let commit = commit_in(&proposal).unwrap();
    let boundary = commit.boundary.unwrap();
    assert_eq!(boundary.trigger, Trigger::Manual);
    assert_eq!(
        (boundary.level, boundary.by, boundary.millis),
        (0, Maker::Model, 1_234)
    );
    // Three turns of four messages and a result each.
    assert_eq!(boundary.messages, 12);
    let (_, last) = ends(plan.range);
    assert_eq!(boundary.kept, Some((Seq(last + 1), Seq(last + 4))));
    let before = host.view().fill.total;
    host.accept(&proposal);
    let after = host.view().fill.total;
    assert_eq!((commit.before, commit.after), (Some(before), Some(after)));
    assert_eq!(proposal.freed, before - after);
}

#[test]
fn a11_reopened_undone_and_rolled_back() {
    let mut host = session();
    let before = host.prompt();
    let head = host.head();
    let commit = compacts(&mut host, &WHOLE, "short");
    let after = host.prompt();
    assert!(after.contains("short") && !after.contains("question 1"));
    assert_eq!(host.reopened().prompt(), after);
    let mut back = host.clone();
    back.undo(commit);
    assert_eq!(back.prompt(), before);
    let mut back = host.clone();
    back.back(head);
    assert_eq!(back.prompt(), before);
}

#[test]
fn a13_what_does_not_shrink_is_refused() {
    let host = session();
    let plan = plan(&host, &WHOLE).unwrap();
    let long = committed(&host, &plan, &words(5_000));
    assert!(long.is_empty());
    assert_eq!(long.did, Refusal::NotSmaller.to_string());
    let hidden: u64 = host
        .view()
        .projection
        .pieces
        .iter()
        .filter(|piece| piece.source.seq.0 <= ends(plan.range).1)
        .map(|piece| piece.tokens)
        .sum();
    // The wrapper and the block around the words are counted too.
    let around = 15;
    let fits = usize::try_from(hidden - around).unwrap();
    assert!(!committed(&host, &plan, &words(fits - 5)).is_empty());
    assert!(committed(&host, &plan, &words(fits + 15)).is_empty());
}

#[test]
fn a13_a_plan_that_does_not_fit_any_more_is_refused() {
    let mut host = session();
    let plan = plan(&host, &WHOLE).unwrap();
    host.put(Body::CompactPlan(plan.clone()));
    host.log(&format!(
        r#"{{"type":"delete_range","first":{},"last":{}}}"#,
        ends(plan.range).0,
        ends(plan.range).1
    ));
    let late = committed(&host, &plan, "short");
    assert!(late.is_empty() && !late.did.is_empty());
}

#[test]
fn a5_notes_that_cover_the_range_become_the_summary() {
    let mut host = window(8_000, SMALL);
    let mut turns = Vec::new();
    while host.view().at().weighed() < 6_500 {
        turns.push(turn(&mut host, turns.len(), 800));
    }
    let half = turns[turns.len() / 2];
    let last = *turns.last().unwrap();
    host.log(&format!(
        r#"{{"type":"memory","id":"m2","text":"second half","covers":[{half},{}]}}"#,
        last - 1
    ));
    // The first half is not covered: a model is asked.
    assert!(plan_in(&host.asks(propose)).is_some());
    host.log(&format!(
        r#"{{"type":"memory","id":"m1","text":"first half","covers":[{},{}]}}"#,
        turns[0],
        half - 1
    ));
    let proposal = host.asks(propose);
    let commit = commit_in(&proposal).unwrap();
    assert_eq!(
        commit.summary.clone().unwrap().as_str(),
        Some("first half\n\nsecond half")
    );
    assert_eq!(commit.boundary.unwrap().by, Maker::Memory);
    assert_eq!(
        commit.id.clone().unwrap().as_str(),
        Some(&*format!("c{}", host.head() + 1))
    );
    let before = host.prompt();
    let at = host.head() + 1;
    host.accept(&proposal);
    assert!(host.view().at().weighed() < host.view().lines.trigger);
    assert_eq!(host.reopened().prompt(), host.prompt());
    host.undo(at);
    assert_eq!(host.prompt(), before);
}

#[test]
fn a5_notes_about_the_person_and_notes_that_say_no_range_do_not() {
    let mut host = window(8_000, SMALL);
    let first = turn(&mut host, 0, 800);
    fill(&mut host, 6_500, 800);
    let head = host.head();
    host.log(&format!(
        r#"{{"type":"memory","id":"m1","text":"all","covers":[{first},{head}],"scope":"user"}}"#
    ));
    host.log(r#"{"type":"memory","id":"m2","text":"all"}"#);
    assert!(plan_in(&host.asks(propose)).is_some());
    let mut off = host.clone();
    off.log(&format!(
        r#"{{"type":"memory","id":"m3","text":"all","covers":[{first},{head}]}}"#
    ));
    assert!(commit_in(&off.asks(propose)).is_some());
    let mut view = off.view();
    view.constants.compact.memory = false;
    assert!(plan_in(&propose(&view.at())).is_some());
}

#[test]
fn a10_without_a_model_there_is_always_a_way() {
    let mut host = window(100_000, SMALL);
    host.log(r#"{"type":"todo","items":[{"content":"write the tests","status":"pending"}]}"#);
    for number in 1..5 {
        turn(&mut host, number, 400);
        host.exchange(
            &format!("r{number}"),
            "Read",
            &format!(r#"{{"file_path":"/src/f{number}.rs"}}"#),
            &words(300),
        );
    }
    turn(&mut host, 9, 100);
    let before = host.prompt();
    let proposal = compact::by_rule(&host.view().at(), &WHOLE).unwrap();
    let commit = commit_in(&proposal).unwrap();
    assert_eq!(commit.boundary.unwrap().by, Maker::Rule);
    let text = commit.summary.clone().unwrap();
    let text = text.as_str().unwrap();
    for needed in [
        "question 4",
        "/src/f4.rs",
        "Grep p4: ok",
        "write the tests",
        "answer 4",
    ] {
        assert!(text.contains(needed), "{needed} in {text}");
    }
    let at = host.head() + 1;
    host.accept(&proposal);
    assert_eq!(host.reopened().prompt(), host.prompt());
    host.undo(at);
    assert_eq!(host.prompt(), before);
}

/// An earlier summary is said again in the next one.
#[test]
fn a10_the_rule_carries_the_earlier_summary_on() {
    let mut host = session();
    compacts(&mut host, &WHOLE, "The lighthouse is at 54 degrees north.");
    for number in 10..14 {
        turn(&mut host, number, 400);
    }
    let proposal = compact::by_rule(&host.view().at(), &WHOLE).unwrap();
    let text = commit_in(&proposal).unwrap().summary.unwrap();
    assert!(text.as_str().unwrap().contains("lighthouse"));
}

#[test]
fn a10_a_fold_by_rule_takes_the_place_of_a_plan_that_waits() {
    let mut host = session();
    let plan = plan(&host, &WHOLE).unwrap();
    host.put(Body::CompactPlan(plan));
    let proposal = compact::by_rule(&host.view().at(), &WHOLE).unwrap();
    assert!(matches!(proposal.events[0].body, Body::CompactAbandon(_)));
    host.accept(&proposal);
    assert!(host.state.timeline().work.plan.is_none());
}

#[test]
fn a10_names_that_a_host_used_are_passed_over() {
    let mut host = session();
    let taken = host.head() + 2;
    let (first, _) = ends(plan(&host, &WHOLE).unwrap().range);
    let third = host.state.timeline().shown.keys().nth(3).unwrap().0;
    host.log(&format!(r#"{{"type":"compact_commit","id":"c{taken}","first":{first},"last":{third},"summary":"s"}}"#));
    let plan = plan(&host, &WHOLE).unwrap();
    assert_eq!(plan.id.as_str(), Some(&*format!("c{taken}.1")));
    host.put(Body::CompactPlan(plan));
    let mut host = session();
    let taken = host.head() + 2;
    host.log(&format!(r#"{{"type":"compact_commit","id":"c{taken}","first":{first},"last":{third},"summary":"s"}}"#));
    let proposal = compact::by_rule(&host.view().at(), &WHOLE).unwrap();
    assert_eq!(
        commit_in(&proposal).unwrap().id.unwrap().as_str(),
        Some(&*format!("c{taken}.1"))
    );
    host.accept(&proposal);
}
