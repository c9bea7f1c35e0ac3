//! The patterns that texts are searched for: tool headers and file tags.

use crate::text::{Text, find, is_space, units_of};
use alloc::vec::Vec;

/// `[tool for 'path'] Result:` at the very beginning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) tool: Text,
    pub(crate) path: Text,
    /// The header's length.
    pub(crate) length: usize,
}

/// A file between its tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tagged {
    pub(crate) path: Text,
    /// Where the opening tag begins, where the contents begin, where they end, where the closing tag ends.
    pub(crate) start: usize,
    pub(crate) inside: usize,
    pub(crate) closing: usize,
    pub(crate) end: usize,
}

const QUOTE: u16 = b'"' as u16;
const APOSTROPHE: u16 = b'\'' as u16;
const BRACKET: u16 = b'[' as u16;

impl Header {
    /// The header that a text begins with.
    pub(crate) fn of(text: &Text) -> Option<Header> {
        let units = text.units();
        if units.first() != Some(&BRACKET) {
            return None;
        }
        let name = units.get(1..)?;
        let name = name.split(|unit| is_space(*unit)).next()?;
        let path = 1_usize.checked_add(name.len())?;
        let path = after(units, path, " for '")?;
        let end = units
            .get(path..)?
            .iter()
            .position(|unit| *unit == APOSTROPHE)?;
        let end = path.checked_add(end)?;
        let length = after(units, end, "'] Result:")?;
        (!name.is_empty() && end > path).then(|| Header {
            tool: Text::from(name),
            path: Text::from(units.get(path..end).unwrap_or_default()),
            length,
        })
    }
}

/// The place behind these words, if they stand there.
fn after(units: &[u16], at: usize, words: &str) -> Option<usize> {
    let words = units_of(words);
    let end = at.checked_add(words.len())?;
    (units.get(at..end)? == words).then_some(end)
}

/// All files of a tag, `<tag path="…">…</tag>`; without further attributes, to the nearest closing tag.
pub(crate) fn tagged(text: &Text, tag: &str) -> Vec<Tagged> {
    let units = text.units();
    let opening = units_of(&alloc::format!("<{tag} path=\""));
    let closing = units_of(&alloc::format!("</{tag}>"));
    let mut files = Vec::new();
    let mut from = 0;
    while let Some(start) = find(units, &opening, from) {
        let path = start.saturating_add(opening.len());
        let quote = units
            .get(path..)
            .and_then(|rest| rest.iter().position(|unit| *unit == QUOTE))
            .map(|length| path.saturating_add(length));
        let inside = quote.and_then(|quote| after(units, quote, "\">"));
        let (Some(quote), Some(inside)) = (quote, inside) else {
            from = start.saturating_add(1);
            continue;
        };
        let Some(close) = find(units, &closing, inside) else {
            break;
        };
        let end = close.saturating_add(closing.len());
        files.push(Tagged {
            path: Text::from(units.get(path..quote).unwrap_or_default()),
            start,
            inside,
            closing: close,
            end,
        });
        from = end;
    }
    files
}
