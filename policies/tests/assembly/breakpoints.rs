//! P4: cache breakpoints.

use crate::common::Host;
use recount_events::BlockId;
use recount_policies::assembly::{Ttl, breakpoints};
use recount_projections::Piece;
use recount_projections::render::{Category, PieceRole, Why};

/// A text of about so many tokens of the kit (a quarter of the bytes).
fn words(tokens: usize) -> String {
    "word ".repeat(tokens * 4 / 5)
}

fn host() -> Host {
    let mut host = Host::new("claude-code", "");
    host.log(&format!(
        r#"{{"type":"system","content":"{}"}}"#,
        words(1_500)
    ));
    host
}

/// The breakpoints and the pieces that they stand behind.
fn marks(host: &Host) -> Vec<(Piece, Ttl, usize)> {
    let view = host.view();
    let pieces = &view.projection.pieces;
    breakpoints(
        pieces,
        view.state.timeline(),
        &view.constants,
        &view.profile,
    )
    .into_iter()
    .map(|(place, ttl)| (pieces.get(place).unwrap().clone(), ttl, place))
    .collect()
}

fn at(mark: &(Piece, Ttl, usize)) -> (BlockId, Ttl) {
    (mark.0.source, mark.1)
}

fn block(seq: u64, index: u32) -> BlockId {
    BlockId {
        seq: recount_events::Seq(seq),
        index,
    }
}

#[test]
fn p4_the_first_stands_behind_the_header_and_the_last_behind_the_newest_message() {
    let mut host = host();
    host.says("Hello.");
    host.answers("Hi.");
    let last = host.says("Go on.");
    let marks = marks(&host);
    assert_eq!(marks.len(), 2);
    assert_eq!(marks[0].0.role, PieceRole::Header);
    assert_eq!(marks[0].1, Ttl::Hour);
    assert_eq!(at(&marks[1]), (block(last, 0), Ttl::FiveMinutes));
}

#[test]
fn p4_after_a_compaction_the_first_stands_behind_its_summary() {
    let mut host = host();
    let first = host.says("Hello.");
    let last = host.answers("Hi.");
    host.says("Go on.");
    let before = marks(&host);
    let commit = host.log(&format!(
        r#"{{"type":"compact_commit","first":{first},"last":{last},"summary":"They said hello."}}"#
    ));
    let after = marks(&host);
    let summary = &after[1];
    assert_eq!(summary.0.why, Why::Summary(recount_events::Seq(commit)));
    assert_eq!(summary.0.category, Category::Summaries);
    assert_eq!(summary.1, Ttl::Hour);
    assert_eq!(after[0].0.role, PieceRole::Header, "one to spare");
    assert_eq!(after[0].1, Ttl::Hour);
    assert_eq!(after[2].1, Ttl::FiveMinutes);
    // The way back.
    host.undo(commit);
    assert_eq!(marks(&host), before);
}

#[test]
fn p4_a_collapse_does_not_move_the_first() {
    let mut host = host();
    host.says("Hello.");
    let unit = host.exchange("t1", "Read", "{}", "text");
    host.says("Go on.");
    host.log(&format!(
        r#"{{"type":"collapse_commit","id":"k1","first":{unit},"last":{},"summary":"read"}}"#,
        unit + 1
    ));
    assert_eq!(marks(&host)[0].0.role, PieceRole::Header);
}

#[test]
fn p4_never_behind_a_placeholder_or_an_interim_result() {
    let mut host = host();
    let said = host.says("Read both.");
    let unit = host.calls(&[("t1", "Read", "{}"), ("t2", "Read", "{}")]);
    // Both open: behind the calls, which stay.
    assert_eq!(at(&marks(&host)[1]), (block(unit, 1), Ttl::FiveMinutes));
    let first = host.result("t1", "one");
    host.result_of("t2", "interim", "\"still at it\"");
    assert_eq!(at(&marks(&host)[1]), (block(first, 0), Ttl::FiveMinutes));
    // What was said since stands behind what passes.
    let since = host.says("And?");
    assert_eq!(at(&marks(&host)[1]), (block(first, 0), Ttl::FiveMinutes));
    host.result("t2", "two");
    assert_eq!(at(&marks(&host)[1]), (block(since, 0), Ttl::FiveMinutes));
    // The way back: rolled back to the question.
    host.back(said);
    assert_eq!(at(&marks(&host)[1]), (block(said, 0), Ttl::FiveMinutes));
}

#[test]
fn p4_never_behind_tail_injections() {
    let mut host = host();
    let said = host.says("Hello.");
    host.log(r#"{"type":"inject","slot":"todo","content":"- one","lifetime":"tail"}"#);
    host.log(r#"{"type":"inject","slot":"memory","content":"- two","lifetime":"tail"}"#);
    assert_eq!(at(&marks(&host)[1]), (block(said, 0), Ttl::FiveMinutes));
    let inject = host.log(r#"{"type":"inject","slot":"x","content":"y","lifetime":"once"}"#);
    assert_eq!(at(&marks(&host)[1]), (block(inject, 0), Ttl::FiveMinutes));
}

#[test]
fn p4_never_on_thinking() {
    let mut host = host();
    host.profile(r#"{"prefill":true,"params":{"thinking":{"type":"adaptive"}}}"#);
    let said = host.says("Hello.");
    host.log(
        r#"{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"}]}"#,
    );
    let view = host.view();
    assert!(
        view.projection
            .pieces
            .iter()
            .any(|piece| piece.bytes.starts_with(br#"{"type":"thinking""#)),
        "thinking is in the prompt"
    );
    assert_eq!(at(&marks(&host)[1]), (block(said, 0), Ttl::FiveMinutes));
}

/// Answers with so many calls and all their results: twice as many blocks.
fn round(host: &mut Host, calls: usize) -> u64 {
    let ids: Vec<String> = (0..calls)
        .map(|call| format!("c{}_{call}", host.head()))
        .collect();
    let calls: Vec<(&str, &str, &str)> = ids.iter().map(|id| (id.as_str(), "Bash", "{}")).collect();
    let unit = host.calls(&calls);
    for id in &ids {
        host.result(id, "out");
    }
    unit
}

#[test]
fn p4_a_round_longer_than_the_look_back_has_others_in_between() {
    let mut host = host();
    host.says("Go.");
    round(&mut host, 9);
    // 18 blocks more, and the next message is the 19th: the old entry is the 20th position.
    host.says("And?");
    assert_eq!(marks(&host).len(), 2, "within the look-back");
    host.says("And now?");
    let longer = marks(&host);
    assert_eq!(longer.len(), 3, "one position too far");
    let (old, between, last) = (2 - 1, longer[1].2, longer[2].2);
    assert_eq!(between - old, 15);
    assert_eq!(last - old, 20);
    assert_eq!(longer[1].1, Ttl::FiveMinutes);
}

#[test]
fn p4_at_most_four_ascending_and_hours_first() {
    let mut host = host();
    host.says("Go.");
    round(&mut host, 60);
    let marks = marks(&host);
    assert_eq!(marks.len(), 4);
    assert!(marks.is_sorted_by(|one, other| one.2 < other.2));
    assert!(marks.is_sorted_by(|one, other| one.1 >= other.1));
    // The nearest to the old one: without it nothing earlier is found.
    assert_eq!(marks[1].2, 1 + 15);
}

#[test]
fn p4_a_prefix_under_the_models_minimum_has_none() {
    let mut small = Host::new("claude-code", "");
    // Pieces: {"type":"text","text":"…"} is 25 bytes and the words; 1,024 tokens of the kit are 4,093 to 4,096 bytes.
    let of = |host: &mut Host, bytes: usize| {
        host.says(&"x".repeat(bytes - 26));
        marks(host).len()
    };
    let root = small.head();
    let probe = |bytes| of(&mut small.fork(root), bytes);
    let exact = (4_000..4_200).find(|bytes| probe(*bytes) == 1).unwrap();
    assert_eq!(probe(exact - 1), 0);
    let mut host = small.fork(root);
    host.says(&"x".repeat(exact - 26));
    assert_eq!(host.view().projection.tokens, 1_024);
    // Of another model with another minimum.
    small.profile(r#"{"model":"claude-opus-4-6-20260101"}"#);
    let root = small.head();
    assert_eq!(of(&mut small.fork(root), exact), 0);
    assert_eq!(of(&mut small.fork(root), exact + 3 * 4_096 - 1), 0);
    assert_eq!(of(&mut small.fork(root), exact + 3 * 4_096), 1);
}

#[test]
fn p4_only_on_the_anthropic_wire_and_only_where_the_policy_sets_them() {
    let mut host = host();
    host.says("Hello.");
    let anthropic = marks(&host);
    assert!(!anthropic.is_empty());
    let chat = host.profile(r#"{"provider":"openai","wire":"openai_chat"}"#);
    assert!(marks(&host).is_empty());
    host.undo(chat);
    assert_eq!(marks(&host), anthropic);
    host.policy("claude-code", r#"{"assembly":{"breakpoints":false}}"#);
    assert!(marks(&host).is_empty());
}

#[test]
fn p4_the_same_when_the_log_is_folded_again() {
    let mut host = host();
    host.says("Go.");
    round(&mut host, 12);
    host.says("On.");
    round(&mut host, 2);
    assert_eq!(marks(&host.reopened()), marks(&host));
}

#[test]
fn p4_a_new_turn_finds_the_entry_before_the_thinking_that_is_gone() {
    let mut host = host();
    host.profile(
        r#"{"thinking":{"binds":false,"keeps":"last"},"params":{"thinking":{"type":"adaptive"}}}"#,
    );
    host.says("Go.");
    for round in 0..8 {
        host.log(&format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"s"}},{{"type":"text","text":"x"}},{{"type":"tool_use","id":"r{round}","name":"Bash","input":{{}}}}]}}"#
        ));
        host.result(&format!("r{round}"), "out");
    }
    host.answers("Done.");
    host.says("Next.");
    let marks = marks(&host);
    // The turn's own message was the last that both prompts have in common.
    assert_eq!(marks.len(), 3);
    assert_eq!(marks[1].2, 1 + 15);
}
