//! The table of runs: a row for each session, preset and window; and its summary, a row for each preset, window and dialect.

use super::run::Outcome;
use super::tally::Tally;
use crate::validator::Wire;
use std::collections::BTreeMap;
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

/// The head of the summary.
const SUMMARY: &str = "| preset | window | wire | sessions | turns | requests | refused | of those before an answer | preventable | surfaced | compactions | loops | invalid | unexplained changes | other defects | cache read % |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

/// What defects are about, by words in them: loops, requests that no provider takes, changes of bytes that the log does not explain.
const KINDS: [&[&str]; 3] = [
    &[
        "no answer after",
        "times in a row",
        "compactions for",
        "without an answer in between",
    ],
    &["invalid request", "unreadable body"],
    &["changed without a cause"],
];

/// Sums of runs.
#[derive(Clone, Debug, Default)]
struct Sums {
    sessions: u64,
    turns: u64,
    requests: u64,
    refusals: u64,
    uncalibrated: u64,
    preventable: u64,
    surfaced: u64,
    compactions: u64,
    kinds: [u64; 3],
    others: u64,
    input: u64,
    read: u64,
}

/// The summary of a table.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    rows: BTreeMap<(&'static str, u64, &'static str), Sums>,
}

impl Summary {
    /// Takes a run in.
    pub fn add(&mut self, outcome: &Outcome) {
        let wire = match outcome.setup.wire {
            Wire::Anthropic => "anthropic",
            Wire::Chat => "chat",
        };
        let tally = &outcome.tally;
        let place = (outcome.setup.preset, outcome.setup.window, wire);
        let sums = self.rows.entry(place).or_default();
        sums.sessions += 1;
        sums.turns += tally.turns;
        sums.requests += tally.requests;
        sums.refusals += tally.refusals;
        sums.uncalibrated += tally.uncalibrated;
        sums.preventable += tally.preventable;
        sums.surfaced += tally.surfaced;
        sums.compactions += outcome.folds.get("compact_commit").copied().unwrap_or(0);
        sums.input += tally.input;
        sums.read += tally.read;
        for defect in &tally.defects {
            let kind = KINDS
                .iter()
                .position(|words| words.iter().any(|word| defect.contains(word)));
            match kind.and_then(|kind| sums.kinds.get_mut(kind)) {
                Some(count) => *count += 1,
                None if defect.contains("could have been prevented") => {}
                None => sums.others += 1,
            }
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SUMMARY}")?;
        for ((preset, window, wire), sums) in &self.rows {
            let [loops, invalid, unexplained] = sums.kinds;
            write!(
                f,
                "\n| {preset} | {window} | {wire} | {} | {} | {} | {} | {} | {} | {} | {} | {loops} | {invalid} | {unexplained} | {} | {} |",
                sums.sessions,
                sums.turns,
                sums.requests,
                sums.refusals,
                sums.uncalibrated,
                sums.preventable,
                sums.surfaced,
                sums.compactions,
                sums.others,
                Tally::percent(sums.read, sums.input),
            )?;
        }
        Ok(())
    }
}
