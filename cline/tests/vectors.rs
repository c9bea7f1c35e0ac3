//! Recorded behaviour of Cline's own context manager, operation by operation.
//!
//! The file is `../shared/vectors/cline-context-manager.jsonl` beside the checkout, or the one that `RECOUNT_CLINE_VECTORS` names.
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
    let report = compare::compare(&file);
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
}
