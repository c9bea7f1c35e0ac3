//! ② Zombies.

use crate::common::Host;
use recount_events::{Body, Seq};
use recount_policies::{Proposal, snip};

/// The positions that a proposal hides.
pub(crate) fn hides(proposal: &Proposal) -> Vec<u64> {
    let bodies = proposal.events.iter().map(|proposed| &proposed.body);
    bodies
        .flat_map(|body| match body {
            Body::Snip(snip) => snip.messages.iter().map(|Seq(seq)| *seq).collect(),
            _ => Vec::new(),
        })
        .collect()
}

/// Why.
fn causes(proposal: &Proposal) -> Vec<String> {
    let bodies = proposal.events.iter().map(|proposed| &proposed.body);
    bodies
        .filter_map(|body| match body {
            Body::Snip(snip) => Some(snip.cause.as_ref()?.words()?.into_owned()),
            _ => None,
        })
        .collect()
}

/// No position.
const NONE: [u64; 0] = [];

const A: &str = r#"{"file_path":"a.rs"}"#;

fn session() -> Host {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    host
}

/// Five newer responses, and the person speaks: what was before is old, and no loop is open.
fn settle(host: &mut Host) {
    for word in ["one", "two", "three", "four", "five"] {
        host.answers(word);
    }
    host.says("Next.");
}

#[test]
fn s1_a_read_that_a_later_one_repeats_goes() {
    let mut host = session();
    let old = host.exchange("t1", "Read", A, "fn main() {}");
    host.exchange("t2", "Read", A, "fn main() {}");
    settle(&mut host);
    let proposal = host.runs(snip::propose);
    assert_eq!(hides(&proposal), [old, old + 1]);
    assert!(causes(&proposal)[0].starts_with("superseded reads"));
    assert_eq!(proposal.did, "removed: 1 superseded reads");
    assert_eq!(host.prompt().matches("fn main() {}").count(), 1);
    assert!(host.asks(snip::propose).is_empty());
}

#[test]
fn s1_the_order_of_arguments_and_the_name_of_the_host_do_not_matter() {
    let mut host = session();
    let old = host.exchange("t1", "read_file", r#"{"path":"a.rs","offset":1}"#, "x = 1");
    host.exchange(
        "t2",
        "read_file",
        r#"{ "offset": 1, "path": "a.rs" }"#,
        "x = 1",
    );
    settle(&mut host);
    assert_eq!(hides(&host.asks(snip::propose)), [old, old + 1]);
}

#[test]
fn s1_reads_that_differ_stay() {
    let mut host = session();
    host.exchange("t1", "Read", A, "fn main() {}");
    host.exchange("t2", "Read", A, "fn main() { }");
    host.exchange("t3", "Read", r#"{"file_path":"b.rs"}"#, "fn main() {}");
    host.exchange(
        "t4",
        "Read",
        r#"{"file_path":"a.rs","offset":2}"#,
        "fn main() {}",
    );
    settle(&mut host);
    assert_eq!(hides(&host.asks(snip::propose)), NONE);
}

#[test]
fn s1_a_read_stays_when_the_file_was_changed_since() {
    let mut host = session();
    host.exchange("t1", "Read", A, "fn main() {}");
    host.exchange("t2", "Edit", A, "done");
    host.exchange("t3", "Read", A, "fn main() {}");
    settle(&mut host);
    assert_eq!(hides(&host.asks(snip::propose)), NONE);

    let mut host = session();
    let old = host.exchange("t1", "Read", A, "fn main() {}");
    host.exchange("t2", "Edit", r#"{"file_path":"b.rs"}"#, "done");
    host.exchange("t3", "Read", A, "fn main() {}");
    settle(&mut host);
    assert_eq!(
        hides(&host.asks(snip::propose)),
        [old, old + 1],
        "another file"
    );
}

#[test]
fn s1_equal_digests_of_the_host_say_that_a_file_is_unchanged() {
    let read = |seq: u64, digit: &str| {
        let digest = digit.repeat(64);
        format!(r#"{{"type":"file_read","path":"a.rs","block":[{seq},0],"digest":"{digest}"}}"#)
    };
    let mut host = session();
    let old = host.exchange("t1", "Read", A, "1: fn main() {}");
    let new = host.exchange("t2", "Read", A, "fn main() {} // as of today");
    settle(&mut host);
    assert_eq!(hides(&host.asks(snip::propose)), NONE);
    host.log(&read(old + 1, "a"));
    let last = host.log(&read(new + 1, "a"));
    assert_eq!(hides(&host.asks(snip::propose)), [old, old + 1]);
    host.undo(last);
    host.log(&read(new + 1, "b"));
    assert_eq!(hides(&host.asks(snip::propose)), NONE);
}

#[test]
fn s1_a_call_that_brought_the_same_again_goes() {
    let mut host = session();
    let grep = r#"{"pattern":"main"}"#;
    let first = host.exchange("t1", "Grep", grep, "src/main.rs:1: fn main() {}");
    let second = host.exchange("t2", "Grep", grep, "src/main.rs:1: fn main() {}");
    host.exchange("t3", "Grep", grep, "src/main.rs:1: fn main() {}");
    host.exchange("t4", "Glob", grep, "src/main.rs:1: fn main() {}");
    settle(&mut host);
    let proposal = host.asks(snip::propose);
    assert_eq!(hides(&proposal), [first, first + 1, second, second + 1]);
    assert!(causes(&proposal)[0].starts_with("duplicates"));
}

#[test]
fn s1_what_changes_something_is_no_duplicate() {
    let mut host = session();
    host.exchange("t1", "Write", A, "written");
    host.exchange("t2", "Write", A, "written");
    host.exchange("t3", "TodoWrite", "{}", "ok");
    host.exchange("t4", "TodoWrite", "{}", "ok");
    settle(&mut host);
    assert_eq!(hides(&host.asks(snip::propose)), NONE);
}

#[test]
fn s1_empty_messages_go_but_never_those_of_the_person() {
    let mut host = session();
    let blank = host.answers("  \n");
    host.says("");
    let nothing = host.log(r#"{"type":"message","role":"assistant","content":[]}"#);
    host.log(r#"{"type":"message","role":"assistant","content":[{"type":"text","text":""},{"type":"image","source":{}}]}"#);
    settle(&mut host);
    let before = host.prompt();
    let proposal = host.runs(snip::propose);
    assert_eq!(hides(&proposal), [blank, nothing]);
    assert!(causes(&proposal)[0].starts_with("empty messages"));
    assert_eq!(host.prompt(), before, "they had no bytes");
}

#[test]
fn s1_progress_goes_when_it_is_over_and_what_is_said_twice_goes_once() {
    let mut host = session();
    let inject = |slot: &str, words: &str, lifetime: &str| {
        format!(
            r#"{{"type":"inject","slot":"{slot}","content":"{words}","lifetime":"{lifetime}"}}"#
        )
    };
    let half = host.log(&inject("progress:build", "50 %", "once"));
    let whole = host.log(&inject("progress:build", "100 %", "once"));
    let rule = host.log(&inject("rule", "Be brief.", "once"));
    host.log(&inject("note", "one", "once"));
    host.log(&inject("note", "two", "once"));
    host.log(&inject("rule", "Be brief.", "once"));
    host.log(&inject("progressive", "a", "once"));
    host.log(&inject("progressive", "b", "once"));
    host.log(&inject("progress", "for ever", "session"));
    settle(&mut host);
    let proposal = host.asks(snip::propose);
    assert_eq!(hides(&proposal), [half, whole, rule]);
    assert!(causes(&proposal)[0].starts_with("markers"));
}

#[test]
fn s1_each_heuristic_has_its_switch() {
    let mut host = session();
    host.exchange("t1", "Read", A, "fn main() {}");
    host.exchange("t2", "Read", A, "fn main() {}");
    host.exchange("t3", "Bash", "{}", "same");
    host.exchange("t4", "Bash", "{}", "same");
    host.answers("");
    host.log(r#"{"type":"inject","slot":"progress","content":"1"}"#);
    host.log(r#"{"type":"inject","slot":"progress","content":"2"}"#);
    settle(&mut host);
    assert_eq!(host.asks(snip::propose).events.len(), 4);
    for (switch, cause) in [
        ("superseded_reads", "superseded reads"),
        ("duplicates", "duplicates"),
        ("empty", "empty messages"),
        ("markers", "markers"),
    ] {
        let mut off = host.clone();
        off.policy(
            "claude-code",
            &format!(r#"{{"snip":{{"{switch}":false}}}}"#),
        );
        let left = causes(&off.asks(snip::propose));
        assert_eq!(left.len(), 3, "{switch}");
        assert!(!left.iter().any(|left| left.starts_with(cause)), "{switch}");
    }
    host.policy("five-layer", "");
    assert!(host.asks(snip::propose).is_empty());
}

#[test]
fn s2_a_response_with_another_call_stays_whole() {
    let mut host = session();
    host.calls(&[("t1", "Read", A), ("t2", "Bash", "{}")]);
    host.result("t1", "fn main() {}");
    host.result("t2", "unique");
    let both = host.calls(&[("t3", "Read", A), ("t4", "Read", r#"{"file_path":"b"}"#)]);
    host.result("t3", "fn main() {}");
    host.result("t4", "b");
    host.exchange("t5", "Read", A, "fn main() {}");
    host.exchange("t6", "Read", r#"{"file_path":"b"}"#, "b");
    settle(&mut host);
    let proposal = host.runs(snip::propose);
    assert_eq!(hides(&proposal), [both, both + 1, both + 2]);
}

#[test]
fn s2_words_of_the_model_keep_their_response() {
    let said = |words: &str| {
        let mut host = session();
        let text = recount_events::escape(words);
        let first = host.log(&format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":{text}}},{{"type":"tool_use","id":"t1","name":"Read","input":{A}}}]}}"#
        ));
        host.result("t1", "fn main() {}");
        host.exchange("t2", "Read", A, "fn main() {}");
        settle(&mut host);
        (first, hides(&host.asks(snip::propose)))
    };
    let (first, hidden) = said(&"w".repeat(200));
    assert_eq!(hidden, [first, first + 1], "an announcement");
    assert_eq!(said(&"w".repeat(201)).1, NONE, "a thought");
}

#[test]
fn s2_a_result_beside_words_of_the_person_stays() {
    let mut host = session();
    host.calls(&[("t1", "Read", A)]);
    host.log(r#"{"type":"message","role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"text","text":"Look here!"}]}"#);
    host.exchange("t2", "Read", A, "x");
    settle(&mut host);
    assert_eq!(hides(&host.asks(snip::propose)), NONE);
}

#[test]
fn s2_the_newest_five_responses_stay() {
    let mut host = session();
    let old = host.exchange("t1", "Read", A, "x");
    host.exchange("t2", "Read", A, "x");
    for word in ["one", "two", "three"] {
        host.answers(word);
    }
    host.says("Next.");
    assert_eq!(hides(&host.asks(snip::propose)), NONE, "it is the fifth");
    host.answers("four");
    host.says("Next.");
    assert_eq!(
        hides(&host.asks(snip::propose)),
        [old, old + 1],
        "it is the sixth"
    );
}

#[test]
fn s2_nothing_is_taken_from_the_open_loop() {
    let mut host = session();
    let first = host.exchange("t1", "Read", A, "x");
    for call in 2..10 {
        host.exchange(&format!("t{call}"), "Read", A, "x");
    }
    assert_eq!(hides(&host.asks(snip::propose)), NONE);
    host.answers("Done.");
    let hidden = hides(&host.asks(snip::propose));
    assert_eq!(hidden.first(), Some(&first));
    assert_eq!(hidden.len(), 2 * 5, "the newest five responses stay");
}

#[test]
fn s2_what_stands_in_front_of_bound_thinking_stays_unless_it_is_allowed() {
    let thinking = |binds: bool, params: &str| {
        let mut host = Host::new("claude-code", params);
        host.profile(&format!(
            r#"{{"thinking":{{"binds":{binds},"keeps":"all"}},"params":{{"thinking":{{"type":"adaptive"}}}}}}"#
        ));
        host.says("Go.");
        let old = host.exchange("t1", "Read", A, "x");
        host.exchange("t2", "Read", A, "x");
        let root = host.view().projection.digest;
        host.log(&format!(
            r#"{{"type":"message","role":"assistant","issuer":"anthropic","model":"claude-test","issued":"{root}","content":[{{"type":"thinking","thinking":"hm","signature":"sig"}},{{"type":"text","text":"I see."}}]}}"#
        ));
        settle(&mut host);
        assert!(host.prompt().contains("\"signature\":\"sig\""));
        let proposal = host.runs(snip::propose);
        (old, hides(&proposal), proposal.did, host)
    };
    let (_, hidden, _, _) = thinking(true, "");
    assert_eq!(hidden, NONE);
    let (old, hidden, did, host) = thinking(true, r#"{"snip":{"before_thinking":true}}"#);
    assert_eq!(hidden, [old, old + 1]);
    assert!(
        did.contains("1 of them in front of signed thinking"),
        "{did}"
    );
    assert!(
        !host.prompt().contains("signature"),
        "the projection leaves it out"
    );
    let (old, hidden, did, host) = thinking(false, "");
    assert_eq!(hidden, [old, old + 1], "nothing becomes invalid");
    assert!(!did.contains("thinking"));
    assert!(host.prompt().contains("\"signature\":\"sig\""));
}

#[test]
fn s2_helpers_and_sessions_without_automatic_tiers_remove_nothing() {
    let fill = |host: &mut Host| {
        host.says("Go.");
        host.exchange("t1", "Read", A, "x");
        host.exchange("t2", "Read", A, "x");
        settle(host);
        host.asks(snip::propose).events.len()
    };
    assert_eq!(fill(&mut Host::of("side", "claude-code", "")), 0);
    assert_eq!(fill(&mut Host::of("sub", "claude-code", "")), 1);
    let mut host = Host::new("claude-code", "");
    host.log(r#"{"type":"policy","preset":"claude-code","auto":false}"#);
    assert_eq!(fill(&mut host), 0);
    assert_eq!(fill(&mut Host::new("none", "")), 0);
}

#[test]
fn s2_what_a_cache_edit_names_stays_where_it_is() {
    let mut host = session();
    let unit = host.exchange("t1", "Read", A, "x");
    host.exchange("t2", "Read", A, "x");
    settle(&mut host);
    host.log(&format!(
        r#"{{"type":"cache_edit","id":"e1","calls":[[{unit},0]],"baseline":0}}"#
    ));
    assert_eq!(hides(&host.asks(snip::propose)), NONE);
}

#[test]
fn s3_it_reports_what_it_freed_and_leaves_an_event() {
    let mut host = session();
    host.exchange("t1", "Read", A, &"x".repeat(4_000));
    host.exchange("t2", "Read", A, &"x".repeat(4_000));
    settle(&mut host);
    let before = host.view().fill.counted;
    let proposal = host.runs(snip::propose);
    let after = host.view().fill.counted;
    assert_eq!(proposal.freed, before - after);
    assert!(matches!(host.log.last().unwrap().body, Body::Snip(_)));
    // In the provider's tokens.
    host.undo(host.head());
    let again = host.reopened();
    let mut view = again.view();
    view.fill.factor_milli = 1_500;
    assert!(snip::propose(&view.at()).is_empty(), "it was brought back");
    let mut fresh = session();
    fresh.exchange("t1", "Read", A, &"x".repeat(4_000));
    fresh.exchange("t2", "Read", A, &"x".repeat(4_000));
    settle(&mut fresh);
    let mut view = fresh.view();
    view.fill.factor_milli = 1_500;
    assert_eq!(
        snip::propose(&view.at()).freed,
        ((before - after) * 3).div_ceil(2)
    );
}

#[test]
fn s3_too_little_is_not_worth_a_changed_prefix() {
    let freed = |least: u64| {
        let mut host = Host::new(
            "claude-code",
            &format!(r#"{{"snip":{{"least_tokens":{least}}}}}"#),
        );
        host.says("Go.");
        host.exchange("t1", "Read", A, &"x".repeat(4_000));
        host.exchange("t2", "Read", A, &"x".repeat(4_000));
        settle(&mut host);
        host.asks(snip::propose).freed
    };
    let all = freed(0);
    assert!(all > 1_000);
    assert_eq!(freed(all), all);
    assert_eq!(freed(all + 1), 0);
}

#[test]
fn s1_the_same_after_a_reopening_and_the_way_back() {
    let mut host = session();
    host.exchange("t1", "Read", A, "fn main() {}");
    host.exchange("t2", "Read", A, "fn main() {}");
    settle(&mut host);
    let before = host.prompt();
    let cut = host.head();
    assert_eq!(
        host.reopened().asks(snip::propose),
        host.asks(snip::propose)
    );
    host.runs(snip::propose);
    let after = host.prompt();
    assert_eq!(host.reopened().prompt(), after);
    assert!(host.reopened().asks(snip::propose).is_empty());
    let undo = host.undo(cut + 1);
    assert_eq!(host.prompt(), before);
    assert!(
        host.asks(snip::propose).is_empty(),
        "what was brought back stays"
    );
    host.undo(undo);
    assert_eq!(host.prompt(), after);
    host.back(cut);
    assert_eq!(host.prompt(), before);
    host.runs(snip::propose);
    assert_eq!(
        host.prompt(),
        after,
        "a rollback takes the decision back: it is made anew"
    );
}
