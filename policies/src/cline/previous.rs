//! What the previous request used, and whether it decided already.

use super::CAUSE;
use crate::Situation;
use recount_events::{Body, Seq, Text};

/// The previous request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Previous {
    /// The first event that says what it used.
    pub(super) seq: Seq,
    /// All its tokens: input, output, written to the cache, read from it.
    pub(super) tokens: u64,
}

/// The newest request of the timeline that said what it used.
pub(super) fn previous(at: &Situation<'_>) -> Option<Previous> {
    let seq = at.timeline().usage?;
    let first = match &at.state.event(seq)?.event.body {
        Body::Usage(usage) => usage.repeats.unwrap_or(seq),
        _ => return None,
    };
    let totals = at.state.ledger().usages.get(&first)?;
    let parts = [
        totals.output,
        totals.cache_read,
        totals.cache_write_5m,
        totals.cache_write_1h,
    ];
    let tokens = parts.into_iter().fold(totals.input, u64::saturating_add);
    Some(Previous { seq: first, tokens })
}

/// The previous request, where it was too full for `limit` and nothing was decided for it yet.
pub(super) fn due(at: &Situation<'_>, limit: u64) -> Option<Previous> {
    previous(at).filter(|one| one.tokens >= limit && !is_decided(at, one.seq))
}

/// Something was decided behind a position, undone since or not.
pub(super) fn is_decided(at: &Situation<'_>, since: Seq) -> bool {
    let line = &at.timeline().line;
    (since.next().0..at.next().0)
        .map(Seq)
        .filter(|seq| line.contains(*seq))
        .any(|seq| {
            at.state
                .event(seq)
                .is_some_and(|logged| decides(&logged.event.body))
        })
}

fn decides(body: &Body) -> bool {
    let own = |cause: &Option<Text>| {
        let words = cause.as_ref().and_then(Text::words);
        words.is_some_and(|words| words.starts_with(CAUSE))
    };
    match body {
        Body::DeleteRange(delete) => own(&delete.cause),
        Body::Replace(replace) => own(&replace.cause),
        Body::CompactPlan(_) | Body::CompactCommit(_) | Body::CollapseCommit(_) => true,
        _ => false,
    }
}
