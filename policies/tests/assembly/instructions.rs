//! P3 and P8: instruction files.

use crate::common::Host;
use recount_events::{Body, System};
use recount_policies::assembly::instructions::{agent, nested, root};

fn system(host: &Host) -> Option<&System> {
    match &host.state.timeline().header.system.as_ref()?.event.body {
        Body::System(system) => Some(system),
        _ => None,
    }
}

/// Puts a root file there; true when the system prompt changed.
fn put_root(host: &mut Host, path: &str, text: &str) -> bool {
    let new = root(system(host), path, text);
    let changed = new.is_some();
    new.map(|system| host.put(Body::System(system)));
    changed
}

fn put_nested(host: &mut Host, path: &str, text: &str) -> bool {
    let new = nested(&host.state, path, text);
    let changed = new.is_some();
    new.map(|inject| host.put(Body::Inject(inject)));
    changed
}

fn host() -> Host {
    let mut host = Host::new("claude-code", "");
    host.log(r#"{"type":"system","content":"Be kind."}"#);
    host.says("Hello.");
    host
}

#[test]
fn p8_root_files_are_blocks_of_the_system_prompt_behind_its_base() {
    let mut host = host();
    let bare = host.prompt();
    assert!(put_root(&mut host, "AGENTS.md", "Use tabs."));
    assert!(put_root(&mut host, "CLAUDE.md", "Use spaces.\n"));
    assert!(!put_root(&mut host, "AGENTS.md", "Use tabs."), "equal text");
    let prompt = host.prompt();
    let wanted = concat!(
        r#""system":[{"type":"text","text":"Be kind."},"#,
        r#"{"type":"text","text":"<instructions path=\"AGENTS.md\">\nUse tabs.\n</instructions>"},"#,
        r#"{"type":"text","text":"<instructions path=\"CLAUDE.md\">\nUse spaces.\n</instructions>"}]"#
    );
    assert!(prompt.contains(wanted), "{prompt}");
    // A newer text takes its own place.
    assert!(put_root(&mut host, "AGENTS.md", "Use both."));
    assert!(
        host.prompt()
            .contains(&wanted.replace("Use tabs.", "Use both."))
    );
    // Without them the prompt is what it was.
    assert!(put_root(&mut host, "AGENTS.md", ""));
    assert!(put_root(&mut host, "CLAUDE.md", ""));
    assert_eq!(host.prompt(), bare);
    assert!(!put_root(&mut host, "CLAUDE.md", ""));
}

#[test]
fn p8_no_compaction_touches_them() {
    let mut host = host();
    put_root(&mut host, "AGENTS.md", "Use tabs.");
    let first = host.says("One.");
    host.answers("Two.");
    host.says("Three.");
    host.log(&format!(
        r#"{{"type":"compact_commit","first":{first},"last":{},"summary":"s"}}"#,
        first + 1
    ));
    assert!(host.prompt().contains("Use tabs."));
}

#[test]
fn p8_an_agents_prompt_takes_the_place_of_the_base() {
    let mut host = host();
    put_root(&mut host, "AGENTS.md", "Use tabs.");
    let before = host.prompt();
    let new = agent(system(&host), "You are a reviewer.").unwrap();
    let event = host.put(Body::System(new));
    assert!(agent(system(&host), "You are a reviewer.").is_none());
    let prompt = host.prompt();
    assert!(prompt.contains(r#""system":[{"type":"text","text":"You are a reviewer."},{"type":"text","text":"<instructions"#));
    assert!(!prompt.contains("Be kind."));
    host.undo(event);
    assert_eq!(host.prompt(), before);
}

#[test]
fn p8_without_a_system_prompt_the_file_is_the_first_block() {
    let mut host = Host::new("claude-code", "");
    host.says("Hello.");
    assert!(!put_root(&mut host, "A.md", ""));
    assert!(put_root(&mut host, "A.md", "Use tabs."));
    assert!(
        host.prompt()
            .contains(r#""system":[{"type":"text","text":"<instructions path=\"A.md\">"#)
    );
}

#[test]
fn p3_a_nested_file_is_shown_once() {
    let mut host = host();
    assert!(put_nested(&mut host, "src/AGENTS.md", "Small files."));
    let prompt = host.prompt();
    assert!(
        prompt.contains(r#"<instructions path=\"src/AGENTS.md\">\nSmall files.\n</instructions>"#)
    );
    assert!(!put_nested(&mut host, "src/AGENTS.md", "Small files."));
    assert!(
        put_nested(&mut host, "doc/AGENTS.md", "Small files."),
        "another file"
    );
    assert!(!put_nested(
        &mut host.reopened(),
        "src/AGENTS.md",
        "Small files."
    ));
}

#[test]
fn p3_again_when_its_words_changed_and_the_old_ones_stay() {
    let mut host = host();
    put_nested(&mut host, "src/AGENTS.md", "Small files.");
    host.says("Next.");
    let before = host.prompt();
    assert!(put_nested(&mut host, "src/AGENTS.md", "Smaller files."));
    let after = host.prompt();
    assert!(after.contains("Small files.") && after.contains("Smaller files."));
    let place = before.find("Next.").unwrap();
    assert_eq!(before.get(..place), after.get(..place));
    // And back to the first words: they changed again.
    assert!(put_nested(&mut host, "src/AGENTS.md", "Small files."));
}

#[test]
fn p3_a_fold_that_hid_it_is_not_this_rules_business() {
    let mut host = host();
    let first = host.head();
    put_nested(&mut host, "src/AGENTS.md", "Small files.");
    host.answers("Yes.");
    host.says("Next.");
    let last = host.head() - 1;
    host.log(&format!(
        r#"{{"type":"compact_commit","first":{first},"last":{last},"summary":"s"}}"#
    ));
    // `prepare` shows it again by itself.
    assert!(!put_nested(&mut host, "src/AGENTS.md", "Small files."));
    assert!(put_nested(&mut host, "src/AGENTS.md", "Other."));
}

#[test]
fn p3_after_a_rollback_it_may_come_again() {
    let mut host = host();
    let before = host.head();
    put_nested(&mut host, "src/AGENTS.md", "Small files.");
    host.back(before);
    assert!(put_nested(&mut host, "src/AGENTS.md", "Small files."));
}
