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
    /// Bytes of its pictures that the renderer leaves out while there are too many.
    hidden: u64,
    /// Pictures in it that the request counts, or would count.
    images: u64,
    what: What<'a>,
}

impl Candidate<'_> {
    /// Bytes that it has, or would have.
    const fn size(&self) -> u64 {
        self.bytes.saturating_add(self.hidden)
    }
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
    let all = candidates(at);
    // With fewer pictures those are shown again that were too many.
    let hidden: u64 = all.iter().map(|candidate| candidate.hidden).sum();
    if over_images {
        fewer_images(plan, &all, images);
    }
    if bytes > 0 {
        fewer_bytes(plan, all, at.fill.bytes.saturating_add(hidden), bytes);
    }
}

fn fewer_images(plan: &mut Plan<'_>, all: &[Candidate<'_>], most: u64) {
    let mut there: u64 = all.iter().map(|candidate| candidate.images).sum();
    let cause = format!("more than {most} pictures are in the request");
    for candidate in all {
        if there <= most {
            break;
        }
        if candidate.images > 0 && take_out(plan, candidate, &cause) {
            there = there.saturating_sub(candidate.images);
        }
    }
}

/// `there`: bytes of the body, before this round and with all pictures.
fn fewer_bytes(plan: &mut Plan<'_>, mut all: Vec<Candidate<'_>>, there: u64, most: u64) {
    let at = plan.at;
    let turn = at.timeline().authored_last;
    // What left in this round for another reason is out already.
    all.retain(|candidate| plan.stand_in(candidate.block).is_none());
    all.sort_by_key(|candidate| {
        let newest = turn.is_some_and(|turn| candidate.key >= turn);
        let words = matches!(candidate.what, What::Words(_));
        (newest, words, Reverse(candidate.size()), candidate.block)
    });
    let cause = format!(
        "the request has {there} bytes, more than {most} of {}",
        at.profile.body_bytes
    );
    for candidate in &all {
        if there.saturating_sub(plan.saved()) <= most {
            return;
        }
        if candidate.size() > LEAST {
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
            plan.unseen(block, with, candidate.size(), cause);
        }
        What::Seen(with) => plan.unseen(block, with.clone(), candidate.size(), cause),
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
                        found.extend(picture(&sizes, *key, id, block.raw.len));
                    }
                }
            }
            Shown::Unit(unit) => found.extend(results(at, &sizes, *key, unit)),
            Shown::Inject(_) | Shown::Summary(_) => {}
        }
    }
    found
}

/// A picture of a message, as long as it is shown as one, or would be if others were not; `raw`: its bytes in the log.
fn picture<'a>(
    sizes: &BTreeMap<BlockId, (u64, &Piece)>,
    key: Seq,
    block: BlockId,
    raw: u64,
) -> Option<Candidate<'a>> {
    let (bytes, piece) = sizes.get(&block)?;
    let hidden = match seen(core::str::from_utf8(&piece.bytes).ok()?) {
        Seen::No => return None,
        Seen::Shown => 0,
        Seen::Hidden => raw,
    };
    Some(Candidate {
        key,
        block,
        bytes: *bytes,
        hidden,
        images: 1,
        what: What::Picture,
    })
}

/// What a part on the wire is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// No picture.
    No,
    /// A picture.
    Shown,
    /// It would be one if there were not too many.
    Hidden,
}

fn seen(raw: &str) -> Seen {
    match member_words(raw, "type").as_deref() {
        Some("image" | "image_url") => Seen::Shown,
        Some("text") if member_words(raw, "text").as_deref() == Some(TOO_MANY) => Seen::Hidden,
        _ => Seen::No,
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
            let (what, (images, hidden)) = match without(at, answer) {
                Some((with, pictures)) => (What::Seen(with), pictures_in(piece, pictures)),
                None if at.timeline().replaced.contains_key(&answer.block) => return None,
                None => {
                    limit_of(&at.constants.budget, &reading::tool(unit, call))?;
                    (What::Words(brought(answer)?), (0, 0))
                }
            };
            Some(Candidate {
                key,
                block: answer.block,
                bytes: *bytes,
                hidden,
                images,
                what,
            })
        })
        .collect()
}

/// Pictures of a result on the wire, and the bytes of those that are hidden; `raw`: bytes of all of them in the log.
fn pictures_in(piece: &Piece, raw: u64) -> (u64, u64) {
    let whole = core::str::from_utf8(&piece.bytes).unwrap_or("");
    let parts = member(whole, "content").and_then(elements);
    let (mut images, mut hides, mut shown) = (0_u64, false, 0_u64);
    for part in parts.into_iter().flatten() {
        let seen = seen(part);
        images = images.saturating_add(u64::from(seen != Seen::No));
        hides |= seen == Seen::Hidden;
        if seen == Seen::Shown {
            shown = shown.saturating_add(part.len() as u64);
        }
    }
    (images, if hides { raw.saturating_sub(shown) } else { 0 })
}

/// What a result shows, with words for pictures and documents, and the bytes of its pictures; `None` when it holds neither.
fn without(at: &Situation<'_>, answer: &Answer) -> Option<(Content, u64)> {
    let replaced = at.timeline().replaced.get(&answer.block);
    let (format, blocks) = match replaced.map(|logged| &logged.event.body) {
        Some(Body::Replace(replace)) => (replace.with.format, replace.with.blocks.clone()),
        _ => blocks(answer)?,
    };
    let seen = |block: &&Block| matches!(block.kind, BlockKind::Image | BlockKind::Document);
    blocks.iter().find(seen)?;
    let pictures = blocks.iter().filter(|block| block.kind == BlockKind::Image);
    let pictures = pictures.map(|block| block.raw.len).sum();
    let worded = blocks.into_iter().map(|block| match block.kind {
        BlockKind::Image => Block::from_raw(format, &escape(IMAGE)),
        BlockKind::Document => Block::from_raw(format, &escape(DOCUMENT)),
        // Words keep their bytes, not their seal: they belong to another event now.
        _ => match block.json() {
            Some(raw) => Block::from_raw(format, raw),
            None => Block::from_raw(format, &escape(&block.words().unwrap_or_default())),
        },
    });
    let with = Content {
        format,
        shape: Shape::Blocks,
        blocks: worded.collect(),
    };
    Some((with, pictures))
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
