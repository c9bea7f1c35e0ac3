//! ① Bytes and pictures of the body.

use crate::budget::{lines, replaces};
use crate::common::Host;
use recount_policies::budget;

/// A picture with so many bytes of data.
fn picture(bytes: usize) -> String {
    let data = "A".repeat(bytes.next_multiple_of(4));
    format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
    )
}

fn shows(host: &mut Host, bytes: usize) -> u64 {
    host.log(&format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"text","text":"See."}},{}]}}"#,
        picture(bytes)
    ))
}

/// No position.
const NONE: [u64; 0] = [];

fn positions(host: &Host) -> Vec<u64> {
    let blocks = replaces(&host.asks(budget::propose));
    blocks.iter().map(|block| block.seq.0).collect()
}

#[test]
fn b9_the_oldest_pictures_leave_when_there_are_too_many() {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"images":{"count":10}}"#);
    let first = shows(&mut host, 100);
    for _ in 1..9 {
        shows(&mut host, 100);
    }
    assert_eq!(positions(&host), NONE, "nine tenths of the limit are fine");
    shows(&mut host, 100);
    assert_eq!(positions(&host), [first]);
    // Beyond the limit the renderer leaves out the newest: they count all the same.
    for _ in 0..5 {
        shows(&mut host, 100);
    }
    assert!(host.prompt().contains("too many images"));
    assert_eq!(positions(&host).len(), 6);
    host.runs(budget::propose);
    assert!(!host.prompt().contains("too many images"));
    assert_eq!(host.view().fill.images, 9);
    assert!(
        host.prompt()
            .contains("[image left out to keep the request within its limits]")
    );
    assert!(host.prompt().contains("See."), "the person's words stay");
    assert!(host.asks(budget::propose).is_empty());
}

#[test]
fn b9_the_largest_leave_when_the_body_is_too_large() {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"body_bytes":100000}"#);
    shows(&mut host, 10_000);
    let large = shows(&mut host, 60_000);
    host.exchange("t1", "Grep", "{}", &lines(18_000));
    host.runs(budget::propose);
    host.says("And now?");
    let under = host.view().fill.bytes;
    assert!(under <= 90_000, "{under}");
    assert_eq!(positions(&host), NONE);
    shows(&mut host, 500);
    let bytes = host.view().fill.bytes;
    assert!(bytes <= 90_000);
    host.says(&"x".repeat(usize::try_from(90_001 - bytes).unwrap()));
    assert_eq!(positions(&host), [large]);
    host.runs(budget::propose);
    assert!(host.view().fill.bytes < 40_000);
    assert!(host.asks(budget::propose).is_empty());
    let prompt = host.prompt();
    assert_eq!(host.reopened().prompt(), prompt);
}

#[test]
fn b9_results_give_up_pictures_documents_and_then_words() {
    let mut host = Host::new("claude-code", "");
    host.says("Go.");
    host.calls(&[
        ("t1", "Shot", "{}"),
        ("t2", "Fetch", "{}"),
        ("t3", "Grep", "{}"),
    ]);
    let shot = host.result_of(
        "t1",
        "ok",
        &format!(
            r#"[{{"type":"text","text":"the page"}},{}]"#,
            picture(20_000)
        ),
    );
    let data = "A".repeat(30_000);
    let fetch = host.result_of(
        "t2",
        "ok",
        &format!(r#"[{{"type":"document","source":{{"type":"base64","media_type":"application/pdf","data":"{data}"}}}}]"#),
    );
    let grep = host.result("t3", &lines(40_000));
    host.answers("Done.");
    host.says("Thanks.");
    host.runs(budget::propose);
    host.profile(r#"{"body_bytes":90000}"#);
    assert_eq!(positions(&host), [fetch], "the largest that is no words");
    host.profile(r#"{"body_bytes":60000}"#);
    assert_eq!(positions(&host), [fetch, shot]);
    host.profile(r#"{"body_bytes":30000}"#);
    assert_eq!(positions(&host), [fetch, shot, grep]);
    host.runs(budget::propose);
    let prompt = host.prompt();
    assert!(prompt.contains("the page"));
    assert!(prompt.contains("[image left out to keep"));
    assert!(prompt.contains("[document left out to keep"));
    assert!(prompt.contains(&format!("/spill/talk-1/{grep}-0.txt")));
    assert!(host.asks(budget::propose).is_empty());
}

#[test]
fn b9_the_newest_turn_gives_last_and_what_was_brought_back_stays() {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"body_bytes":50000}"#);
    let old = shows(&mut host, 10_000);
    host.answers("I see.");
    let new = shows(&mut host, 40_000);
    assert_eq!(positions(&host), [old], "smaller, but not of this turn");
    host.runs(budget::propose);
    host.undo(host.head());
    assert_eq!(positions(&host), [new], "the other one was brought back");
    host.runs(budget::propose);
    assert!(host.view().fill.bytes < 45_000);
    assert_eq!(positions(&host), NONE);
}

/// What left for a limit of its own in the same round is out: it is neither written nor replaced twice.
#[test]
fn b9_what_this_round_took_out_is_not_taken_out_again() {
    let mut host = Host::new("claude-code", "");
    host.profile(r#"{"body_bytes":50000}"#);
    host.says(&"x".repeat(60_000));
    host.exchange("t1", "Bash", "{}", &lines(120_000));
    let proposal = host.asks(budget::propose);
    let mut blocks = replaces(&proposal);
    assert!(!blocks.is_empty());
    let all = blocks.len();
    blocks.sort();
    blocks.dedup();
    assert_eq!((blocks.len(), proposal.spills.len()), (all, all));
    assert!(proposal.did.contains("1 written"), "{}", proposal.did);
}
