//! ⑤ Summaries: what is folded, what is asked, what becomes of the answer, what comes back.
//!
//! - A compaction is a plan, the answers to its pieces, and a commit; or a commit at once where no model is needed.
//! - A model-free way always exists: [`by_rule`] and [`rule_text`].
//! - Nothing is proposed that the session would not admit or that would not make the prompt smaller.

mod answer;
pub(crate) mod atoms;
pub mod breakers;
mod chunks;
pub(crate) mod commit;
mod instruction;
mod keep;
pub(crate) mod limits;
mod memory;
mod propose;
pub(crate) mod range;
mod refusal;
mod restore;
mod rule;
pub(crate) mod shorten;
pub(crate) mod tools;
pub(crate) mod trial;

pub use answer::{Fault, answer};
pub use propose::propose;
pub(crate) use propose::{due, held};
pub use refusal::Refusal;
pub(crate) use rule::short;

use crate::{Proposal, Proposed, Situation};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use commit::Wanted;
use recount_events::{Body, CompactChunk, CompactPlan, Event, Maker, Range, Seq, Text, Trigger};
use recount_projections::{Misfit, Problem};

/// The words that a plan is abandoned with when nobody is asked for its pieces any more.
pub const UNDONE: &str = "its commit was undone";

/// Names that are tried for one position, where a host used the same.
const NAMES: u32 = 8;

/// A compaction is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask<'a> {
    /// By whom.
    pub trigger: Trigger,
    /// How hard it cuts: 0, or 1 to 3.
    pub level: u8,
    /// The person's instruction.
    pub custom: Option<&'a str>,
    /// The first position that is summed up.
    pub from: Option<Seq>,
    /// The first position that is kept.
    pub up_to: Option<Seq>,
    /// By force: all but the last turn.
    pub whole: bool,
}

/// Plans a compaction: its range, the pieces to be summed up, what the model is asked.
///
/// # Errors
/// Nothing can be folded; a position cuts through something.
pub fn plan(at: &Situation<'_>, ask: &Ask<'_>) -> Result<CompactPlan, Refusal> {
    let atoms = atoms::atoms(at);
    // A level is about the size of pieces here: what is kept of a summary by a model does not depend on it.
    let span = range::resolve(at, &atoms, &Ask { level: 0, ..*ask })?;
    let (first, last) = span.ends(&atoms).ok_or(Refusal::Nothing)?;
    let compact = &at.constants.compact;
    let limit = summary_limit(at);
    let instruction = instruction::instruction(ask.custom, compact.custom_replaces, limit);
    let alone = ask.trigger == Trigger::Overflow;
    let (chunks, level) = chunks::chunks(at, &atoms, span, (&instruction, ask.level, alone));
    named(
        at,
        CompactPlan {
            id: Text::plain(""),
            range: Range::Closed { first, last },
            trigger: ask.trigger,
            level,
            chunks,
            instruction: Some(Text::plain(&instruction)),
        },
    )
}

/// The same compaction in smaller pieces: its request was itself too long. One level higher; at each the pieces are half as large.
///
/// # Errors
/// It cannot be cut smaller, or does not fit any more.
pub fn again(at: &Situation<'_>, plan: &CompactPlan) -> Result<CompactPlan, Refusal> {
    let Range::Closed { first, last } = plan.range else {
        return Err(Refusal::Nothing);
    };
    let atoms = atoms::atoms(at);
    let span = range::Span {
        from: atoms.partition_point(|atom| atom.first < first),
        to: atoms.partition_point(|atom| atom.first <= last),
    };
    let instruction = plan.instruction.as_ref().and_then(Text::words);
    let instruction = instruction.unwrap_or_default();
    let alone = plan.trigger == Trigger::Overflow;
    let level = plan.level.saturating_add(1);
    let (chunks, level) = chunks::chunks(at, &atoms, span, (&instruction, level, alone));
    if chunks.len() <= plan.chunks.len() {
        return Err(Refusal::Nothing);
    }
    named(
        at,
        CompactPlan {
            level,
            chunks,
            ..plan.clone()
        },
    )
}

/// A plan under the first name that nobody used. A plan that waits is taken for abandoned just before it.
fn named(at: &Situation<'_>, mut plan: CompactPlan) -> Result<CompactPlan, Refusal> {
    let mut trial = at.state.clone();
    for proposed in commit::give_way(at, None, "another compaction took its place") {
        let admitted = trial.admit(event(at, proposed.body));
        trial.apply(admitted.map_err(commit::misfit)?);
    }
    for id in names("c", trial.head().map_or(Seq(0), Seq::next)) {
        plan.id = id;
        match trial.admit(event(at, Body::CompactPlan(plan.clone()))) {
            Ok(_) => return Ok(plan),
            Err(refused) if is_taken(&refused) => {}
            Err(refused) => return Err(commit::misfit(refused)),
        }
    }
    Err(Refusal::Nothing)
}

/// Tokens that a model's summary should have; 0 where the window is so large that nobody needs to say.
fn summary_limit(at: &Situation<'_>) -> u64 {
    let room = limits::room(at);
    let most = limits::percent(room, MODEL_SUMMARY).max(LEAST_SUMMARY);
    if most < at.constants.compact.summary_tokens {
        most
    } else {
        0
    }
}

/// The request for a plan's single piece is the whole prompt with the instruction behind it; any other request shows its piece's own range
/// only.
#[must_use]
pub fn reuses_prompt(plan: &CompactPlan) -> bool {
    plan.chunks.len() == 1 && plan.level == 0 && plan.trigger != Trigger::Overflow
}

/// A piece is too large for any request: no model is asked, its text is [`rule_text`].
#[must_use]
pub fn is_oversized(at: &Situation<'_>, plan: &CompactPlan, (first, last): (Seq, Seq)) -> bool {
    let instruction = plan.instruction.as_ref().and_then(Text::words);
    let Some(instruction) = instruction else {
        return true;
    };
    if reuses_prompt(plan) {
        return false;
    }
    let atoms = atoms::atoms(at);
    let inside = atoms
        .iter()
        .filter(|atom| first <= atom.first && atom.last <= last);
    atoms::sum(inside.map(|atom| atom.tokens)) > chunks::largest(at, &instruction)
}

/// The words of the pieces that no model is asked about, to be logged with their plan.
#[must_use]
pub fn unasked(at: &Situation<'_>, plan: &CompactPlan) -> Vec<CompactChunk> {
    let pieces = (0_u32..).zip(&plan.chunks);
    let pieces = pieces.filter(|(_, piece)| is_oversized(at, plan, **piece));
    let chunks = pieces.map(|(chunk, (first, last))| CompactChunk {
        id: plan.id.clone(),
        chunk,
        text: Text::plain(&rule_text(at, *first, *last)),
    });
    chunks.collect()
}

/// What the log itself says of a range, without a model; never empty.
#[must_use]
pub fn rule_text(at: &Situation<'_>, first: Seq, last: Seq) -> String {
    text_at(at, (first, last), 0)
}

/// The same at a level; small enough to be worth it.
fn text_at(at: &Situation<'_>, (first, last): (Seq, Seq), level: u8) -> String {
    let atoms = atoms::atoms(at);
    let inside = atoms
        .iter()
        .filter(|atom| first <= atom.first && atom.last <= last);
    let hidden = atoms::sum(inside.map(|atom| atom.tokens));
    let most = limits::counted(at, limits::limits(at, level).summary).max(LEAST_SUMMARY);
    let least = rule::least(at, first, last);
    rule::text(at, first, last, most.min(hidden / 2).max(least))
}

/// Of a hundred tokens that messages have under the trigger, a model is asked for a summary of at most so many.
const MODEL_SUMMARY: u64 = 25;
/// Tokens that a summary may have in any case.
const LEAST_SUMMARY: u64 = 64;

/// Commits a plan with the summaries of its pieces, in order; what comes back falls with it. Empty, with the reason in `did`, where it
/// would not make the prompt smaller or does not fit any more: the plan is to be abandoned.
#[must_use]
pub fn commit(
    at: &Situation<'_>,
    plan: &CompactPlan,
    texts: &[String],
    by: Maker,
    millis: u64,
) -> Proposal {
    let Range::Closed { first, last } = plan.range else {
        return nothing(Refusal::Nothing);
    };
    let texts: Vec<&str> = texts
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    if texts.is_empty() {
        return nothing("there is no summary");
    }
    let wanted = Wanted {
        id: Some(plan.id.clone()),
        range: (first, last),
        summary: &texts.join("\n\n"),
        trigger: plan.trigger,
        level: plan.level,
        by,
        millis,
    };
    commit::propose(at, &wanted, Vec::new()).unwrap_or_else(nothing)
}

/// A fold without a model, at once. A plan that waits gives way to it, unless the fold lies within its range.
///
/// # Errors
/// Nothing can be folded, or not so that the prompt gets smaller; a position cuts through something.
pub fn by_rule(at: &Situation<'_>, ask: &Ask<'_>) -> Result<Proposal, Refusal> {
    let atoms = atoms::atoms(at);
    let span = range::resolve(at, &atoms, ask)?;
    let range = span.ends(&atoms).ok_or(Refusal::Nothing)?;
    fold_by_rule(at, range, ask)
}

pub(crate) fn fold_by_rule(
    at: &Situation<'_>,
    range: (Seq, Seq),
    ask: &Ask<'_>,
) -> Result<Proposal, Refusal> {
    let wanted = Wanted {
        id: None,
        range,
        summary: &text_at(at, range, ask.level),
        trigger: ask.trigger,
        level: ask.level,
        by: Maker::Rule,
        millis: 0,
    };
    let given = (ask.trigger != Trigger::Manual).then_some(range);
    let before = commit::give_way(at, given, "a fold without a model took its place");
    commit::propose(at, &wanted, before)
}

/// A compaction failed: what the breakers make of it.
#[must_use]
pub fn failed(at: &Situation<'_>) -> Vec<Proposed> {
    breakers::failure(at)
}

/// Nothing is proposed, and why.
pub(crate) fn nothing(why: impl core::fmt::Display) -> Proposal {
    Proposal {
        did: why.to_string(),
        ..Proposal::default()
    }
}

/// An event as it would be logged now.
pub(crate) fn event(at: &Situation<'_>, body: Body) -> Event {
    Event {
        at: at.now,
        body,
        because: None,
        extra: None,
    }
}

/// Names for what is logged at a position; the first is the rule.
pub(crate) fn names(letter: &'static str, seq: Seq) -> impl Iterator<Item = Text> {
    (0..NAMES).map(move |more| {
        Text::plain(&match more {
            0 => format!("{letter}{seq}"),
            more => format!("{letter}{seq}.{more}"),
        })
    })
}

/// Somebody used the name.
pub(crate) fn is_taken(misfit: &Misfit) -> bool {
    matches!(misfit.problem, Problem::NameUsed(_))
}
