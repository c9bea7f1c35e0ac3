//! Lone surrogates in JSON text, which `serde_json` values cannot hold.
//!
//! - [`tame`] writes each lone surrogate escape as the noncharacter U+FDD0; the render turns that and U+0000 into U+FFFD.

use serde_json::Value;

/// Stands for a lone surrogate inside the model.
const WILD: char = '\u{fdd0}';

/// A JSON text without lone surrogates: each is written as U+FDD0.
#[must_use]
pub fn tame(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut tamed = String::with_capacity(json.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let step = match (byte, unit(json, at)) {
            (b'\\', Some(high)) if (0xd800..0xdc00).contains(&high) => match unit(json, at + 6) {
                Some(low) if (0xdc00..0xe000).contains(&low) => 12,
                _ => 0,
            },
            (b'\\', Some(low)) if (0xdc00..0xe000).contains(&low) => 0,
            (b'\\', _) => 2,
            _ => json
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8),
        };
        if step == 0 {
            tamed.push_str("\\ufdd0");
            at += 6;
        } else {
            tamed.push_str(json.get(at..at + step).unwrap_or(""));
            at += step;
        }
    }
    tamed
}

/// The number of a `\uXXXX` escape that begins here.
fn unit(json: &str, at: usize) -> Option<u32> {
    let escape = json.get(at..at + 6)?;
    u32::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
}

/// A value holds what no wire takes: a lone surrogate or U+0000.
#[must_use]
pub fn wild(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains([WILD, '\0']),
        Value::Array(list) => list.iter().any(wild),
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| key.contains([WILD, '\0']) || wild(value)),
        _ => false,
    }
}

/// The value as a wire takes it.
pub(crate) fn clean(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean_text(text)),
        Value::Array(list) => Value::Array(list.iter().map(clean).collect()),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (clean_text(key), clean(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}

/// The text as a wire takes it.
pub(crate) fn clean_text(text: &str) -> String {
    text.replace([WILD, '\0'], "\u{fffd}")
}
