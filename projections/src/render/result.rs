//! The results of calls: their envelope, their content, and what stands for those that are not there.

use crate::render::RepairKind;
use crate::render::block::{Native, made_text, mark, native_document, raw_token};
use crate::render::json::{Object, inside, is_string};
use crate::render::pen::{Draft, Pen};
use crate::render::speech::Speech;
use crate::render::table::{complete, copy, kept, known};
use crate::render::track::Ends;
use crate::render::view::{self, At};
use crate::render::{Category, PieceRole, Why, picture};
use crate::timeline::{Answer, Call};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::raw::{elements, member_words};
use recount_events::{Block, BlockId, BlockKind, Body, Content, Format, Held, Shape};

const OPEN: &str = "\"[No result: the call was not answered.]\"";
const EMPTY: &str = "\"(no output)\"";

/// What a result brought.
enum Brought<'b> {
    /// A string token.
    Token(Cow<'b, str>),
    Blocks(Format, Cow<'b, [Block]>),
    Nothing,
    /// Bytes that are not at hand.
    Gone(RepairKind),
}

/// What a result is made of.
struct Found<'b> {
    /// The block whose own members are kept.
    native: Option<&'b str>,
    brought: Brought<'b>,
    error: bool,
}

/// Writes the result of a call.
pub(crate) fn show(pen: &mut Pen<'_, '_>, speech: &Speech<'_>, call: &Call) {
    let id = speech.id(call);
    pen.category = Category::Results;
    pen.turn(call.block);
    let found = call.answer.as_ref().and_then(|answer| {
        pen.turn(answer.block);
        find(pen, answer)
    });
    let json = match found {
        None => {
            pen.turn(call.block);
            pen.stand_in(RepairKind::OpenCall);
            write(pen, &id, OPEN, None, true)
        }
        Some(found) => {
            let content = content(pen, &found.brought, found.error);
            write(pen, &id, &content, found.native, found.error)
        }
    };
    pen.push(Draft {
        role: PieceRole::Result,
        json,
        raw: None,
        call: false,
        ends: Ends::Other,
    });
    pen.category = Category::Messages;
}

/// What an answer is made of, what replaces it included.
fn find<'b, 'a: 'b>(pen: &mut Pen<'a, '_>, answer: &'b Answer) -> Option<Found<'b>> {
    let timeline = pen.context.timeline;
    let mut found = match &answer.logged.event.body {
        Body::ToolResult(result) => {
            salted(pen, &result.content);
            Found {
                native: None,
                brought: from(&result.content),
                error: answer.status.is_error(),
            }
        }
        Body::Message(message) => {
            let block = message
                .content
                .blocks
                .get(usize::try_from(answer.block.index).ok()?)?;
            pen.salted(&block.raw);
            let mut found = block_found(block, message.content.format);
            found.error |= found.native.is_none() && answer.status.is_error();
            found
        }
        _ => return None,
    };
    if let Some(logged) = timeline.replaced.get(&answer.block)
        && let Body::Replace(replace) = &logged.event.body
    {
        salted(pen, &replace.with);
        found.brought = from(&replace.with);
        pen.why = Why::Replaced(logged.seq);
        pen.counted = Some(BlockId {
            seq: logged.seq,
            index: 0,
        });
    }
    Some(found)
}

/// The piece shows these blocks.
fn salted(pen: &mut Pen<'_, '_>, content: &Content) {
    for block in &content.blocks {
        pen.salted(&block.raw);
    }
}

/// A result among a message's blocks.
fn block_found(block: &Block, format: Format) -> Found<'_> {
    let raw = match view::at(block) {
        At::Json(raw) => raw,
        At::Token(token) => {
            return Found {
                native: None,
                brought: Brought::Token(Cow::Owned(token)),
                error: false,
            };
        }
        At::Lost => {
            return Found {
                native: None,
                brought: Brought::Gone(RepairKind::Lost),
                error: false,
            };
        }
        At::Erased => {
            return Found {
                native: None,
                brought: Brought::Gone(RepairKind::Erased),
                error: false,
            };
        }
    };
    let facts = block.result(format);
    let content = facts.as_ref().and_then(|facts| facts.content);
    let native = (format == Format::Anthropic).then_some(raw);
    let error = facts.is_some_and(|facts| facts.is_error == Some(true));
    Found {
        native,
        brought: from_raw(format, content),
        error,
    }
}

fn from(content: &Content) -> Brought<'_> {
    match (content.shape, content.blocks.first()) {
        (Shape::Absent, _) | (_, None) => Brought::Nothing,
        (Shape::String | Shape::Bytes, Some(block)) => match view::at(block) {
            At::Json(raw) => Brought::Token(view::text(raw)),
            At::Token(token) => Brought::Token(Cow::Owned(token)),
            At::Lost => Brought::Gone(RepairKind::Lost),
            At::Erased => Brought::Gone(RepairKind::Erased),
        },
        (Shape::Blocks, Some(_)) => Brought::Blocks(content.format, Cow::Borrowed(&content.blocks)),
    }
}

fn from_raw(format: Format, raw: Option<&str>) -> Brought<'_> {
    let Some(raw) = raw.map(str::trim_ascii).filter(|raw| *raw != "null") else {
        return Brought::Nothing;
    };
    if is_string(raw) {
        return Brought::Token(Cow::Borrowed(raw));
    }
    let blocks: Vec<Block> = match elements(raw) {
        Some(parts) => parts.map(|part| Block::from_raw(format, part)).collect(),
        None => alloc::vec![Block {
            kind: BlockKind::Other,
            ..Block::from_raw(format, raw)
        }],
    };
    Brought::Blocks(format, Cow::Owned(blocks))
}

/// The content as the wire writes it: a string token, or (on Anthropic) a list, in an error of texts only.
fn content(pen: &mut Pen<'_, '_>, brought: &Brought<'_>, error: bool) -> String {
    let content = match brought {
        Brought::Token(token) if !view::blank(token) => Some(token.to_string()),
        Brought::Token(_) | Brought::Nothing => None,
        Brought::Gone(why) => {
            pen.stand_in(*why);
            Some(mark(*why).to_string())
        }
        Brought::Blocks(format, blocks) if pen.context.chat() => joined(pen, *format, blocks),
        Brought::Blocks(format, blocks) => list(pen, *format, blocks, error),
    };
    content.unwrap_or_else(|| {
        pen.mend(RepairKind::EmptyResult);
        EMPTY.to_string()
    })
}

/// The blocks as a list; `None` when nothing is left of them.
fn list(pen: &mut Pen<'_, '_>, format: Format, blocks: &[Block], error: bool) -> Option<String> {
    let items: Vec<String> = blocks
        .iter()
        .filter_map(|block| match block.kind {
            BlockKind::Image | BlockKind::Document if error => named(pen, block),
            _ => item(pen, format, block),
        })
        .collect();
    (!items.is_empty()).then(|| ["[", &items.join(","), "]"].concat())
}

/// The blocks' words, a line each; `None` when there are none.
fn joined(pen: &mut Pen<'_, '_>, format: Format, blocks: &[Block]) -> Option<String> {
    let mut token = String::from("\"");
    for (place, part) in blocks
        .iter()
        .filter_map(|block| line(pen, format, block))
        .enumerate()
    {
        token.push_str(if place > 0 { "\\n" } else { "" });
        token.push_str(inside(&part));
    }
    token.push('"');
    (token.len() > 2).then_some(token)
}

/// The words of a block as a string token; `None` for a text without words.
fn line<'b>(pen: &mut Pen<'_, '_>, format: Format, block: &'b Block) -> Option<Cow<'b, str>> {
    let raw = match there(pen, block) {
        Ok(raw) => raw,
        Err(token) => return worded(pen, token),
    };
    let kind = member_words(raw, "type");
    match (block.kind, kind.as_deref()) {
        (BlockKind::Text, _) => {
            if format == Format::Anthropic && !is_string(raw) {
                if !complete("text", raw) {
                    return stand_in(pen, raw_token(raw));
                }
                kept(pen, raw, Some(&["type", "text"]));
            }
            worded(pen, view::text(raw))
        }
        (BlockKind::Image, _) => stand_in(pen, "\"[image]\""),
        (BlockKind::Document, Some("search_result")) => stand_in(pen, raw_token(raw)),
        (BlockKind::Document, _) => match view::plain(raw) {
            Some(token) => worded(pen, Cow::Borrowed(token)),
            None => stand_in(pen, "\"[document]\""),
        },
        _ => stand_in(pen, raw_token(raw)),
    }
}

/// What stands for a picture or a document in an error: with one in it the whole request would be refused.
fn named(pen: &mut Pen<'_, '_>, block: &Block) -> Option<String> {
    let token = match there(pen, block) {
        Err(token) => return worded(pen, token).map(|token| made_text(&token)),
        Ok(_) if block.kind == BlockKind::Image => Cow::Borrowed("\"[image]\""),
        Ok(raw) if member_words(raw, "type").as_deref() == Some("search_result") => {
            Cow::from(raw_token(raw))
        }
        Ok(_) => Cow::Borrowed("\"[document]\""),
    };
    stand_in(pen, token).map(|token| made_text(&token))
}

/// A block as an item of a list; `None` for a text without words.
fn item(pen: &mut Pen<'_, '_>, format: Format, block: &Block) -> Option<String> {
    let raw = match there(pen, block) {
        Ok(raw) => raw,
        Err(token) => return worded(pen, token).map(|token| made_text(&token)),
    };
    let kind = member_words(raw, "type").unwrap_or_default();
    match block.kind {
        BlockKind::Text => text(pen, format, raw),
        BlockKind::Image => Some(picture::write(pen, format, block, raw).unwrap_or_else(
            |(token, why)| {
                pen.mend(why);
                made_text(token)
            },
        )),
        BlockKind::Document if format == Format::Anthropic => {
            match native_document(pen, &kind, raw) {
                Native::Json(json) => Some(json),
                Native::NoSource => stand_in(pen, "\"[document]\"").map(|token| made_text(&token)),
                Native::Text => stand_in(pen, raw_token(raw)).map(|token| made_text(&token)),
            }
        }
        BlockKind::Document => stand_in(pen, "\"[document]\"").map(|token| made_text(&token)),
        _ => stand_in(pen, raw_token(raw)).map(|token| made_text(&token)),
    }
}

fn text(pen: &mut Pen<'_, '_>, format: Format, raw: &str) -> Option<String> {
    let native = format == Format::Anthropic && !is_string(raw);
    if native && !complete("text", raw) {
        return stand_in(pen, raw_token(raw)).map(|token| made_text(&token));
    }
    let token = worded(pen, view::text(raw))?;
    Some(if native {
        copy(pen, raw, known("text"))
    } else {
        made_text(&token)
    })
}

/// Its JSON, or the words in its place.
fn there<'b>(pen: &mut Pen<'_, '_>, block: &'b Block) -> Result<&'b str, Cow<'b, str>> {
    if let Held::Lost | Held::Erased = block.raw.held {
        let why = if block.raw.held == Held::Erased {
            RepairKind::Erased
        } else {
            RepairKind::Lost
        };
        pen.mend(why);
        return Err(Cow::Borrowed(mark(why)));
    }
    match view::at(block) {
        At::Json(raw) => Ok(raw),
        At::Token(token) => Err(Cow::Owned(token)),
        At::Lost | At::Erased => Err(Cow::Borrowed(mark(RepairKind::Lost))),
    }
}

/// Nothing, when the token holds no words.
fn worded<'b>(pen: &mut Pen<'_, '_>, token: Cow<'b, str>) -> Option<Cow<'b, str>> {
    if view::blank(&token) {
        pen.mend(RepairKind::Blank);
        return None;
    }
    Some(token)
}

fn stand_in<'b>(pen: &mut Pen<'_, '_>, token: impl Into<Cow<'b, str>>) -> Option<Cow<'b, str>> {
    pen.mend(RepairKind::Kind);
    Some(token.into())
}

/// The envelope: of a block of the Anthropic dialect its own members, else made.
fn write(
    pen: &mut Pen<'_, '_>,
    id: &str,
    content: &str,
    native: Option<&str>,
    error: bool,
) -> String {
    let mut object = Object::new();
    if pen.context.chat() {
        object
            .raw("role", "\"tool\"")
            .words("tool_call_id", id)
            .raw("content", content);
        return object.finish();
    }
    match native {
        Some(raw) => own_members(pen, &mut object, raw, id, content),
        None => {
            object
                .raw("type", "\"tool_result\"")
                .words("tool_use_id", id)
                .raw("content", content);
            if error {
                object.raw("is_error", "true");
            }
        }
    }
    object.finish()
}

fn own_members(pen: &mut Pen<'_, '_>, object: &mut Object, raw: &str, id: &str, content: &str) {
    let (mut has_id, mut has_content) = (false, false);
    for (key, value) in kept(pen, raw, known("tool_result")) {
        match &*key {
            "tool_use_id" => {
                has_id = true;
                object.words("tool_use_id", id);
            }
            "content" => {
                has_content = true;
                object.raw("content", content);
            }
            "is_error" if !matches!(value.trim_ascii(), "true" | "false") => {
                pen.mend(RepairKind::Keys)
            }
            key => {
                object.raw(key, value);
            }
        }
    }
    if !has_id {
        object.words("tool_use_id", id);
    }
    if !has_content {
        object.raw("content", content);
    }
}
