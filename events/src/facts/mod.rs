//! What the engine reads in a block's raw JSON: its kind, its call or result, the size of its pictures.
//!
//! - Facts are read, never written: the raw bytes stay as they are.
//! - Ids with halves of surrogate pairs read as U+FFFD in their place.
//! - Of a key that stands twice in an object the last one counts, as for every parser into a map.

mod image;
mod kind;

use crate::raw::{elements, member, member_words, members, words};
use crate::{Block, BlockKind, Format, ImageFacts, Text};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use image::pixels;

/// A tool call, whatever its dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFacts<'a> {
    /// The provider's id; may be empty (Gemini gives none), repeated or reused.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as they stand: a raw JSON value (an object for Anthropic and Gemini, a string token that may hold anything for
    /// OpenAI); `{}` when there are none.
    pub input: &'a str,
}

/// The answer to a call, whatever its dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFacts<'a> {
    /// The call's id as the provider gave it; may be empty.
    pub call_id: String,
    /// The tool's name, where the dialect repeats it.
    pub name: Option<String>,
    /// It failed, where the dialect says so.
    pub is_error: Option<bool>,
    /// What it brought: a raw JSON value.
    pub content: Option<&'a str>,
}

impl Block {
    /// A block from its raw JSON. The caller vouches that it is one JSON value; a string value is a text block.
    #[must_use]
    pub fn from_raw(format: Format, raw: &str) -> Self {
        let kind = kind::detect(format, raw);
        let image = (kind == BlockKind::Image).then(|| image::facts(format, raw));
        Self {
            kind,
            raw: Text::json(raw),
            image,
        }
    }

    /// Its raw JSON, if at hand.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        if self.raw.form == crate::Form::Json {
            self.raw.as_str()
        } else {
            None
        }
    }

    /// The call that it is; `None` for other kinds and when its bytes are not at hand.
    #[must_use]
    pub fn call(&self, format: Format) -> Option<CallFacts<'_>> {
        if self.kind != BlockKind::Call {
            return None;
        }
        let raw = self.json()?;
        Some(match format {
            Format::Anthropic => call_from(raw, raw, "id", &["input"]),
            Format::OpenaiChat => chat_call(raw),
            Format::OpenaiResponses => responses_call(raw),
            Format::Gemini => gemini_call(raw),
        })
    }

    /// The result that it is; `None` for other kinds and when its bytes are not at hand.
    #[must_use]
    pub fn result(&self, format: Format) -> Option<ResultFacts<'_>> {
        if self.kind != BlockKind::Result {
            return None;
        }
        let raw = self.json()?;
        Some(match format {
            Format::Anthropic => result_from(raw, "tool_use_id", "content"),
            Format::OpenaiChat => result_from(raw, "tool_call_id", "content"),
            Format::OpenaiResponses => result_from(raw, "call_id", "output"),
            Format::Gemini => gemini_result(raw),
        })
    }

    /// The pictures in it: itself, or those inside a result or a message item.
    #[must_use]
    pub fn images(&self, format: Format) -> Vec<ImageFacts> {
        if let Some(image) = self.image {
            return alloc::vec![image];
        }
        let inside = self
            .json()
            .map(|raw| inside(format, self.kind, raw))
            .unwrap_or_default();
        inside
            .into_iter()
            .flat_map(|list| elements(list).into_iter().flatten())
            .filter(|part| kind::detect(format, part) == BlockKind::Image)
            .map(|part| image::facts(format, part))
            .collect()
    }

    /// The words of a text block (or of a string content), if at hand; halves of surrogate pairs read as U+FFFD.
    #[must_use]
    pub fn words(&self) -> Option<Cow<'_, str>> {
        if self.kind != BlockKind::Text {
            return None;
        }
        if self.raw.form == crate::Form::Bytes {
            return self.raw.bytes().map(String::from_utf8_lossy);
        }
        let raw = self.json()?;
        let own = words(raw)
            .or_else(|| member_words(raw, "text"))
            .or_else(|| member_words(raw, "refusal"));
        own.or_else(|| member_words(raw, "content"))
            .or_else(|| item_words(raw))
    }
}

/// The words of a message item's parts, one after another.
fn item_words(raw: &str) -> Option<Cow<'_, str>> {
    let parts = elements(member(raw, "content")?)?;
    let all: String = parts
        .filter_map(|part| member_words(part, "text"))
        .collect();
    Some(Cow::Owned(all))
}

/// The lists of blocks inside a block.
fn inside(format: Format, kind: BlockKind, raw: &str) -> Vec<&str> {
    let keys: &[&str] = match (format, kind) {
        (Format::Gemini, BlockKind::Result) => &["parts"],
        (Format::OpenaiResponses, BlockKind::Result) => &["output"],
        (Format::OpenaiResponses, BlockKind::Text) | (_, BlockKind::Result) => &["content"],
        _ => &[],
    };
    let raw = match format {
        Format::Gemini => gemini_inner(raw, ["functionResponse", "function_response"]),
        _ => raw,
    };
    keys.iter().filter_map(|key| member(raw, key)).collect()
}

fn owned(words: Option<Cow<'_, str>>) -> String {
    words.map(Cow::into_owned).unwrap_or_default()
}

/// Reads name and arguments from `inner`, the id from `outer`.
fn call_from<'a>(outer: &'a str, inner: &'a str, id: &str, inputs: &[&str]) -> CallFacts<'a> {
    let input = inputs
        .iter()
        .find_map(|key| member(inner, key))
        .unwrap_or("{}");
    CallFacts {
        id: owned(member_words(outer, id)),
        name: owned(member_words(inner, "name")),
        input,
    }
}

fn chat_call(raw: &str) -> CallFacts<'_> {
    let inner = member(raw, "function")
        .or_else(|| member(raw, "custom"))
        .unwrap_or(raw);
    call_from(raw, inner, "id", &["arguments", "input"])
}

fn responses_call(raw: &str) -> CallFacts<'_> {
    let mut call = call_from(
        raw,
        raw,
        "call_id",
        &["arguments", "input", "action", "operation"],
    );
    if call.name.is_empty() {
        // Built-in tools of the host (a local shell, a computer) have no name beside their type.
        call.name = owned(member_words(raw, "type"))
            .trim_end_matches("_call")
            .to_string();
    }
    call
}

fn gemini_inner<'a>(raw: &'a str, keys: [&str; 2]) -> &'a str {
    keys.iter().find_map(|key| member(raw, key)).unwrap_or(raw)
}

fn gemini_call(raw: &str) -> CallFacts<'_> {
    let inner = gemini_inner(raw, ["functionCall", "function_call"]);
    call_from(inner, inner, "id", &["args"])
}

fn gemini_result(raw: &str) -> ResultFacts<'_> {
    let inner = gemini_inner(raw, ["functionResponse", "function_response"]);
    let mut facts = result_from(inner, "id", "response");
    if facts.is_error.is_none() {
        let error = facts
            .content
            .and_then(members)
            .is_some_and(|mut all| all.any(|one| one.key() == "error"));
        facts.is_error = error.then_some(true);
    }
    facts
}

fn result_from<'a>(raw: &'a str, id: &str, content: &str) -> ResultFacts<'a> {
    let is_error = match member(raw, "is_error").map(str::trim_ascii) {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    ResultFacts {
        call_id: owned(member_words(raw, id)),
        name: member_words(raw, "name").map(Cow::into_owned),
        is_error,
        content: member(raw, content),
    }
}
