//! Results made smaller without a model: old ones cleared, large ones cut in their middle. The person's text never.

use crate::Situation;
use crate::compact::shorten;
use crate::compact::tools::{self, Use};
use crate::micro::CLEARED;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Content, Replace, Text, escape};
use recount_projections::render::PieceRole;
use recount_projections::{Answer, Shown};

/// What stands for a result that is too large and cannot be cut.
const TOO_LARGE: &str = "[This result is too large to be shown.]";
/// Counted tokens that a result has around its words, about.
const AROUND: u64 = 40;
/// Of what a cut result keeps: its beginning and its end, in parts.
const SHARES: (u64, u64) = (60, 20);

/// A result that is shown.
struct Result {
    block: BlockId,
    tool: String,
    tokens: u64,
    words: Option<String>,
}

/// The results that are cleared when only the newest `keep` stay.
pub(super) fn old(at: &Situation<'_>, keep: u64) -> Vec<BlockId> {
    let least = at.words.tokens(CLEARED).saturating_add(AROUND);
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    let all = results(at, false);
    let clearable = all.iter().rev().filter(|one| may_be_cleared(at, &one.tool));
    let mut blocks: Vec<BlockId> = clearable
        .skip(keep)
        .filter(|one| one.tokens > least)
        .map(|one| one.block)
        .collect();
    blocks.sort();
    blocks
}

/// Only what was looked up once and can be looked up again; lists of things to do are state.
fn may_be_cleared(at: &Situation<'_>, tool: &str) -> bool {
    let tools = &at.constants.micro.tools;
    if tools.is_empty() {
        return !tool.to_ascii_lowercase().contains("todo");
    }
    tools.iter().any(|named| named == tool)
}

/// The event that clears results.
pub(super) fn cleared(blocks: Vec<BlockId>, level: u8) -> Body {
    replace(blocks, CLEARED, level)
}

fn replace(blocks: Vec<BlockId>, words: &str, level: u8) -> Body {
    Body::Replace(Replace {
        blocks,
        with: Content::string(&escape(words)),
        cause: Some(Text::plain(&format!("overflow, level {level}"))),
    })
}

/// Cuts results, the largest first, until so many counted tokens are saved; none below `least`.
pub(super) fn cut(at: &Situation<'_>, mut need: u64, least: u64, level: u8) -> Vec<Body> {
    let mut all = results(at, true);
    all.sort_by(|one, other| (other.tokens, one.block).cmp(&(one.tokens, other.block)));
    let mut bodies = Vec::new();
    for one in all {
        if need == 0 || one.tokens <= least {
            break;
        }
        let inside = one.words.as_ref().map(|words| at.words.tokens(words));
        let around = inside.map_or(AROUND, |inside| one.tokens.saturating_sub(inside));
        let left = one.tokens.saturating_sub(need).max(least);
        let left = left.saturating_sub(around);
        let words = one
            .words
            .and_then(|words| shorten::middle(at.words, &words, left, SHARES))
            .unwrap_or_else(|| TOO_LARGE.to_string());
        let after = at.words.tokens(&words).saturating_add(around);
        let saved = one.tokens.saturating_sub(after);
        if saved == 0 {
            continue;
        }
        need = need.saturating_sub(saved);
        bodies.push(replace(alloc::vec![one.block], &words, level));
    }
    bodies
}

/// The results that are shown, in the order of the prompt.
fn results(at: &Situation<'_>, with_words: bool) -> Vec<Result> {
    let mut sizes: BTreeMap<BlockId, u64> = BTreeMap::new();
    let pieces = at.pieces.iter();
    for piece in pieces.filter(|piece| piece.role == PieceRole::Result) {
        let tokens = sizes.entry(piece.source).or_default();
        *tokens = tokens.saturating_add(piece.tokens);
    }
    let mut all = Vec::new();
    for shown in at.timeline().shown.values() {
        let Shown::Unit(unit) = shown else { continue };
        let found = tools::uses(unit).filter_map(|one| found(at, &sizes, one, with_words));
        all.extend(found);
    }
    all
}

fn found(
    at: &Situation<'_>,
    sizes: &BTreeMap<BlockId, u64>,
    one: Use<'_>,
    with_words: bool,
) -> Option<Result> {
    let answer = one.call.answer.as_ref()?;
    let tokens = sizes.get(&answer.block).copied()?;
    Some(Result {
        block: answer.block,
        tool: one.tool,
        tokens,
        words: with_words.then(|| shown_words(at, answer)).flatten(),
    })
}

/// What the prompt shows of a result, where that is text.
fn shown_words(at: &Situation<'_>, answer: &Answer) -> Option<String> {
    let replaced = at.timeline().replaced.get(&answer.block);
    match replaced.map(|logged| &logged.event.body) {
        Some(Body::Replace(replace)) => tools::all_words(&replace.with),
        _ => tools::result_words(answer),
    }
}
