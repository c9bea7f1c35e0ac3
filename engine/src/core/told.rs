//! What providers told of prompts that were sent: what they counted, and windows that are smaller than the profile says.
//!
//! - All of it is a function of the log. Words about another prompt are no measure of this one: a host may hand them in by mistake.
//! - Factors are in thousandths: the provider's tokens for a thousand counted ones.

use super::profile_used::{model_used, own_profile};
use super::{Core, profile_of};
use crate::lock::lock;
use recount_events::{Body, Digest, Excess, Issued, Overflow, Profile, Seq, Text, Usage};
use recount_projections::{Logged, State, Totals};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Until the first answer of a current Claude model: its tokenizer is not public, and counts 18 to 59 % more than o200k_base.
const CLAUDE_MILLI: u64 = 1_600;
/// More than this no known tokenizer counts of a whole prompt: what a small prompt shows beyond it is what the provider adds.
const MOST_MILLI: u64 = 1_600;
/// Of a model that nobody else knows, a prompt teaches wholly from a part of the window on, in counted tokens: its error is multiplied by
/// as much when the window is full.
const TEACHES_PART: u64 = 32;
/// What a provider adds is some hundreds of tokens: beside so many counted ones it does not weigh, whatever the window.
const TEACHES: u64 = 2_000;
/// How many usages and how many refusals are looked at.
pub(super) const USAGES: usize = 64;

/// A refusal that counts more than so many tokens for each that was counted is about another prompt: twice what the factor is bound by.
const TIMES: u64 = 8;
/// One that counts one token where so many were counted is about another prompt as well: the factor's other bound.
const LESS: u64 = 4;
/// What a provider may count without a word of it in the prompt, in its tokens: its own instructions for tools, say.
const UNSEEN: u64 = 10_000;

/// Factors of a model as its provider's counts taught them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Learnt {
    /// Of the newest prompt that is large enough to teach wholly, else of the largest one: what a prompt is expected to count.
    pub(super) factor: u64,
    /// The greatest of those that were looked at: what another mixture of the same session's texts was seen to count.
    pub(super) greatest: u64,
}

/// What is learnt from the counts before a position (none: from all of them).
pub(super) fn learnt(state: &State, profile: &Profile, before: Option<Seq>) -> Option<Learnt> {
    let enough = (profile.window / TEACHES_PART).clamp(1, TEACHES);
    let counts = known(state).filter(|known| before.is_none_or(|before| known.seq < before));
    let told: Vec<(u64, u64)> = counts
        .filter(|known| !known.edited)
        .filter_map(|known| {
            let counted = estimated(state, profile, &known)?;
            let ratio = ratio(profile, known.tokens, counted);
            Some((counted, weighed(ratio, assumed(profile), counted, enough)))
        })
        .collect();
    let newest = told.iter().find(|(counted, _)| *counted >= enough);
    let (_, factor) = newest.or_else(|| told.iter().rev().max_by_key(|(counted, _)| *counted))?;
    let greatest = told.iter().map(|(_, factor)| *factor).max()?;
    Some(Learnt {
        factor: *factor,
        greatest,
    })
}

/// What a prompt of too few counted tokens teaches: of what lies outside of what is usual only the part that its size makes up.
fn weighed(ratio: u64, assumed: u64, counted: u64, enough: u64) -> u64 {
    let part = |off: u64| off.saturating_mul(counted.min(enough)) / enough;
    let most = assumed.max(MOST_MILLI);
    if ratio > most {
        most.saturating_add(part(ratio.saturating_sub(most)))
    } else if ratio < assumed {
        assumed.saturating_sub(part(assumed.saturating_sub(ratio)))
    } else {
        ratio
    }
}

/// The provider's tokens for a thousand counted ones of one prompt; what the profile says that the provider adds is no part of it.
fn ratio(profile: &Profile, tokens: u64, counted: u64) -> u64 {
    let own = tokens.saturating_sub(profile.overhead_tokens.min(tokens / 2));
    // Beyond these bounds the count is not about this prompt.
    (own.saturating_mul(1_000) / counted.max(1)).clamp(250, 4_000)
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

/// The refusal's numbers can be those of the prompt that it is logged for: a host may hand in the words about another one.
fn is_about(state: &State, overflow: &Overflow) -> bool {
    let issue = overflow.issued.and_then(|digest| issued_of(state, digest));
    let Some(issued) = issue.as_deref().and_then(issued_in) else {
        return true;
    };
    let overhead = match issued.profile {
        Some(seq) => state
            .event(seq)
            .as_deref()
            .and_then(profile_of)
            .map(|profile| profile.overhead_tokens),
        None => issue
            .as_deref()
            .and_then(|issue| own_profile(&issue.event))
            .map(|profile| profile.overhead_tokens),
    };
    let most = issued
        .estimate
        .saturating_mul(TIMES)
        .saturating_add(UNSEEN)
        .saturating_add(overhead.unwrap_or(0));
    let least = issued.estimate / LESS;
    match (overflow.actual, overflow.limit) {
        (Some(actual), _) => (least..=most).contains(&actual),
        (None, Some(limit)) => limit <= most,
        (None, None) => true,
    }
}

/// What was counted of a prompt of the model before it left; none where that says too little.
pub(super) fn estimated(state: &State, profile: &Profile, known: &Known) -> Option<u64> {
    let issue = issued_of(state, known.digest)?;
    let issued = issued_in(&issue)?;
    let same = same_model(&model_of(state, &issue)?, &profile.model);
    (same && issued.estimate >= 100 && known.tokens > 0).then_some(issued.estimate)
}

/// The model that an issued prompt was for, as far as the log says: its profile is an event of the session, or the request's own.
pub(super) fn model_of(state: &State, issue: &Logged) -> Option<Text> {
    match issued_in(issue)?.profile {
        Some(seq) => Some(profile_of(&*state.event(seq)?)?.model.clone()),
        None => model_used(&issue.event),
    }
}

/// The same model, perhaps named with its date in one place and without in the other.
pub(super) fn same_model(one: &Text, other: &Text) -> bool {
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

pub(super) fn usage_in(logged: &Logged) -> Option<&Usage> {
    match &logged.event.body {
        Body::Usage(usage) => Some(usage),
        _ => None,
    }
}

/// The newest usages first; the calls that compactions made for themselves say nothing about the session's prompt.
pub(super) fn usages(state: &State) -> impl Iterator<Item = (Arc<Logged>, &Totals)> {
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

/// A refusal that names a window.
#[derive(Clone, Copy, Debug)]
struct Named {
    seq: Seq,
    prompt: Digest,
    limit: u64,
}

/// A window that a model's provider was seen to have, and what that was worked out of: it changes with what providers told only, and all
/// usages of a session are looked through for it.
#[derive(Debug)]
pub(crate) struct Window {
    /// How many there are, and what they come to.
    usages: (usize, Totals),
    refusals: usize,
    /// How many positions were cold: what could not be read of them is read again with the rest of the log.
    cold: u64,
    /// The model and the window that it is said to have.
    profile: (Text, u64),
    seen: Option<u64>,
}

impl Window {
    fn of_the_same(&self, other: &Self) -> bool {
        (&self.usages, self.refusals, self.cold) == (&other.usages, other.refusals, other.cold)
            && self.profile.0.bytes() == other.profile.0.bytes()
            && self.profile.1 == other.profile.1
    }
}

impl Core {
    /// The smallest window that the model's provider named in a refusal, where that is to be believed: the refusal can be about the prompt
    /// that it is logged for, and no larger prompt was accepted since. Where a larger one was accepted before, two refused prompts have
    /// to say so.
    pub(crate) fn seen_window(&self, profile: &Profile) -> Option<u64> {
        let ledger = self.state.ledger();
        let known = Window {
            usages: (ledger.usages.size(), ledger.totals),
            refusals: ledger.overflows.size(),
            cold: self.state.cold(),
            profile: (profile.model.clone(), profile.window),
            seen: None,
        };
        let mut last = lock(&self.window);
        match &*last {
            Some(window) if window.of_the_same(&known) => window.seen,
            _ => {
                let seen = self.window_in(profile);
                *last = Some(Window { seen, ..known });
                seen
            }
        }
    }

    fn window_in(&self, profile: &Profile) -> Option<u64> {
        let named: Vec<Named> = refusals(&self.state)
            .filter(|(_, overflow)| is_about(&self.state, overflow))
            .filter_map(|(seq, overflow)| {
                let limit = overflow
                    .limit
                    .filter(|limit| (1..profile.window).contains(limit))?;
                let prompt = overflow.issued.or_else(|| self.issued_before(seq))?;
                let told = Named { seq, prompt, limit };
                self.was_for(prompt, profile).then_some(told)
            })
            .collect();
        let limits: BTreeSet<u64> = named.iter().map(|one| one.limit).collect();
        limits.into_iter().find(|limit| {
            let accepted = self.accepted_over(*limit, profile);
            let since = named
                .iter()
                .filter(|one| one.limit <= *limit && Some(one.seq) > accepted);
            let prompts: BTreeSet<Digest> = since.map(|one| one.prompt).collect();
            prompts.len() > usize::from(accepted.is_some())
        })
    }

    /// Where the newest prompt of the model is answered that was larger than this.
    fn accepted_over(&self, limit: u64, profile: &Profile) -> Option<Seq> {
        let mut newest = self.state.ledger().usages.iter().rev();
        let found = newest.find(|(seq, totals)| {
            input(totals) > limit
                && self.state.event(**seq).is_some_and(|logged| {
                    let prompt = usage_in(&logged).and_then(|usage| usage.issued);
                    prompt.is_some_and(|prompt| self.was_for(prompt, profile))
                })
        });
        found.map(|(seq, _)| *seq)
    }

    /// The newest prompt that left before a position.
    fn issued_before(&self, seq: Seq) -> Option<Digest> {
        let mut before = self.state.ledger().issues.range(..seq);
        before.next_back().map(|(_, digest)| *digest)
    }

    /// A prompt left for this model, as far as the log says.
    fn was_for(&self, digest: Digest, profile: &Profile) -> bool {
        issued_of(&self.state, digest)
            .and_then(|issue| model_of(&self.state, &issue))
            .is_some_and(|model| same_model(&model, &profile.model))
    }
}
