//! What was seen in a run, and the row that it prints.

use super::cache::Account;
use serde_json::Value;
use std::collections::BTreeMap;

/// Counts of a run. Tokens are the provider's.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Messages that the person wrote.
    pub turns: u64,
    /// Prompts that were sent.
    pub requests: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Refused for size.
    pub refusals: u64,
    /// Of those, before the first answer.
    pub uncalibrated: u64,
    /// Of those, such as the pipeline could have prevented.
    pub preventable: u64,
    /// Rate limits.
    pub rates: u64,
    /// Errors that reached the person.
    pub surfaced: u64,
    /// Turns that the person took back for that.
    pub given_up: u64,
    /// Rollbacks of the recording.
    pub rollbacks: u64,
    /// Open calls were closed by an interrupt.
    pub interrupted: u64,
    /// Answers that no prompt was asked for.
    pub unasked: u64,
    /// Events that the engine could not take.
    pub passed_over: u64,
    /// Words for the person.
    pub told: u64,
    /// Requests for summaries.
    pub summaries: u64,
    /// Of those, refused.
    pub summaries_refused: u64,
    /// Answers to compactions that were gone.
    pub late_summaries: u64,
    /// What became of summaries, by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// What became of refusals, by outcome.
    pub overflows: BTreeMap<String, u64>,
    /// What tiers did, by tier: how often, and tokens freed.
    pub tiers: BTreeMap<String, (u64, u64)>,
    /// Highest input, in thousandths of the window.
    pub peak: u64,
    /// Input of all answered requests.
    pub input: u64,
    /// Of that, read from the cache.
    pub read: u64,
    /// Input of all summary requests.
    pub summary_input: u64,
    /// Of that, read from the cache.
    pub summary_read: u64,
    /// Of that, what the engine was told of.
    pub summary_logged: u64,
    /// Input that the engine was told of, by request.
    pub costs: BTreeMap<String, u64>,
    /// Tokens of everything that was appended.
    pub appended: u64,
    /// The smallest and the largest ratio of the provider's count to the engine's estimate, in thousandths, after the first answer.
    pub ratio: Option<(u64, u64)>,
    /// Digests of the bodies that were issued, in order.
    pub bodies: Vec<String>,
    /// The bodies themselves, where they are kept.
    pub texts: Vec<String>,
    /// What must not be.
    pub defects: Vec<String>,
}

impl Tally {
    /// A prompt was prepared.
    pub fn prepared(&mut self, prepared: &Value) {
        self.did(&prepared["tiers"]);
    }

    fn did(&mut self, tiers: &Value) {
        for tier in tiers.as_array().into_iter().flatten() {
            if tier["did"]
                .as_str()
                .is_some_and(|did| did.starts_with("not admitted"))
            {
                self.defects
                    .push(format!("a tier proposed what is not admitted: {tier}"));
            }
            let events = tier["events"].as_array().map_or(0, Vec::len);
            if events > 0 {
                let name = tier["tier"].as_str().unwrap_or("?").to_owned();
                let counts = self.tiers.entry(name).or_default();
                counts.0 += 1;
                counts.1 += tier["freed"].as_u64().unwrap_or(0);
            }
        }
    }

    /// A request was answered.
    pub fn answered(&mut self, account: &Account, window: u64, prepared: &Value, calibrated: bool) {
        self.answered += 1;
        let total = account.total();
        self.peak = self.peak.max(total * 1_000 / window.max(1));
        self.input += total;
        self.read += account.read;
        let estimate = prepared["estimate"].as_u64().unwrap_or(0);
        if calibrated && estimate > 0 {
            let ratio = total * 1_000 / estimate;
            let (least, most) = self.ratio.unwrap_or((ratio, ratio));
            self.ratio = Some((least.min(ratio), most.max(ratio)));
        }
    }

    /// A refusal was handed to the engine.
    pub fn overflowed(&mut self, answer: &Value) {
        self.did(&answer["tiers"]);
        let outcome = answer["outcome"].as_str().unwrap_or("?").to_owned();
        *self.overflows.entry(outcome).or_default() += 1;
    }

    /// A summary was handed to the engine.
    pub fn summarised(&mut self, answer: &Value) {
        let outcome = answer["outcome"].as_str().unwrap_or("?").to_owned();
        *self.outcomes.entry(outcome).or_default() += 1;
    }

    /// A summary was asked for.
    pub fn summary(&mut self, account: &Account) {
        self.summaries += 1;
        self.summary_input += account.total();
        self.summary_read += account.read;
    }

    /// Compactions that were committed, however.
    #[must_use]
    pub fn percent(part: u64, whole: u64) -> u64 {
        (part * 100).checked_div(whole).unwrap_or(0)
    }
}
