//! Text as Cline's program sees it: UTF-16 code units, lone surrogates included.
//!
//! - Lengths and places are counted in code units.
//! - A text read from a JSON token and written again says the same, whatever was in it.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use recount_events::raw;

/// UTF-16 code units; cloning shares them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(Arc<[u16]>);

impl Text {
    /// Reads a JSON string token; `None` when the value is no string.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Text> {
        let token = token.trim_ascii();
        if !raw::has_lone_surrogate(token) {
            return raw::words(token).map(|words| Text::from(words.as_ref()));
        }
        let inside = token.strip_prefix('"')?.strip_suffix('"')?;
        let mut units = Vec::with_capacity(inside.len());
        let mut letters = inside.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => units.push(escaped(&mut letters)?),
                other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
            }
        }
        Some(Text(units.into()))
    }

    /// Writes a JSON string token as JavaScript does.
    #[must_use]
    pub fn to_token(&self) -> String {
        let mut token = String::with_capacity(self.0.len().saturating_add(2));
        token.push('"');
        for letter in char::decode_utf16(self.0.iter().copied()) {
            match letter {
                Ok(letter) => {
                    recount_events::push_escaped(&mut token, letter.encode_utf8(&mut [0; 4]))
                }
                Err(lone) => push_unit(&mut token, lone.unpaired_surrogate()),
            }
        }
        token.push('"');
        token
    }

    /// The code units.
    #[must_use]
    pub fn units(&self) -> &[u16] {
        &self.0
    }

    /// The number of code units.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same text with lone surrogates as U+FFFD.
    #[must_use]
    pub fn to_lossy(&self) -> String {
        String::from_utf16_lossy(&self.0)
    }

    /// The texts one after the other.
    pub(crate) fn join(parts: &[&[u16]]) -> Text {
        Text(parts.concat().into())
    }

    /// Replaces the first occurrence of `search`, with JavaScript's patterns in the replacement expanded: `$$` a dollar sign, `$&` what
    /// was found, `` $` `` what stands before it, `$'` what stands behind it. Any other use of `$` stands for itself.
    #[must_use]
    pub fn replace_first(&self, search: &Text, replacement: &Text) -> Text {
        let Some(start) = find(&self.0, &search.0, 0) else {
            return self.clone();
        };
        let (before, rest) = self.0.split_at(start);
        let (found, after) = rest.split_at(search.len());
        let mut units = before.to_vec();
        expand(&mut units, &replacement.0, before, found, after);
        units.extend(after);
        Text(units.into())
    }
}

/// Appends a replacement with its patterns expanded.
fn expand(units: &mut Vec<u16>, replacement: &[u16], before: &[u16], found: &[u16], after: &[u16]) {
    const DOLLAR: u16 = b'$' as u16;
    let mut at = 0;
    while let Some(unit) = replacement.get(at) {
        let next = replacement.get(at.saturating_add(1)).copied();
        let ascii = next.and_then(|next| u8::try_from(next).ok());
        let meant: Option<&[u16]> = match (*unit, ascii) {
            (DOLLAR, Some(b'$')) => Some(&[DOLLAR]),
            (DOLLAR, Some(b'&')) => Some(found),
            (DOLLAR, Some(b'`')) => Some(before),
            (DOLLAR, Some(b'\'')) => Some(after),
            _ => None,
        };
        units.extend(meant.unwrap_or(&[*unit]));
        at = at.saturating_add(if meant.is_some() { 2 } else { 1 });
    }
}

/// A replacement in which a pattern stands that [`Text::replace_first`] expands.
pub(crate) fn expands(replacement: &[u16]) -> bool {
    let patterns = ["$$", "$&", "$`", "$'"].map(|pattern| pattern.bytes().map(u16::from));
    let mut pairs = replacement.windows(2);
    pairs.any(|pair| {
        let mut patterns = patterns.iter().cloned();
        patterns.any(|pattern| pattern.eq(pair.iter().copied()))
    })
}

/// Where `search` begins at or after `from`.
pub(crate) fn find(text: &[u16], search: &[u16], from: usize) -> Option<usize> {
    let Some(first) = search.first() else {
        return (from <= text.len()).then_some(from);
    };
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let next = rest.iter().position(|unit| unit == first)?;
        if rest.get(next..)?.starts_with(search) {
            return at.checked_add(next);
        }
        at = at.checked_add(next)?.checked_add(1)?;
    }
}

/// The code units of words.
pub(crate) fn units_of(words: &str) -> Vec<u16> {
    words.encode_utf16().collect()
}

/// What JavaScript's `\s` matches.
pub(crate) fn is_space(unit: u16) -> bool {
    matches!(
        unit,
        0x09..=0x0d | 0x20 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 | 0xfeff
    )
}

fn escaped(letters: &mut core::str::Chars<'_>) -> Option<u16> {
    Some(match letters.next()? {
        'b' => 0x08,
        'f' => 0x0c,
        'n' => 0x0a,
        'r' => 0x0d,
        't' => 0x09,
        'u' => {
            let digits = letters.as_str().get(..4)?;
            letters.nth(3)?;
            u16::from_str_radix(digits, 16).ok()?
        }
        other => u16::try_from(u32::from(other)).ok()?,
    })
}

fn push_unit(token: &mut String, unit: u16) {
    token.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        let digit = char::from_digit(u32::from((unit >> shift) & 0xf), 16);
        token.extend(digit);
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Text {
        Text(units_of(words).into())
    }
}

impl From<&[u16]> for Text {
    fn from(units: &[u16]) -> Text {
        Text(units.into())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_lossy())
    }
}
