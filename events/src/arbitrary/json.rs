//! Raw JSON as hosts write it: odd spacing, odd escapes, keys twice, halves of surrogate pairs.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::collection::vec;
use proptest::prelude::*;

/// One JSON value, without line breaks and without white space around it.
pub fn json() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        3 => string(),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => proptest::sample::select(&["true", "false", "null", "1.50", "-0", "2E+9"][..]).prop_map(String::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            (vec(inner.clone(), 0..4), space())
                .prop_map(|(all, space)| format!("[{space}{}]", all.join(","))),
            members(inner),
        ]
    })
    .boxed()
}

/// One JSON object. Its keys may be those of events, and no key stands twice.
pub fn object() -> BoxedStrategy<String> {
    members(json().boxed()).boxed()
}

fn members(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    (vec((key(), inner), 0..4), space()).prop_map(|(all, space)| {
        let mut keys = Vec::new();
        let mut parts = Vec::new();
        for (key, value) in all {
            if !keys.contains(&key) {
                parts.push(format!("\"{key}\":{space}{value}"));
                keys.push(key);
            }
        }
        format!("{{{}}}", parts.join(","))
    })
}

fn space() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&["", "", "", " ", "  \t"][..])
}

fn key() -> impl Strategy<Value = &'static str> {
    const KEYS: [&str; 16] = [
        "a",
        "b",
        "type",
        "text",
        "id",
        "name",
        "seq",
        "digest",
        "model",
        "covered",
        "extra",
        "content",
        "at",
        "\\u00e9",
        "cache_control",
        "missing",
    ];
    proptest::sample::select(&KEYS[..])
}

/// A string token.
pub(super) fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => ".{0,8}".prop_map(|words| crate::escape(&words)),
        1 => lone().prop_map(|token| token),
        1 => Just(String::from(r#""\u0041\/\u0000""#)),
    ]
}

/// A string token with half of a surrogate pair.
pub(super) fn lone() -> impl Strategy<Value = String> {
    "[a-c\\\\]{0,3}".prop_map(|words| {
        let token = crate::escape(&words);
        let open = token.strip_suffix('"').unwrap_or_default();
        format!("{open}\\ud8{:02x}\"", words.len())
    })
}
