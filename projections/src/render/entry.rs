//! The entries of what is shown, one by one, and the tail injections behind them.

use crate::render::block::{self, Place, Setting, wrapped};
use crate::render::body::Shape;
use crate::render::context::Context;
use crate::render::json::{inside, text_block, token_or_mark};
use crate::render::pen::{Draft, Pen};
use crate::render::track::{Ends, Mark, Sums, Track};
use crate::render::{Category, PieceRole, Reason, Why, compaction, speech};
use crate::timeline::{Logged, Said, Shown, Summary, SummaryKind, Unit};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use recount_events::raw::words;
use recount_events::{BlockId, BlockKind, Body, Content, Role, Seq, escape};

/// Writes an entry and its mark.
pub(crate) fn show(context: &Context<'_>, track: &mut Track, key: Seq, shown: &Shown) {
    let before = track.sums.clone();
    if let Shown::Unit(unit) = shown {
        let found = compaction::in_unit(context, key, unit);
        track.sums.compaction = found.or(track.sums.compaction);
    }
    let mut pen = Pen::new(context, track, Category::Messages);
    if context.compaction.is_some_and(|last| key < last.key) {
        compaction::pass(&mut pen, shown);
        return mark(track, key, shown, before);
    }
    match shown {
        Shown::Unit(unit) => speech::show(&mut pen, key, unit),
        Shown::Said(said) => self::said(&mut pen, said),
        Shown::Inject(logged) => inject(&mut pen, logged),
        Shown::Summary(summary) => self::summary(&mut pen, summary),
    }
    let first = pen.first;
    match shown {
        Shown::Unit(unit) => after_unit(track, key, unit, before.opening.or(first)),
        Shown::Said(_) | Shown::Summary(_) if track.sums.pieces > before.pieces => {
            track.sums.turn = Some(key);
            track.sums.bare = None;
            track.sums.opening = None;
        }
        Shown::Inject(_) if track.sums.pieces > before.pieces => track.sums.opening = None,
        _ => {}
    }
    mark(track, key, shown, before);
}

/// Keeps what was before the entry.
fn mark(track: &mut Track, key: Seq, shown: &Shown, before: Sums) {
    let (thinks, paused) = match shown {
        Shown::Unit(unit) => (thinks(unit), speech::paused(unit)),
        _ => (false, false),
    };
    track.marks.push_back_mut(Mark {
        key,
        before,
        thinks,
        paused,
    });
    track.entries = track.sums.clone();
}

/// A turn begins with this entry: it shows something and is neither a response nor an injection.
pub(crate) fn begins_turn(context: &Context<'_>, key: Seq, shown: &Shown) -> bool {
    let mut scratch = Track::new(Shape::new(context.wire));
    if let Shown::Said(_) | Shown::Summary(_) = shown {
        show(context, &mut scratch, key, shown);
    }
    scratch.sums.turn.is_some()
}

/// `opening`: whether the assistant's message that holds the unit begins with thinking.
fn after_unit(track: &mut Track, key: Seq, unit: &Unit, opening: Option<bool>) {
    let sums = &mut track.sums;
    sums.unit = Some(key);
    sums.opening = opening.filter(|_| unit.calls.is_empty());
    if thinks(unit) && sums.thinks.is_none() {
        sums.thinks = Some(key);
    }
    if !unit.calls.is_empty() && opening != Some(true) && sums.bare.is_none() {
        sums.bare = Some(key);
    }
}

/// The unit holds thinking, shown or not.
fn thinks(unit: &Unit) -> bool {
    let mut blocks = unit
        .parts
        .iter()
        .filter_map(|part| part.message())
        .flat_map(|message| &message.content.blocks);
    blocks.any(|block| block.kind == BlockKind::Thinking)
}

/// Writes the tail injections.
pub(crate) fn tails(context: &Context<'_>, track: &mut Track) {
    for (_, logged) in &context.timeline.tails {
        inject(&mut Pen::new(context, track, Category::Injections), logged);
    }
}

fn said(pen: &mut Pen<'_, '_>, said: &Said) {
    let Some(message) = said.logged.message() else {
        return;
    };
    let place = match message.role {
        Role::System if pen.context.chat() && pen.context.profile.system_role => Place::System,
        Role::System => Place::Wrapped,
        Role::User | Role::Assistant => Place::User,
    };
    let setting = Setting {
        place,
        format: message.content.format,
        message: Some(message),
    };
    content(pen, setting, &message.content, said.logged.seq);
}

fn inject(pen: &mut Pen<'_, '_>, logged: &Logged) {
    let Body::Inject(inject) = &logged.event.body else {
        return;
    };
    pen.category = Category::Injections;
    let setting = Setting {
        place: Place::User,
        format: inject.content.format,
        message: None,
    };
    content(pen, setting, &inject.content, logged.seq);
}

/// Writes the blocks of a content, those that are replaced as what replaces them.
pub(crate) fn content(pen: &mut Pen<'_, '_>, setting: Setting<'_>, content: &Content, seq: Seq) {
    let speaks = matches!(setting.place, Place::Unit(_));
    for (index, block) in (0_u32..).zip(&content.blocks) {
        let id = BlockId { seq, index };
        pen.turn(id);
        if pen
            .context
            .compaction
            .is_some_and(|last| speaks && id < last.block)
        {
            pen.leave_out(Reason::Compaction);
            continue;
        }
        pen.salted(&block.raw);
        // The results in a user's message stand behind their calls.
        if block.kind == BlockKind::Result && !speaks {
            continue;
        }
        match pen
            .context
            .timeline
            .replaced
            .get(&id)
            .map(|logged| (logged.seq, &logged.event.body))
        {
            Some((by, Body::Replace(replace)))
                if matches!(
                    block.kind,
                    BlockKind::Text | BlockKind::Image | BlockKind::Result
                ) =>
            {
                replaced(pen, setting, id, by, &replace.with);
            }
            _ => block::show(pen, setting, block),
        }
    }
}

fn replaced(pen: &mut Pen<'_, '_>, setting: Setting<'_>, id: BlockId, by: Seq, with: &Content) {
    let setting = Setting {
        format: with.format,
        message: None,
        ..setting
    };
    for (index, block) in (0_u32..).zip(&with.blocks) {
        pen.turn(id);
        pen.salted(&block.raw);
        pen.counted = Some(BlockId { seq: by, index });
        pen.why = Why::Replaced(by);
        block::show(pen, setting, block);
    }
}

fn summary(pen: &mut Pen<'_, '_>, summary: &Summary) {
    pen.category = Category::Summaries;
    pen.turn(BlockId {
        seq: summary.seq,
        index: 0,
    });
    pen.why = Why::Summary(summary.seq);
    summary.id.iter().for_each(|id| pen.salted(id));
    pen.salted(&summary.text);
    let token = token_or_mark(&summary.text);
    let token = match summary.kind {
        SummaryKind::Compact => wrapped("<summary>\\n", inside(&token), "\\n</summary>"),
        SummaryKind::Collapse => {
            let open = ["<collapsed id=\\\"", &id(summary), "\\\">\\n"].concat();
            wrapped(&open, inside(&token), "\\n</collapsed>")
        }
    };
    let json = text_block(&token);
    pen.push(Draft {
        role: PieceRole::User,
        json,
        raw: None,
        call: false,
        ends: Ends::Other,
    });
}

/// The collapse's name with entities, escaped.
fn id(summary: &Summary) -> String {
    let token = summary
        .id
        .as_ref()
        .map_or(Cow::Borrowed("\"\""), token_or_mark);
    let mut name = String::new();
    for letter in words(&token).unwrap_or_default().chars() {
        match letter {
            '&' => name.push_str("&amp;"),
            '<' => name.push_str("&lt;"),
            '>' => name.push_str("&gt;"),
            '"' => name.push_str("&quot;"),
            other => name.push(other),
        }
    }
    inside(&escape(&name)).to_string()
}
