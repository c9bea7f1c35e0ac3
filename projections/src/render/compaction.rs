//! A provider's own compaction: a block that stands for everything before it, for its issuer alone.
//!
//! - The issuer reads nothing before the last one, so nothing before it is sent. Everybody else gets the originals, without the block.
//! - The originals stay in the log: an undo, a rollback or another profile shows them again.

use crate::Timeline;
use crate::render::block::{Setting, bytes};
use crate::render::context::{Context, same};
use crate::render::pen::{Draft, Pen};
use crate::render::track::Ends;
use crate::render::view::{self, At};
use crate::render::{Category, Reason};
use crate::timeline::{Shown, Unit};
use recount_events::raw::member_words;
use recount_events::{Block, BlockId, BlockKind, Body, Content, Format, Seq, sanitize};

/// The last compaction of a prompt: the entry that holds it, and its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compaction {
    pub(crate) key: Seq,
    pub(crate) block: BlockId,
}

/// The last one that is shown and counts for this request.
pub(crate) fn last(context: &Context<'_>, timeline: &Timeline) -> Option<Compaction> {
    let newest_first = timeline.shown.iter().rev();
    let mut units = newest_first.filter_map(|(key, shown)| match shown {
        Shown::Unit(unit) => in_unit(context, *key, unit),
        _ => None,
    });
    units.next()
}

/// The last one of a response that counts: the profile's provider issued it, it can travel as it is, and no call, of the host's tools or the
/// provider's, stands before it in the response.
pub(crate) fn in_unit(context: &Context<'_>, key: Seq, unit: &Unit) -> Option<Compaction> {
    if context.chat() {
        return None;
    }
    let mut found = None;
    for part in &unit.parts {
        let Some(message) = part.message() else {
            continue;
        };
        let issuer = message.issuer.as_ref();
        let own = issuer.is_none_or(|issuer| same(issuer, &context.profile.provider))
            && message.content.format == Format::Anthropic;
        for (index, block) in (0_u32..).zip(&message.content.blocks) {
            match block.kind {
                BlockKind::Call | BlockKind::ServerCall | BlockKind::ServerResult => return found,
                BlockKind::Compaction if own && sound(block) => {
                    let seq = part.seq;
                    let block = BlockId { seq, index };
                    found = Some(Compaction { key, block });
                }
                _ => {}
            }
        }
    }
    found
}

/// It says something, and nothing in it would have to be mended. One without content stands for nothing: it failed.
fn sound(block: &Block) -> bool {
    let At::Json(raw) = view::at(block) else {
        return false;
    };
    let says = |key: &str| member_words(raw, key).is_some_and(|words| !words.trim().is_empty());
    (says("content") || says("encrypted_content")) && sanitize(raw) == raw
}

/// Writes a compaction block: the prompt's last one as it is, any other not at all.
pub(crate) fn show(pen: &mut Pen<'_, '_>, setting: Setting<'_>, block: &Block, raw: &str) {
    let last = pen.context.compaction.map(|last| last.block);
    if last != Some(pen.source) {
        return pen.leave_out(Reason::Issuer);
    }
    let category = core::mem::replace(&mut pen.category, Category::Summaries);
    pen.push(Draft {
        role: setting.role(),
        json: raw.trim_ascii().into(),
        raw: bytes(block),
        call: false,
        ends: Ends::Compacted,
    });
    pen.category = category;
}

/// Lists everything of an entry before the compaction as left out.
pub(crate) fn pass(pen: &mut Pen<'_, '_>, shown: &Shown) {
    match shown {
        Shown::Unit(unit) => {
            for part in &unit.parts {
                let content = part.message().map(|message| &message.content);
                content.into_iter().for_each(|content| {
                    blocks(pen, content, part.seq, true);
                });
            }
            let answers = unit.calls.iter().filter_map(|call| call.answer.as_ref());
            answers.for_each(|answer| out(pen, answer.block));
        }
        Shown::Said(said) => {
            let content = said.logged.message().map(|message| &message.content);
            content.into_iter().for_each(|content| {
                blocks(pen, content, said.logged.seq, false);
            });
        }
        Shown::Inject(logged) => {
            if let Body::Inject(inject) = &logged.event.body {
                blocks(pen, &inject.content, logged.seq, false);
            }
        }
        Shown::Summary(summary) => out(
            pen,
            BlockId {
                seq: summary.seq,
                index: 0,
            },
        ),
    }
}

/// The results in a user's message stand behind their calls: they are listed there.
fn blocks(pen: &mut Pen<'_, '_>, content: &Content, seq: Seq, speaks: bool) {
    for (index, block) in (0_u32..).zip(&content.blocks) {
        if speaks || block.kind != BlockKind::Result {
            out(pen, BlockId { seq, index });
        }
    }
}

fn out(pen: &mut Pen<'_, '_>, block: BlockId) {
    pen.turn(block);
    pen.leave_out(Reason::Compaction);
}
