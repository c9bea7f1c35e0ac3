//! ① What results may cost.

use crate::common::{Host, View};
use proptest::prelude::*;
use recount_events::{BlockId, Body, Millis, Seq};
use recount_policies::{Proposal, budget, cut};

/// Lines of 100 characters, `length` characters in all.
pub(crate) fn lines(length: usize) -> String {
    let line = format!("{}\n", "x".repeat(99));
    line.chars().cycle().take(length).collect()
}

fn at(seq: u64, index: u32) -> BlockId {
    BlockId {
        seq: Seq(seq),
        index,
    }
}

/// The blocks that a proposal replaces.
pub(crate) fn replaces(proposal: &Proposal) -> Vec<BlockId> {
    let bodies = proposal.events.iter().map(|proposed| &proposed.body);
    bodies
        .flat_map(|body| match body {
            Body::Replace(replace) => replace.blocks.clone(),
            _ => Vec::new(),
        })
        .collect()
}

/// The blocks that a proposal names as examined.
fn judges(proposal: &Proposal) -> Vec<BlockId> {
    let bodies = proposal.events.iter().map(|proposed| &proposed.body);
    bodies
        .flat_map(|body| match body {
            Body::Budget(budget) => budget.judged.clone(),
            _ => Vec::new(),
        })
        .collect()
}

/// A session in which a tool brought so many characters; the result is at position 5.
fn brings(tool: &str, length: usize) -> Host {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    host.exchange("t1", tool, "{}", &lines(length));
    assert_eq!(host.head(), 5);
    host
}

#[test]
fn b1_a_result_over_its_limit_is_spilled() {
    let mut host = brings("Grep", 50_001);
    let proposal = host.runs(budget::propose);
    assert_eq!(replaces(&proposal), [at(5, 0)]);
    assert_eq!(host.files["5-0.txt"], lines(50_001).into_bytes());
    let expected = format!(
        "<persisted-output>\nOutput too large (48.8 KB). Full output saved to: /spill/talk-1/5-0.txt\n\nPreview (first 2.0 KB):\n{}\n...\n</persisted-output>",
        lines(1_999)
    );
    assert!(
        host.prompt().contains(&recount_events::escape(&expected)),
        "{}",
        host.prompt()
    );
    assert!(proposal.freed > 11_900, "{}", proposal.freed);
    assert_eq!(proposal.did, "results: 1 written to a file");
}

#[test]
fn b1_a_result_of_just_its_limit_stays() {
    let mut host = brings("Grep", 50_000);
    let before = host.prompt();
    let proposal = host.runs(budget::propose);
    assert_eq!(replaces(&proposal), []);
    assert_eq!(judges(&proposal), [at(5, 0)]);
    assert_eq!(host.prompt(), before);
    assert_eq!(proposal.freed, 0);
}

#[test]
fn b1_a_tools_own_limit_counts_where_it_is_smaller() {
    assert_eq!(
        replaces(&brings("Bash", 30_001).asks(budget::propose)).len(),
        1
    );
    assert_eq!(
        replaces(&brings("Bash", 30_000).asks(budget::propose)).len(),
        0
    );
    let mut host = brings("Grep", 50_001);
    host.policy(
        "claude-code",
        r#"{"budget":{"tool_limits":{"Grep":90000}}}"#,
    );
    assert_eq!(
        replaces(&host.asks(budget::propose)).len(),
        1,
        "the smaller one"
    );
}

#[test]
fn b1_sizes_are_utf_16_units() {
    let result = |text: &str| {
        let mut host = Host::new("claude-code", r#"{"budget":{"preview_bytes":10}}"#);
        host.says("Go.");
        host.exchange("t1", "Grep", "{}", text);
        replaces(&host.asks(budget::propose)).len()
    };
    // Two units and four bytes each.
    assert_eq!(result(&"😀".repeat(25_000)), 0);
    assert_eq!(result(&"😀".repeat(25_001)), 1);
    // One unit and three bytes each.
    assert_eq!(result(&"世".repeat(50_000)), 0);
    assert_eq!(result(&"世".repeat(50_001)), 1);
}

#[test]
fn b1_a_list_of_blocks_is_spilled_as_json() {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    host.calls(&[("t1", "Grep", "{}")]);
    let content = format!(
        r#"[{{"type":"text","text":"{}"}},{{"type":"text","text":"b"}}]"#,
        "a".repeat(50_000)
    );
    host.result_of("t1", "ok", &content);
    let proposal = host.runs(budget::propose);
    assert_eq!(proposal.spills.len(), 1);
    assert_eq!(host.files["5-0.json"], content.into_bytes());
    assert!(host.prompt().contains("saved to: /spill/talk-1/5-0.json"));
}

#[test]
fn b1_results_in_a_message_and_of_other_dialects_are_seen() {
    let big = lines(50_001);
    let token = recount_events::escape(&big);
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    host.calls(&[("t1", "Grep", "{}")]);
    host.log(&format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":{token}}}]}}"#
    ));
    let chat = [
        r#"{"type":"message","format":"openai_chat","role":"assistant","content":null,"tool_calls":[{"id":"t2","type":"function","function":{"name":"Grep","arguments":"{}"}}]}"#.to_owned(),
        format!(r#"{{"type":"message","format":"openai_chat","role":"tool","tool_call_id":"t2","content":{token}}}"#),
    ];
    let gemini = [
        r#"{"type":"message","format":"gemini","role":"model","content":[{"functionCall":{"id":"t3","name":"Read","args":{}}}]}"#.to_owned(),
        format!(r#"{{"type":"message","format":"gemini","role":"user","content":[{{"functionResponse":{{"id":"t3","name":"Read","response":{{"output":{token}}}}}}}]}}"#),
    ];
    for line in chat.iter().chain(&gemini) {
        host.log(line);
    }
    let proposal = host.runs(budget::propose);
    assert_eq!(
        replaces(&proposal),
        [at(5, 0), at(7, 0)],
        "Read has no limit"
    );
    assert_eq!(judges(&proposal), [at(5, 0), at(7, 0), at(9, 0)]);
    assert_eq!(host.files["5-0.txt"], big.as_bytes());
    assert_eq!(host.files["7-0.txt"], big.as_bytes());
}

#[test]
fn b1_without_a_folder_both_ends_stay_and_say_where_the_rest_is() {
    let mut host = Host::new("claude-code", r#"{"budget":{"result_limit":1000}}"#);
    host.spills = false;
    host.says("Go.");
    host.exchange(
        "t1",
        "Grep",
        "{}",
        &format!("{}{}", "a".repeat(2_000), "z".repeat(2_000)),
    );
    let proposal = host.runs(budget::propose);
    assert!(proposal.spills.is_empty());
    let expected = format!(
        "{}\\n[3,200 characters are left out here; the whole result is event 5, block 0]\\n{}\"",
        "a".repeat(600),
        "z".repeat(200)
    );
    assert!(host.prompt().contains(&expected), "{}", host.prompt());
    assert!(!host.prompt().contains(&"a".repeat(601)));
    assert!(!host.prompt().contains(&"z".repeat(201)));
}

#[test]
fn b1_what_would_not_get_smaller_stays() {
    let mut host = Host::new("claude-code", r#"{"budget":{"result_limit":10}}"#);
    host.says("Go.");
    host.exchange("t1", "Grep", "{}", &"x".repeat(60));
    let proposal = host.runs(budget::propose);
    assert_eq!(replaces(&proposal), []);
    assert_eq!(judges(&proposal), [at(5, 0)]);
}

#[test]
fn b2_a_tool_without_a_limit_is_never_spilled() {
    let mut host = brings("Read", 400_000);
    let proposal = host.runs(budget::propose);
    assert_eq!(replaces(&proposal), []);
    assert_eq!(judges(&proposal), [at(5, 0)]);
    // And it makes no other result leave.
    host.policy("claude-code", r#"{"budget":{"response_limit":1000}}"#);
    host.calls(&[("t2", "Read", "{}"), ("t3", "Grep", "{}")]);
    host.result("t2", &lines(400_000));
    host.result("t3", &lines(1_000));
    assert_eq!(replaces(&host.asks(budget::propose)), []);
}

/// One response with calls of these sizes; the results stand at 5, 6, 7 …
fn response(sizes: &[usize], params: &str) -> Host {
    let mut host = Host::new("claude-code", params);
    host.says("Go.");
    let names: Vec<String> = (0..sizes.len()).map(|call| format!("t{call}")).collect();
    let calls: Vec<(&str, &str, &str)> =
        names.iter().map(|id| (id.as_str(), "Grep", "{}")).collect();
    host.calls(&calls);
    for (id, size) in names.iter().zip(sizes) {
        host.result(id, &lines(*size));
    }
    host
}

#[test]
fn b3_the_largest_results_of_a_response_leave_until_the_rest_is_under() {
    let host = response(&[49_000, 48_000, 50_000, 49_500, 49_900], "");
    let proposal = host.asks(budget::propose);
    assert_eq!(replaces(&proposal), [at(7, 0)], "one is enough");
    assert_eq!(judges(&proposal).len(), 5);

    let host = response(&[50_000; 6], "");
    let proposal = host.asks(budget::propose);
    assert_eq!(
        replaces(&proposal),
        [at(5, 0), at(6, 0), at(7, 0)],
        "what stands for them counts, so that the rest is under; of equal ones the first go"
    );
}

#[test]
fn b3_a_response_of_just_the_limit_stays() {
    assert_eq!(
        replaces(&response(&[50_000; 4], "").asks(budget::propose)),
        []
    );
    let over = response(&[50_000, 50_000, 50_000, 49_999, 2], "");
    assert_eq!(replaces(&over.asks(budget::propose)).len(), 1);
}

#[test]
fn b3_each_response_has_a_limit_of_its_own() {
    let mut host = response(&[50_000; 4], "");
    host.calls(&[("u1", "Grep", "{}")]);
    host.result("u1", &lines(50_000));
    assert_eq!(replaces(&host.asks(budget::propose)), []);
}

#[test]
fn b3_a_late_result_counts_with_its_response_and_only_it_may_leave() {
    let mut host = Host::new("claude-code", r#"{"budget":{"response_limit":10000}}"#);
    host.says("Go.");
    host.calls(&[("t1", "Grep", "{}"), ("t2", "Grep", "{}")]);
    host.result("t1", &lines(9_000));
    let first = host.runs(budget::propose);
    assert_eq!(replaces(&first), []);
    host.says("Meanwhile.");
    host.exchange("t3", "Grep", "{}", &lines(100));
    host.runs(budget::propose);
    let late = host.result("t2", &lines(5_000));
    let second = host.runs(budget::propose);
    assert_eq!(
        replaces(&second),
        [at(late, 0)],
        "the larger one was left inline before"
    );
    assert_eq!(judges(&second), [at(late, 0)]);
}

#[test]
fn b3_pictures_are_neither_counted_nor_taken_out() {
    let mut host = Host::new("claude-code", r#"{"budget":{"response_limit":10000}}"#);
    host.says("Go.");
    host.calls(&[("t1", "Shot", "{}"), ("t2", "Grep", "{}")]);
    let picture = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;
    let text = recount_events::escape(&lines(60_000));
    host.result_of(
        "t1",
        "ok",
        &format!(r#"[{picture},{{"type":"text","text":{text}}}]"#),
    );
    host.result("t2", &lines(10_000));
    let proposal = host.asks(budget::propose);
    assert_eq!(replaces(&proposal), []);
    assert_eq!(judges(&proposal).len(), 2);
}

#[test]
fn b4_what_was_decided_stays_decided_whatever_the_limits() {
    let mut host = response(&[40_000, 30_000], "");
    host.runs(budget::propose);
    assert!(host.files.is_empty());
    let before = host.prompt();
    host.policy(
        "claude-code",
        r#"{"budget":{"result_limit":1000,"response_limit":1000,"preview_bytes":100}}"#,
    );
    assert!(host.asks(budget::propose).is_empty());
    host.exchange("t9", "Grep", "{}", &lines(2_000));
    let proposal = host.runs(budget::propose);
    assert_eq!(
        replaces(&proposal).len(),
        1,
        "the new one is judged by the new limits"
    );
    let spilled = host.prompt();
    assert!(
        spilled.starts_with(
            before
                .split(r#"],"model""#)
                .next()
                .unwrap()
                .trim_end_matches("]}")
        )
    );

    // And the other way: larger limits bring nothing back.
    host.policy(
        "claude-code",
        r#"{"budget":{"result_limit":900000,"response_limit":900000}}"#,
    );
    assert!(host.asks(budget::propose).is_empty());
    assert_eq!(host.prompt(), spilled);
}

#[test]
fn b4_a_round_costs_what_is_new() {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    for turn in 0..50 {
        host.exchange(&format!("t{turn}"), "Grep", "{}", &lines(100));
        let proposal = host.runs(budget::propose);
        assert_eq!(judges(&proposal), [at(host.head() - 1, 0)]);
        assert!(host.asks(budget::propose).is_empty());
    }
}

#[test]
fn b4_what_left_under_this_policy_is_in_the_providers_cache_and_stays() {
    let mut host = brings("Grep", 60_000);
    let digest = "0".repeat(64);
    let cut = host.head();
    host.log(&format!(
        r#"{{"type":"issued","digest":"{digest}","cut":{cut},"estimate":1,"wire":"anthropic","rendering":1}}"#
    ));
    assert!(host.asks(budget::propose).is_empty());
    let unit = host.exchange("t2", "Grep", "{}", &lines(60_000));
    assert_eq!(judges(&host.asks(budget::propose)), [at(unit + 1, 0)]);
    // A policy that came after the prompt has examined nothing yet.
    host.policy("claude-code", "");
    assert_eq!(
        judges(&host.asks(budget::propose)),
        [at(5, 0), at(unit + 1, 0)]
    );
}

#[test]
fn b4_an_interim_result_is_not_examined() {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    host.calls(&[("t1", "Grep", "{}")]);
    host.result_of("t1", "interim", &recount_events::escape(&lines(60_000)));
    assert!(host.asks(budget::propose).is_empty());
    let last = host.result("t1", &lines(70_000));
    assert_eq!(replaces(&host.asks(budget::propose)), [at(last, 0)]);
}

#[test]
fn b5_the_file_holds_every_byte_and_comes_with_the_event() {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    host.calls(&[("t1", "Grep", "{}")]);
    let text = format!("ü\u{0}\\\"\n{}", lines(50_000));
    let last = host.result("t1", &text);
    let proposal = host.asks(budget::propose);
    assert_eq!(proposal.spills.len(), 1);
    let spill = proposal.spills.first().unwrap();
    assert_eq!(spill.block, at(last, 0));
    assert_eq!(spill.bytes, text.as_bytes());
    assert!(
        host.prompt().len() > 50_000,
        "until it is logged nothing changed"
    );
}

#[test]
fn b6_the_same_bytes_after_a_reopening_and_in_a_fork() {
    let mut host = response(&[49_000, 48_000, 50_000, 49_500, 49_900], "");
    host.runs(budget::propose);
    let prompt = host.prompt();
    let again = host.reopened();
    assert_eq!(again.prompt(), prompt);
    assert!(again.asks(budget::propose).is_empty());
    let mut fork = host.fork(host.head());
    assert_eq!(fork.prompt(), prompt);
    assert!(fork.asks(budget::propose).is_empty());
    // What the fork decides is its own.
    fork.exchange("f1", "Grep", "{}", &lines(60_000));
    assert_eq!(replaces(&fork.runs(budget::propose)).len(), 1);
    assert!(host.asks(budget::propose).is_empty());
}

#[test]
fn b6_the_same_proposal_from_a_log_that_was_folded_again() {
    let host = response(&[49_000, 60_000, 50_000, 49_500, 49_900, 40_000], "");
    assert_eq!(
        host.reopened().asks(budget::propose),
        host.asks(budget::propose)
    );
}

#[test]
fn b6_helpers_and_sub_agents_judge_their_own() {
    for kind in ["sub", "side"] {
        let mut host = Host::of(kind, "claude-code", "");
        host.says("Go.");
        host.exchange("t1", "Grep", "{}", &lines(50_001));
        assert_eq!(replaces(&host.asks(budget::propose)).len(), 1, "{kind}");
    }
}

#[test]
fn b4_the_way_back_is_an_undo_and_it_holds() {
    let mut host = brings("Grep", 50_001);
    let whole = host.prompt();
    host.runs(budget::propose);
    let small = host.prompt();
    assert_ne!(small, whole);
    let event = host.undo(6);
    assert_eq!(host.prompt(), whole);
    assert!(
        host.asks(budget::propose).is_empty(),
        "it is not spilled again"
    );
    host.undo(event);
    assert_eq!(host.prompt(), small);
    // A rollback to before takes the decision back with it: it is made anew.
    host.back(5);
    assert_eq!(host.prompt(), whole);
    host.runs(budget::propose);
    assert_eq!(host.prompt(), small);
}

#[test]
fn b7_a_result_of_too_many_tokens_loses_its_middle() {
    let mut host = Host::new("five-layer", "");
    host.says("Go.");
    // A quarter of the bytes are tokens: 10,000.25 of them, rounded up.
    let text = lines(40_001);
    host.exchange("t1", "grep", "{}", &text);
    let proposal = host.runs(budget::propose);
    assert_eq!(replaces(&proposal), [at(5, 0)]);
    let prompt = host.prompt();
    let (head, tail) = (&text[..23_999], &text[text.len() - 8_000..]);
    let expected = format!("{head}\n[...truncated...]\n{tail}");
    let shown = recount_events::escape(&expected);
    assert!(
        prompt.contains(&shown),
        "{} of {}",
        prompt.len(),
        shown.len()
    );

    let mut host = Host::new("five-layer", "");
    host.says("Go.");
    host.exchange("t1", "grep", "{}", &lines(40_000));
    let proposal = host.asks(budget::propose);
    assert_eq!(replaces(&proposal), []);
    assert_eq!(judges(&proposal), [at(5, 0)]);
}

#[test]
fn b8_an_empty_result_is_left_to_the_projection() {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    host.calls(&[
        ("t1", "Bash", "{}"),
        ("t2", "Bash", "{}"),
        ("t3", "Bash", "{}"),
    ]);
    host.result("t1", "");
    host.result_of("t2", "ok", "[]");
    host.log(r#"{"type":"tool_result","call":"t3"}"#);
    let before = host.prompt();
    assert_eq!(before.matches("(no output)").count(), 3);
    let proposal = host.runs(budget::propose);
    assert_eq!(replaces(&proposal), []);
    assert_eq!(judges(&proposal).len(), 3);
    assert_eq!(host.prompt(), before);
}

#[test]
fn b1_nothing_is_proposed_without_limits() {
    for preset in ["none", "cline"] {
        let mut host = Host::new(preset, "");
        host.says("Go.");
        host.exchange("t1", "Grep", "{}", &lines(500_000));
        assert!(host.asks(budget::propose).is_empty(), "{preset}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// B7: what is kept holds whole clusters, in order, and no more than its share.
    #[test]
    fn b7_nothing_that_a_reader_sees_as_one_character_is_split(
        parts in prop::collection::vec(prop::sample::select(vec![
            "a", " ", "\n", "é", "e\u{301}", "世", "😀", "👩‍👩‍👧‍👦", "🇩🇪", "🇫🇷", "각", "\r\n", "क्षि",
        ]), 0..400),
        limit in 1_u64..120,
    ) {
        use unicode_segmentation::UnicodeSegmentation;
        let text: String = parts.concat();
        let mut host = Host::new("five-layer", &format!(r#"{{"budget":{{"result_tokens":{limit}}}}}"#));
        host.says("Go.");
        host.exchange("t1", "grep", "{}", &text);
        let view = View::of(&host.state, Millis(host.now), true);
        let proposal = budget::propose(&view.at());
        let over = (text.len() as u64).div_ceil(4) > limit;
        prop_assert!(over || replaces(&proposal).is_empty());
        for proposed in &proposal.events {
            if let Body::Replace(replace) = &proposed.body {
                let shown = replace.with.blocks[0].words().unwrap().into_owned();
                let (head, tail) = shown.split_once("\n[...truncated...]\n").unwrap();
                let clusters: Vec<&str> = text.graphemes(true).collect();
                let kept: Vec<&str> = head.graphemes(true).collect();
                prop_assert_eq!(&clusters[..kept.len()], &kept[..]);
                let kept: Vec<&str> = tail.graphemes(true).collect();
                prop_assert_eq!(&clusters[clusters.len() - kept.len()..], &kept[..]);
                prop_assert!((head.len() as u64).div_ceil(4) <= limit * 60 / 100);
                prop_assert!((tail.len() as u64).div_ceil(4) <= limit * 20 / 100);
                prop_assert!(cut::units(&shown) < cut::units(&text));
            }
        }
    }
}
