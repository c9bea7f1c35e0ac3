//! Texts, blocks and contents.

use super::json::{json, lone, string};
use crate::{Block, BlockKind, Content, Form, Format, Held, Shape, Text};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use proptest::collection::vec as list;
use proptest::prelude::*;
use proptest::sample::select;

/// A text that may be lost or erased.
pub(super) fn held(text: impl Strategy<Value = Text> + 'static) -> BoxedStrategy<Text> {
    (
        text,
        prop_oneof![18 => Just(None), 1 => Just(Some(Held::Lost)), 1 => Just(Some(Held::Erased))],
    )
        .prop_map(|(mut text, gone)| {
            text.held = gone.unwrap_or(text.held);
            text
        })
        .boxed()
}

/// A name or other words as they stand in a field: plain, or a JSON string where plain text cannot say them.
pub fn name() -> BoxedStrategy<Text> {
    held(prop_oneof![
        9 => ".{0,10}".prop_map(|words| Text::plain(&words)),
        1 => lone().prop_map(|token| Text::json(&token)),
    ])
}

/// Any raw JSON but `null`.
pub fn json_text() -> BoxedStrategy<Text> {
    held(not_null().prop_map(|raw| Text::json(&raw)))
}

fn not_null() -> impl Strategy<Value = String> {
    json().prop_filter("null says nothing", |raw| raw != "null")
}

/// A string or any other JSON.
pub fn loose() -> BoxedStrategy<Text> {
    let other = not_null().prop_filter("strings are plain", |raw| !raw.starts_with('"'));
    prop_oneof![name(), held(other.prop_map(|raw| Text::json(&raw)))].boxed()
}

/// The raw elements of a list.
pub(super) fn elements() -> BoxedStrategy<Vec<Text>> {
    list(held(json().prop_map(|raw| Text::json(&raw))), 0..4).boxed()
}

/// A block of a dialect: known shapes, and any JSON.
pub fn block(format: Format) -> BoxedStrategy<Block> {
    prop_oneof![
        3 => known(format),
        1 => json(),
    ]
    .prop_map(move |raw| Block::from_raw(format, &raw))
    .prop_flat_map(|block| {
        held(Just(block.raw.clone())).prop_map(move |raw| Block {
            raw,
            ..block.clone()
        })
    })
    .boxed()
}

/// Raw blocks as each dialect has them; `#` stands for a string, `@` for any JSON.
const fn shapes(format: Format) -> &'static [&'static str] {
    match format {
        Format::Anthropic => &[
            r#"{"type":"text","text":#}"#,
            r#"{"type":"tool_use","id":#,"name":"f","input":@}"#,
            r#"{"type":"tool_result","tool_use_id":#,"content":@,"is_error":true}"#,
            r#"{"type":"thinking","thinking":#,"signature":"s"}"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAoAAAAUCAYAAAC07w7b"}}"#,
            r#"{"type":"server_tool_use","id":#,"name":"web_search","input":@}"#,
            r#"{"type":"web_search_tool_result","tool_use_id":#,"content":@}"#,
            r#"{"type":"compaction","content":#}"#,
        ],
        Format::OpenaiChat => &[
            r#"{"type":"text","text":#}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}"#,
            r#"{"type":"file","file":{"file_id":#}}"#,
            r#"{"id":#,"type":"function","function":{"name":"f","arguments":#}}"#,
        ],
        Format::OpenaiResponses => &[
            r#"{"type":"input_text","text":#}"#,
            r#"{"type":"function_call","call_id":#,"name":"f","arguments":#}"#,
            r#"{"type":"function_call_output","call_id":#,"output":@}"#,
            r#"{"type":"reasoning","summary":[],"encrypted_content":#}"#,
        ],
        Format::Gemini => &[
            r#"{"text":#}"#,
            r#"{"text":#,"thought":true}"#,
            r#"{"functionCall":{"name":"f","args":@}}"#,
            r#"{"functionResponse":{"name":"f","response":@}}"#,
            r#"{"inlineData":{"mimeType":"image/gif","data":"R0lGODlhLAHIAA=="}}"#,
        ],
    }
}

fn known(format: Format) -> impl Strategy<Value = String> {
    (select(shapes(format)), string(), json()).prop_map(|(shape, words, any)| {
        shape
            .replace('@', "\u{1}")
            .replace('#', &words)
            .replace('\u{1}', &any)
    })
}

/// A dialect.
pub(super) fn format() -> impl Strategy<Value = Format> {
    select(
        &[
            Format::Anthropic,
            Format::Anthropic,
            Format::OpenaiChat,
            Format::OpenaiResponses,
            Format::Gemini,
        ][..],
    )
}

/// A content in every shape.
pub fn content() -> BoxedStrategy<Content> {
    format().prop_flat_map(content_of).boxed()
}

fn content_of(format: Format) -> BoxedStrategy<Content> {
    let text = |raw| Block {
        kind: BlockKind::Text,
        raw,
        image: None,
    };
    let string = held(string().prop_map(|token| Text::json(&token)))
        .prop_map(move |raw| (Shape::String, vec![text(raw)]));
    let bytes = list(any::<u8>(), 0..20).prop_map(|bytes| Text::new(Form::Bytes, &bytes));
    let bytes = held(bytes).prop_map(move |raw| (Shape::Bytes, vec![text(raw)]));
    let blocks = list(block(format), 0..4).prop_map(|blocks| (Shape::Blocks, blocks));
    prop_oneof![3 => string, 1 => bytes, 4 => blocks, 1 => Just((Shape::Absent, Vec::new()))]
        .prop_map(move |(shape, blocks)| Content {
            format,
            shape,
            blocks,
        })
        .boxed()
}

/// A message's content, with calls beside it where the dialect has them there.
pub fn message_content() -> BoxedStrategy<Content> {
    let call = string().prop_map(|id| {
        let raw = format!("{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":\"\"}}}}");
        Block::from_raw(Format::OpenaiChat, &raw)
    });
    let with_calls =
        (content_of(Format::OpenaiChat), list(call, 0..3)).prop_map(|(mut content, calls)| {
            content.blocks.extend(calls);
            content
        });
    prop_oneof![3 => content(), 1 => with_calls].boxed()
}
