//! How the fields of the structs stand in JSON, by their types.

use super::fields::{Fields, Mode};
use super::line::Line;
use super::refusal::{Problem, Refusal};
use super::value::Value;
use crate::body::Range;
use crate::raw::elements;
use crate::{Seq, Text};
use alloc::format;
use alloc::vec::Vec;

/// A field, read and written under its name.
pub(super) trait Part: Sized {
    fn take(fields: &mut Fields<'_>, key: &'static str) -> Result<Self, Refusal>;
    fn put(&self, line: &mut Line, key: &'static str);
}

impl<T: Value> Part for T {
    fn take(fields: &mut Fields<'_>, key: &'static str) -> Result<Self, Refusal> {
        fields.required(key)
    }
    fn put(&self, line: &mut Line, key: &'static str) {
        line.value(key, self);
    }
}

impl<T: Value> Part for Option<T> {
    fn take(fields: &mut Fields<'_>, key: &'static str) -> Result<Self, Refusal> {
        fields.value(key)
    }
    fn put(&self, line: &mut Line, key: &'static str) {
        line.optional(key, self.as_ref());
    }
}

impl Part for Text {
    fn take(fields: &mut Fields<'_>, key: &'static str) -> Result<Self, Refusal> {
        fields
            .text(key)?
            .ok_or_else(|| Refusal::new(key, Problem::Missing))
    }
    fn put(&self, line: &mut Line, key: &'static str) {
        line.text(key, self);
    }
}

impl Part for Option<Text> {
    fn take(fields: &mut Fields<'_>, key: &'static str) -> Result<Self, Refusal> {
        fields.text(key)
    }
    fn put(&self, line: &mut Line, key: &'static str) {
        if let Some(text) = self {
            line.text(key, text);
        }
    }
}

/// The raw elements of a list.
impl Part for Vec<Text> {
    fn take(fields: &mut Fields<'_>, key: &'static str) -> Result<Self, Refusal> {
        let raw = fields
            .take(key)
            .ok_or_else(|| Refusal::new(key, Problem::Missing))?;
        let all = elements(raw).ok_or_else(|| Refusal::new(key, Problem::Expected("a list")))?;
        let read = all
            .enumerate()
            .map(|(at, one)| match fields.missing().element(key, at) {
                Some(gone) => gone.raw,
                None => Text::json(one),
            });
        Ok(read.collect())
    }
    fn put(&self, line: &mut Line, key: &'static str) {
        line.texts(key, self);
    }
}

/// `first` and `last`, or `keep_from`, or `first: null`; the field's own name does not show.
impl Part for Option<Range> {
    fn take(fields: &mut Fields<'_>, _: &'static str) -> Result<Self, Refusal> {
        let marker = fields.peek("first") == Some("null");
        let first: Option<Seq> = fields.value("first")?;
        let last: Option<Seq> = fields.value("last")?;
        let keep: Option<Seq> = fields.value("keep_from")?;
        match (first, last, keep) {
            (Some(first), Some(last), None) => Ok(Some(Range::Closed { first, last })),
            (None, None, Some(keep)) if !marker => Ok(Some(Range::KeepFrom(keep))),
            (None, None, None) => Ok(marker.then_some(Range::Marker)),
            (Some(_), None, None) => Err(Refusal::new("last", Problem::Missing)),
            (None, Some(_), None) => Err(Refusal::new("first", Problem::Missing)),
            (_, _, Some(_)) => Err(Refusal::new("keep_from", Problem::Twice)),
        }
    }
    fn put(&self, line: &mut Line, key: &'static str) {
        if let Some(range) = self {
            range.put(line, key);
        }
    }
}

impl Part for Range {
    fn take(fields: &mut Fields<'_>, key: &'static str) -> Result<Self, Refusal> {
        <Option<Self> as Part>::take(fields, key)?
            .ok_or_else(|| Refusal::new("first", Problem::Missing))
    }
    fn put(&self, line: &mut Line, _: &'static str) {
        match self {
            Self::Closed { first, last } => {
                line.value("first", first);
                line.value("last", last);
            }
            Self::KeepFrom(seq) => line.value("keep_from", seq),
            Self::Marker => line.raw("first", "null"),
        }
    }
}

/// A field that admission fills: a host's is not read.
pub(super) fn resolved<T: Part + Default>(
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Result<T, Refusal> {
    match fields.mode() {
        Mode::Log if fields.peek(key).is_some_and(|raw| raw != "null") => T::take(fields, key),
        _ => Ok(T::default()),
    }
}

/// Written only once it is filled.
pub(super) fn put_resolved<T: Part + Default + PartialEq>(
    value: &T,
    line: &mut Line,
    key: &'static str,
) {
    if *value != T::default() {
        value.put(line, key);
    }
}

/// A name in a nested object, as a refusal tells it.
pub(super) fn nested(outer: &str, inner: &str, problem: Problem) -> Refusal {
    Refusal::new(&format!("{outer}.{inner}"), problem)
}
