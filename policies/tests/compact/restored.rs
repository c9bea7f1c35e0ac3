//! A8: which files come back.

use super::common::Host;
use super::talk::*;
use recount_events::{Body, Trigger};
use recount_policies::Proposal;
use recount_policies::compact::Ask;

const ASK: Ask<'static> = Ask {
    trigger: Trigger::Auto,
    level: 0,
    custom: None,
    from: None,
    up_to: None,
    whole: true,
};

/// Slots and words of what a proposal injects, with the cause.
fn injected(proposal: &Proposal) -> Vec<(String, String, Option<u64>)> {
    let all = proposal
        .events
        .iter()
        .filter_map(|proposed| match &proposed.body {
            Body::Inject(inject) => Some((
                inject.slot.as_str().unwrap().to_owned(),
                inject.content.blocks[0].words().unwrap().into_owned(),
                proposed.because.map(|seq| seq.0),
            )),
            _ => None,
        });
    all.collect()
}

fn read(host: &mut Host, path: &str, tokens: usize) {
    let id = format!("read_{}", host.head());
    host.exchange(
        &id,
        "Read",
        &format!(r#"{{"file_path":"{path}"}}"#),
        &format!("{path}: {}", words(tokens)),
    );
}

fn folds(host: &Host) -> Proposal {
    let plan = plan(host, &ASK).unwrap();
    let proposal = committed(host, &plan, "short");
    assert!(!proposal.is_empty(), "{}", proposal.did);
    proposal
}

fn names(proposal: &Proposal) -> Vec<String> {
    injected(proposal)
        .into_iter()
        .map(|(slot, ..)| slot)
        .collect()
}

#[test]
fn a8_the_five_most_recently_read_files_come_back() {
    let mut host = Host::new("claude-code", "");
    for number in 1..=7 {
        read(&mut host, &format!("/f{number}"), 100);
    }
    read(&mut host, "/f2", 100);
    turn(&mut host, 1, 100);
    let proposal = folds(&host);
    assert_eq!(
        names(&proposal),
        ["file:/f4", "file:/f5", "file:/f6", "file:/f7", "file:/f2"]
    );
    let commit = host.head() + 1;
    for (_, words, because) in injected(&proposal) {
        assert_eq!(because, Some(commit));
        assert_eq!(words.lines().count(), 2);
    }
    let before = host.prompt();
    host.accept(&proposal);
    assert_eq!(host.reopened().prompt(), host.prompt());
    assert!(host.prompt().contains("/f2: abc"));
    // What came back falls with the commit.
    host.undo(commit);
    assert_eq!(host.prompt(), before);
}

/// 5,000 tokens a file, 50,000 together; five-layer 2,000 and 10,000 within its cap.
#[test]
fn a8_a_file_over_its_share_comes_back_as_its_path() {
    for (preset, share) in [("claude-code", 5_000), ("five-layer", 2_000)] {
        for (tokens, whole) in [(share - 100, true), (share + 100, false)] {
            let mut host = Host::new(preset, r#"{"compact":{"keep_tokens":10}}"#);
            host.says("read it");
            read(&mut host, "/big", tokens);
            turn(&mut host, 1, 100);
            let all = injected(&folds(&host));
            assert_eq!(all.len(), 1, "{preset} {tokens}");
            assert_eq!(all[0].1.contains("abc"), whole, "{preset} {tokens}");
            assert!(all[0].1.contains("/big"));
        }
    }
}

#[test]
fn a8_what_is_still_to_be_seen_does_not_come_back() {
    let mut host = Host::new("claude-code", "");
    read(&mut host, "/a", 100);
    read(&mut host, "/b", 100);
    host.says("again");
    read(&mut host, "/b", 100);
    assert_eq!(names(&folds(&host)), ["file:/a"]);
}

#[test]
fn a8_a_file_that_was_changed_since_comes_back_as_its_path() {
    let mut host = Host::new("claude-code", "");
    read(&mut host, "/a", 100);
    read(&mut host, "/b", 100);
    host.exchange(
        "e",
        "Edit",
        r#"{"file_path":"/a","old_string":"x","new_string":"y"}"#,
        "done",
    );
    host.says("next");
    host.exchange("w", "Write", r#"{"file_path":"/b","content":"y"}"#, "done");
    let all = injected(&folds(&host));
    assert_eq!(all.len(), 2);
    assert!(
        all.iter().all(|(_, words, _)| !words.contains("abc")),
        "{all:?}"
    );
}

#[test]
fn a8_reads_that_the_host_names_count_whatever_the_tool() {
    let mut host = Host::new("claude-code", "");
    let unit = host.exchange("x", "fetch_it", r#"{"what":"thing"}"#, &words(100));
    host.log(&format!(
        r#"{{"type":"file_read","path":"/named","block":[{},0]}}"#,
        unit + 1
    ));
    turn(&mut host, 1, 100);
    let all = injected(&folds(&host));
    assert_eq!(all[0].0, "file:/named");
    assert!(all[0].1.contains("abc"));
}

#[test]
fn a8_reads_that_failed_and_parts_do_not_pass_for_the_file() {
    let mut host = Host::new("claude-code", "");
    host.calls(&[("f", "Read", r#"{"file_path":"/gone"}"#)]);
    host.result_of("f", "error", r#""abc abc""#);
    host.exchange(
        "p",
        "Read",
        r#"{"file_path":"/part","offset":10}"#,
        &words(100),
    );
    turn(&mut host, 1, 400);
    let all = injected(&folds(&host));
    assert_eq!(all.len(), 1);
    assert!(
        all[0].0 == "file:/part" && !all[0].1.contains("abc"),
        "{all:?}"
    );
}

/// What came back once comes back after the next fold too.
#[test]
fn a8_a_restored_file_survives_the_next_fold() {
    let mut host = Host::new("claude-code", "");
    read(&mut host, "/a", 100);
    turn(&mut host, 1, 100);
    host.accept(&folds(&host));
    turn(&mut host, 2, 400);
    turn(&mut host, 3, 400);
    let all = injected(&folds(&host));
    assert_eq!(all.len(), 1);
    assert!(all[0].1.contains("abc") && all[0].1.matches("As it was read").count() == 1);
}

/// Restored files are left out before the commit is given up.
#[test]
fn a13_files_are_left_out_where_the_prompt_would_not_shrink() {
    let mut host = Host::new("claude-code", "");
    read(&mut host, "/a", 1_000);
    turn(&mut host, 1, 40);
    let plan = plan(&host, &ASK).unwrap();
    let short = committed(&host, &plan, &words(100));
    let long = committed(&host, &plan, &words(900));
    assert!(!short.is_empty() && !long.is_empty());
    for proposal in [&short, &long] {
        let mut after = host.clone();
        after.accept(proposal);
        assert!(after.view().fill.total < host.view().fill.total);
    }
    assert!(
        injected(&long)
            .iter()
            .all(|(_, words, _)| !words.contains("abc abc"))
    );
}
