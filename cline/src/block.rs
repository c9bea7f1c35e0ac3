//! One block of a message: what the rules look at, beside its JSON as it was given.

use crate::text::Text;
use alloc::string::String;
use alloc::sync::Arc;
use recount_events::raw;

/// A block; cloning shares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    raw: Arc<str>,
    kind: Kind,
}

/// What the rules know of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Text(Option<Text>),
    /// The length of the base64 data, if that is its source.
    Image(usize),
    Call(Option<Text>),
    Result {
        call: Option<Text>,
        /// The text of the first element, when the content is a list that begins with a text.
        text: Option<Text>,
    },
    Other,
}

impl Block {
    /// Reads a block; its JSON is kept as it is.
    #[must_use]
    pub fn from_json(json: &str) -> Block {
        let json = json.trim_ascii();
        Block {
            kind: kind(json),
            raw: json.into(),
        }
    }

    /// A text block of these words.
    #[must_use]
    pub fn words(text: &Text) -> Block {
        Block::from_json(&alloc::format!(
            r#"{{"type":"text","text":{}}}"#,
            text.to_token()
        ))
    }

    /// What stands for a result that is missing.
    pub(crate) fn missing(call: &Text) -> Block {
        let call = call.to_token();
        Block::from_json(&alloc::format!(
            r#"{{"type":"tool_result","tool_use_id":{call},"content":"{MISSING}"}}"#
        ))
    }

    /// Its JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.raw
    }

    /// The text that edits and scans mean; an empty one counts as none.
    #[must_use]
    pub fn text(&self) -> Option<&Text> {
        self.written().filter(|text| !text.is_empty())
    }

    /// The characters that the savings are measured in.
    pub(crate) fn size(&self) -> usize {
        match &self.kind {
            Kind::Image(size) => *size,
            _ => self.text().map_or(0, Text::len),
        }
    }

    /// The id of a call, if it has one that is not empty.
    pub(crate) fn call(&self) -> Option<&Text> {
        match &self.kind {
            Kind::Call(id) => id.as_ref().filter(|id| !id.is_empty()),
            _ => None,
        }
    }

    /// It is a result.
    pub(crate) fn is_result(&self) -> bool {
        matches!(self.kind, Kind::Result { .. })
    }

    /// It is a text block.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text(_))
    }

    /// The id of the call that a result answers.
    pub(crate) fn answers(&self) -> Option<&Text> {
        match &self.kind {
            Kind::Result { call, .. } => call.as_ref().filter(|id| !id.is_empty()),
            _ => None,
        }
    }

    /// The block with another text; itself where it has no place for one.
    #[must_use]
    pub fn with_text(&self, text: &Text) -> Block {
        if self.written().is_none() {
            return self.clone();
        }
        let token = text.to_token();
        let json = match &self.kind {
            Kind::Result { .. } => {
                let content = raw::member(&self.raw, "content").unwrap_or("[]");
                with_member(&self.raw, "content", &with_first(content, &token))
            }
            _ => with_member(&self.raw, "text", &token),
        };
        Block::from_json(&json)
    }

    fn written(&self) -> Option<&Text> {
        match &self.kind {
            Kind::Text(text) | Kind::Result { text, .. } => text.as_ref(),
            _ => None,
        }
    }
}

/// What a missing result says.
const MISSING: &str = "result missing";

fn kind(json: &str) -> Kind {
    let text = |key| raw::member(json, key).and_then(Text::from_token);
    match raw::member_words(json, "type").as_deref() {
        Some("text") => Kind::Text(text("text")),
        Some("image") => Kind::Image(base64(json)),
        Some("tool_use") => Kind::Call(text("id")),
        Some("tool_result") => Kind::Result {
            call: text("tool_use_id"),
            text: raw::member(json, "content").and_then(first_text),
        },
        _ => Kind::Other,
    }
}

fn base64(json: &str) -> usize {
    let source = raw::member(json, "source")
        .filter(|source| raw::member_words(source, "type").as_deref() == Some("base64"));
    source
        .and_then(|source| raw::member_words(source, "data"))
        .map_or(0, |data| data.encode_utf16().count())
}

fn first_text(content: &str) -> Option<Text> {
    let first = raw::elements(content)?.next()?;
    if raw::member_words(first, "type").as_deref() != Some("text") {
        return None;
    }
    Text::from_token(raw::member(first, "text")?)
}

/// A list whose first element says something else.
fn with_first(list: &str, token: &str) -> String {
    let mut json = String::from("[");
    for (index, element) in raw::elements(list).into_iter().flatten().enumerate() {
        if index == 0 {
            json.push_str(&with_member(element, "text", token));
        } else {
            json.push(',');
            json.push_str(element);
        }
    }
    json.push(']');
    json
}

/// An object with another value for a key, at the key's place.
pub(crate) fn with_member(object: &str, key: &str, value: &str) -> String {
    let mut json = String::with_capacity(object.len().saturating_add(value.len()));
    json.push('{');
    let mut written = false;
    for member in raw::members(object).into_iter().flatten() {
        let meant = member.key() == key;
        if meant && written {
            continue;
        }
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(member.token);
        json.push(':');
        json.push_str(if meant { value } else { member.value });
        written |= meant;
    }
    json.push('}');
    json
}

/// An object with one more member at its end.
pub(crate) fn with_added(object: &str, key: &str, value: &str) -> String {
    let inside = object.trim_ascii().strip_suffix('}').unwrap_or("{");
    let mut json = String::from(inside.trim_ascii_end());
    if !json.ends_with('{') {
        json.push(',');
    }
    json.push_str(&recount_events::escape(key));
    json.push(':');
    json.push_str(value);
    json.push('}');
    json
}
