//! A response and its results: calls, their ids on the wire, and what answers them.
//!
//! - Call and result show the same id.
//! - Each call has exactly one result, directly behind the response, in call order.

use crate::render::RepairKind;
use crate::render::block::{Place, Setting, as_text, bytes, raw_token};
use crate::render::json::{Object, is_object, is_string};
use crate::render::pen::{Draft, Pen};
use crate::render::server::Server;
use crate::render::table::{kept, known};
use crate::render::track::Ends;
use crate::render::view::{self, At};
use crate::render::{PieceRole, entry, result};
use crate::timeline::{Call, Unit};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use recount_events::raw::{is_json, words};
use recount_events::{Block, BlockId, Digest, Format, Seq, Stop, sanitize};

/// A response that is being written.
pub(crate) struct Speech<'u> {
    pub(crate) unit: &'u Unit,
    pub(crate) key: Seq,
    /// The root just before its first piece.
    pub(crate) root: Digest,
    /// The provider paused, on a wire where it goes on when it gets the response back.
    pub(crate) paused: bool,
    pub(crate) server: Server,
}

/// The provider paused in the last part of this response.
pub(crate) fn paused(unit: &Unit) -> bool {
    let last = unit.parts.last().and_then(|part| part.message());
    last.is_some_and(|message| message.stop == Some(Stop::PauseTurn))
}

/// Writes a response and its results.
pub(crate) fn show(pen: &mut Pen<'_, '_>, key: Seq, unit: &Unit) {
    let context = pen.context;
    let paused = !context.chat() && paused(unit);
    let server = Server::new(
        context,
        unit,
        paused && context.last == Some(key),
        &pen.track.sums.servers,
    );
    let speech = Speech {
        unit,
        key,
        root: pen.root(),
        paused,
        server,
    };
    for part in &unit.parts {
        let Some(message) = part.message() else {
            continue;
        };
        let place = Place::Unit(&speech);
        let setting = Setting {
            place,
            format: message.content.format,
            message: Some(message),
        };
        entry::content(pen, setting, &message.content, part.seq);
    }
    for call in &unit.calls {
        result::show(pen, &speech, call);
    }
}

impl Speech<'_> {
    /// The call of this block.
    pub(crate) fn of(&self, block: BlockId) -> Option<&Call> {
        let place = self
            .unit
            .calls
            .binary_search_by_key(&block, |call| call.block)
            .ok()?;
        self.unit.calls.get(place)
    }

    /// The block of a call, and its dialect.
    fn block(&self, id: BlockId) -> Option<(&Block, Format)> {
        let place = self
            .unit
            .parts
            .binary_search_by_key(&id.seq, |part| part.seq)
            .ok()?;
        let content = &self.unit.parts.get(place)?.message()?.content;
        Some((
            content.blocks.get(usize::try_from(id.index).ok()?)?,
            content.format,
        ))
    }

    /// A call's id on the wire.
    pub(crate) fn id(&self, call: &Call) -> String {
        let given = self
            .block(call.block)
            .filter(|_| call.as_given)
            .and_then(|(block, format)| given(block, format));
        given.unwrap_or_else(|| made_id(call.block))
    }

    /// Writes a call.
    pub(crate) fn call(
        &self,
        pen: &mut Pen<'_, '_>,
        setting: Setting<'_>,
        block: &Block,
        raw: &str,
    ) {
        let (Some(call), Some(facts)) = (self.of(pen.source), block.call(setting.format)) else {
            return as_text(pen, setting, raw, RepairKind::Kind);
        };
        let id = self.id(call);
        let chat = pen.context.chat();
        let name = name(pen, &facts.name, if chat { 64 } else { 128 });
        let json = if chat {
            chat_call(pen, &id, &name, facts.input, setting.format)
        } else if setting.format == Format::Anthropic {
            native_call(pen, raw, &id, &name)
        } else {
            let input = foreign_input(pen, facts.input);
            made_call(&id, &name, &input)
        };
        pen.push(Draft {
            role: PieceRole::Assistant,
            json,
            raw: bytes(block),
            call: chat,
            ends: Ends::Assistant,
        });
    }

    /// Writes a call whose bytes are not at hand.
    pub(crate) fn gone(&self, pen: &mut Pen<'_, '_>, setting: Setting<'_>, why: RepairKind) {
        pen.stand_in(why);
        let (id, chat) = (made_id(pen.source), pen.context.chat());
        let json = if chat {
            chat_item(&id, why.name(), "\"{}\"")
        } else {
            made_call(&id, why.name(), "{}")
        };
        pen.push(Draft {
            role: setting.role(),
            json,
            raw: None,
            call: chat,
            ends: Ends::Assistant,
        });
    }
}

/// The id that a provider gave, where it can travel.
fn given(block: &Block, format: Format) -> Option<String> {
    let At::Json(_) = view::at(block) else {
        return None;
    };
    let id = block.call(format)?.id;
    let travels = (1..=40).contains(&id.len()) && id.bytes().all(plain);
    travels.then_some(id)
}

/// The id that a block's place in the log gives.
pub(crate) fn made_id(block: BlockId) -> String {
    format!("call_{}_{}", block.seq, block.index)
}

const fn plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A tool's name as the wire takes it.
pub(crate) fn name(pen: &mut Pen<'_, '_>, given: &str, most: usize) -> String {
    let clean = clean_name(given, most);
    if clean != given {
        pen.mend(RepairKind::ToolName);
    }
    clean
}

pub(crate) fn clean_name(given: &str, most: usize) -> String {
    let letter = |letter: char| {
        if letter.is_ascii() && plain(letter as u8) {
            letter
        } else {
            '_'
        }
    };
    let clean: String = given.chars().take(most).map(letter).collect();
    if clean.is_empty() {
        "unknown".to_string()
    } else {
        clean
    }
}

/// A call of the Anthropic dialect: its own members, id, name and input as they have to be.
fn native_call(pen: &mut Pen<'_, '_>, raw: &str, id: &str, name: &str) -> String {
    let mut object = Object::new();
    let (mut has_id, mut has_name, mut has_input) = (false, false, false);
    for (key, value) in kept(pen, raw, known("tool_use")) {
        match &*key {
            "id" => {
                has_id = true;
                object.words("id", id);
            }
            "name" => {
                has_name = true;
                object.words("name", name);
            }
            "input" => {
                has_input = true;
                object.raw("input", &native_input(pen, value));
            }
            key => {
                object.raw(key, value);
            }
        }
    }
    if !has_id {
        object.words("id", id);
    }
    if !has_name {
        object.words("name", name);
    }
    if !has_input {
        pen.mend(RepairKind::Input);
        object.raw("input", "{}");
    }
    object.finish()
}

fn made_call(id: &str, name: &str, input: &str) -> String {
    let mut object = Object::new();
    object
        .raw("type", "\"tool_use\"")
        .words("id", id)
        .words("name", name)
        .raw("input", input);
    object.finish()
}

fn native_input<'r>(pen: &mut Pen<'_, '_>, raw: &'r str) -> Cow<'r, str> {
    if is_object(raw) {
        return Cow::Borrowed(raw);
    }
    pen.mend(RepairKind::Input);
    let mut object = Object::new();
    object.raw("value", raw);
    Cow::Owned(object.finish())
}

/// Arguments of another dialect: a string that may hold an object, or an object.
fn foreign_input<'r>(pen: &mut Pen<'_, '_>, raw: &'r str) -> Cow<'r, str> {
    if !is_string(raw) {
        return native_input(pen, raw);
    }
    let inner = words(raw).unwrap_or_default();
    if is_object(&inner) && is_json(&inner) {
        return Cow::Owned(inner.trim_ascii().to_string());
    }
    pen.mend(RepairKind::Input);
    let mut object = Object::new();
    object.raw("arguments", raw);
    Cow::Owned(object.finish())
}

/// A call on Chat: a string of arguments (OpenAI) stays as it is, anything else becomes one.
fn chat_call(pen: &mut Pen<'_, '_>, id: &str, name: &str, input: &str, format: Format) -> String {
    if is_string(input) && matches!(format, Format::OpenaiChat | Format::OpenaiResponses) {
        return chat_item(id, name, input);
    }
    if sanitize(input) != input {
        pen.mend(RepairKind::Unicode);
    }
    chat_item(id, name, &raw_token(input))
}

fn chat_item(id: &str, name: &str, arguments: &str) -> String {
    let mut function = Object::new();
    function.words("name", name).raw("arguments", arguments);
    let mut object = Object::new();
    object
        .words("id", id)
        .raw("type", "\"function\"")
        .raw("function", &function.finish());
    object.finish()
}
