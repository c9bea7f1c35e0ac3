//! Raw JSON read in place: the members of an object, the elements of a list, the words of a string token.
//!
//! - Nothing is parsed into a tree; every part is a slice of the text that was given.
//! - The text should be valid JSON ([`is_json`]); on anything else the readers end early, they never fail.
//! - No recursion: depth costs nothing.

use alloc::borrow::Cow;
use alloc::string::String;

/// The text is one JSON value (with white space around it).
#[must_use]
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The members of an object in the order in which they stand. See [`members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    parts: Parts<'a>,
}

/// One member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key's string token, quotes and escapes included.
    pub token: &'a str,
    /// The raw value.
    pub value: &'a str,
}

impl<'a> Member<'a> {
    /// The key's words; a lone surrogate reads as U+FFFD.
    #[must_use]
    pub fn key(&self) -> Cow<'a, str> {
        words(self.token).unwrap_or_default()
    }
}

/// The members of a raw object; `None` when the value is no object.
#[must_use]
pub fn members(raw: &str) -> Option<Members<'_>> {
    Parts::of(raw, b'{').map(|parts| Members { parts })
}

/// The last member of this key: what a parser into a map would keep.
#[must_use]
pub fn member<'a>(raw: &'a str, key: &str) -> Option<&'a str> {
    members(raw)?
        .filter(|member| member.key() == key)
        .last()
        .map(|member| member.value)
}

/// The words of the string member of this key.
#[must_use]
pub fn member_words<'a>(raw: &'a str, key: &str) -> Option<Cow<'a, str>> {
    member(raw, key).and_then(words)
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        let token = self.parts.value()?;
        if !token.starts_with('"') {
            return None;
        }
        self.parts.skip(b':');
        let value = self.parts.value()?;
        self.parts.skip(b',');
        Some(Member { token, value })
    }
}

/// The raw elements of a list in order. See [`elements`].
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    parts: Parts<'a>,
}

/// The elements of a raw list; `None` when the value is no list.
#[must_use]
pub fn elements(raw: &str) -> Option<Elements<'_>> {
    Parts::of(raw, b'[').map(|parts| Elements { parts })
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let value = self.parts.value()?;
        self.parts.skip(b',');
        Some(value)
    }
}

/// What is left of the inside of an object or a list.
#[derive(Clone, Debug)]
struct Parts<'a> {
    rest: &'a str,
}

impl<'a> Parts<'a> {
    fn of(raw: &'a str, open: u8) -> Option<Self> {
        let raw = raw.trim_ascii_start();
        (raw.as_bytes().first() == Some(&open)).then(|| Self {
            rest: raw.get(1..).unwrap_or(""),
        })
    }

    /// Takes the next value; `None` at the end of the container.
    fn value(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_ascii_start();
        let end = value_end(self.rest.as_bytes())?;
        let value = self.rest.get(..end)?;
        self.rest = self.rest.get(end..)?;
        Some(value)
    }

    fn skip(&mut self, mark: u8) {
        let rest = self.rest.trim_ascii_start();
        if rest.as_bytes().first() == Some(&mark) {
            self.rest = rest.get(1..).unwrap_or("");
        }
    }
}

/// Where the value at the start of the text ends; `None` when no value begins there.
fn value_end(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => string_end(text, 0),
        b'{' | b'[' => container_end(text),
        b'}' | b']' | b',' | b':' => None,
        _ => Some(
            text.iter()
                .position(|byte| ends_scalar(*byte))
                .unwrap_or(text.len()),
        ),
    }
}

fn ends_scalar(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'}' | b']')
}

fn container_end(text: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0_usize, 0_usize);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = string_end(text, at)?.saturating_sub(1),
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at = at.saturating_add(1);
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The place after the closing quote of the string that opens at `start`.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start.saturating_add(1);
    loop {
        match text.get(at)? {
            b'"' => return Some(at.saturating_add(1)),
            b'\\' => at = at.saturating_add(2),
            _ => at = at.saturating_add(1),
        }
    }
}

/// The words of a JSON string token; lone surrogates read as U+FFFD. `None` when the value is no string.
#[must_use]
pub fn words(token: &str) -> Option<Cow<'_, str>> {
    let inside = token.trim_ascii().strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(Cow::Borrowed(inside));
    }
    let mut read = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((before, escape)) = rest.split_once('\\') {
        read.push_str(before);
        let (word, length) = unescape(escape);
        read.push(word);
        rest = escape.get(length..).unwrap_or("");
    }
    read.push_str(rest);
    Some(Cow::Owned(read))
}

/// The string token has an escape that names no character: half of a pair, alone.
#[must_use]
pub fn has_lone_surrogate(token: &str) -> bool {
    let mut rest = token;
    while let Some((_, escape)) = rest.split_once('\\') {
        let (_, length, lone) = escaped(escape);
        if lone {
            return true;
        }
        rest = escape.get(length..).unwrap_or("");
    }
    false
}

/// The character of an escape (what follows the backslash) and the escape's length.
fn unescape(escape: &str) -> (char, usize) {
    let (word, length, _) = escaped(escape);
    (word, length)
}

/// The character, the length without the backslash, and whether it is half of a pair, alone.
pub(crate) fn escaped(escape: &str) -> (char, usize, bool) {
    let Some(letter) = escape.chars().next() else {
        return (char::REPLACEMENT_CHARACTER, 0, false);
    };
    let word = match letter {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return escaped_unit(escape),
        other => other,
    };
    (word, letter.len_utf8(), false)
}

fn escaped_unit(escape: &str) -> (char, usize, bool) {
    let Some(high) = unit(escape, 1) else {
        return (char::REPLACEMENT_CHARACTER, 1, false);
    };
    if let Some(word) = char::from_u32(high) {
        return (word, 5, false);
    }
    let low = if escape.get(5..7) == Some("\\u") {
        unit(escape, 7)
    } else {
        None
    };
    match low {
        Some(low @ 0xdc00..=0xdfff) if high < 0xdc00 => {
            let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            (
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                11,
                false,
            )
        }
        _ => (char::REPLACEMENT_CHARACTER, 5, true),
    }
}

/// The four hexadecimal digits at this place.
fn unit(escape: &str, at: usize) -> Option<u32> {
    let digits = escape.get(at..at.checked_add(4)?)?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}
