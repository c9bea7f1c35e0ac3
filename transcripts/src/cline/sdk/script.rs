//! JSON as a JavaScript program writes it again: what it parsed, without white space.
//!
//! - Of equal keys the last value counts, at the first one's place; keys that are whole numbers come first, in order.
//! - Numbers are IEEE doubles; strings are escaped in the shortest way, halves of surrogate pairs included.

use crate::json;
use recount_events::raw;
use std::collections::BTreeMap;

/// How deep values may lie in each other.
const DEEPEST: usize = 256;

/// Writes a raw value again; `None` when it lies too deep.
pub(super) fn again(value: &str) -> Option<String> {
    let mut text = String::with_capacity(value.len());
    write(&mut text, value, 0)?;
    Some(text)
}

fn write(text: &mut String, value: &str, depth: usize) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    match value.as_bytes().first()? {
        b'{' => object(text, value, depth)?,
        b'[' => {
            text.push('[');
            for (at, element) in raw::elements(value)?.enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(text, element, depth + 1)?;
            }
            text.push(']');
        }
        b'"' => string(text, value),
        b't' | b'f' | b'n' => text.push_str(value),
        _ => text.push_str(&number(value.parse().ok()?)),
    }
    Some(())
}

fn object(text: &mut String, value: &str, depth: usize) -> Option<()> {
    let mut order: Vec<&str> = Vec::new();
    let mut named: BTreeMap<String, &str> = BTreeMap::new();
    let mut counted: BTreeMap<u32, (&str, &str)> = BTreeMap::new();
    for member in raw::members(value)? {
        // Keys are the same when they are written again in the same way.
        let mut key = String::new();
        string(&mut key, member.token);
        match array_index(&member.key()) {
            Some(index) => {
                counted.insert(index, (member.token, member.value));
            }
            None => {
                if named.insert(key, member.value).is_none() {
                    order.push(member.token);
                }
            }
        }
    }
    text.push('{');
    let mut first = true;
    let mut member = |text: &mut String, token: &str, value: &str| -> Option<()> {
        if !std::mem::take(&mut first) {
            text.push(',');
        }
        string(text, token);
        text.push(':');
        write(text, value, depth + 1)
    };
    for (token, value) in counted.values() {
        member(text, token, value)?;
    }
    for token in order {
        let mut key = String::new();
        string(&mut key, token);
        member(text, token, named.get(&key)?)?;
    }
    text.push('}');
    Some(())
}

/// A key that is an index of an array: a canonical whole number below 2^32 - 1.
fn array_index(key: &str) -> Option<u32> {
    let index: u32 = key.parse().ok()?;
    (index < u32::MAX && index.to_string() == key).then_some(index)
}

/// A string token, written again.
fn string(text: &mut String, token: &str) {
    if !raw::has_lone_surrogate(token) {
        text.push_str(&json::escape(&raw::words(token).unwrap_or_default()));
        return;
    }
    // Halves of pairs stay escapes, in small letters; everything between them is written like any other text.
    text.push('"');
    let inside = token
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let inside = inside.unwrap_or_default();
    let mut rest = inside;
    while let Some(at) = lone(rest) {
        let (before, behind) = rest.split_at(at);
        text.push_str(&words(before));
        text.push_str(&behind.get(..6).unwrap_or(behind).to_ascii_lowercase());
        rest = behind.get(6..).unwrap_or_default();
    }
    text.push_str(&words(rest));
    text.push('"');
}

/// What stands inside of a token, as a token written again.
fn words(inside: &str) -> String {
    let token = format!("\"{inside}\"");
    let escaped = json::escape(&raw::words(&token).unwrap_or_default());
    // Quotes inside are escaped, so that only those around it are taken off.
    escaped
        .get(1..escaped.len().saturating_sub(1))
        .unwrap_or_default()
        .to_owned()
}

/// Where the first escape of half a pair stands.
fn lone(inside: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = inside.get(at..)?.find('\\') {
        let here = at + found;
        let rest = inside.get(here..)?;
        let length = match unit(rest) {
            None => 2,
            Some(0xdc00..=0xdfff) => return Some(here),
            Some(0xd800..=0xdbff) => match rest.get(6..).and_then(unit) {
                Some(0xdc00..=0xdfff) => 12,
                _ => return Some(here),
            },
            Some(_) => 6,
        };
        at = here + length;
    }
    None
}

fn unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

/// A number as JavaScript writes it (ECMA-262, Number::toString).
fn number(number: f64) -> String {
    if !number.is_finite() {
        return "null".to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&number.abs()) {
        return format!("{number}");
    }
    let short = format!("{number:e}");
    match short.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
        _ => short,
    }
}

#[cfg(test)]
mod tests {
    use super::again;

    #[test]
    fn values_are_written_as_a_script_writes_them() {
        let pairs = [
            (
                "{ \"b\" : 1.0, \"a\" : [ 1e3 , true ] }",
                "{\"b\":1,\"a\":[1000,true]}",
            ),
            (
                "{\"x\":1,\"2\":0,\"1\":0,\"x\":3}",
                "{\"1\":0,\"2\":0,\"x\":3}",
            ),
            (
                "\"\\u0041\\/\\u00e9\\u2028\\u001f\"",
                "\"A/\u{e9}\u{2028}\\u001f\"",
            ),
            (
                "\"a\\uD800b\\ud83d\\ude00\\\"\"",
                "\"a\\ud800b\u{1f600}\\\"\"",
            ),
            ("1e21", "1e+21"),
            ("1e-7", "1e-7"),
            ("0.1", "0.1"),
            ("-0", "0"),
        ];
        for (given, wanted) in pairs {
            assert_eq!(again(given).as_deref(), Some(wanted), "{given}");
        }
        let deep = format!("{}{}", "[".repeat(999), "]".repeat(999));
        assert_eq!(again(&deep), None);
    }
}
