//! The ledger as plain data.
//!
//! - Breakers are named by the event that first named them, the tokenizer and what is done by the event that named it last.

use super::thaw::Read;
use super::{list, map, plain};
use crate::{BreakerView, Ledger, Logged, Map, Totals};
use alloc::{string::String, sync::Arc, vec::Vec};
use bincode::{Decode, Encode};
use recount_events::{BlockId, Body, BreakerState, Digest, Seq};

/// See [`Ledger`].
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct FrozenLedger {
    pub(super) opened: Option<Seq>,
    pub(super) forked: Option<Seq>,
    closed: Option<Seq>,
    counts: Vec<(BlockId, u64)>,
    pub(super) tokenizer: Option<Seq>,
    issues: Vec<(Seq, Digest)>,
    usages: Vec<(Seq, [u64; 6])>,
    totals: [u64; 6],
    pub(super) overflows: Vec<Seq>,
    pub(super) breaks: Vec<FrozenBreaker>,
    pub(super) erased: Vec<Seq>,
    requests: Vec<([u8; 16], Seq)>,
    compaction_usages: Vec<Seq>,
    pub(super) cache_breaks: Vec<Seq>,
    pub(super) done: Vec<Seq>,
    unknown: u64,
}

/// What a breaker did, and as which it stands; its name is read from the first.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct FrozenBreaker {
    did: Vec<(Seq, BreakerState, u64)>,
    stands: Option<(Seq, BreakerState, u64)>,
}

impl FrozenBreaker {
    /// The event that names it.
    pub(super) fn named(&self) -> Option<Seq> {
        self.did.first().map(|(seq, ..)| *seq)
    }
}

fn numbers(totals: &Totals) -> [u64; 6] {
    [
        totals.requests,
        totals.input,
        totals.output,
        totals.cache_read,
        totals.cache_write_5m,
        totals.cache_write_1h,
    ]
}

fn totals(numbers: [u64; 6]) -> Totals {
    let [requests, input, output, read, write_5m, write_1h] = numbers;
    Totals {
        requests,
        input,
        output,
        cache_read: read,
        cache_write_5m: write_5m,
        cache_write_1h: write_1h,
    }
}

fn seq(logged: &Option<Arc<Logged>>) -> Option<Seq> {
    logged.as_ref().map(|logged| logged.seq)
}

fn bare(view: &BreakerView) -> (Seq, BreakerState, u64) {
    (view.seq, view.state, view.value)
}

fn view((seq, state, value): (Seq, BreakerState, u64)) -> BreakerView {
    BreakerView { seq, state, value }
}

impl FrozenLedger {
    pub(super) fn of(ledger: &Ledger) -> Self {
        let breaks = ledger.breaks.iter().map(|(name, views)| FrozenBreaker {
            did: plain(views).iter().map(bare).collect(),
            stands: ledger.breakers.get(name).map(bare),
        });
        let usages = ledger.usages.iter();
        Self {
            opened: seq(&ledger.opened),
            forked: seq(&ledger.forked),
            closed: ledger.closed,
            counts: list(&ledger.counts),
            tokenizer: ledger.tokenizer.as_ref().map(|(seq, _)| *seq),
            issues: list(&ledger.issues),
            usages: usages.map(|(seq, used)| (*seq, numbers(used))).collect(),
            totals: numbers(&ledger.totals),
            overflows: super::keys(&ledger.overflows),
            breaks: breaks.collect(),
            erased: super::keys(&ledger.erased),
            requests: list(&ledger.requests),
            compaction_usages: super::keys(&ledger.compaction_usages),
            cache_breaks: super::keys(&ledger.cache_breaks),
            done: ledger.done.values().copied().collect(),
            unknown: ledger.unknown,
        }
    }

    pub(super) fn thaw(&self, read: &mut Read<'_>) -> Option<Ledger> {
        let issued = self.issues.iter().map(|(seq, digest)| (*digest, *seq));
        let usages = self.usages.iter();
        let mut ledger = Ledger {
            opened: read.maybe(self.opened)?,
            forked: read.maybe(self.forked)?,
            closed: self.closed,
            counts: map(&self.counts),
            tokenizer: match self.tokenizer {
                Some(seq) => Some((seq, tokenizer(&*read.event(seq)?)?)),
                None => None,
            },
            issued: issued.collect(),
            issues: map(&self.issues),
            usages: usages.map(|(seq, used)| (*seq, totals(*used))).collect(),
            totals: totals(self.totals),
            overflows: read.events(&self.overflows)?,
            breakers: Map::default(),
            erased: read.events(&self.erased)?,
            breaks: Map::default(),
            requests: map(&self.requests),
            compaction_usages: super::set(&self.compaction_usages),
            cache_breaks: read.events(&self.cache_breaks)?,
            done: Map::default(),
            unknown: self.unknown,
        };
        for breaker in &self.breaks {
            let name = breaker_name(&*read.event(breaker.named()?)?)?;
            if let Some(stands) = breaker.stands {
                ledger.breakers.insert_mut(name.clone(), view(stands));
            }
            let did = breaker.did.iter().map(|did| view(*did)).collect();
            ledger.breaks.insert_mut(name, did);
        }
        for seq in &self.done {
            ledger.done.insert_mut(action(&*read.event(*seq)?)?, *seq);
        }
        Some(ledger)
    }
}

fn tokenizer(logged: &Logged) -> Option<Arc<str>> {
    match &logged.event.body {
        Body::Counted(counted) => Some(Arc::from(counted.tokenizer.as_str())),
        _ => None,
    }
}

fn action(logged: &Logged) -> Option<String> {
    match &logged.event.body {
        Body::Done(done) => Some(done.action.clone()),
        _ => None,
    }
}

fn breaker_name(logged: &Logged) -> Option<String> {
    match &logged.event.body {
        Body::Breaker(breaker) => Some(breaker.name.clone()),
        _ => None,
    }
}
