//! The kit that the other tests stand on says what it should.

#[path = "../common/mod.rs"]
mod common;

use common::Host;
use recount_policies::{Proposal, Situation};

fn nothing(_: &Situation<'_>) -> Proposal {
    Proposal::default()
}

#[test]
fn a_session_is_the_same_when_it_is_folded_again() {
    let mut host = Host::new("claude-code", "");
    host.says("Read a.rs, please.");
    host.exchange("t1", "Read", r#"{"file_path":"a.rs"}"#, "fn main() {}");
    host.answers("Done.");
    host.usage("r1", 100, 10);
    let before = host.prompt();
    assert!(before.contains("fn main() {}"));
    let again = host.reopened();
    assert_eq!(again.prompt(), before);
    assert_eq!(again.head(), host.head());
    assert_eq!(again.log, host.log);
}

#[test]
fn the_situation_has_the_numbers_of_its_policy_and_of_its_prompt() {
    let mut host = Host::of("sub", "claude-code", r#"{"micro":{"keep":2}}"#);
    host.says("Hello.");
    let view = host.view();
    let at = view.at();
    assert_eq!(at.constants.micro.keep, 2);
    assert_eq!(at.constants.micro.idle_minutes, 60);
    assert_eq!(at.kind, recount_events::SessionKind::Sub);
    assert_eq!(at.next().0, host.head() + 1);
    assert_eq!(at.fill.counted, view.projection.tokens);
    assert!(at.fill.counted > 0);
    assert!(nothing(&at).is_empty());
}
