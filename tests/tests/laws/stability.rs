//! Law 6: an appended event leaves the canonical bytes of every earlier piece untouched, unless it is of a kind that may.
//!
//! - The differ looks at bytes alone; the list of causes is its own.

use crate::run::{Run, told};
use proptest::prelude::*;
use recount_projections::Projection;
use recount_tests::generate::{Mix, cases, program};
use recount_tests::validator::Wire;
use serde_json::Value;

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn law_6_an_event_changes_nothing_before_it(seed: u64, program in program(Mix::Whole, 40)) {
        let mut run = Run::new(seed, false);
        for op in program {
            let before = pieces(&run);
            let given = run.given(op);
            if run.hand(&given).is_err() {
                continue;
            }
            let after = pieces(&run);
            for (wire, (before, after)) in [Wire::Anthropic, Wire::Chat].into_iter().zip(before.iter().zip(&after)) {
                let changed = before.iter().zip(after).position(|(a, b)| a != b).or((after.len() < before.len()).then_some(after.len()));
                if let Some(at) = changed {
                    let excused = may_change(&given.value) || tail(&run, &given.value) || waits(&run, before.get(at..)) || waits(&run, after.get(at..));
                    prop_assert!(excused, "{:?} piece {} of {}\nthen {}", wire, at, told(&run.host), given.raw);
                }
            }
        }
    }
}

/// Kinds whose purpose is to change what stands before them.
fn may_change(event: &Value) -> bool {
    let kinds = [
        "profile",
        "system",
        "tools",
        "rendering",
        "replace",
        "delete_range",
        "snip",
        "collapse_commit",
        "compact_commit",
        "rollback",
        "undo",
        "tool_result",
    ];
    let named = kinds.iter().any(|kind| event["type"] == *kind);
    let holds = |kind: &str| {
        let mut blocks = event["content"].as_array().into_iter().flatten();
        blocks.any(|block| block["type"] == kind)
    };
    // A provider's own compaction stands for everything before it.
    let compacts = event["role"] == "assistant" && holds("compaction");
    named || compacts || holds("tool_result") || event["role"] == "tool"
}

/// Tail injections stand behind everything, so whatever comes moves them; one that supersedes takes its place.
fn tail(run: &Run, event: &Value) -> bool {
    event["type"] == "inject" || run.host.log.iter().any(|event| event["lifetime"] == "tail")
}

/// A new turn on a profile that drops earlier thinking, or behind an open call or a paused response: what was made up for the end
/// of a prompt gives way; and a continued response whose results move behind it.
fn waits(run: &Run, rest: Option<&[Vec<u8>]>) -> bool {
    let text = |piece: &Vec<u8>| String::from_utf8_lossy(piece).into_owned();
    let rest: Vec<String> = rest.unwrap_or_default().iter().map(text).collect();
    let thinking = rest.iter().any(|piece| piece.contains("thinking\""));
    let server = rest.iter().any(|piece| piece.contains("server_tool_use"));
    let results = rest
        .iter()
        .any(|piece| piece.contains("tool_result") || piece.contains("\"role\":\"tool\""));
    let joined = run.system.log.last().is_some_and(|event| matches!(&event.body, recount_events::Body::Message(message) if message.joins.is_some()));
    thinking || server || (results && joined)
}

fn pieces(run: &Run) -> Vec<Vec<Vec<u8>>> {
    let of = |projection: Projection| {
        projection
            .pieces
            .iter()
            .map(|piece| piece.bytes.to_vec())
            .collect()
    };
    [Wire::Anthropic, Wire::Chat]
        .map(|wire| run.system.project(wire, true).map(of).unwrap_or_default())
        .into()
}
