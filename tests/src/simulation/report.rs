//! The table of runs: a row for each session, preset and window.

use super::run::Outcome;
use super::tally::Tally;
use std::fmt;

/// The head of the table.
pub const HEAD: &str = "| session | preset | window | turns | requests | refused (preventable) | surfaced | compactions | collapses | results out | edits | peak % | cache read % | summaries read % | estimate off % | changed prefixes by cause |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = &self.tally;
        let fold = |kind: &str| self.folds.get(kind).copied().unwrap_or(0);
        let causes: Vec<String> = self
            .causes
            .iter()
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        let off = |ratio: u64| i64::try_from(ratio).unwrap_or(0) / 10 - 100;
        let (least, most) = tally.ratio.unwrap_or((1_000, 1_000));
        write!(
            f,
            "| {} | {} | {} | {} | {} | {} ({}) | {} | {} | {} | {} | {} | {} | {} | {} | {:+}…{:+} | {} |",
            self.name,
            self.setup.preset,
            self.setup.window,
            tally.turns,
            tally.requests,
            tally.refusals,
            tally.preventable,
            tally.surfaced,
            fold("compact_commit"),
            fold("collapse_commit"),
            fold("replace") + fold("snip"),
            fold("cache_edit"),
            tally.peak / 10,
            Tally::percent(tally.read, tally.input),
            Tally::percent(tally.summary_read, tally.summary_input),
            off(least),
            off(most),
            causes.join(", "),
        )
    }
}
