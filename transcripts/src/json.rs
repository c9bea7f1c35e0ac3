//! Reading JSON without giving up its bytes: members of an object in order, values as raw text.
//!
//! - Values are slices of the input; nothing is serialised again.
//! - Lone surrogates and keys given twice are legal here: the last of equal keys is the one that is read.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The members of a JSON object, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members<'a>(Vec<(String, &'a str)>);

impl<'a> Members<'a> {
    /// The members, when the text is one object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The raw value of a key.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a str> {
        self.0
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, raw)| *raw)
    }

    /// A string, unescaped.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.raw(key).and_then(unescape)
    }

    /// The members of an object inside.
    pub(crate) fn members(&self, key: &str) -> Option<Members<'a>> {
        self.raw(key).and_then(Members::parse)
    }

    /// The raw values of a list inside.
    pub(crate) fn items(&self, key: &str) -> Option<Vec<&'a str>> {
        self.raw(key).and_then(items)
    }

    /// A whole number; one with a fraction loses it.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.raw(key).and_then(number)
    }

    /// True only for `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.raw(key) == Some("true")
    }

    /// All members, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(key, raw)| (key.as_str(), *raw))
    }
}

/// The raw values of a list.
pub(crate) fn items(raw: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// The text of a string token; lone surrogates become U+FFFD.
pub(crate) fn unescape(token: &str) -> Option<String> {
    serde_json::from_str::<Lossy>(token)
        .ok()
        .map(|lossy| lossy.0)
}

/// The string token of a text.
pub(crate) fn escape(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// A whole number that is not negative, also one written with a fraction.
pub(crate) fn number(raw: &str) -> Option<u64> {
    raw.parse().ok().or_else(|| {
        let float: f64 = raw.parse().ok()?;
        (0.0..9e15).contains(&float).then_some(float as u64)
    })
}

struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Read as bytes, a string may hold what is no character: surrogates stand alone as three bytes.
        deserializer.deserialize_bytes(LossyVisitor)
    }
}

struct LossyVisitor;

impl<'de> Visitor<'de> for LossyVisitor {
    type Value = Lossy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<Lossy, E> {
        Ok(Lossy(text.to_owned()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
        Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Lossy, A::Error> {
        Err(serde::de::Error::custom("not a string"))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(Lossy(key)) = map.next_key()? {
            members.push((key, map.next_value::<&RawValue>()?.get()));
        }
        Ok(Members(members))
    }
}
