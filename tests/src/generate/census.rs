//! What a run of programs produced: kinds, neighbours, refusals.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Kinds that no program can have as neighbours: one plan waits at a time, an abandoned one waits no more, and a reset
/// voids the edits that could be acknowledged.
pub const NEVER_NEIGHBOURS: &[(&str, &str)] = &[
    ("compact_plan", "compact_plan"),
    ("compact_chunk", "compact_plan"),
    ("compact_abandon", "compact_chunk"),
    ("compact_abandon", "compact_abandon"),
    ("cache_reset", "cache_ack"),
];

/// The counts.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Events accepted, by kind.
    pub accepted: BTreeMap<String, usize>,
    /// Events refused, by kind.
    pub refused: BTreeMap<String, usize>,
    /// Neighbouring events that were both accepted, by their kinds.
    pub pairs: BTreeSet<(String, String)>,
    /// Refusals, by the name of their rule.
    pub rules: BTreeMap<String, usize>,
    last: Option<String>,
}

impl Census {
    /// A new program begins.
    pub fn begin(&mut self) {
        self.last = None;
    }

    /// An event was accepted.
    pub fn accept(&mut self, kind: &str) {
        *self.accepted.entry(kind.to_owned()).or_default() += 1;
        if let Some(last) = self.last.replace(kind.to_owned()) {
            self.pairs.insert((last, kind.to_owned()));
        }
    }

    /// An event was refused for a rule.
    pub fn refuse(&mut self, kind: &str, rule: &str) {
        *self.refused.entry(kind.to_owned()).or_default() += 1;
        *self.rules.entry(rule.to_owned()).or_default() += 1;
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<18} {:>8} {:>8}", "kind", "accepted", "refused")?;
        let kinds: BTreeSet<&String> = self.accepted.keys().chain(self.refused.keys()).collect();
        for kind in kinds {
            let count = |map: &BTreeMap<String, usize>| map.get(kind).copied().unwrap_or(0);
            writeln!(
                f,
                "{kind:<18} {:>8} {:>8}",
                count(&self.accepted),
                count(&self.refused)
            )?;
        }
        writeln!(f, "pairs of neighbours: {}", self.pairs.len())?;
        self.rules
            .iter()
            .try_for_each(|(rule, count)| writeln!(f, "refused by {rule:<18} {count:>8}"))
    }
}
