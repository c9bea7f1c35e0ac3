//! Where a text may be cut: never inside of what a reader sees as one character.
//!
//! - A cut lies on the border of a grapheme cluster, so that neither a character nor half of a surrogate pair is lost. A cluster of more
//!   than `CLUSTER` bytes (made on purpose: no script has one) is cut between two of its characters.
//! - Sizes are bytes, UTF-16 units or tokens, as the function says; what is kept never has more than was asked for.

use crate::Words;
use alloc::format;
use alloc::string::String;
use unicode_segmentation::GraphemeCursor;

/// Bytes of the longest cluster that is kept whole. The longest in use (a family with skin tones, a flag of tags) has about 40.
const CLUSTER: usize = 256;

/// The last border that is not behind this byte.
#[must_use]
pub fn before(text: &str, byte: usize) -> usize {
    let at = text.floor_char_boundary(byte);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0) == Ok(true) {
        return at;
    }
    match cursor.prev_boundary(text, 0) {
        Ok(Some(border)) if at.saturating_sub(border) <= CLUSTER => border,
        _ => at,
    }
}

/// The first border that is not before this byte.
#[must_use]
pub fn after(text: &str, byte: usize) -> usize {
    let at = text.ceil_char_boundary(byte);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0) == Ok(true) {
        return at;
    }
    match cursor.next_boundary(text, 0) {
        Ok(Some(border)) if border.saturating_sub(at) <= CLUSTER => border,
        _ => at,
    }
}

/// The last border that is not behind this byte, or the end of the last line before it when that lies in the second half.
#[must_use]
pub fn at_line(text: &str, byte: usize) -> usize {
    let end = before(text, byte);
    let line = text.get(..end).and_then(|kept| kept.rfind('\n'));
    match line {
        Some(line) if end < text.len() && line > end / 2 => line,
        _ => end,
    }
}

/// UTF-16 units of a text.
#[must_use]
pub fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// The longest beginning of at most so many UTF-16 units.
#[must_use]
pub fn head_of_units(text: &str, most: u64) -> &str {
    let mut left = most;
    let end = text.char_indices().find_map(|(byte, letter)| {
        let fits = left.checked_sub(letter.len_utf16() as u64);
        left = fits.unwrap_or(0);
        fits.is_none().then_some(byte)
    });
    end.map_or(text, |end| text.get(..before(text, end)).unwrap_or(""))
}

/// The longest end of at most so many UTF-16 units.
#[must_use]
pub fn tail_of_units(text: &str, most: u64) -> &str {
    let mut left = most;
    let start = text.char_indices().rev().find_map(|(byte, letter)| {
        let fits = left.checked_sub(letter.len_utf16() as u64);
        left = fits.unwrap_or(0);
        fits.is_none()
            .then(|| byte.saturating_add(letter.len_utf8()))
    });
    start.map_or(text, |start| text.get(after(text, start)..).unwrap_or(""))
}

/// A long beginning of at most so many tokens.
#[must_use]
pub fn head_of_tokens<'t>(text: &'t str, most: u64, words: &dyn Words) -> &'t str {
    let end = longest(text.len(), most, |bytes| {
        let kept = text.get(..before(text, bytes)).unwrap_or("");
        words.tokens(kept) <= most
    });
    text.get(..before(text, end)).unwrap_or("")
}

/// A long end of at most so many tokens.
#[must_use]
pub fn tail_of_tokens<'t>(text: &'t str, most: u64, words: &dyn Words) -> &'t str {
    let start = |bytes: usize| after(text, text.len().saturating_sub(bytes));
    let bytes = longest(text.len(), most, |bytes| {
        let kept = text.get(start(bytes)..).unwrap_or("");
        words.tokens(kept) <= most
    });
    text.get(start(bytes)..).unwrap_or("")
}

/// A number of bytes that fits, at most [`NEAR`] below one that does not: twice as many until one does not fit, then halves between.
fn longest(all: usize, tokens: u64, fits: impl Fn(usize) -> bool) -> usize {
    let mut low = 0;
    let mut high = usize::try_from(tokens)
        .unwrap_or(usize::MAX)
        .saturating_mul(4)
        .clamp(1, all.max(1));
    while fits(high) {
        if high >= all {
            return all;
        }
        low = high;
        high = high.saturating_mul(2).min(all);
    }
    while high.saturating_sub(low) > NEAR {
        let middle = low.midpoint(high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Bytes by which a cut by tokens may miss the last one that would fit: each halving is one more count of the text.
const NEAR: usize = 4;

/// A number with a comma before each three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = format!("{number}");
    let mut grouped = String::with_capacity(digits.len().saturating_add(digits.len() / 3));
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number of bytes in units of 1,024 with one digit, as a person reads it: `512 bytes`, `2.0 KB`, `1.3 MB`.
#[must_use]
pub fn human(bytes: u64) -> String {
    if bytes < 1_000 {
        return format!("{bytes} bytes");
    }
    let tenths = |unit: u64| {
        let rounded = bytes
            .saturating_mul(10)
            .saturating_add(unit / 2)
            .checked_div(unit);
        rounded.unwrap_or(0)
    };
    let (tenths, name) = match (tenths(1 << 10), tenths(1 << 20)) {
        (kilo, _) if kilo < 10_240 => (kilo, "KB"),
        (_, mega) => (mega, "MB"),
    };
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}
