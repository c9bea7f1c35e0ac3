//! Objects written member by member, values as they came.
//!
//! - No white space between members; keys are plain words.
//! - Of a key that stands twice the last member counts.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::raw::{Member, members};
use recount_events::{Form, Held, Text, bytes_to_token, escape, push_escaped};

/// An object being written.
#[derive(Debug)]
pub(crate) struct Object(String);

impl Object {
    pub(crate) const fn new() -> Self {
        Self(String::new())
    }

    /// A member whose value is raw JSON.
    pub(crate) fn raw(&mut self, key: &str, value: &str) -> &mut Self {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push('"');
        push_escaped(&mut self.0, key);
        self.0.push_str("\":");
        self.0.push_str(value);
        self
    }

    /// A member whose value is a string of these words.
    pub(crate) fn words(&mut self, key: &str, words: &str) -> &mut Self {
        self.raw(key, "\"");
        push_escaped(&mut self.0, words);
        self.0.push('"');
        self
    }

    pub(crate) fn finish(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }
}

/// The members of a raw object with their keys' words, of equal keys the last one; none when it is no object.
pub(crate) fn unique(raw: &str) -> Vec<(Cow<'_, str>, &str)> {
    let all: Vec<_> = members(raw)
        .into_iter()
        .flatten()
        .map(|one: Member<'_>| (one.key(), one.value))
        .collect();
    let mut last = BTreeMap::new();
    for (place, (key, _)) in all.iter().enumerate() {
        last.insert(key.clone(), place);
    }
    if last.len() == all.len() {
        return all;
    }
    all.into_iter()
        .enumerate()
        .filter(|(place, (key, _))| last.get(key) == Some(place))
        .map(|(_, one)| one)
        .collect()
}

/// The text block of a string token.
pub(crate) fn text_block(token: &str) -> String {
    let mut object = Object::new();
    object.raw("type", "\"text\"").raw("text", token);
    object.finish()
}

/// What stands between the quotes of a string token.
pub(crate) fn inside(token: &str) -> &str {
    let token = token.trim_ascii();
    token
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(token)
}

/// The value is a string token.
pub(crate) fn is_string(raw: &str) -> bool {
    raw.trim_ascii_start().starts_with('"')
}

/// The value is an object.
pub(crate) fn is_object(raw: &str) -> bool {
    raw.trim_ascii_start().starts_with('{')
}

/// The string token of an authored text: of plain words, of a string token itself, of other JSON its bytes. `None` when its bytes are
/// not at hand.
pub(crate) fn token(text: &Text) -> Option<Cow<'_, str>> {
    let bytes = text.bytes()?;
    let Some(words) = text.as_str() else {
        return Some(Cow::Owned(bytes_to_token(bytes)));
    };
    Some(match text.form {
        Form::Json if is_string(words) && recount_events::raw::is_json(words) => {
            Cow::Borrowed(words.trim_ascii())
        }
        Form::Plain | Form::Json => Cow::Owned(escape(words)),
        Form::Bytes => Cow::Owned(bytes_to_token(bytes)),
    })
}

/// The string token of an authored text, a mark in its place when its bytes are not at hand.
pub(crate) fn token_or_mark(text: &Text) -> Cow<'_, str> {
    match (&text.held, token(text)) {
        (_, Some(token)) => token,
        (Held::Erased, None) => Cow::Borrowed("\"[erased]\""),
        (_, None) => Cow::Borrowed("\"[lost]\""),
    }
}
