//! A body near the provider's limit of bytes or pictures: the request would be refused, whatever its tokens.
//!
//! - Pictures beyond the limit leave oldest first: the renderer would leave out the newest.
//! - For bytes the largest leave first, those of the newest turn last: pictures (of the person's messages, too: their words stay), then
//!   results, with what pictures and documents they hold or as files.

use super::{limit_of, plan::Plan};
use crate::Situation;
use crate::reading::{self, Brought, brought};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::cmp::Reverse;
use recount_events::raw::{elements, member, member_words};
use recount_events::{Block, BlockId, BlockKind, Body, Content, Format, Seq, Shape, escape};
use recount_projections::{Answer, Piece, Shown, Unit};

/// What stands for a picture.
const IMAGE: &str = "[image left out to keep the request within its limits]";
/// What stands for a document.
const DOCUMENT: &str = "[document left out to keep the request within its limits]";
/// How the renderer says that a picture is one too many.
const TOO_MANY: &str = "[image left out: too many images]";

/// Bytes up to which nothing is gained by taking something out.
const LEAST: u64 = 512;

/// Something that may leave.
struct Candidate<'a> {
    /// Where it stands.
    key: Seq,
    block: BlockId,
    /// Bytes in the body.
    bytes: u64,
    /// Pictures in it that the request counts.
    images: u64,
    what: What<'a>,
}

enum What<'a> {
    /// A block of a message.
    Picture,
    /// A result with pictures or documents: what it would show without.
    Seen(Content),
    /// A result of words.
    Words(Brought<'a>),
}

/// Takes out what has to go.
pub(super) fn relieve(plan: &mut Plan<'_>) {
    let at = plan.at;
    let share = |limit: u64| limit.saturating_mul(at.constants.budget.bytes_percent) / 100;
    let bytes = share(at.profile.body_bytes);
    let images = share(u64::from(at.profile.images_count));
    let over_bytes = bytes > 0 && at.fill.bytes > bytes;
    let over_images = images > 0 && u64::from(at.fill.images) > images;
    if !over_bytes && !over_images {
        return;
    }
    let mut all = candidates(at);
    if over_images {
        fewer_images(plan, &mut all, images);
    }
    if over_bytes {
        fewer_bytes(plan, all, bytes);
    }
}

fn fewer_images(plan: &mut Plan<'_>, all: &mut Vec<Candidate<'_>>, most: u64) {
    let mut there: u64 = all.iter().map(|candidate| candidate.images).sum();
    let cause = format!("more than {most} pictures are in the request");
    for candidate in &mut *all {
        if there <= most {
            break;
        }
        if candidate.images > 0 && take_out(plan, candidate, &cause) {
            there = there.saturating_sub(candidate.images);
        }
    }
    all.retain(|candidate| plan.stand_in(candidate.block).is_none());
}

fn fewer_bytes(plan: &mut Plan<'_>, mut all: Vec<Candidate<'_>>, most: u64) {
    let at = plan.at;
    let turn = at.timeline().authored_last;
    all.sort_by_key(|candidate| {
        let newest = turn.is_some_and(|turn| candidate.key >= turn);
        let words = matches!(candidate.what, What::Words(_));
        (newest, words, Reverse(candidate.bytes), candidate.block)
    });
    let cause = format!(
        "the request has {} bytes, more than {} of {}",
        at.fill.bytes, most, at.profile.body_bytes
    );
    for candidate in &all {
        if at.fill.bytes.saturating_sub(plan.saved()) <= most {
            return;
        }
        if candidate.bytes > LEAST {
            take_out(plan, candidate, &cause);
        }
    }
}

fn take_out(plan: &mut Plan<'_>, candidate: &Candidate<'_>, cause: &str) -> bool {
    let block = candidate.block;
    match &candidate.what {
        What::Words(brought) => {
            let ends = plan.at.constants.budget.preview_bytes;
            return plan.spill(block, brought, ends, cause);
        }
        _ if plan.is_back(block) => return false,
        What::Picture => {
            let with = Content::string(&escape(IMAGE));
            plan.unseen(block, with, candidate.bytes, cause);
        }
        What::Seen(with) => plan.unseen(block, with.clone(), candidate.bytes, cause),
    }
    true
}

/// Bytes of each block's pieces, and one of them.
fn sizes<'a>(at: &Situation<'a>) -> BTreeMap<BlockId, (u64, &'a Piece)> {
    let mut sizes: BTreeMap<BlockId, (u64, &Piece)> = BTreeMap::new();
    for piece in at.pieces {
        let entry = sizes.entry(piece.source).or_insert((0, piece));
        entry.0 = entry.0.saturating_add(piece.bytes.len() as u64);
    }
    sizes
}

/// What may leave, in the order of the prompt.
fn candidates<'a>(at: &Situation<'a>) -> Vec<Candidate<'a>> {
    let sizes = sizes(at);
    let mut found = Vec::new();
    for (key, shown) in &at.state.timeline().shown {
        match shown {
            Shown::Said(said) => {
                let blocks = said.logged.message().map(|message| &message.content.blocks);
                for (index, block) in (0_u32..).zip(blocks.into_iter().flatten()) {
                    let id = BlockId { seq: *key, index };
                    if block.kind == BlockKind::Image {
                        found.extend(picture(&sizes, *key, id));
                    }
                }
            }
            Shown::Unit(unit) => found.extend(results(at, &sizes, *key, unit)),
            Shown::Inject(_) | Shown::Summary(_) => {}
        }
    }
    found
}

/// A picture of a message, as long as it is shown as one.
fn picture<'a>(
    sizes: &BTreeMap<BlockId, (u64, &Piece)>,
    key: Seq,
    block: BlockId,
) -> Option<Candidate<'a>> {
    let (bytes, piece) = sizes.get(&block)?;
    let images = u64::from(is_picture(core::str::from_utf8(&piece.bytes).ok()?));
    (images > 0).then_some(Candidate {
        key,
        block,
        bytes: *bytes,
        images,
        what: What::Picture,
    })
}

/// A part on the wire that is a picture, or would be one if others were not.
fn is_picture(raw: &str) -> bool {
    match member_words(raw, "type").as_deref() {
        Some("image" | "image_url") => true,
        Some("text") => member_words(raw, "text").as_deref() == Some(TOO_MANY),
        _ => false,
    }
}

fn results<'a>(
    at: &Situation<'a>,
    sizes: &BTreeMap<BlockId, (u64, &Piece)>,
    key: Seq,
    unit: &'a Unit,
) -> Vec<Candidate<'a>> {
    let calls = unit.calls.iter();
    calls
        .filter_map(|call| {
            let answer = reading::closing(call)?;
            let (bytes, piece) = sizes.get(&answer.block)?;
            let (what, images) = match without(at, answer) {
                Some(with) => (What::Seen(with), pictures_in(piece)),
                None if at.timeline().replaced.contains_key(&answer.block) => return None,
                None => {
                    limit_of(&at.constants.budget, &reading::tool(unit, call))?;
                    (What::Words(brought(answer)?), 0)
                }
            };
            Some(Candidate {
                key,
                block: answer.block,
                bytes: *bytes,
                images,
                what,
            })
        })
        .collect()
}

/// Pictures of a result on the wire.
fn pictures_in(piece: &Piece) -> u64 {
    let raw = core::str::from_utf8(&piece.bytes).unwrap_or("");
    let parts = member(raw, "content").and_then(elements);
    let parts = parts.into_iter().flatten();
    parts.filter(|part| is_picture(part)).count() as u64
}

/// What a result shows, with words for pictures and documents; `None` when it holds none.
fn without(at: &Situation<'_>, answer: &Answer) -> Option<Content> {
    let replaced = at.timeline().replaced.get(&answer.block);
    let (format, blocks) = match replaced.map(|logged| &logged.event.body) {
        Some(Body::Replace(replace)) => (replace.with.format, replace.with.blocks.clone()),
        _ => blocks(answer)?,
    };
    let seen = |block: &Block| matches!(block.kind, BlockKind::Image | BlockKind::Document);
    if !blocks.iter().any(seen) {
        return None;
    }
    let worded = blocks.into_iter().map(|block| match block.kind {
        BlockKind::Image => Block::from_raw(format, &escape(IMAGE)),
        BlockKind::Document => Block::from_raw(format, &escape(DOCUMENT)),
        // Words keep their bytes, not their seal: they belong to another event now.
        _ => match block.json() {
            Some(raw) => Block::from_raw(format, raw),
            None => Block::from_raw(format, &escape(&block.words().unwrap_or_default())),
        },
    });
    Some(Content {
        format,
        shape: Shape::Blocks,
        blocks: worded.collect(),
    })
}

/// The blocks that a result brought.
fn blocks(answer: &Answer) -> Option<(Format, Vec<Block>)> {
    match &answer.logged.event.body {
        Body::ToolResult(result) => Some((result.content.format, result.content.blocks.clone())),
        Body::Message(message) => {
            let format = message.content.format;
            let index = usize::try_from(answer.block.index).ok()?;
            let raw = message.content.blocks.get(index)?.result(format)?.content?;
            let parts = elements(raw)?.map(|part| Block::from_raw(format, part));
            Some((format, parts.collect()))
        }
        _ => None,
    }
}
