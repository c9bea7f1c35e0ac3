//! The meter: how full the window is, and which part of that the provider measured.
//!
//! - A prompt is known by the running root of its pieces: where a usage names an issued prompt whose root stands among the pieces,
//!   exactly those pieces are measured, whatever came or went in between.
//! - A usage that names only its response (a recording) is anchored before that response; what was freed since is taken off.
//! - The rest is counted tokens × factor. Factors are in thousandths.

use super::{Core, profile_of};
use recount_events::{Body, Digest, Excess, Issued, Overflow, Profile, Seq, Text, Usage};
use recount_projections::{Logged, Piece, Projection, Shown, State, Timeline, Totals};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The estimator's margin, in thousandths, while the factor is an assumption, which is on the safe side itself: 5 %.
const ASSUMED: u64 = 50;
/// With a factor that was learnt: what other kinds of text in the same prompt are off by, 15 %.
const LEARNT: u64 = 150;
/// Of what stands behind a measured part: it may be all of one kind, which counts up to 1.59 where the factor was learnt at 1.18: 30 %.
const REST: u64 = 300;
/// Until the first answer of a current Claude model: its tokenizer is not public, and counts 18 to 59 % more than o200k_base.
const CLAUDE_MILLI: u64 = 1_600;
/// How many usages are looked at, and how many responses from the end for one that a usage names.
const USAGES: usize = 64;
/// How many usages behind an issued prompt are looked at for its own.
const ANSWERS: usize = 4;
/// How many pieces from the end are looked at for one that was measured: what is older says too little.
const LOOKED_AT: usize = 4_096;

/// A refusal that counts more than so many tokens for each that was counted is about another prompt: twice what the factor is bound by.
const TIMES: u64 = 8;
/// What a provider may count without a word of it in the prompt, in its tokens: its own instructions for tools, say.
const UNSEEN: u64 = 10_000;

/// What is known of a prompt's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meter {
    /// Tokens of the whole prompt.
    pub(crate) total: u64,
    /// Of those, what the provider counted.
    pub(crate) measured: u64,
    /// The provider counted exactly this prompt.
    pub(crate) exact: bool,
    /// For the render: what was measured reaches up to this key of what is shown.
    pub(crate) key: Option<(Seq, u64)>,
    /// The factor that was used.
    pub(crate) factor_milli: u64,
}

impl Meter {
    /// What was measured, as the render is to take it: with a hundredth more where something stands behind it, since a provider counts
    /// around each new message what nobody sees.
    pub(crate) fn bound(&self) -> Option<(Seq, u64)> {
        let (key, tokens) = self.key?;
        let more = if self.exact { 0 } else { tokens / 100 };
        Some((key, tokens.saturating_add(more)))
    }

    /// The margin on what is estimated, in thousandths.
    pub(crate) fn margin_milli(&self, profile: &Profile) -> u64 {
        match self.key {
            Some(_) => REST,
            None if self.factor_milli == assumed(profile) => ASSUMED,
            None => LEARNT,
        }
    }
}

/// The provider's tokens for a thousand counted ones: learnt from the newest count of the model, else by provider.
pub(crate) fn factor(state: &State, profile: &Profile) -> u64 {
    let known = known(state).find_map(|known| ratio(state, profile, &known));
    known.unwrap_or_else(|| assumed(profile))
}

/// The factor before anything is known.
pub(super) fn assumed(profile: &Profile) -> u64 {
    match profile.provider.as_str() {
        Some("anthropic") => CLAUDE_MILLI,
        _ => 1_000,
    }
}

/// What a provider counted of a prompt that was issued: by a usage, or by a refusal that tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The event that says so.
    pub(super) seq: Seq,
    /// The prompt.
    pub(super) digest: Digest,
    /// All its tokens.
    pub(super) tokens: u64,
    /// Results that the prompt shows were deleted on the provider's side: its tokens are not those of what is shown.
    pub(super) edited: bool,
}

/// What providers counted of issued prompts, the newest first.
pub(super) fn known(state: &State) -> impl Iterator<Item = Known> + '_ {
    let mut usages = usages(state)
        .filter_map(|(logged, totals)| {
            let usage = usage_in(&logged)?;
            Some(Known {
                seq: logged.seq,
                digest: usage.issued?,
                tokens: input(totals),
                edited: usage.cache_deleted.is_some_and(|deleted| deleted > 0),
            })
        })
        .peekable();
    let mut refusals = refusals(state)
        .filter(|(_, overflow)| is_about(state, overflow))
        .filter_map(|(seq, overflow)| {
            Some(Known {
                seq,
                digest: overflow.issued?,
                tokens: overflow.actual?,
                edited: false,
            })
        })
        .peekable();
    std::iter::from_fn(move || {
        let usage = usages.peek().map(|known| known.seq);
        let refusal = refusals.peek().map(|known| known.seq);
        if refusal > usage {
            refusals.next()
        } else {
            usages.next()
        }
    })
}

/// Refusals for too many tokens, the newest first.
fn refusals(state: &State) -> impl Iterator<Item = (Seq, Overflow)> + '_ {
    let newest = state.ledger().overflows.iter().rev().take(USAGES);
    newest.filter_map(|(seq, logged)| match &logged.event.body {
        Body::Overflow(overflow) if overflow.kind == Excess::Tokens => {
            Some((*seq, overflow.clone()))
        }
        _ => None,
    })
}

/// The refusal's count can be that of the prompt it is logged for: a host may hand in the words about another one.
fn is_about(state: &State, overflow: &Overflow) -> bool {
    let issue = overflow.issued.and_then(|digest| issued_of(state, digest));
    let (Some(actual), Some(issued)) = (overflow.actual, issue.as_deref().and_then(issued_in))
    else {
        return true;
    };
    let profile = issued.profile.and_then(|seq| state.event(seq));
    let profile = profile.as_deref().and_then(profile_of);
    let overhead = profile.map_or(0, |profile| profile.overhead_tokens);
    let most = issued.estimate.saturating_mul(TIMES);
    actual <= most.saturating_add(UNSEEN).saturating_add(overhead)
}

/// The provider's tokens for a thousand counted ones of one prompt of the model.
pub(super) fn ratio(state: &State, profile: &Profile, known: &Known) -> Option<u64> {
    let estimate = estimated(state, profile, known).filter(|_| !known.edited)?;
    // Beyond these bounds the count is not about this prompt.
    Some((known.tokens.saturating_mul(1_000) / estimate).clamp(250, 4_000))
}

/// What was counted of a prompt of the model before it left; none where that says too little.
pub(super) fn estimated(state: &State, profile: &Profile, known: &Known) -> Option<u64> {
    let issue = issued_of(state, known.digest)?;
    let issued = issued_in(&issue)?;
    let logged = state.event(issued.profile?)?;
    let same = same_model(&profile_of(&logged)?.model, &profile.model);
    (same && issued.estimate >= 100 && known.tokens > 0).then_some(issued.estimate)
}

/// The same model, perhaps named with its date in one place and without in the other.
fn same_model(one: &Text, other: &Text) -> bool {
    match (one.bytes(), other.bytes()) {
        (Some(one), Some(other)) => one.starts_with(other) || other.starts_with(one),
        _ => false,
    }
}

/// The newest `issued` event of a digest.
pub(crate) fn issued_of(state: &State, digest: Digest) -> Option<Arc<Logged>> {
    state.event(*state.ledger().issued.get(&digest)?)
}

/// What an `issued` event says.
pub(crate) fn issued_in(logged: &Logged) -> Option<&Issued> {
    match &logged.event.body {
        Body::Issued(issued) => Some(issued),
        _ => None,
    }
}

fn usage_in(logged: &Logged) -> Option<&Usage> {
    match &logged.event.body {
        Body::Usage(usage) => Some(usage),
        _ => None,
    }
}

/// The newest usages first; the calls that compactions made for themselves say nothing about the session's prompt.
fn usages(state: &State) -> impl Iterator<Item = (Arc<Logged>, &Totals)> {
    let ledger = state.ledger();
    let own = |seq: &Seq| !ledger.compaction_usages.contains_key(seq);
    let newest = ledger.usages.iter().rev().filter(move |(seq, _)| own(seq));
    newest.take(USAGES).filter_map(|(seq, totals)| {
        let logged = state.event(*seq)?;
        usage_in(&logged).is_some().then_some((logged, totals))
    })
}

/// All input tokens of a request.
pub(super) fn input(totals: &Totals) -> u64 {
    [
        totals.cache_read,
        totals.cache_write_5m,
        totals.cache_write_1h,
    ]
    .into_iter()
    .fold(totals.input, u64::saturating_add)
}

/// The prompt was issued for this model, or nobody knows for which: another model's tokenizer says nothing about this one.
fn is_for(state: &State, digest: Digest, profile: &Profile) -> bool {
    let issue = issued_of(state, digest);
    let other = issue.and_then(|issue| state.event(issued_in(&issue)?.profile?));
    let model = other
        .as_deref()
        .and_then(profile_of)
        .map(|other| &other.model);
    model.is_none_or(|model| same_model(model, &profile.model))
}

/// What the provider counted: the first so many pieces, in so many tokens.
struct Measured {
    pieces: usize,
    tokens: u64,
}

impl Core {
    /// Measures a prompt.
    pub(crate) fn meter(
        &self,
        timeline: &Timeline,
        profile: &Profile,
        projection: &Projection,
    ) -> Meter {
        let factor_milli = factor(&self.state, profile);
        let found = self
            .by_digest(profile, projection)
            .or_else(|| self.by_response(timeline, profile, projection, factor_milli));
        let all = projection.pieces.len();
        let Some(measured) = found else {
            let total =
                scaled(projection.tokens, factor_milli).saturating_add(profile.overhead_tokens);
            return Meter {
                total,
                factor_milli,
                ..Meter::default()
            };
        };
        let before = projection
            .pieces
            .get(measured.pieces)
            .map_or(projection.tokens, |piece| piece.tokens_before);
        let rest = scaled(projection.tokens.saturating_sub(before), factor_milli);
        Meter {
            total: measured.tokens.saturating_add(rest),
            measured: measured.tokens,
            exact: measured.pieces == all,
            key: key_before(timeline, projection, measured.pieces)
                .map(|key| (key, measured.tokens)),
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

    /// The newest shown response that a usage names.
    fn by_response(
        &self,
        timeline: &Timeline,
        profile: &Profile,
        projection: &Projection,
        factor_milli: u64,
    ) -> Option<Measured> {
        let ledger = self.state.ledger();
        if ledger.requests.is_empty() {
            return None;
        }
        let (first, tokens) =
            timeline
                .shown
                .iter()
                .rev()
                .take(USAGES)
                .find_map(|(key, shown)| {
                    let Shown::Unit(unit) = shown else {
                        return None;
                    };
                    let named = unit
                        .parts
                        .iter()
                        .filter_map(recount_projections::Part::message)
                        .filter(|message| {
                            message
                                .model
                                .as_ref()
                                .is_none_or(|model| same_model(model, &profile.model))
                        })
                        .filter_map(|message| message.response.as_ref().and_then(Text::bytes));
                    named
                        .filter_map(|response| ledger.used(response))
                        .next_back()
                        .map(|totals| (*key, input(totals)))
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
        (tokens > 0).then_some(Measured { pieces, tokens })
    }

    /// Counted tokens that stood before a response when it was asked for, and those that do now.
    fn before(&self, first: Seq, projection: &Projection, pieces: usize) -> Option<(u64, u64)> {
        let now = projection.pieces.get(pieces)?.tokens_before;
        let mut known = self
            .before_response
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
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

/// The key of what is shown up to which so many pieces reach, included.
fn key_before(timeline: &Timeline, projection: &Projection, pieces: usize) -> Option<Seq> {
    match projection.pieces.get(pieces) {
        None => timeline.shown.iter().next_back().map(|(key, _)| *key),
        Some(next) => {
            let begins = timeline.shown.get(&next.source.seq)?;
            // A summary is known by its commit, not by its key; a piece in the middle of a unit has no key of its own.
            if matches!(begins, Shown::Summary(_)) {
                return None;
            }
            timeline
                .shown
                .range(..next.source.seq)
                .next_back()
                .map(|(key, _)| *key)
        }
    }
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
    /// The smallest window that the model's provider was seen to name in a refusal.
    pub(crate) fn seen_window(&self, profile: &Profile) -> Option<u64> {
        refusals(&self.state)
            .filter_map(|(seq, overflow)| {
                let digest = overflow.issued.or_else(|| self.issued_before(seq))?;
                let limit = overflow.limit.filter(|limit| *limit > 0)?;
                self.was_for(digest, profile).then_some(limit)
            })
            .min()
    }

    /// The newest prompt that left before a position.
    fn issued_before(&self, seq: Seq) -> Option<Digest> {
        let mut before = self.state.ledger().issues.range(..seq);
        before.next_back().map(|(_, digest)| *digest)
    }

    /// A prompt left for this model, as far as the log says.
    fn was_for(&self, digest: Digest, profile: &Profile) -> bool {
        let model = issued_of(&self.state, digest)
            .and_then(|issue| self.state.event(issued_in(&issue)?.profile?));
        model
            .as_deref()
            .and_then(profile_of)
            .is_some_and(|other| same_model(&other.model, &profile.model))
    }

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
