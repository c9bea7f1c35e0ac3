//! ④ Staged spans and repetitive exchanges, row by row.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

#[path = "../common/mod.rs"]
mod common;

use common::Host;
use recount_events::Body;
use recount_policies::{Proposal, collapse, compact};

fn words(tokens: usize) -> String {
    "abc ".repeat(tokens)
}

fn session() -> (Host, Vec<u64>) {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"window":10000,"max_output":1000}"#);
    let mut turns = Vec::new();
    for number in 0..6 {
        turns.push(host.says(&format!("question {number} {}", words(500))));
        host.exchange(
            &format!("c{number}"),
            "Bash",
            &format!(r#"{{"command":"run {number}"}}"#),
            &words(500),
        );
    }
    (host, turns)
}

fn stage(host: &mut Host, id: &str, first: u64, last: u64, summary: &str) -> u64 {
    host.log(&format!(
        r#"{{"type":"collapse_stage","id":"{id}","first":{first},"last":{last},"summary":"{summary}"}}"#
    ))
}

fn named(proposal: &Proposal) -> Vec<String> {
    let all = proposal
        .events
        .iter()
        .filter_map(|proposed| match &proposed.body {
            Body::CollapseCommit(commit) => commit.id.as_str().map(str::to_owned),
            _ => None,
        });
    all.collect()
}

fn at_percent(host: &Host, permille: u64, propose: recount_policies::Propose) -> Proposal {
    let mut view = host.view();
    view.fill.total = (view.lines.effective * permille).div_ceil(1_000);
    propose(&view.at())
}

#[test]
fn c1_staged_spans_are_committed_from_90_percent_on_in_order_until_under() {
    let (mut host, turns) = session();
    stage(&mut host, "second", turns[1], turns[2] - 1, "two");
    stage(&mut host, "first", turns[0], turns[1] - 1, "one");
    assert!(at_percent(&host, 899, collapse::propose).is_empty());
    // At the line one span is enough, the one that was staged first.
    assert_eq!(
        named(&at_percent(&host, 900, collapse::propose)),
        ["second"]
    );
    // From the blocking line on all go.
    assert_eq!(
        named(&at_percent(&host, 949, collapse::propose)),
        ["second"]
    );
    assert_eq!(
        named(&at_percent(&host, 950, collapse::propose)),
        ["second", "first"]
    );
}

#[test]
fn c1_compaction_is_held_back_while_a_span_is_staged() {
    let (mut host, turns) = session();
    assert!(!at_percent(&host, 930, compact::propose).is_empty());
    stage(&mut host, "one", turns[0], turns[1] - 1, "one");
    assert!(at_percent(&host, 930, compact::propose).is_empty());
    assert!(!at_percent(&host, 950, compact::propose).is_empty());
    // A span that cannot help holds nothing back.
    let (mut host, turns) = session();
    stage(&mut host, "one", turns[0], turns[1] - 1, &words(3_000));
    assert!(!at_percent(&host, 930, compact::propose).is_empty());
}

#[test]
fn c1_side_sessions_auto_off_and_five_layer_collapse_nothing() {
    let (mut host, turns) = session();
    stage(&mut host, "one", turns[0], turns[1] - 1, "one");
    let mut view = host.view();
    view.fill.total = view.lines.effective;
    view.auto = false;
    assert!(collapse::propose(&view.at()).is_empty());
    view.auto = true;
    view.kind = recount_events::SessionKind::Side;
    assert!(collapse::propose(&view.at()).is_empty());
    view.kind = recount_events::SessionKind::Main;
    assert!(!collapse::propose(&view.at()).is_empty());
    host.policy("five-layer", "");
    assert!(at_percent(&host, 5_000, collapse::propose).is_empty());
}

#[test]
fn c2_the_prompt_shows_the_summary_in_its_tag() {
    let (mut host, turns) = session();
    stage(&mut host, "span-1", turns[0], turns[1] - 1, "one");
    host.accept(&collapse::drain(&host.view().at()));
    let prompt = host.prompt();
    assert!(
        prompt.contains(r#"<collapsed id=\"span-1\">\none\n</collapsed>"#),
        "{prompt}"
    );
    assert!(!prompt.contains("question 0"));
}

#[test]
fn c3_commits_replay_and_undo_brings_the_span_back() {
    let (mut host, turns) = session();
    stage(&mut host, "a", turns[0], turns[1] - 1, "one");
    stage(&mut host, "b", turns[2], turns[3] - 1, "two");
    let before = host.prompt();
    let first = host.head() + 1;
    host.accept(&collapse::drain(&host.view().at()));
    assert_eq!(host.reopened().prompt(), host.prompt());
    let both = host.prompt();
    host.undo(first + 1);
    host.undo(first);
    assert_eq!(host.prompt(), before);
    host.back(first + 1);
    assert_eq!(host.prompt(), both);
    host.back(first - 1);
    assert_eq!(host.prompt(), before);
}

/// What was undone is not done again by itself; a refusal for size may.
#[test]
fn c3_a_span_that_was_brought_back_stays() {
    let (mut host, turns) = session();
    stage(&mut host, "a", turns[0], turns[1] - 1, "one");
    let before = host.prompt();
    let proposal = at_percent(&host, 960, collapse::propose);
    assert_eq!(named(&proposal), ["a"]);
    let commit = host.head() + 1;
    host.accept(&proposal);
    host.undo(commit);
    assert_eq!(host.prompt(), before);
    assert!(at_percent(&host, 960, collapse::propose).is_empty());
    assert!(!at_percent(&host, 930, compact::propose).is_empty());
    assert_eq!(named(&collapse::drain(&host.view().at())), ["a"]);

    let mut host = repeats(4, |_| r#"{"command":"make"}"#.to_owned());
    let proposal = at_percent(&host, 990, collapse::propose);
    let commit = host.head() + 1;
    host.accept(&proposal);
    host.undo(commit);
    assert!(at_percent(&host, 990, collapse::propose).is_empty());
}

#[test]
fn c3_a_full_compaction_covers_them() {
    let (mut host, turns) = session();
    stage(&mut host, "a", turns[0], turns[1] - 1, "one");
    stage(&mut host, "late", turns[1], turns[2] - 1, "two");
    host.log(r#"{"type":"collapse_commit","id":"a"}"#);
    let ask = compact::Ask {
        whole: true,
        ..compact::Ask::default()
    };
    let fold = compact::by_rule(&host.view().at(), &ask).unwrap();
    host.accept(&fold);
    assert!(!host.prompt().contains("<collapsed"));
    // What is staged within the fold no longer fits.
    assert!(collapse::drain(&host.view().at()).is_empty());
}

#[test]
fn c4_overflow_drains_all_staged_spans_that_fit_whatever_the_lines() {
    let (mut host, turns) = session();
    stage(&mut host, "a", turns[0], turns[2] - 1, "one");
    stage(&mut host, "inside", turns[1], turns[2] - 1, "lost");
    stage(&mut host, "longer", turns[3], turns[4] - 1, &words(4_000));
    stage(&mut host, "b", turns[4], turns[5] - 1, "two");
    let mut view = host.view();
    view.fill.total = 10;
    view.auto = false;
    view.kind = recount_events::SessionKind::Side;
    let drained = collapse::drain(&view.at());
    assert_eq!(named(&drained), ["a", "b"]);
    assert!(drained.freed > 0);
    host.accept(&drained);
    assert!(collapse::drain(&host.view().at()).is_empty());
}

fn repeats(times: usize, input: impl Fn(usize) -> String) -> Host {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"window":10000,"max_output":1000}"#);
    host.says("look after the build");
    for number in 0..times {
        host.exchange(&format!("c{number}"), "Bash", &input(number), &words(200));
    }
    host.says("and?");
    host
}

#[test]
fn c5_three_equal_calls_in_a_row_give_way_to_a_line_and_the_newest() {
    let same = |_| r#"{"command":"make"}"#.to_owned();
    let mut host = repeats(3, same);
    assert!(at_percent(&host, 899, collapse::propose).is_empty());
    let proposal = at_percent(&host, 900, collapse::propose);
    assert_eq!(named(&proposal), [format!("k{}", host.head() + 1)]);
    let before = host.prompt();
    let commit = host.head() + 1;
    host.accept(&proposal);
    let prompt = host.prompt();
    assert!(
        prompt.contains("2 earlier calls of Bash on make (2 ok)"),
        "{prompt}"
    );
    assert_eq!(prompt.matches("tool_use_id").count(), 1);
    assert_eq!(host.reopened().prompt(), prompt);
    host.undo(commit);
    assert_eq!(host.prompt(), before);
    // Two are not enough.
    assert!(at_percent(&repeats(2, same), 990, collapse::propose).is_empty());
}

#[test]
fn c5_other_targets_shapes_and_words_in_between_are_not_repetitions() {
    let other = |number: usize| format!(r#"{{"command":"make {}"}}"#, number % 2);
    assert!(at_percent(&repeats(6, other), 990, collapse::propose).is_empty());
    let shape = |number: usize| {
        let more = ["", r#","timeout":5"#][number % 2];
        format!(r#"{{"command":"make"{more}}}"#)
    };
    assert!(at_percent(&repeats(6, shape), 990, collapse::propose).is_empty());
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"window":10000,"max_output":1000}"#);
    for number in 0..4 {
        host.exchange(
            &format!("c{number}"),
            "Bash",
            r#"{"command":"make"}"#,
            &words(200),
        );
        host.says("once more");
    }
    assert!(at_percent(&host, 990, collapse::propose).is_empty());
}
