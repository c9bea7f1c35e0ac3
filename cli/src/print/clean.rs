//! Text of strangers on a terminal: control characters become visible, nothing moves the cursor.

use std::fmt::Write as _;

/// What stands within a line: control and bidirectional characters are escaped, line ends and tabs too.
pub(crate) fn clean(text: &str) -> String {
    escaped(text, |_| false)
}

/// What may have several lines: line ends and tabs stay.
pub(crate) fn lines(text: &str) -> String {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if harmful(character) && !stays(character) => {
                let _ = write!(out, "\\u{{{:x}}}", character as u32);
            }
            _ => out.push(character),
        }
    }
    out
}

/// The first line that says something, cleaned, cut at `width` characters.
pub(crate) fn first_line(text: &str, width: usize) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let line = clean(&line.replace('\t', " "));
    if line.chars().count() <= width {
        return line;
    }
    let mut cut: String = line.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

fn harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_stranger_moves_the_cursor() {
        for code in (0..0xa0).chain(0x2000..0x2100) {
            let Some(character) = char::from_u32(code) else {
                continue;
            };
            let text = character.to_string();
            let moves = |shown: &str| shown.chars().any(char::is_control);
            assert!(!moves(&clean(&text)), "U+{code:04X} came through");
            let ends = lines(&text).replace(['\n', '\t'], "");
            assert!(!moves(&ends), "U+{code:04X} came through");
        }
        assert_eq!(clean("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
    }

    #[test]
    fn a_first_line_is_cut_by_characters() {
        assert_eq!(first_line("\n  äöü und mehr\nzweite", 6), "äöü u…");
    }
}
