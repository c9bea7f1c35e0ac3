//! One block: by what it is, where it stands, and which dialect it came in.
//!
//! - Every block becomes at most one piece; what has no form of its own on the wire becomes text.

use crate::render::json::{Object, inside, is_object, text_block};
use crate::render::pen::{Draft, Pen};
use crate::render::speech::Speech;
use crate::render::table::{complete, copy, kept, known};
use crate::render::track::Ends;
use crate::render::view::{self, At};
use crate::render::{PieceRole, Reason, RepairKind, compaction, picture, server, source, thinking};
use alloc::string::String;
use alloc::sync::Arc;
use recount_events::raw::member_words;
use recount_events::{Block, BlockKind, Format, Held, Message, Wire, escape, sanitize};

/// Whose words a block stands in.
#[derive(Clone, Copy)]
pub(crate) enum Place<'u> {
    /// The user's.
    User,
    /// A system message that is shown as the user's.
    Wrapped,
    /// A system message, on Chat.
    System,
    /// A response.
    Unit(&'u Speech<'u>),
}

/// Where a block stands and what it was written in.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'u> {
    pub(crate) place: Place<'u>,
    pub(crate) format: Format,
    /// The message that it is part of.
    pub(crate) message: Option<&'u Message>,
}

impl Setting<'_> {
    pub(crate) const fn role(&self) -> PieceRole {
        match self.place {
            Place::User | Place::Wrapped => PieceRole::User,
            Place::System => PieceRole::System,
            Place::Unit(_) => PieceRole::Assistant,
        }
    }

    /// Pictures and documents can stand here.
    pub(crate) const fn pictures(&self) -> bool {
        matches!(self.place, Place::User | Place::Wrapped)
    }

    /// What the prompt ends with after a piece of this setting.
    pub(crate) const fn ends(&self) -> Ends {
        match self.place {
            Place::Unit(_) => Ends::Assistant,
            _ => Ends::Other,
        }
    }

    /// Unknown kinds of block go to their own provider as they are.
    fn passes(&self, pen: &Pen<'_, '_>) -> bool {
        let native = match pen.context.wire {
            Wire::Anthropic => self.format == Format::Anthropic,
            _ => self.format == Format::OpenaiChat,
        };
        let issuer = self.message.and_then(|message| message.issuer.as_ref());
        native
            && issuer.is_some_and(|issuer| {
                crate::render::context::same(issuer, &pen.context.profile.provider)
            })
    }
}

/// Writes a block.
pub(crate) fn show(pen: &mut Pen<'_, '_>, setting: Setting<'_>, block: &Block) {
    let raw = match view::at(block) {
        At::Json(raw) => raw,
        At::Token(token)
            if !matches!(
                block.kind,
                BlockKind::Call | BlockKind::Thinking | BlockKind::Compaction
            ) =>
        {
            return words(pen, setting, &token);
        }
        At::Erased => return gone(pen, setting, block.kind, RepairKind::Erased),
        At::Lost | At::Token(_) => return gone(pen, setting, block.kind, RepairKind::Lost),
    };
    match (block.kind, setting.place) {
        (BlockKind::Text, _) => text(pen, setting, block, raw),
        (BlockKind::Image, _) => picture::show(pen, setting, block, raw),
        (BlockKind::Document, _) => document(pen, setting, block, raw),
        (BlockKind::Call, Place::Unit(speech)) => speech.call(pen, setting, block, raw),
        (BlockKind::Thinking, Place::Unit(speech)) => {
            thinking::show(pen, setting, speech, block, raw)
        }
        (BlockKind::Thinking, _) => pen.leave_out(Reason::Issuer),
        (BlockKind::ServerCall | BlockKind::ServerResult, _) => {
            server::show(pen, setting, block, raw)
        }
        (BlockKind::Call | BlockKind::Result, _) => as_text(pen, setting, raw, RepairKind::Kind),
        (BlockKind::Compaction, _) => compaction::show(pen, setting, block, raw),
        (BlockKind::Other, _) => other(pen, setting, block, raw),
    }
}

/// Bytes that are not at hand.
fn gone(pen: &mut Pen<'_, '_>, setting: Setting<'_>, kind: BlockKind, why: RepairKind) {
    match (kind, setting.place) {
        (BlockKind::Thinking | BlockKind::Compaction, _) => {
            pen.leave_out(if why == RepairKind::Erased {
                Reason::Erased
            } else {
                Reason::Lost
            });
        }
        (BlockKind::Call, Place::Unit(speech)) if speech.of(pen.source).is_some() => {
            speech.gone(pen, setting, why)
        }
        _ => {
            pen.stand_in(why);
            words(pen, setting, mark(why));
        }
    }
}

/// The fixed words for bytes that are not at hand, as a string token.
pub(crate) const fn mark(why: RepairKind) -> &'static str {
    match why {
        RepairKind::Erased => "\"[erased]\"",
        _ => "\"[lost]\"",
    }
}

/// Words, as a text block.
pub(crate) fn words(pen: &mut Pen<'_, '_>, setting: Setting<'_>, token: &str) {
    if view::blank(token) {
        return pen.mend(RepairKind::Blank);
    }
    let json = match setting.place {
        Place::Wrapped => text_block(&wrapped("<system>\\n", inside(token), "\\n</system>")),
        _ => text_block(token),
    };
    push_text(pen, setting, json, token, None);
}

/// A string token around words that are escaped already.
pub(crate) fn wrapped(before: &str, inside: &str, after: &str) -> String {
    ["\"", before, inside, after, "\""].concat()
}

fn push_text(
    pen: &mut Pen<'_, '_>,
    setting: Setting<'_>,
    json: String,
    token: &str,
    raw: Option<&Arc<[u8]>>,
) {
    let ends = match setting.place {
        Place::Unit(_) if view::ends_in_space(token) => Ends::Space,
        _ => setting.ends(),
    };
    pen.push(Draft {
        role: setting.role(),
        json,
        raw,
        call: false,
        ends,
    });
}

/// A block as it is written.
pub(crate) fn push_whole(pen: &mut Pen<'_, '_>, setting: Setting<'_>, json: String, block: &Block) {
    pen.push(Draft {
        role: setting.role(),
        json,
        raw: bytes(block),
        call: false,
        ends: setting.ends(),
    });
}

/// A block's bytes, to be shared.
pub(crate) const fn bytes(block: &Block) -> Option<&Arc<[u8]>> {
    match &block.raw.held {
        Held::Here(bytes) => Some(bytes),
        Held::Lost | Held::Erased => None,
    }
}

/// The block's JSON as the words of a text.
pub(crate) fn as_text(pen: &mut Pen<'_, '_>, setting: Setting<'_>, raw: &str, why: RepairKind) {
    pen.mend(why);
    words(pen, setting, &raw_token(raw));
}

/// Raw JSON as a string token.
pub(crate) fn raw_token(raw: &str) -> String {
    escape(&sanitize(raw))
}

/// Fixed words in a block's place.
pub(crate) fn stand_in(pen: &mut Pen<'_, '_>, setting: Setting<'_>, token: &str, why: RepairKind) {
    pen.stand_in(why);
    words(pen, setting, token);
}

fn text(pen: &mut Pen<'_, '_>, setting: Setting<'_>, block: &Block, raw: &str) {
    if setting.format == Format::Anthropic && is_object(raw) && !complete("text", raw) {
        return as_text(pen, setting, raw, RepairKind::Kind);
    }
    let token = view::text(raw);
    if view::blank(&token) {
        return pen.mend(RepairKind::Blank);
    }
    if is_object(raw) && matches!(setting.format, Format::Anthropic | Format::OpenaiChat) {
        if native(pen, setting.format) && !matches!(setting.place, Place::Wrapped) {
            let json = copy(pen, raw, known("text"));
            return push_text(pen, setting, json, &token, bytes(block));
        }
        kept(pen, raw, Some(&["type", "text", "refusal"]));
    }
    words(pen, setting, &token);
}

/// The block is written in the dialect of the Anthropic wire, and goes there.
pub(crate) fn native(pen: &Pen<'_, '_>, format: Format) -> bool {
    !pen.context.chat() && format == Format::Anthropic
}

fn document(pen: &mut Pen<'_, '_>, setting: Setting<'_>, block: &Block, raw: &str) {
    let kind = member_words(raw, "type").unwrap_or_default();
    if !setting.pictures() && kind == "document" {
        return stand_in(pen, setting, "\"[document]\"", RepairKind::Kind);
    }
    if setting.pictures() && native(pen, setting.format) {
        return match native_document(pen, &kind, raw) {
            Native::Json(json) => push_whole(pen, setting, json, block),
            Native::NoSource => stand_in(pen, setting, "\"[document]\"", RepairKind::Kind),
            Native::Text => other(pen, setting, block, raw),
        };
    }
    if pen.context.chat() && setting.pictures() && kind != "search_result" {
        return chat_document(pen, setting, raw);
    }
    if setting.format != Format::Anthropic {
        return stand_in(pen, setting, "\"[document]\"", RepairKind::Kind);
    }
    other(pen, setting, block, raw);
}

/// How a document of the Anthropic dialect goes to its own wire.
pub(crate) enum Native {
    Json(String),
    /// Its source cannot be written.
    NoSource,
    /// Only as the words of a text.
    Text,
}

/// A document or search result of the Anthropic dialect.
pub(crate) fn native_document(pen: &mut Pen<'_, '_>, kind: &str, raw: &str) -> Native {
    match kind {
        "document" => source::copy(pen, raw, kind).map_or(Native::NoSource, Native::Json),
        "search_result" if complete(kind, raw) => Native::Json(copy(pen, raw, known(kind))),
        _ => Native::Text,
    }
}

/// On Chat a document with words is a text.
fn chat_document(pen: &mut Pen<'_, '_>, setting: Setting<'_>, raw: &str) {
    match view::plain(raw) {
        Some(token) => words(pen, setting, token),
        None => stand_in(pen, setting, "\"[document]\"", RepairKind::Kind),
    }
}

/// A kind that the wire does not know: for its own provider as it is, else as text.
pub(crate) fn other(pen: &mut Pen<'_, '_>, setting: Setting<'_>, block: &Block, raw: &str) {
    let kind = member_words(raw, "type").unwrap_or_default();
    if native(pen, setting.format) && kind == "container_upload" {
        if !complete(&kind, raw) {
            return as_text(pen, setting, raw, RepairKind::Kind);
        }
        let json = copy(pen, raw, known(&kind));
        return push_whole(pen, setting, json, block);
    }
    let foreign = !native(pen, setting.format) || known(&kind).is_none();
    if foreign && is_object(raw) && setting.passes(pen) {
        let json = copy(pen, raw, None);
        return push_whole(pen, setting, json, block);
    }
    as_text(pen, setting, raw, RepairKind::Kind);
}

/// A made text block of these words, for lists inside of a piece.
pub(crate) fn made_text(token: &str) -> String {
    let mut object = Object::new();
    object.raw("type", "\"text\"").raw("text", token);
    object.finish()
}
