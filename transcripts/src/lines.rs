//! A file of lines, cut into pieces: records, and what is none.
//!
//! - Lines end at `\n` and nowhere else (U+2028 is text); a `\r` before it belongs to the end of the line.
//! - Several records on one line are several pieces; what cannot be read to the end of the line is one piece.
//! - Every byte that is not white space lies in exactly one piece, except a byte order mark at the start.

use crate::Problem;
use serde_json::value::RawValue;

/// A stretch of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// The line, counted from 1.
    pub(crate) line: u64,
    /// Its first byte in the file.
    pub(crate) offset: u64,
    /// Its bytes, without white space around them.
    pub(crate) bytes: &'a [u8],
    /// What it holds.
    pub(crate) what: What<'a>,
}

/// What a piece holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What<'a> {
    /// One JSON value; the mark is set when others stand before it on the same line.
    Json(&'a str, bool),
    /// Not readable, and why.
    Damaged(Problem),
}

impl<'a> Piece<'a> {
    /// The JSON value, if it is one.
    pub(crate) fn record(&self) -> Option<&'a str> {
        match self.what {
            What::Json(text, _) => Some(text),
            What::Damaged(_) => None,
        }
    }
}

/// The bytes behind a byte order mark, if there is one.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// All pieces of a file, in order.
pub(crate) fn pieces(bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let text = without_bom(bytes);
    let mut offset = (bytes.len() - text.len()) as u64;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.zip(1u64..).flat_map(move |(line, number)| {
        let start = offset;
        offset += line.len() as u64;
        cut(line, number, start)
    })
}

/// The pieces of a document that holds records in a list: `values` are slices of its text, in order.
pub(crate) fn inside<'a>(bytes: &'a [u8], values: &[&'a str]) -> Vec<Piece<'a>> {
    let (mut line, mut seen) = (1, 0);
    let piece = |value: &&'a str| {
        let offset = (value.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
        let before = bytes.get(seen..offset).unwrap_or_default();
        line += before.iter().filter(|byte| **byte == b'\n').count() as u64;
        seen = offset.max(seen);
        Piece {
            line,
            offset: offset as u64,
            bytes: value.as_bytes(),
            what: What::Json(value, false),
        }
    };
    values.iter().map(piece).collect()
}

/// The pieces of one line.
fn cut(line: &[u8], number: u64, start: u64) -> Vec<Piece<'_>> {
    let ended = line.last() == Some(&b'\n');
    let Ok(text) = std::str::from_utf8(line) else {
        return Vec::from_iter(damaged(line, number, start, Problem::NotUtf8));
    };
    let mut pieces = Vec::new();
    let mut done = 0;
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    while let Some(Ok(value)) = stream.next() {
        let end = stream.byte_offset();
        let begin = end.saturating_sub(value.get().len());
        // Two values that touch without being objects or lists could be one broken value: not told apart.
        let what = What::Json(value.get(), !pieces.is_empty());
        pieces.push(Piece {
            line: number,
            offset: start + begin as u64,
            bytes: value.get().as_bytes(),
            what,
        });
        done = end;
    }
    let problem = if ended {
        Problem::NotJson
    } else {
        Problem::Torn
    };
    pieces.extend(damaged(
        line.get(done..).unwrap_or_default(),
        number,
        start + done as u64,
        problem,
    ));
    pieces
}

/// What is left of a line, as one piece; nothing when it is white space only.
fn damaged(bytes: &[u8], line: u64, start: u64, problem: Problem) -> Option<Piece<'_>> {
    let lead = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let bytes = bytes.trim_ascii();
    let piece = Piece {
        line,
        offset: start + lead as u64,
        bytes,
        what: What::Damaged(problem),
    };
    (!bytes.is_empty()).then_some(piece)
}
