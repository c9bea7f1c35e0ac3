//! One line of the log, field by field.
//!
//! - It is always valid JSON and holds no line break.

use super::missing::describe;
use super::value::Value;
use crate::raw::members;
use crate::{Form, Held, Text, bytes_to_token, escape};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A line that is being written.
pub(super) struct Line {
    out: String,
    missing: Vec<(String, String)>,
    lost: bool,
    erased: bool,
}

impl Line {
    pub(super) fn new() -> Self {
        Self {
            out: String::from("{"),

            missing: Vec::new(),
            lost: false,
            erased: false,
        }
    }

    fn key(&mut self, key: &str) {
        if self.out.len() > 1 {
            self.out.push(',');
        }
        self.out.push_str(&escape(key));
        self.out.push(':');
    }

    /// A field of raw JSON.
    pub(super) fn raw(&mut self, key: &'static str, raw: &str) {
        self.key(key);
        push_flat(&mut self.out, raw);
    }

    pub(super) fn value(&mut self, key: &'static str, value: &impl Value) {
        let mut raw = String::new();
        value.write(&mut raw);
        self.raw(key, &raw);
    }

    pub(super) fn optional(&mut self, key: &'static str, value: Option<&impl Value>) {
        if let Some(value) = value {
            self.value(key, value);
        }
    }

    pub(super) fn text(&mut self, key: &'static str, text: &Text) {
        let token = self.token(text, || (String::from(key), describe(text)));
        self.raw(key, &token);
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &'static str, texts: &[Text]) {
        let mut list = String::from("[");
        for (at, text) in texts.iter().enumerate() {
            if at > 0 {
                list.push(',');
            }
            list.push_str(&self.token(text, || (format!("{key}/{at}"), describe(text))));
        }
        list.push(']');
        self.raw(key, &list);
    }

    /// The JSON of a text; `null` when it is not at hand, which is noted under its place.
    pub(super) fn token(
        &mut self,
        text: &Text,
        missing: impl FnOnce() -> (String, String),
    ) -> String {
        if let Some(token) = token(text) {
            return token;
        }
        self.lost |= text.held != Held::Erased;
        self.erased |= text.held == Held::Erased;
        self.missing.push(missing());
        String::from("null")
    }

    /// Notes something under a place in `missing`.
    pub(super) fn note(&mut self, place: &str, description: String) {
        self.missing.push((String::from(place), description));
    }

    /// Fields that this version does not know, in their places. `false`: they are no object of fields.
    pub(super) fn spliced(&mut self, extra: &Text) -> bool {
        let Some(all) = extra.as_str().and_then(members) else {
            return false;
        };
        for member in all {
            self.out.push(',');
            self.out.push_str(member.token);
            self.out.push(':');
            push_flat(&mut self.out, member.value);
        }
        true
    }

    /// The same as one object; what is not at hand is noted.
    pub(super) fn whole(&mut self, extra: &Text) -> bool {
        self.text("extra", extra);
        true
    }

    pub(super) fn finish(mut self) -> String {
        if !self.missing.is_empty() {
            self.finish_missing();
        }
        self.out.push('}');
        self.out
    }

    fn finish_missing(&mut self) {
        for (key, holds) in [("lost", self.lost), ("erased", self.erased)] {
            if holds {
                self.value(key, &true);
            }
        }
        let mut list = String::from("{");
        for (at, (place, description)) in self.missing.iter().enumerate() {
            if at > 0 {
                list.push(',');
            }
            list.push_str(&escape(place));
            list.push(':');
            list.push_str(description);
        }
        list.push('}');
        self.raw("missing", &list);
    }
}

/// Between the tokens of JSON a line break says no more than a space; inside strings it cannot stand.
fn push_flat(out: &mut String, raw: &str) {
    let mut lines = raw.split(['\n', '\r']);
    lines
        .next()
        .into_iter()
        .for_each(|first| out.push_str(first));
    for line in lines {
        out.push(' ');
        out.push_str(line);
    }
}

/// The JSON of a text that is at hand.
fn token(text: &Text) -> Option<String> {
    let bytes = text.bytes()?;
    Some(match (text.form, text.as_str()) {
        (Form::Json, Some(raw)) => String::from(raw),
        (Form::Plain, Some(words)) => escape(words),
        _ => bytes_to_token(bytes),
    })
}
