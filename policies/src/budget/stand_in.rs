//! The words that stand for a result. They are logged, so they are the same for ever.

use crate::reading::Brought;
use crate::{Situation, cut};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use recount_events::BlockId;

/// What stands for the middle of a result that was cut by tokens.
const TRUNCATED: &str = "[...truncated...]";

/// For a result whose content lies in a file: size, path, and how it begins. The shape is that of public analyses of Claude Code 2.1.
pub(super) fn preview(at: &Situation<'_>, brought: &Brought<'_>, path: &str) -> String {
    let most = at.constants.budget.preview_bytes;
    let text = text(brought);
    let end = cut::at_line(&text, usize::try_from(most).unwrap_or(usize::MAX));
    let begins = text.get(..end).unwrap_or("");
    let more = if end < text.len() { "\n..." } else { "" };
    format!(
        "<persisted-output>\nOutput too large ({}). Full output saved to: {path}\n\nPreview (first {}):\n{begins}{more}\n</persisted-output>",
        cut::human(brought.file.len() as u64),
        cut::human(most)
    )
}

/// What the file says, as far as it is text.
fn text<'b>(brought: &'b Brought<'_>) -> Cow<'b, str> {
    if brought.json {
        String::from_utf8_lossy(&brought.file)
    } else {
        Cow::Borrowed(&brought.words)
    }
}

/// For a result that no file can take: how it begins and ends, within a limit in UTF-16 units, and where the rest is.
pub(super) fn ends(
    at: &Situation<'_>,
    brought: &Brought<'_>,
    block: BlockId,
    limit: u64,
) -> String {
    let budget = &at.constants.budget;
    let (head, tail) = two_ends(&brought.words, |text| {
        let head = cut::head_of_units(text, share(limit, budget.head_percent));
        let rest = text.get(head.len()..).unwrap_or("");
        (
            head,
            cut::tail_of_units(rest, share(limit, budget.tail_percent)),
        )
    });
    let kept = head.chars().count().saturating_add(tail.chars().count());
    let left_out = brought.words.chars().count().saturating_sub(kept);
    format!(
        "{head}\n[{} characters are left out here; the whole result is event {}, block {}]\n{tail}",
        cut::grouped(left_out as u64),
        block.seq,
        block.index
    )
}

/// For a result of too many tokens: how it begins and ends; `None` when it has no more than it may.
pub(super) fn without_middle(at: &Situation<'_>, brought: &Brought<'_>) -> Option<String> {
    let budget = &at.constants.budget;
    let limit = budget.result_tokens;
    let text: &str = &brought.words;
    // A token has at least one byte.
    if limit == 0 || text.len() as u64 <= limit || at.words.tokens(text) <= limit {
        return None;
    }
    let (head, tail) = two_ends(text, |text| {
        let head = cut::head_of_tokens(text, share(limit, budget.head_percent), at.words);
        let rest = text.get(head.len()..).unwrap_or("");
        let most = share(limit, budget.tail_percent);
        (head, cut::tail_of_tokens(rest, most, at.words))
    });
    Some(format!("{head}\n{TRUNCATED}\n{tail}"))
}

/// The line breaks next to the cut are made anew.
fn two_ends<'t>(
    text: &'t str,
    ends: impl FnOnce(&'t str) -> (&'t str, &'t str),
) -> (&'t str, &'t str) {
    let (head, tail) = ends(text);
    let strip = |end: &'t str, without: fn(&'t str, &'static str) -> Option<&'t str>| {
        without(end, "\r\n")
            .or_else(|| without(end, "\n"))
            .unwrap_or(end)
    };
    (
        strip(head, |end, line| end.strip_suffix(line)),
        strip(tail, |end, line| end.strip_prefix(line)),
    )
}

const fn share(of: u64, percent: u64) -> u64 {
    of.saturating_mul(percent) / 100
}
