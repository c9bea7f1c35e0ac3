//! P2: attachments.

use crate::common::Host;
use recount_policies::Proposal;
use recount_policies::assembly::{propose, wrap_file};

fn host() -> Host {
    let mut host = Host::new("five-layer", "");
    host.says("Hello.");
    host
}

const TODO: &str = r#"{"type":"todo","items":[{"content":"write","status":"done"},{"content":"test","status":"pending"}]}"#;

fn memory(host: &mut Host, id: &str, text: &str, rest: &str) -> u64 {
    host.log(&format!(
        r#"{{"type":"memory","id":"{id}","text":"{text}"{rest}}}"#
    ))
}

/// Asks twice: what was attached is not attached again.
fn settles(host: &mut Host) -> Proposal {
    let first = host.runs(propose);
    assert!(host.asks(propose).is_empty(), "attached twice");
    first
}

#[test]
fn p2_the_to_do_list_is_attached_when_it_changes() {
    let mut host = host();
    assert!(host.asks(propose).is_empty());
    host.log(TODO);
    let proposal = settles(&mut host);
    assert_eq!(proposal.did, "attached what changed: todo");
    assert!(
        host.prompt()
            .contains(r"<todo>\n- [done] write\n- [pending] test\n</todo>")
    );
    // It stands behind everything, also behind what is said later.
    host.says("And then?");
    assert!(host.asks(propose).is_empty());
    assert!(
        host.prompt()
            .ends_with(r#"</todo>"}]}],"model":"claude-test","max_tokens":32000}"#)
    );
    host.log(r#"{"type":"todo","items":[]}"#);
    settles(&mut host);
    assert!(!host.prompt().contains("<todo>"));
}

#[test]
fn p2_where_thinking_is_bound_it_stays_where_it_was_sent() {
    let mut host = host();
    host.profile(r#"{"thinking":{"binds":true,"keeps":"all"}}"#);
    host.log(TODO);
    settles(&mut host);
    host.answers("Yes.");
    host.says("And then?");
    let before = host.prompt();
    assert!(host.asks(propose).is_empty());
    host.log(r#"{"type":"todo","items":["only this"]}"#);
    settles(&mut host);
    let after = host.prompt();
    assert!(after.contains("- [done] write") && after.contains("- only this"));
    let common = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(one, other)| one == other);
    assert!(
        common.count() > before.find("And then?").unwrap(),
        "nothing earlier moved"
    );
    // An empty list is said, since the old one still stands there.
    host.log(r#"{"type":"todo","items":[]}"#);
    settles(&mut host);
    assert!(host.prompt().contains(r"<todo>\nempty\n</todo>"));
}

#[test]
fn p2_what_a_fold_hid_is_attached_again() {
    let mut host = host();
    host.profile(r#"{"thinking":{"binds":true,"keeps":"all"}}"#);
    let first = host.head() - 1;
    host.log(TODO);
    settles(&mut host);
    host.answers("Yes.");
    host.says("Go on.");
    let last = host.head() - 1;
    let commit = host.log(&format!(
        r#"{{"type":"compact_commit","first":{first},"last":{last},"summary":"s"}}"#
    ));
    assert!(!host.prompt().contains("<todo>"));
    settles(&mut host);
    assert!(host.prompt().contains("<todo>"));
    // The way back: both stand there, at their places; nothing is proposed.
    host.undo(commit);
    assert!(host.asks(propose).is_empty());
}

#[test]
fn p2_from_a_model_that_binds_to_one_that_does_not_and_back() {
    let mut host = host();
    host.log(TODO);
    settles(&mut host);
    let binds = host.profile(r#"{"thinking":{"binds":true,"keeps":"all"}}"#);
    settles(&mut host);
    assert_eq!(host.prompt().matches("<todo>").count(), 1);
    assert!(host.state.timeline().tails.is_empty());
    host.back(binds - 1);
    assert!(host.asks(propose).is_empty());
    assert_eq!(host.prompt().matches("<todo>").count(), 1);
}

#[test]
fn p2_the_newest_five_memories_of_the_session() {
    let mut host = host();
    for note in 0..6 {
        memory(&mut host, &format!("m{note}"), &format!("note {note}."), "");
    }
    settles(&mut host);
    let prompt = host.prompt();
    assert!(!prompt.contains("note 0."));
    assert!(prompt.contains(r"<session-memory>\n- note 1.\n- note 2."));
    // A memory of the same name takes the earlier one's place.
    memory(&mut host, "m1", "note one.", "");
    settles(&mut host);
    assert!(!host.prompt().contains("note 1."));
    assert!(host.prompt().contains(r"- note 5.\n- note one.\n"));
}

#[test]
fn p2_memories_up_to_their_tokens() {
    // A token of the kit is four bytes: three notes of 40 bytes, 10 tokens each.
    let text = "x".repeat(40);
    let shown = |limit: u64| {
        let mut host = Host::new(
            "five-layer",
            &format!(r#"{{"assembly":{{"memory_tokens":{limit}}}}}"#),
        );
        host.says("Hello.");
        for id in ["a", "b", "c"] {
            memory(&mut host, id, &format!("{id}{}", &text[1..]), "");
        }
        settles(&mut host);
        host.prompt()
    };
    assert_eq!(shown(30).matches(&text[1..]).count(), 3);
    assert_eq!(shown(29).matches(&text[1..]).count(), 2);
    assert!(shown(29).contains("- b"), "the older one gives way");
    assert_eq!(shown(10).matches(&text[1..]).count(), 1);
    // Of the newest at least the beginning.
    let cut = shown(9);
    assert_eq!(cut.matches(&text[1..]).count(), 0);
    assert!(cut.contains(&format!("- c{}\\n", "x".repeat(35))));
    assert!(!shown(0).contains("session-memory"));
}

#[test]
fn p2_memories_of_the_person_by_importance() {
    let mut host = host();
    memory(
        &mut host,
        "a",
        "minor.",
        r#","scope":"user","importance":0"#,
    );
    memory(
        &mut host,
        "b",
        "liked.",
        r#","scope":"user","importance":1"#,
    );
    memory(
        &mut host,
        "c",
        "vital.",
        r#","scope":"user","importance":9"#,
    );
    settles(&mut host);
    assert!(
        host.prompt()
            .contains(r"<user-memory>\n- vital.\n- liked.\n</user-memory>")
    );
}

#[test]
fn p2_decisions_are_the_same_when_the_log_is_folded_again_and_go_back_with_it() {
    let mut host = host();
    let before = host.head();
    host.log(TODO);
    settles(&mut host);
    let again = host.reopened();
    assert!(again.asks(propose).is_empty());
    assert_eq!(again.prompt(), host.prompt());
    host.back(before);
    assert!(host.asks(propose).is_empty());
    assert!(!host.prompt().contains("<todo>"));
}

#[test]
fn p2_not_in_helpers_sessions_and_not_where_the_policy_attaches_nothing() {
    let mut side = Host::of("side", "five-layer", "");
    side.log(TODO);
    assert!(side.asks(propose).is_empty());
    let mut other = Host::new("claude-code", "");
    other.log(TODO);
    assert!(other.asks(propose).is_empty());
    other.policy("claude-code", r#"{"assembly":{"attachments":true}}"#);
    assert!(!other.asks(propose).is_empty());
}

#[test]
fn p2_a_file_is_wrapped_with_its_path() {
    assert_eq!(
        wrap_file("a.rs", "fn a() {}\n"),
        "<file path=\"a.rs\">\nfn a() {}\n</file>"
    );
    assert_eq!(
        wrap_file("a\"<b>", "x"),
        "<file path=\"a&quot;&lt;b&gt;\">\nx\n</file>"
    );
}
