//! How much may stay, come back and be said after a fold. Tokens of the provider, where not said otherwise.

use crate::Situation;

/// Of a hundred tokens that messages have under the trigger, a summary that is made without a model has at most so many.
const SUMMARY: u64 = 20;
/// The same of what a level keeps, where the policy names no cap.
const SHARE: u64 = 80;

/// The numbers of one fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// What is kept, restored and attached together.
    pub(crate) cap: u64,
    /// Of that, kept.
    pub(crate) keep: u64,
    /// Of that, restored.
    pub(crate) restore: u64,
    /// The largest summary that is made without a model.
    pub(crate) summary: u64,
    /// Stop keeping when so many tokens …
    pub(crate) least_tokens: u64,
    /// … and so many messages with words are kept.
    pub(crate) least_texts: u64,
}

/// Tokens under the trigger that messages may fill.
pub(crate) fn room(at: &Situation<'_>) -> u64 {
    match at.constants.compact.limit {
        0 => at.lines.trigger.saturating_sub(at.fill.floor),
        _ => at.lines.trigger,
    }
}

/// A part of a hundred.
pub(crate) fn percent(of: u64, percent: u64) -> u64 {
    of.saturating_mul(percent) / 100
}

/// The numbers at a level: 0, or 1 to 3, where less stays.
pub(crate) fn limits(at: &Situation<'_>, level: u8) -> Limits {
    let compact = &at.constants.compact;
    let room = room(at);
    let attached = at.scaled(attached(at));
    let cap = match compact.cap_percent {
        0 => u64::MAX,
        // Of the trigger, less where the floor is high: what is summed up needs room beside what stays.
        share => percent(room, share).saturating_sub(attached),
    };
    let reserve = compact.restore_tokens.min(cap / 4);
    let plain = Limits {
        cap,
        keep: compact.keep_most.min(cap.saturating_sub(reserve)),
        restore: compact.restore_tokens,
        summary: compact.summary_tokens.min(percent(room, SUMMARY)),
        least_tokens: compact.keep_tokens,
        least_texts: compact.keep_texts,
    };
    match level {
        0 => plain,
        level => harder(at, plain, level),
    }
}

/// At a level less is kept: a part of what there is, or of the trigger where that is less.
fn harder(at: &Situation<'_>, plain: Limits, level: u8) -> Limits {
    let share = keep_percent(at, level);
    let most = match at.constants.compact.cap_percent {
        0 => SHARE,
        cap => cap.min(SHARE),
    };
    let keep = percent(at.lines.trigger.min(at.weighed()), share).min(percent(room(at), most));
    Limits {
        cap: plain.cap.min(keep.max(percent(plain.cap, share))),
        keep,
        restore: match level {
            1 | 2 => percent(plain.restore, share),
            _ => 0,
        },
        summary: percent(plain.summary, share.max(1)),
        least_tokens: u64::MAX,
        least_texts: u64::MAX,
    }
}

/// Per cent of the trigger that stays at a level from 1 to 3.
pub(crate) fn keep_percent(at: &Situation<'_>, level: u8) -> u64 {
    let [first, second, third] = at.constants.overflow.keep_percent;
    match level {
        0 | 1 => first,
        2 => second,
        _ => third,
    }
}

/// Counted tokens of what stands behind everything else.
fn attached(at: &Situation<'_>) -> u64 {
    if at.timeline().tails.is_empty() {
        return 0;
    }
    let tails = &at.timeline().tails;
    let last = at.pieces.iter().rev();
    let ours = last.take_while(|piece| tails.contains_key(&piece.source.seq));
    super::atoms::sum(ours.map(|piece| piece.tokens))
}

/// Provider's tokens as counted ones.
pub(crate) fn counted(at: &Situation<'_>, tokens: u64) -> u64 {
    let factor = u128::from(at.fill.factor_milli.max(1));
    u64::try_from(u128::from(tokens).saturating_mul(1_000) / factor).unwrap_or(u64::MAX)
}
