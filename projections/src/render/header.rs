//! Tools and system prompt.
//!
//! - Tools stand ordered by name, bytewise, each name once.

use crate::render::block::mark;
use crate::render::context::Context;
use crate::render::json::{Object, is_object, is_string, text_block};
use crate::render::pen::{Draft, Pen};
use crate::render::speech::clean_name;
use crate::render::table::{complete, copy, kept, known};
use crate::render::track::{Ends, Track};
use crate::render::view::{self, At};
use crate::render::{Category, PieceRole, RepairKind, Request};
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use recount_events::raw::{is_json, member, member_words, words};
use recount_events::{Block, BlockId, BlockKind, Body, Format, Seq, Text, Wire};

/// What a tool without a schema takes.
const NO_SCHEMA: &str = "{\"type\":\"object\",\"properties\":{}}";

/// A tool's raw JSON by its place.
struct Tool<'t> {
    raw: &'t str,
    /// The object that holds name and description.
    inner: &'t str,
    chat: bool,
}

fn read(text: &Text) -> Option<Tool<'_>> {
    let raw = text.as_str().filter(|raw| is_object(raw) && is_json(raw))?;
    let function = member(raw, "function").filter(|inner| is_object(inner));
    match function.filter(|_| member_words(raw, "type").as_deref() == Some("function")) {
        Some(inner) => Some(Tool {
            raw,
            inner,
            chat: true,
        }),
        None => Some(Tool {
            raw,
            inner: raw,
            chat: false,
        }),
    }
}

impl Tool<'_> {
    /// Its name as the wire takes it; `None` without one.
    fn name(&self, wire: Wire) -> Option<String> {
        let name = member_words(self.inner, "name")?;
        // A server's tool is written as it came, so it is known by the name that it has there.
        if self.is_server() {
            return Some(name.into_owned());
        }
        Some(clean_name(&name, most(wire)))
    }

    /// The provider answers its calls.
    fn is_server(&self) -> bool {
        let kind = member(self.raw, "type").filter(|kind| kind.trim_ascii() != "null");
        !self.chat
            && kind.is_some_and(|_| member_words(self.raw, "type").as_deref() != Some("custom"))
    }
}

const fn most(wire: Wire) -> usize {
    match wire {
        Wire::Anthropic => 128,
        _ => 64,
    }
}

/// The tools of the header, of equal names the last, by name; and the others, with why they are left out.
fn sort<'t>(
    texts: &'t [Text],
    wire: Wire,
) -> (BTreeMap<String, (u32, Tool<'t>)>, BTreeMap<u32, RepairKind>) {
    let (mut tools, mut others) = (BTreeMap::new(), BTreeMap::new());
    for (index, text) in (0_u32..).zip(texts) {
        let tool = read(text).filter(|tool| wire == Wire::Anthropic || !tool.is_server());
        let named = tool.and_then(|tool| tool.name(wire).map(|name| (name, tool)));
        let Some((name, tool)) = named else {
            others.insert(index, RepairKind::BadTool);
            continue;
        };
        if let Some((earlier, _)) = tools.insert(name, (index, tool)) {
            others.insert(earlier, RepairKind::DuplicateTool);
        }
    }
    (tools, others)
}

fn texts<'r>(request: &Request<'r>) -> (Seq, &'r [Text]) {
    match request
        .timeline
        .header
        .tools
        .as_ref()
        .map(|logged| (logged.seq, &logged.event.body))
    {
        Some((seq, Body::Tools(tools))) => (seq, &tools.tools),
        _ => (Seq(0), &[]),
    }
}

/// The names of the header's tools.
pub(crate) fn names(request: &Request<'_>) -> BTreeSet<String> {
    let (_, texts) = texts(request);
    sort(texts, super::context::wire(request.wire))
        .0
        .into_keys()
        .collect()
}

/// Writes tools and system prompt.
pub(crate) fn show(context: &Context<'_>, track: &mut Track, request: &Request<'_>) {
    let (seq, texts) = texts(request);
    let (tools, others) = sort(texts, context.wire);
    let mut pen = Pen::new(context, track, Category::Tools);
    for (index, why) in others {
        pen.turn(BlockId { seq, index });
        pen.mend(why);
    }
    for (name, (index, tool)) in &tools {
        pen.turn(BlockId { seq, index: *index });
        texts
            .get(*index as usize)
            .into_iter()
            .for_each(|text| pen.salted(text));
        let json = if context.chat() {
            chat_tool(&mut pen, name, tool)
        } else {
            anthropic_tool(&mut pen, name, tool)
        };
        pen.push(Draft {
            role: PieceRole::Tool,
            json,
            raw: None,
            call: false,
            ends: Ends::Nothing,
        });
    }
    pen.category = Category::System;
    system(&mut pen);
    track.entries = track.sums.clone();
}

/// Members of a tool that the host answers (Anthropic).
const CUSTOM: [&str; 9] = [
    "type",
    "name",
    "description",
    "input_schema",
    "allowed_callers",
    "defer_loading",
    "eager_input_streaming",
    "input_examples",
    "strict",
];

fn anthropic_tool(pen: &mut Pen<'_, '_>, name: &str, tool: &Tool<'_>) -> String {
    if tool.chat {
        return described(pen, name, tool.inner, "input_schema", "parameters").finish();
    }
    if tool.is_server() {
        return copy(pen, tool.raw, None);
    }
    let mut object = Object::new();
    let mut schema = false;
    for (key, value) in kept(pen, tool.raw, Some(&CUSTOM)) {
        match &*key {
            "name" => rename(pen, &mut object, name, value),
            "description" if !is_string(value) => pen.mend(RepairKind::Keys),
            "input_schema" => {
                schema = true;
                object.raw("input_schema", schema_or_none(pen, value));
            }
            key => {
                object.raw(key, value);
            }
        }
    }
    if !schema {
        object.raw("input_schema", schema_or_none(pen, "null"));
    }
    object.finish()
}

/// The schema, or that of a tool that takes nothing.
fn schema_or_none<'r>(pen: &mut Pen<'_, '_>, raw: &'r str) -> &'r str {
    if is_object(raw) && member_words(raw, "type").as_deref() == Some("object") {
        return raw;
    }
    pen.mend(RepairKind::BadTool);
    NO_SCHEMA
}

/// A name, as the wire takes it.
fn rename(pen: &mut Pen<'_, '_>, object: &mut Object, name: &str, value: &str) {
    if words(value).as_deref() == Some(name) {
        object.raw("name", value);
    } else {
        pen.mend(RepairKind::ToolName);
        object.words("name", name);
    }
}

fn chat_tool(pen: &mut Pen<'_, '_>, name: &str, tool: &Tool<'_>) -> String {
    let mut object = Object::new();
    if !tool.chat {
        let function = described(pen, name, tool.inner, "parameters", "input_schema").finish();
        object
            .raw("type", "\"function\"")
            .raw("function", &function);
        return object.finish();
    }
    let mut function = Object::new();
    for (key, value) in kept(pen, tool.inner, None) {
        match &*key {
            "name" => rename(pen, &mut function, name, value),
            key => {
                function.raw(key, value);
            }
        }
    }
    let function = function.finish();
    for (key, value) in kept(pen, tool.raw, None) {
        object.raw(&key, if key == "function" { &function } else { value });
    }
    object.finish()
}

/// Name, description and schema in the words of the other dialect.
fn described(pen: &mut Pen<'_, '_>, name: &str, raw: &str, schema: &str, from: &str) -> Object {
    if member_words(raw, "name").as_deref() != Some(name) {
        pen.mend(RepairKind::ToolName);
    }
    let mut object = Object::new();
    object.words("name", name);
    if let Some(description) = member(raw, "description").filter(|value| is_string(value)) {
        object.raw("description", description);
    }
    object.raw(
        schema,
        member(raw, from)
            .filter(|value| is_object(value))
            .unwrap_or(NO_SCHEMA),
    );
    object
}

fn system(pen: &mut Pen<'_, '_>) {
    let timeline = pen.context.timeline;
    let Some((seq, Body::System(system))) = timeline
        .header
        .system
        .as_ref()
        .map(|logged| (logged.seq, &logged.event.body))
    else {
        return;
    };
    for (index, block) in (0_u32..).zip(&system.content.blocks) {
        pen.turn(BlockId { seq, index });
        pen.salted(&block.raw);
        if let Some(json) = part(pen, system.content.format, block) {
            let raw = super::block::bytes(block);
            pen.push(Draft {
                role: PieceRole::Header,
                json,
                raw,
                call: false,
                ends: Ends::Nothing,
            });
        }
    }
}

/// A part of the system prompt: words, or nothing.
fn part(pen: &mut Pen<'_, '_>, format: Format, block: &Block) -> Option<String> {
    if block.kind != BlockKind::Text {
        pen.mend(RepairKind::Kind);
        return None;
    }
    let (token, raw) = match view::at(block) {
        At::Json(raw)
            if is_object(raw) && format == Format::Anthropic && !complete("text", raw) =>
        {
            pen.mend(RepairKind::Kind);
            return None;
        }
        At::Json(raw) => (view::text(raw), Some(raw)),
        At::Token(token) => (Cow::Owned(token), None),
        At::Lost => (gone(pen, RepairKind::Lost), None),
        At::Erased => (gone(pen, RepairKind::Erased), None),
    };
    if view::blank(&token) {
        pen.mend(RepairKind::Blank);
        return None;
    }
    let own = raw.filter(|raw| is_object(raw) && format == Format::Anthropic);
    match own {
        Some(raw) if !pen.context.chat() => Some(copy(pen, raw, known("text"))),
        Some(raw) => {
            kept(pen, raw, Some(&["type", "text"]));
            Some(text_block(&token))
        }
        None => Some(text_block(&token)),
    }
}

fn gone(pen: &mut Pen<'_, '_>, why: RepairKind) -> Cow<'static, str> {
    pen.stand_in(why);
    Cow::Borrowed(mark(why))
}
