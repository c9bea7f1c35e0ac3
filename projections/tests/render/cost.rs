//! The cost of a step follows the change, not the history.

use crate::desk::{Change, Desk};
use recount_events::{BlockId, Wire};
use recount_projections::render::{Budget, Counts};
use recount_projections::{Prompt, Request};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts how often it is asked.
#[derive(Default)]
struct Asked(AtomicUsize);

impl Counts for Asked {
    fn count(&self, _block: BlockId, bytes: &[u8]) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        bytes.len() as u64
    }
}

fn step(desk: &Desk, prompt: Option<&Prompt>, change: Change) -> (Prompt, usize) {
    let (asked, profile) = (Asked::default(), desk.in_force());
    let request = Request {
        timeline: &desk.timeline,
        profile: &profile,
        wire: Wire::Anthropic,
        heal: false,
        counts: &asked,
        budget: Budget::default(),
    };
    let next = match prompt {
        Some(prompt) => prompt.update(&request, change.touched, change.header),
        None => Prompt::render(&request),
    };
    (next, asked.0.into_inner())
}

#[test]
fn a_step_counts_and_digests_only_what_it_brought() {
    let on = r#"{"thinking":{"binds":false,"keeps":"last"},"params":{"thinking":{"type":"enabled","budget_tokens":1024}}}"#;
    let mut desk = Desk::with(on);
    for turn in 0..200 {
        desk.says("go");
        desk.answers(&format!(
            r#"{{"type":"thinking","thinking":"t","signature":"s"}},{{"type":"tool_use","id":"t{turn}","name":"n","input":{{}}}}"#
        ));
        desk.log(&format!(
            r#"{{"type":"tool_result","call":"t{turn}","content":"r"}}"#
        ));
    }
    let (prompt, all) = step(&desk, None, Change::default());
    assert_eq!(all, 200 * 3 + 1, "thinking of the last turn only");
    let call = r#"{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"last","name":"n","input":{}}"#;
    let change = desk.answers(call);
    let (prompt, asked) = step(&desk, Some(&prompt), change);
    assert_eq!(asked, 2, "thinking and call; the missing result is made");
    let change = desk.log(r#"{"type":"tool_result","call":"last","content":"r"}"#);
    let (prompt, asked) = step(&desk, Some(&prompt), change);
    assert_eq!(asked, 3, "the response that it answers");
    let change = desk.log(r#"{"type":"inject","slot":"s","lifetime":"tail","content":"x"}"#);
    let (prompt, asked) = step(&desk, Some(&prompt), change);
    assert_eq!(asked, 1);
    let change = desk.says("next");
    let (_, asked) = step(&desk, Some(&prompt), change);
    assert_eq!(
        asked,
        2 + 2 + 1 + 1,
        "two responses lose their thinking, words, tail"
    );
}
