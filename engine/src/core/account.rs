//! What a status says beside the meter: whether a warning may be given, what compactions did and cost, and how far the estimate was off.

use super::Core;
use super::meter::scaled;
use super::told::{assumed, estimated, input, known, learnt};
use recount_events::{Body, Boundary, CompactCommit, Maker, Profile, Range, Seq, Text, Trigger};
use recount_projections::Totals;

/// How many positions from the end are looked at for a cleaning that no usage followed.
const LOOKED_BACK: usize = 128;

/// A compaction that is in force.
#[derive(Clone, Debug)]
pub(crate) struct Compaction {
    /// Its commit.
    pub(crate) event: Seq,
    /// Its name.
    pub(crate) id: Option<String>,
    /// What it covers; none for a marker.
    pub(crate) range: Option<(Seq, Seq)>,
    /// Tokens before, by estimate.
    pub(crate) before: Option<u64>,
    /// Tokens after, by estimate.
    pub(crate) after: Option<u64>,
    /// Tokens of the first prompt behind it, as the provider counted them.
    pub(crate) counted: Option<u64>,
    /// How it came about.
    pub(crate) boundary: Option<Boundary>,
}

/// How far the estimate from words alone was off, at the newest prompt that the provider counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Estimator {
    /// What was estimated, with the factor that was known then.
    pub(crate) estimated: u64,
    /// What the provider counted.
    pub(crate) counted: u64,
    /// The difference in thousandths of the count; below zero: too little was estimated.
    pub(crate) error_milli: i64,
}

impl Core {
    /// The prompt was made smaller, and no answer has told of it yet.
    pub(crate) fn cleaned(&self) -> bool {
        let line = &self.state.timeline().line;
        let spans = line.spans.iter().rev();
        let positions = spans.flat_map(|(first, last)| (first.0..=last.0).rev().map(Seq));
        for seq in positions.take(LOOKED_BACK) {
            let Some(logged) = self.event(seq) else {
                return false;
            };
            match &logged.event.body {
                Body::Usage(usage) if usage.compaction.is_none() => return false,
                body if cleans(body) && !line.fallen.contains_key(&seq) => return true,
                _ => {}
            }
        }
        false
    }

    /// Compactions that are in force, oldest first.
    pub(crate) fn compactions(&self) -> Vec<Compaction> {
        let folds = self.state.timeline().folds.keys();
        folds
            .filter_map(|seq| match &self.event(*seq)?.event.body {
                Body::CompactCommit(commit) => Some(self.compaction(*seq, commit)),
                _ => None,
            })
            .collect()
    }

    fn compaction(&self, event: Seq, commit: &CompactCommit) -> Compaction {
        Compaction {
            event,
            id: commit.id.as_ref().and_then(words),
            range: match commit.range {
                Range::Closed { first, last } => Some((first, last)),
                Range::KeepFrom(_) | Range::Marker => None,
            },
            before: commit.before,
            after: commit.after,
            counted: self.counted_after(event),
            boundary: commit.boundary,
        }
    }

    /// What the provider counted of the first prompt behind a position, on the timeline that leads to the head.
    fn counted_after(&self, event: Seq) -> Option<u64> {
        let ledger = self.state.ledger();
        let line = &self.state.timeline().line;
        let mut behind = ledger.usages.range(event..);
        behind.find_map(|(seq, totals)| {
            let own = !ledger.compaction_usages.contains_key(seq) && line.contains(*seq);
            (own && input(totals) > 0).then(|| input(totals))
        })
    }

    /// What the calls that compactions made for themselves cost, over all branches.
    pub(crate) fn compaction_calls(&self) -> Totals {
        let ledger = self.state.ledger();
        let calls = ledger.compaction_usages.keys();
        calls
            .filter_map(|seq| ledger.usages.get(seq))
            .fold(Totals::default(), |sum, one| Totals {
                requests: sum.requests.saturating_add(one.requests),
                input: sum.input.saturating_add(one.input),
                output: sum.output.saturating_add(one.output),
                cache_read: sum.cache_read.saturating_add(one.cache_read),
                cache_write_5m: sum.cache_write_5m.saturating_add(one.cache_write_5m),
                cache_write_1h: sum.cache_write_1h.saturating_add(one.cache_write_1h),
            })
    }

    /// How far the estimate was off; none before the provider counted a prompt of this model.
    pub(crate) fn estimator(&self, profile: &Profile) -> Option<Estimator> {
        let (newest, words) = known(&self.state)
            .find_map(|known| Some((known, estimated(&self.state, profile, &known)?)))?;
        let factor = learnt(&self.state, profile, Some(newest.seq));
        let factor = factor.map_or_else(|| assumed(profile), |learnt| learnt.factor);
        let guess = scaled(words, factor).saturating_add(profile.overhead_tokens);
        let off = i128::from(guess).saturating_sub(i128::from(newest.tokens));
        let error = off
            .saturating_mul(1_000)
            .checked_div(i128::from(newest.tokens))?;
        Some(Estimator {
            estimated: guess,
            counted: newest.tokens,
            error_milli: i64::try_from(error).unwrap_or(i64::MAX),
        })
    }

    /// The compaction that waits for its summaries, by name.
    pub(crate) fn planned(&self) -> Option<String> {
        let plan = self.state.timeline().work.waiting()?;
        match &plan.logged.event.body {
            Body::CompactPlan(plan) => words(&plan.id),
            _ => None,
        }
    }
}

/// The event takes something out of the prompt.
fn cleans(body: &Body) -> bool {
    match body {
        Body::CompactCommit(commit) => commit.range != Range::Marker,
        Body::CollapseCommit(_)
        | Body::Snip(_)
        | Body::DeleteRange(_)
        | Body::CacheEdit(_)
        | Body::CacheReset(_) => true,
        _ => false,
    }
}

fn words(text: &Text) -> Option<String> {
    text.words().map(|words| words.into_owned())
}

/// What asked for a compaction, in the words of the log.
pub(crate) const fn trigger(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Manual => "manual",
        Trigger::Auto => "auto",
        Trigger::Overflow => "overflow",
    }
}

/// Who made a summary, in the words of the log.
pub(crate) const fn maker(by: Maker) -> &'static str {
    match by {
        Maker::Model => "model",
        Maker::Memory => "memory",
        Maker::Rule => "rule",
        Maker::Host => "host",
    }
}
