//! From words and bytes to JSON string tokens, and raw JSON that every reader accepts.
//!
//! - [`escape`] loses nothing; [`sanitize`] and [`bytes_to_token`] replace what no provider accepts: U+0000 and halves of
//!   surrogate pairs become U+FFFD.
//! - Control characters are escaped in the short form where JSON has one, else as `\u00xx`, lower case: fixed for ever, since
//!   prompts contain these bytes.

use crate::raw::escaped;
use alloc::borrow::Cow;
use alloc::string::String;

/// The JSON string token of these words, quotes included.
#[must_use]
pub fn escape(words: &str) -> String {
    let mut token = String::with_capacity(words.len().saturating_add(2));
    token.push('"');
    push_escaped(&mut token, words);
    token.push('"');
    token
}

/// Appends the words, escaped, without quotes.
pub fn push_escaped(token: &mut String, words: &str) {
    let mut rest = words;
    while let Some(at) = rest.bytes().position(needs_escape) {
        let (before, special) = rest.split_at(at);
        token.push_str(before);
        let mut letters = special.chars();
        letters
            .next()
            .into_iter()
            .for_each(|letter| push_escape(token, letter));
        rest = letters.as_str();
    }
    token.push_str(rest);
}

const fn needs_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1f)
}

fn push_escape(token: &mut String, letter: char) {
    match letter {
        '"' => token.push_str("\\\""),
        '\\' => token.push_str("\\\\"),
        '\u{8}' => token.push_str("\\b"),
        '\u{c}' => token.push_str("\\f"),
        '\n' => token.push_str("\\n"),
        '\r' => token.push_str("\\r"),
        '\t' => token.push_str("\\t"),
        other => {
            token.push_str("\\u00");
            let code = u32::from(other);
            token.extend([hex(code >> 4), hex(code)]);
        }
    }
}

fn hex(nibble: u32) -> char {
    char::from_digit(nibble & 0xf, 16).unwrap_or('0')
}

/// The string token of bytes that should be UTF-8: what is not, and U+0000, becomes U+FFFD.
#[must_use]
pub fn bytes_to_token(bytes: &[u8]) -> String {
    let words = String::from_utf8_lossy(bytes);
    if words.contains('\0') {
        escape(&words.replace('\0', "\u{fffd}"))
    } else {
        escape(&words)
    }
}

/// The same raw JSON value with every escape of U+0000 and of half a surrogate pair replaced by `\ufffd`, keys included.
/// Everything else stays byte for byte.
#[must_use]
pub fn sanitize(raw: &str) -> Cow<'_, str> {
    // Outside of strings JSON has no backslash, so every backslash begins an escape.
    if !raw.contains("\\u") && !raw.contains('\0') {
        return Cow::Borrowed(raw);
    }
    let mut clean = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, escape)) = rest.split_once('\\') {
        push_clean(&mut clean, before);
        let (word, length, lone) = escaped(escape);
        if lone || (word == '\0' && escape.starts_with('u')) {
            clean.push_str("\\ufffd");
        } else {
            clean.push('\\');
            push_clean(&mut clean, escape.get(..length).unwrap_or(""));
        }
        rest = escape.get(length..).unwrap_or("");
    }
    push_clean(&mut clean, rest);
    if clean == raw {
        Cow::Borrowed(raw)
    } else {
        Cow::Owned(clean)
    }
}

fn push_clean(clean: &mut String, part: &str) {
    let mut pieces = part.split('\0');
    pieces
        .next()
        .into_iter()
        .for_each(|first| clean.push_str(first));
    for piece in pieces {
        clean.push_str("\\ufffd");
        clean.push_str(piece);
    }
}
