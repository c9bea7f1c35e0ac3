//! Content in JSON: a string, a list of blocks, bytes in base64, or nothing; the items of OpenAI's `tool_calls` are blocks behind it.

use super::fields::Fields;
use super::line::Line;
use super::missing::describe_block;
use super::parts::Part;
use super::refusal::{Problem, Refusal};
use crate::raw::elements;
use crate::{Block, BlockKind, Content, Form, Format, Shape, Text};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

impl Part for Content {
    fn take(fields: &mut Fields<'_>, key: &'static str) -> Result<Self, Refusal> {
        let format = fields.value("format")?.unwrap_or_default();
        let (shape, blocks) = take_blocks(fields, key, format)?;
        Ok(Self {
            format,
            shape,
            blocks,
        })
    }
    fn put(&self, line: &mut Line, key: &'static str) {
        put_format(self.format, line);
        put_blocks(self.shape, &self.blocks, line, key);
    }
}

fn put_format(format: Format, line: &mut Line) {
    if format != Format::default() {
        line.value("format", &format);
    }
}

fn take_blocks(
    fields: &mut Fields<'_>,
    key: &'static str,
    format: Format,
) -> Result<(Shape, Vec<Block>), Refusal> {
    match (fields.take(key), fields.take("bytes")) {
        (Some(_), Some(_)) => Err(Refusal::new("bytes", Problem::Twice)),
        (None, Some(raw)) => {
            let bytes =
                decode(raw).ok_or_else(|| Refusal::new("bytes", Problem::Expected("base64")))?;
            Ok((Shape::Bytes, alloc::vec![bytes_block(&bytes)]))
        }
        (Some(raw), None) if raw.starts_with('"') => {
            Ok((Shape::String, alloc::vec![Block::from_raw(format, raw)]))
        }
        (Some(raw), None) => {
            let blocks = take_list(fields, key, raw, |raw| Block::from_raw(format, raw));
            let expected = Problem::Expected("a string or a list of blocks");
            Ok((
                Shape::Blocks,
                blocks.ok_or_else(|| Refusal::new(key, expected))?,
            ))
        }
        (None, None) => Ok(take_missing(fields, key)),
    }
}

/// A content of which nothing is at hand, or none at all.
fn take_missing(fields: &mut Fields<'_>, key: &'static str) -> (Shape, Vec<Block>) {
    let missing = fields.missing();
    let shape = missing.shape(key).unwrap_or(Shape::Absent);
    let blocks = (0..).map_while(|at| missing.element(key, at)).collect();
    (shape, blocks)
}

/// The blocks of a list; those that are not at hand stand as `null` and in `missing`.
fn take_list(
    fields: &mut Fields<'_>,
    key: &str,
    raw: &str,
    read: impl Fn(&str) -> Block,
) -> Option<Vec<Block>> {
    let all = elements(raw)?.enumerate();
    Some(
        all.map(|(at, one)| {
            fields
                .missing()
                .element(key, at)
                .unwrap_or_else(|| read(one))
        })
        .collect(),
    )
}

fn bytes_block(bytes: &[u8]) -> Block {
    Block {
        kind: BlockKind::Text,
        raw: Text::new(Form::Bytes, bytes),
        image: None,
    }
}

/// The bytes of a base64 string, padded or not.
pub(super) fn decode(raw: &str) -> Option<Vec<u8>> {
    let words = crate::raw::words(raw)?;
    STANDARD_NO_PAD.decode(words.trim_end_matches('=')).ok()
}

/// Bytes as a base64 string token.
pub(super) fn encode(bytes: &[u8]) -> String {
    format!("\"{}\"", STANDARD.encode(bytes))
}

/// Takes the calls that OpenAI's chat dialect puts beside a message's content.
pub(super) fn take_calls(fields: &mut Fields<'_>) -> Result<Vec<Block>, Refusal> {
    let Some(raw) = fields.take("tool_calls") else {
        return Ok(Vec::new());
    };
    let read = |raw: &str| Block {
        kind: BlockKind::Call,
        ..Block::from_raw(Format::OpenaiChat, raw)
    };
    let calls = take_list(fields, "tool_calls", raw, read);
    calls.ok_or_else(|| Refusal::new("tool_calls", Problem::Expected("a list")))
}

/// Writes a message's content, its calls beside it where the dialect has them there.
pub(super) fn put_with_calls(content: &Content, line: &mut Line) {
    let beside = match content.format {
        Format::OpenaiChat => content
            .blocks
            .iter()
            .rev()
            .take_while(|block| block.kind == BlockKind::Call)
            .count(),
        _ => 0,
    };
    let (said, calls) = content
        .blocks
        .split_at(content.blocks.len().saturating_sub(beside));
    put_format(content.format, line);
    put_blocks(content.shape, said, line, "content");
    if !calls.is_empty() {
        let list = list(calls, line, "tool_calls");
        line.raw("tool_calls", &list);
    }
}

fn put_blocks(shape: Shape, blocks: &[Block], line: &mut Line, key: &'static str) {
    let gone = !blocks.is_empty() && blocks.iter().all(|block| block.raw.bytes().is_none());
    match (shape, blocks) {
        (Shape::Absent, []) => line.raw(key, "null"),
        _ if gone => put_gone(shape, blocks, line, key),
        (Shape::Bytes, [block]) if block.raw.form == Form::Bytes => {
            line.raw("bytes", &encode(block.raw.bytes().unwrap_or_default()));
        }
        (Shape::String, [block]) if is_string(block) => {
            let token = token(block, line, key, 0);
            line.raw(key, &token);
        }
        _ => {
            let list = list(blocks, line, key);
            line.raw(key, &list);
        }
    }
}

fn is_string(block: &Block) -> bool {
    block.json().is_some_and(|raw| raw.starts_with('"'))
}

fn put_gone(shape: Shape, blocks: &[Block], line: &mut Line, key: &'static str) {
    line.raw(key, "null");
    line.note(key, format!("{{\"shape\":\"{}\"}}", shape.word()));
    for (at, block) in blocks.iter().enumerate() {
        let _ = token(block, line, key, at);
    }
}

fn list(blocks: &[Block], line: &mut Line, key: &'static str) -> String {
    let mut list = String::from("[");
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            list.push(',');
        }
        list.push_str(&token(block, line, key, at));
    }
    list.push(']');
    list
}

fn token(block: &Block, line: &mut Line, key: &'static str, at: usize) -> String {
    line.token(&block.raw, || {
        (format!("{key}/{at}"), describe_block(block))
    })
}
