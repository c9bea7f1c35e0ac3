//! Recorded behaviour of Cline's own context manager, operation by operation, and cases that were worked out by hand from its rules.
//!
//! The recordings are `../shared/vectors/cline-context-manager.jsonl` beside the checkout, or the file that `RECOUNT_CLINE_VECTORS` names; the
//! cases by hand are always there.
#![allow(clippy::panic, reason = "a test stops at the first surprise")]

#[path = "vectors/compare.rs"]
mod compare;
#[path = "vectors/run.rs"]
mod run;

#[test]
fn everything_that_was_recorded_comes_out_again() {
    let named = std::env::var("RECOUNT_CLINE_VECTORS").ok();
    let beside = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/vectors/cline-context-manager.jsonl"
    );
    let path = named.clone().unwrap_or_else(|| beside.to_owned());
    let file = match std::fs::read_to_string(&path) {
        Ok(file) => file,
        Err(why) if named.is_none() => {
            println!("skipped: no vectors beside the checkout ({why})");
            return;
        }
        Err(why) => panic!("{path}: {why}"),
    };
    holds(&file, &path);
}

/// Each operation of the recordings has a case here.
#[test]
fn what_the_rules_say_by_hand_comes_out() {
    let report = holds(include_str!("vectors/by_hand.jsonl"), "the cases by hand");
    assert_eq!(report.counts.len(), 14, "operations");
    assert!(report.counts.values().all(|count| count.equal > 0));
}

/// A case that expects something else is told from one that holds, and an operation that nobody knows is no success.
#[test]
fn a_difference_is_seen() {
    let case = |keep: &str, end: u8| {
        format!(
            "{{\"case\":0,\"op\":\"getNextTruncationRange\",\"input\":{{\"messages\":[],\"currentRange\":[2,9],\"keep\":\"{keep}\"}},\"expected\":{{\"range\":[2,{end}]}}}}"
        )
    };
    assert!(compare::compare(&case("none", 9)).differences.is_empty());
    assert_eq!(compare::compare(&case("none", 8)).differences.len(), 1);
    let unknown = case("none", 9).replace("getNext", "getLast");
    assert_eq!(compare::compare(&unknown).differences.len(), 1);
}

fn holds(file: &str, path: &str) -> compare::Report {
    let report = compare::compare(file);
    for (op, count) in &report.counts {
        println!("{op}: {} equal, {} different", count.equal, count.different);
    }
    assert!(!report.counts.is_empty(), "no case in {path}");
    assert!(
        report.differences.is_empty(),
        "{} differences, the first:\n{}",
        report.differences.len(),
        report
            .differences
            .iter()
            .take(12)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
    report
}
