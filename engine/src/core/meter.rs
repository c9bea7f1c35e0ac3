//! The meter: how full the window is, and which part of that the provider measured.
//!
//! - A prompt is known by the running root of its pieces: where a usage names an issued prompt whose root stands among the pieces,
//!   exactly those pieces are measured, whatever came or went in between.
//! - A usage that names only its response (a recording) is anchored before that response; what was freed since is taken off.
//! - The rest is counted tokens × factor. Factors are in thousandths.

use super::told::{
    Learnt, USAGES, assumed, input, issued_of, known, learnt, model_of, same_model, usage_in,
    usages,
};
use super::{Core, profile_of};
use crate::lock::lock;
use recount_events::{Body, Digest, Profile, Seq, Text};
use recount_projections::{Part, Piece, Projection, Shown, State, Timeline};
use std::collections::BTreeMap;

/// The estimator's margin, in thousandths, while the factor is an assumption, which is on the safe side itself: 5 %.
const ASSUMED: u64 = 50;
/// With a factor that was learnt: what other kinds of text in the same prompt are off by, 15 %.
const LEARNT: u64 = 150;
/// Of what stands behind a measured part: it may be all of one kind, 30 %.
const REST: u64 = 300;
/// Over the greatest factor that was learnt, 5 %.
const GREATEST: u64 = 50;
/// However much that is, no more than this over the factor in force: texts count from 1.18 to 1.59, which are 35 % apart, and the 5 %.
const APART: u64 = 400;
/// How many usages behind an issued prompt are looked at for its own.
const ANSWERS: usize = 4;
/// How many pieces from the end are looked at for one that was measured: what is older says too little.
const LOOKED_AT: usize = 4_096;

/// What is known of a prompt's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meter {
    /// Tokens of the whole prompt.
    pub(crate) total: u64,
    /// Of those, what the provider counted.
    pub(crate) measured: u64,
    /// The provider counted exactly this prompt.
    pub(crate) exact: bool,
    /// Tokens of the whole prompt that it will not exceed: what the window is compared with before it is sent.
    pub(crate) most: u64,
    /// The factor that was used.
    pub(crate) factor_milli: u64,
}

/// The prompt was issued for this model, or nobody knows for which: another model's tokenizer says nothing about this one.
fn is_for(state: &State, digest: Digest, profile: &Profile) -> bool {
    issued_of(state, digest)
        .and_then(|issue| model_of(state, &issue))
        .is_none_or(|model| same_model(&model, &profile.model))
}

/// What the provider counted: the first so many pieces, in so many tokens.
struct Measured {
    pieces: usize,
    tokens: u64,
    /// Nothing was taken off since.
    whole: bool,
}

impl Core {
    /// Measures a prompt.
    pub(crate) fn meter(
        &self,
        timeline: &Timeline,
        profile: &Profile,
        projection: &Projection,
    ) -> Meter {
        let learnt = learnt(&self.state, profile, None);
        let factor_milli = learnt.map_or_else(|| assumed(profile), |learnt| learnt.factor);
        let found = self
            .by_digest(profile, projection)
            .or_else(|| self.by_response(timeline, profile, projection, factor_milli));
        let whole = scaled(projection.tokens, factor_milli);
        let at_most = |learnt| scaled(projection.tokens, most_milli(learnt, factor_milli, LEARNT));
        let unmeasured = learnt.map_or_else(|| more(whole, ASSUMED), at_most);
        let unmeasured = unmeasured.saturating_add(profile.overhead_tokens);
        let Some(measured) = found else {
            return Meter {
                total: whole.saturating_add(profile.overhead_tokens),
                most: unmeasured,
                factor_milli,
                ..Meter::default()
            };
        };
        let next = projection.pieces.get(measured.pieces);
        let before = next.map_or(projection.tokens, |piece| piece.tokens_before);
        let counted = projection.tokens.saturating_sub(before);
        let rest_milli = learnt.map_or_else(
            || more(factor_milli, REST),
            |learnt| most_milli(learnt, factor_milli, REST),
        );
        // Around each new message a provider counts what nobody sees.
        let unseen = if next.is_none() {
            0
        } else {
            measured.tokens / 100
        };
        let most = measured
            .tokens
            .saturating_add(unseen)
            .saturating_add(scaled(counted, rest_milli));
        Meter {
            total: measured
                .tokens
                .saturating_add(scaled(counted, factor_milli)),
            measured: measured.tokens,
            exact: next.is_none(),
            // What was freed of a measured prompt is an estimate as well.
            most: if measured.whole {
                most
            } else {
                most.max(unmeasured)
            },
            factor_milli,
        }
    }

    fn by_digest(&self, profile: &Profile, projection: &Projection) -> Option<Measured> {
        // Collected from the oldest on, so that of what was said twice about a prompt the newest counts.
        let mut known: Vec<(Digest, u64)> = known(&self.state)
            .map(|known| (known.digest, known.tokens))
            .filter(|(digest, _)| is_for(&self.state, *digest, profile))
            .collect();
        known.reverse();
        let known: BTreeMap<Digest, u64> = known.into_iter().collect();
        if self.state.ledger().issued.is_empty() && known.is_empty() {
            return None;
        }
        let all = projection.pieces.len();
        let (index, tokens) = (all.saturating_sub(LOOKED_AT)..all)
            .rev()
            .find_map(|index| {
                let root = root(projection, index)?;
                let tokens = known.get(&root).copied();
                Some((index, tokens.or_else(|| self.answered(root, profile))?))
            })?;
        (tokens > 0).then_some(Measured {
            pieces: index.saturating_add(1),
            tokens,
            whole: true,
        })
    }

    /// What the answer to an issued prompt said of it, however long ago: an earlier cut is measured as well as the head.
    fn answered(&self, digest: Digest, profile: &Profile) -> Option<u64> {
        let ledger = self.state.ledger();
        let issued = *ledger.issued.get(&digest)?;
        let mut behind = ledger.usages.range(issued..).take(ANSWERS);
        let totals = behind.find_map(|(seq, totals)| {
            let logged = self.state.event(*seq)?;
            (usage_in(&logged)?.issued == Some(digest)).then_some(totals)
        })?;
        is_for(&self.state, digest, profile).then(|| input(totals))
    }

    /// The newest shown response that a usage names, or that one stands behind which names neither a request nor a prompt.
    fn by_response(
        &self,
        timeline: &Timeline,
        profile: &Profile,
        projection: &Projection,
        factor_milli: u64,
    ) -> Option<Measured> {
        let ledger = self.state.ledger();
        let behind = self.behind(timeline);
        // What was deleted on the provider's side is in no count, and comes back when its edits go.
        if (ledger.requests.is_empty() && behind.is_none())
            || known(&self.state).any(|known| known.edited)
        {
            return None;
        }
        let mut newest = timeline.shown.iter().rev().take(USAGES);
        let (first, tokens) = newest.find_map(|(key, shown)| {
            let Shown::Unit(unit) = shown else {
                return None;
            };
            let messages = unit.parts.iter().filter_map(Part::message);
            let mut own = messages.filter(|message| {
                let model = message.model.as_ref();
                model.is_none_or(|model| same_model(model, &profile.model))
            });
            let unnamed = behind.filter(|(unit, _)| unit == key);
            let unnamed = unnamed.filter(|_| own.clone().next().is_some());
            let named = own.by_ref().filter_map(|message| {
                let response = message.response.as_ref().and_then(Text::bytes)?;
                ledger.used(response)
            });
            let named = named.last().map(input);
            Some((*key, named.or(unnamed.map(|(_, tokens)| tokens))?))
        })?;
        let all = projection.pieces.len();
        let mut near = (all.saturating_sub(LOOKED_AT)..all).rev();
        let at = |index: &usize| {
            projection
                .pieces
                .get(*index)
                .is_some_and(|piece| piece.source.seq == first)
        };
        let last = near.find(at)?;
        let pieces = (0..=last).rev().take_while(at).last()?;
        let (then, now) = self.before(first, projection, pieces)?;
        let tokens = left(tokens, then, now, factor_milli);
        (tokens > 0).then_some(Measured {
            pieces,
            tokens,
            whole: now >= then,
        })
    }

    /// The response that the newest usage without any name stands behind, shown or not, and all its input.
    fn behind(&self, timeline: &Timeline) -> Option<(Seq, u64)> {
        let (seq, tokens) = usages(&self.state).find_map(|(logged, totals)| {
            let usage = usage_in(&logged)?;
            let named = usage.request.is_some() || usage.issued.is_some();
            (!named && timeline.line.contains(logged.seq)).then(|| (logged.seq, input(totals)))
        })?;
        let (unit, _) = timeline.units.range(..seq).next_back()?;
        Some((*unit, tokens))
    }

    /// Counted tokens that stood before a response when it was asked for, and those that do now.
    fn before(&self, first: Seq, projection: &Projection, pieces: usize) -> Option<(u64, u64)> {
        let now = projection.pieces.get(pieces)?.tokens_before;
        let mut known = lock(&self.before_response);
        let then = match *known {
            Some((seq, tokens)) if seq == first => tokens,
            _ => self.before_then(first)?,
        };
        *known = Some((first, then));
        Some((then, now))
    }

    fn before_then(&self, first: Seq) -> Option<u64> {
        let timeline = self.state.timeline_at(first.prev()?).ok()?;
        let logged = timeline.header.profile.clone().or_else(|| self.profile())?;
        let profile = profile_of(&logged)?;
        Some(self.render(&timeline, profile, profile.wire, true).tokens)
    }
}

/// What is left of a measured prompt when less of it is shown: by the factor or in proportion, whichever leaves more. What the
/// provider counted is not all in the log, nor all of the log in what it counted.
fn left(measured: u64, then: u64, now: u64, factor_milli: u64) -> u64 {
    let freed = then.saturating_sub(now);
    let by_factor = measured.saturating_sub(scaled(freed, factor_milli));
    let part = u128::from(measured)
        .saturating_mul(u128::from(now.min(then)))
        .checked_div(u128::from(then));
    by_factor.max(part.and_then(|part| u64::try_from(part).ok()).unwrap_or(0))
}

fn root(projection: &Projection, index: usize) -> Option<Digest> {
    projection.pieces.get(index).map(|piece: &Piece| piece.root)
}

/// The factor that what is not measured stays below: the one in force with its margin, or a little over the greatest that was learnt.
fn most_milli(learnt: Learnt, factor_milli: u64, margin_milli: u64) -> u64 {
    let greatest = more(learnt.greatest, GREATEST).min(more(factor_milli, APART));
    more(factor_milli, margin_milli).max(greatest)
}

/// Tokens with a margin in thousandths, rounded up.
fn more(tokens: u64, margin_milli: u64) -> u64 {
    scaled(tokens, margin_milli.saturating_add(1_000))
}

/// Counted tokens as the provider will count them.
pub(crate) fn scaled(tokens: u64, factor_milli: u64) -> u64 {
    u64::try_from(
        u128::from(tokens)
            .saturating_mul(u128::from(factor_milli))
            .div_ceil(1_000),
    )
    .unwrap_or(u64::MAX)
}

impl Core {
    /// Tokens that the next round will add: the moving average of what rounds of the timeline added, in integers, the newest weighing
    /// a quarter.
    pub(crate) fn next_round(&self) -> u64 {
        let mut inputs: Vec<u64> = usages(&self.state)
            .map(|(_, totals)| input(totals))
            .collect();
        inputs.reverse();
        let grown = inputs.windows(2).filter_map(|pair| match pair {
            [before, after] => after.checked_sub(*before).filter(|grown| *grown > 0),
            _ => None,
        });
        grown
            .reduce(|average, grown| average.saturating_mul(3).saturating_add(grown) / 4)
            .unwrap_or(0)
    }
}

impl Core {
    /// Cache edits whose effect no answer has told yet, by name.
    pub(crate) fn edits_pending(&self) -> Vec<String> {
        let timeline = self.state.timeline();
        let told = |name: &Text| {
            timeline
                .cache_acks
                .iter()
                .any(|(_, logged)| match &logged.event.body {
                    Body::CacheAck(ack) => ack.id.bytes() == name.bytes(),
                    _ => false,
                })
        };
        let edits = timeline.cache_edits.iter();
        edits
            .filter_map(|(_, logged)| match &logged.event.body {
                Body::CacheEdit(edit) => Some(&edit.id),
                _ => None,
            })
            .filter(|name| !told(name))
            .filter_map(|name| name.words().map(|words| words.into_owned()))
            .collect()
    }

    /// Cache edits were sent whose effect no answer has told yet.
    pub(crate) fn pending_edits(&self) -> bool {
        !self.edits_pending().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn t1_what_is_left_of_a_measured_prompt_is_never_guessed_too_small() {
        // Nothing went.
        assert_eq!(left(1_000, 500, 500, 1_600), 1_000);
        assert_eq!(left(1_000, 500, 900, 1_600), 1_000);
        // The provider counted twice what we did: 100 of ours are 160 of its by the factor, 200 in proportion.
        assert_eq!(left(1_000, 500, 400, 1_600), 840);
        // It counted less than we did: 160 by the factor, 80 in proportion.
        assert_eq!(left(400, 500, 400, 1_600), 320);
        assert_eq!(left(400, 0, 0, 1_600), 400);
        assert_eq!(left(100, 500, 0, 1_600), 0);
    }
}
