//! The ledger: what really happened. Nothing rolls it back, and no byte of a prompt depends on it.

use crate::{Line, List, Logged, Map};
use alloc::{string::String, sync::Arc};
use recount_events::{
    BlockId, Body, Breaker, BreakerState, Counted, Digest, Issued, Seq, Undo, Usage,
};

/// Token totals over all branches; one request counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests.
    pub requests: u64,
    /// Input tokens that were neither read from nor written to the cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Input tokens written to the cache for an hour.
    pub cache_write_1h: u64,
}

/// A breaker as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerView {
    /// The event that brought it here.
    pub seq: Seq,
    /// What it did last.
    pub state: BreakerState,
    /// Its count, level or floor.
    pub value: u64,
}

/// What really happened.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The newest `opened`.
    pub opened: Option<Arc<Logged>>,
    /// The `forked` event, in a fork.
    pub forked: Option<Arc<Logged>>,
    /// The newest `closed`, if nothing but it came last.
    pub closed: Option<Seq>,
    /// Tokens of blocks, by the newest count of each.
    pub counts: Map<BlockId, u64>,
    /// The newest tokenizer's name and version, and where it was named.
    pub tokenizer: Option<(Seq, Arc<str>)>,
    /// Prompts that left: digest to the newest `issued` event of it.
    pub issued: Map<Digest, Seq>,
    /// All `issued` events, with their digests.
    pub issues: Map<Seq, Digest>,
    /// Usages, by the first event of each request, largest values won.
    pub usages: Map<Seq, Totals>,
    /// Their sum.
    pub totals: Totals,
    /// Refusals for size.
    pub overflows: Map<Seq, Arc<Logged>>,
    /// Breakers by name.
    pub breakers: Map<String, BreakerView>,
    /// Erasures' receipts.
    pub erased: Map<Seq, Arc<Logged>>,
    /// What every breaker did, by name.
    pub breaks: Map<String, List<BreakerView>>,
    /// The first usage of each request, by a short digest of its id.
    pub requests: Map<[u8; 16], Seq>,
    /// Usages of calls that compactions made for themselves, as `usages` names them: they say nothing about the size of a prompt.
    pub compaction_usages: Map<Seq, ()>,
    /// Falls of the cache that nothing announced.
    pub cache_breaks: Map<Seq, Arc<Logged>>,
    /// What a host did of what it was asked for, or could not: the action to the newest event that says so.
    pub done: Map<String, Seq>,
    /// Events kept word for word or written by a newer version.
    pub unknown: u64,
}

impl Ledger {
    /// The first usage of the same request.
    pub(crate) fn repeated(&self, usage: &Usage) -> Option<Seq> {
        self.requests.get(&request_print(usage)?).copied()
    }

    /// What the request of an id used, whenever that was and on whatever branch; none when nobody said.
    #[must_use]
    pub fn used(&self, request: &[u8]) -> Option<&Totals> {
        self.usages.get(self.requests.get(&print(request))?)
    }

    /// Takes an event in. What is of the timeline only leaves it as it is.
    pub(crate) fn take(&mut self, logged: &Arc<Logged>, line: &Line) {
        let seq = logged.seq;
        match &logged.event.body {
            Body::Opened(_) => self.opened = Some(Arc::clone(logged)),
            Body::Closed(_) => self.closed = Some(seq),
            Body::Forked(_) => self.forked = Some(Arc::clone(logged)),
            Body::Counted(counted) => self.count(seq, counted),
            Body::Issued(issued) => self.issue(seq, issued),
            Body::Usage(usage) => self.spend(seq, usage),
            Body::Overflow(_) => self.overflows.insert_mut(seq, Arc::clone(logged)),
            Body::Breaker(breaker) => self.break_or_release(seq, breaker, line),
            Body::Undo(undo) => self.undo_release(undo, line),
            Body::CacheBreak(_) => self.cache_breaks.insert_mut(seq, Arc::clone(logged)),
            Body::Done(done) => self.done.insert_mut(done.action.clone(), seq),
            Body::Erased(_) => self.erased.insert_mut(seq, Arc::clone(logged)),
            Body::Kept(_) | Body::Newer(_) => self.unknown = self.unknown.saturating_add(1),
            _ => {}
        }
        if !matches!(logged.event.body, Body::Closed(_)) {
            self.closed = None;
        }
    }

    fn count(&mut self, seq: Seq, counted: &Counted) {
        self.tokenizer = Some((seq, Arc::from(counted.tokenizer.as_str())));
        counted
            .counts
            .iter()
            .for_each(|(block, tokens)| self.counts.insert_mut(*block, *tokens));
    }

    fn issue(&mut self, seq: Seq, issued: &Issued) {
        self.issued.insert_mut(issued.digest, seq);
        self.issues.insert_mut(seq, issued.digest);
    }

    /// One request counts once; of what was said about it the largest values win.
    fn spend(&mut self, seq: Seq, usage: &Usage) {
        let first = self.repeated(usage).unwrap_or(seq);
        if let Some(print) = request_print(usage) {
            self.requests.insert_mut(print, first);
        }
        if usage.compaction.is_some() {
            self.compaction_usages.insert_mut(first, ());
        }
        let before = self.usages.get(&first).copied().unwrap_or_default();
        let after = before.largest(usage);
        self.totals = self.totals.changed(before, after);
        self.usages.insert_mut(first, after);
    }

    fn break_or_release(&mut self, seq: Seq, breaker: &Breaker, line: &Line) {
        let view = BreakerView {
            seq,
            state: breaker.state,
            value: breaker.value,
        };
        let so_far = self.breaks.get(&breaker.name).cloned().unwrap_or_default();
        self.breaks
            .insert_mut(breaker.name.clone(), so_far.push_back(view));
        self.stand(&breaker.name, line);
    }

    /// The undo of a release takes it back; so does the undo of that undo, the other way.
    fn undo_release(&mut self, undo: &Undo, line: &Line) {
        let base = line
            .undos
            .get(&undo.event)
            .map_or(undo.event, |below| below.base);
        let named = self
            .breaks
            .iter()
            .find(|(_, views)| views.iter().any(|view| view.seq == base));
        if let Some(name) = named.map(|(name, _)| name.clone()) {
            self.stand(&name, line);
        }
    }

    /// A breaker stands as its last event that is not undone says.
    fn stand(&mut self, name: &str, line: &Line) {
        let mut views = self.breaks.get(name).into_iter().flatten();
        let last = views
            .rfind(|view| !line.fallen.contains_key(&view.seq))
            .copied();
        match last {
            Some(view) => self.breakers.insert_mut(String::from(name), view),
            None => {
                self.breakers.remove_mut(name);
            }
        }
    }
}

fn request_print(usage: &Usage) -> Option<[u8; 16]> {
    Some(print(usage.request.as_ref()?.bytes()?))
}

/// A short digest of a name or an id.
pub(crate) fn print(id: &[u8]) -> [u8; 16] {
    let mut print = [0; 16];
    print
        .iter_mut()
        .zip(blake3::hash(id).as_bytes())
        .for_each(|(to, from)| *to = *from);
    print
}

impl Totals {
    fn largest(self, usage: &Usage) -> Self {
        Self {
            requests: 1,
            input: self.input.max(usage.input),
            output: self.output.max(usage.output),
            cache_read: self.cache_read.max(usage.cache_read),
            cache_write_5m: self.cache_write_5m.max(usage.cache_write_5m),
            cache_write_1h: self.cache_write_1h.max(usage.cache_write_1h),
        }
    }

    /// The sum after one of its terms grew.
    fn changed(self, before: Self, after: Self) -> Self {
        let grow =
            |sum: u64, before: u64, after: u64| sum.saturating_add(after.saturating_sub(before));
        Self {
            requests: grow(self.requests, before.requests, after.requests),
            input: grow(self.input, before.input, after.input),
            output: grow(self.output, before.output, after.output),
            cache_read: grow(self.cache_read, before.cache_read, after.cache_read),
            cache_write_5m: grow(
                self.cache_write_5m,
                before.cache_write_5m,
                after.cache_write_5m,
            ),
            cache_write_1h: grow(
                self.cache_write_1h,
                before.cache_write_1h,
                after.cache_write_1h,
            ),
        }
    }
}
