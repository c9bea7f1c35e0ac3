//! Texts made to fit: so many tokens, cut where a reader sees a border.

use crate::Words;
use alloc::borrow::ToOwned;
use alloc::string::String;

/// What stands where something was left out.
pub(crate) const GAP: &str = "\n[...truncated...]\n";

/// A text of more bytes than this for each token is not counted as a whole: it is cut.
const FAR: u64 = 32;
/// Bytes for each token that such a text is cut to first.
const NEAR: u64 = 6;

/// Tries to hit the number of tokens.
const TRIES: usize = 12;

/// The longest beginning of a text of at most so many bytes, cut between characters.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    text.get(..crate::cut::before(text, bytes.min(text.len())))
        .unwrap_or("")
}

/// The longest end of a text of at most so many bytes, cut between characters.
pub(crate) fn foot(text: &str, bytes: usize) -> &str {
    let start = text.len().saturating_sub(bytes);
    text.get(crate::cut::after(text, start)..).unwrap_or("")
}

/// The text, or its beginning with an ellipsis, in at most so many counted tokens; nothing when not even that fits.
pub(crate) fn begin(words: &dyn Words, text: &str, tokens: u64) -> Option<String> {
    shaped(words, text, tokens, |bytes| {
        let mut cut = head(text, bytes).trim_end().to_owned();
        if !cut.is_empty() {
            cut.push('…');
        }
        cut
    })
}

/// The text, or its beginning and its end (`head` of a hundred parts, and `tail`), in at most so many counted tokens.
pub(crate) fn middle(
    words: &dyn Words,
    text: &str,
    tokens: u64,
    (head_share, tail_share): (u64, u64),
) -> Option<String> {
    let both = head_share.saturating_add(tail_share).max(1);
    shaped(words, text, tokens, |bytes| {
        let share = |share: u64| {
            let part = (bytes as u64).saturating_mul(share) / both;
            usize::try_from(part).unwrap_or(usize::MAX)
        };
        let mut cut = head(text, share(head_share)).to_owned();
        cut.push_str(GAP);
        cut.push_str(foot(text, share(tail_share)));
        cut
    })
}

/// Narrows the bytes down until the shape has at most so many tokens.
fn shaped(
    words: &dyn Words,
    text: &str,
    tokens: u64,
    shape: impl Fn(usize) -> String,
) -> Option<String> {
    let far = tokens.saturating_mul(FAR) < text.len() as u64;
    let mut bytes = if far {
        usize::try_from(tokens.saturating_mul(NEAR)).unwrap_or(usize::MAX)
    } else {
        let all = words.tokens(text);
        if all <= tokens {
            return Some(text.to_owned());
        }
        portion(text.len(), tokens, all)
    };
    for _ in 0..TRIES {
        let cut = shape(bytes);
        if cut.is_empty() {
            return None;
        }
        let has = words.tokens(&cut);
        if has <= tokens {
            return Some(cut);
        }
        if bytes == 0 {
            return None;
        }
        bytes = portion(bytes, tokens, has).min(bytes.saturating_mul(15) / 16);
    }
    None
}

fn portion(bytes: usize, tokens: u64, of: u64) -> usize {
    let part = (bytes as u128).saturating_mul(u128::from(tokens)) / u128::from(of.max(1));
    usize::try_from(part).unwrap_or(usize::MAX)
}
