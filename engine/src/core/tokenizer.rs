//! Counting tokens: o200k_base, loaded when the first count is needed.
//!
//! - Runs without white space are fed in short pieces and long texts in pieces of at most 100 KB, cut between characters: the
//!   tokenizer's time grows with the square of a run, and its regular expressions have a stack.
//! - Data in base64 is no text: its tokens come from its size in pixels, elsewhere.

use std::sync::OnceLock;
use tiktoken_rs::CoreBPE;

/// Name and version of the tokenizer, as the log records it.
pub(crate) const TOKENIZER: &str = "o200k_base/tiktoken-rs-0.12";

/// The longest text that is fed at once, in bytes.
const LONGEST: usize = 100 * 1024;
/// The longest run without white space that is fed whole, in bytes.
const RUN: usize = 1024;

fn loaded() -> Option<&'static CoreBPE> {
    static LOADED: OnceLock<Option<CoreBPE>> = OnceLock::new();
    LOADED
        .get_or_init(|| tiktoken_rs::o200k_base().ok())
        .as_ref()
}

/// Tokens of a text; a quarter of its bytes where the tokenizer cannot say.
pub(crate) fn tokens(text: &str) -> u64 {
    pieces(text).map(count).fold(0, u64::saturating_add)
}

fn count(piece: &str) -> u64 {
    let counted = loaded().and_then(|bpe| {
        let run = std::panic::AssertUnwindSafe(|| bpe.encode_ordinary(piece).len() as u64);
        std::panic::catch_unwind(run).ok()
    });
    counted.unwrap_or_else(|| (piece.len() as u64).div_ceil(4))
}

/// Cuts a text between characters: before a run gets too long, and before a piece does.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(cut(rest));
        rest = after;
        Some(piece)
    })
}

/// Where the first piece of a text ends; never 0.
fn cut(text: &str) -> usize {
    let mut run = 0;
    let mut kind = None;
    for (at, word) in text.char_indices() {
        let white = word.is_whitespace();
        run = if kind == Some(white) {
            run + word.len_utf8()
        } else {
            word.len_utf8()
        };
        kind = Some(white);
        if at > 0 && (run > RUN || at + word.len_utf8() > LONGEST) {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{pieces, tokens};

    #[test]
    fn pieces_join_to_the_text() {
        let text = format!("{} \u{10348}{}", "a".repeat(5000), "word ".repeat(50_000));
        assert_eq!(pieces(&text).collect::<String>(), text);
        assert!(pieces(&text).all(|piece| piece.len() <= super::LONGEST));
        assert!(pieces("").next().is_none());
    }

    #[test]
    fn counts_are_small_for_words_and_never_panic() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("hello world"), 2);
        let long = " ".repeat(300_000);
        assert!(tokens(&long) > 0);
    }
}
