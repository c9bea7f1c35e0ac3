//! The files of a task: JSON documents that are read as far as they go.
//!
//! - A list that breaks off, or holds something unreadable, gives the elements before that place; what is left is one piece of damage.
//! - Every byte of a list that is neither white space nor one of its own marks lies in a piece.

use crate::lines::{Piece, What, without_bom};
use crate::{Problem, json};
use recount_events::raw;
use serde_json::value::RawValue;

/// A list, as far as it could be read.
#[derive(Debug, Default)]
pub(crate) struct List<'a> {
    /// Its elements.
    pub(crate) pieces: Vec<Piece<'a>>,
    /// What could not be read.
    pub(crate) damage: Option<Piece<'a>>,
    /// The file begins with a byte order mark.
    pub(crate) marked: bool,
    /// It is a whole list with nothing in it.
    pub(crate) empty: bool,
}

/// Reads a list, if there is a file; a document that is something else is one piece of damage.
pub(crate) fn list(bytes: Option<&[u8]>) -> List<'_> {
    let Some(bytes) = bytes else {
        return List::default();
    };
    let mut cursor = Cursor::new(bytes);
    let mut list = List {
        marked: cursor.at > 0,
        ..List::default()
    };
    cursor.skip_space();
    if !cursor.take(b'[') {
        let problem = if cursor.rest().is_empty() {
            Problem::Torn
        } else if raw::is_json(cursor.rest()) {
            Problem::Malformed
        } else {
            Problem::NotJson
        };
        list.damage = cursor.damage(problem);
        return list;
    }
    list.damage =
        elements(&mut cursor, &mut list.pieces).and_then(|problem| cursor.damage(problem));
    list.empty = list.pieces.is_empty() && list.damage.is_none();
    list
}

/// Reads the elements up to the end of the document; what stopped it, if it is not that.
fn elements<'a>(cursor: &mut Cursor<'a>, pieces: &mut Vec<Piece<'a>>) -> Option<Problem> {
    cursor.skip_space();
    if !cursor.take(b']') {
        loop {
            cursor.skip_space();
            let Some(piece) = cursor.value() else {
                return Some(cursor.broken());
            };
            pieces.push(piece);
            let behind = cursor.clone();
            cursor.skip_space();
            if cursor.take(b']') {
                break;
            }
            if !cursor.take(b',') {
                *cursor = behind;
                cursor.skip_space();
                return Some(cursor.broken());
            }
        }
    }
    cursor.skip_space();
    (!cursor.is_done()).then_some(Problem::NotJson)
}

/// A whole document that is one JSON value.
pub(crate) fn value(bytes: &[u8]) -> Result<Piece<'_>, Option<Piece<'_>>> {
    let mut cursor = Cursor::new(bytes);
    cursor.skip_space();
    let start = cursor.clone();
    match cursor.value() {
        Some(piece) => {
            cursor.skip_space();
            if cursor.is_done() {
                Ok(piece)
            } else {
                Err(start.damage(Problem::NotJson))
            }
        }
        None => Err(start.damage(start.broken())),
    }
}

/// A place in a document.
#[derive(Clone, Debug)]
struct Cursor<'a> {
    bytes: &'a [u8],
    /// What is text from the start.
    text: &'a str,
    at: usize,
    line: u64,
    /// Where the text begins, behind a byte order mark.
    start: usize,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let inside = without_bom(bytes);
        let text = match std::str::from_utf8(inside) {
            Ok(text) => text,
            Err(cause) => inside
                .get(..cause.valid_up_to())
                .and_then(|valid| std::str::from_utf8(valid).ok())
                .unwrap_or_default(),
        };
        let start = bytes.len().saturating_sub(inside.len());
        Self {
            bytes,
            text,
            at: start,
            line: 1,
            start,
        }
    }

    /// All bytes are text.
    fn is_text(&self) -> bool {
        self.start.saturating_add(self.text.len()) == self.bytes.len()
    }

    fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn rest(&self) -> &'a str {
        let at = self.at.saturating_sub(self.start);
        self.text.get(at..).unwrap_or_default()
    }

    fn go(&mut self, count: usize) {
        let passed = self.rest().get(..count).unwrap_or_default();
        let lines = passed.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.line = self.line.saturating_add(lines);
        self.at = self.at.saturating_add(count);
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        let space = rest.len().saturating_sub(rest.trim_ascii_start().len());
        self.go(space);
    }

    fn take(&mut self, mark: u8) -> bool {
        let there = self.rest().as_bytes().first() == Some(&mark);
        if there {
            self.go(1);
        }
        there
    }

    /// Takes a JSON value.
    fn value(&mut self) -> Option<Piece<'a>> {
        let rest = self.rest();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let raw = values.next()?.ok()?.get();
        let piece = Piece {
            line: self.line,
            offset: self.at as u64,
            bytes: raw.as_bytes(),
            what: What::Json(raw, false),
        };
        self.go(raw.len());
        Some(piece)
    }

    /// Why no value stands here.
    fn broken(&self) -> Problem {
        if !self.is_text() {
            return Problem::NotUtf8;
        }
        let cause = serde_json::Deserializer::from_str(self.rest())
            .into_iter::<&RawValue>()
            .next();
        match cause {
            None => Problem::Torn,
            Some(Err(cause)) if cause.is_eof() => Problem::Torn,
            Some(_) => Problem::NotJson,
        }
    }

    /// What is left, as damage; none when it is white space only.
    fn damage(&self, problem: Problem) -> Option<Piece<'a>> {
        let rest = self.bytes.get(self.at..)?.trim_ascii();
        // A list that only lacks its end has nothing left; the piece is then the end itself, without bytes.
        let problem = if self.is_text() {
            problem
        } else {
            Problem::NotUtf8
        };
        Some(Piece {
            line: self.line,
            offset: self.at as u64,
            bytes: rest,
            what: What::Damaged(problem),
        })
    }
}

/// An object with another value for the last member of a key, all else as it stands; itself when it has no such member.
pub(crate) fn with_member(object: &str, key: &str, value: &str) -> String {
    let members: Vec<raw::Member<'_>> = raw::members(object).into_iter().flatten().collect();
    let last = members.iter().rposition(|member| member.key() == key);
    let parts = members.iter().enumerate().map(|(at, member)| {
        let value = if Some(at) == last {
            value
        } else {
            member.value
        };
        format!("{}:{value}", member.token)
    });
    format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
}

/// An object with a member more, or another value for it.
pub(crate) fn with_set(object: &str, key: &str, value: &str) -> String {
    if raw::member(object, key).is_some() {
        return with_member(object, key, value);
    }
    let member = format!("{}:{value}", json::escape(key));
    let mut parts: Vec<String> = raw::members(object)
        .into_iter()
        .flatten()
        .map(|member| format!("{}:{}", member.token, member.value))
        .collect();
    parts.push(member);
    format!("{{{}}}", parts.join(","))
}

/// A list of raw values.
pub(crate) fn joined<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let values: Vec<&str> = values.into_iter().collect();
    format!("[{}]", values.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Option<(u64, usize)>) {
        let list = list(Some(text.as_bytes()));
        let pieces = list
            .pieces
            .iter()
            .map(|piece| piece.record().unwrap_or_default().to_owned());
        (
            pieces.collect(),
            list.damage
                .map(|damage| (damage.offset, damage.bytes.len())),
        )
    }

    #[test]
    fn a_list_is_read_up_to_where_it_breaks() {
        assert_eq!(
            read("[1, {\"a\":2}]"),
            (vec!["1".into(), "{\"a\":2}".into()], None)
        );
        assert_eq!(read("[]"), (vec![], None));
        assert_eq!(read(" "), (vec![], Some((1, 0))));
        assert_eq!(read("[1,{\"a\":"), (vec!["1".into()], Some((3, 5))));
        assert_eq!(read("[1"), (vec!["1".into()], Some((2, 0))));
        assert_eq!(read("[1]x"), (vec!["1".into()], Some((3, 1))));
        assert_eq!(read("[1 2]"), (vec!["1".into()], Some((3, 2))));
        assert_eq!(read("{}"), (vec![], Some((0, 2))));
    }

    #[test]
    fn a_member_is_set_where_it_stands() {
        assert_eq!(
            with_member("{\"a\":1, \"b\":2}", "a", "null"),
            "{\"a\":null,\"b\":2}"
        );
        assert_eq!(
            with_member("{\"a\":1,\"a\":3}", "a", "5"),
            "{\"a\":1,\"a\":5}"
        );
        assert_eq!(with_set("{\"a\":1}", "b", "2"), "{\"a\":1,\"b\":2}");
    }
}
