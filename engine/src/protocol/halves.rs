//! Halves of surrogate pairs in parameters: a host of JavaScript that cuts a text may cut through a character.
//!
//! - In parameters that hold JSON of their own (events, a provider's words), they stay as they are: what is logged of them keeps them.
//! - In any other text they are read as U+FFFD, as they would leave on any wire.

use recount_events::raw::members;
use std::borrow::Cow;

/// Parameters that are JSON of their own.
const RAW: &[&str] = &["events", "error", "usage", "params", "profile", "policy"];

/// The parameters, with halves of pairs replaced where a text has to be whole.
pub(super) fn mended(params: &str) -> Cow<'_, str> {
    if !has_half(params) {
        return Cow::Borrowed(params);
    }
    let Some(all) = members(params) else {
        return Cow::Borrowed(params);
    };
    let written: Vec<String> = all
        .map(|one| {
            // A string is a name, or words, where a list or an object may stand too.
            let json = one.value.starts_with(['{', '[']);
            let value = if json && RAW.contains(&&*one.key()) {
                one.value.to_owned()
            } else {
                whole(one.value)
            };
            format!("{}:{value}", whole(one.token))
        })
        .collect();
    Cow::Owned(format!("{{{}}}", written.join(",")))
}

fn has_half(json: &str) -> bool {
    json.contains("\\u") && halves(json).next().is_some()
}

/// The text with U+FFFD in the place of halves.
fn whole(json: &str) -> String {
    let mut text = json.to_owned();
    let found: Vec<usize> = halves(json).collect();
    for at in found.into_iter().rev() {
        text.replace_range(at..at.saturating_add(ESCAPE), "\\ufffd");
    }
    text
}

/// Bytes of an escape of four digits.
const ESCAPE: usize = 6;

/// Where escapes stand that are half of a pair without the other half.
fn halves(json: &str) -> impl Iterator<Item = usize> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = json.get(from..)?.find('\\') {
            let at = from.saturating_add(found);
            let Some(unit) = unit(json, at) else {
                // An escape of one letter, a backslash among them.
                from = at.saturating_add(2);
                continue;
            };
            from = at.saturating_add(ESCAPE);
            match unit {
                0xD800..=0xDBFF if matches!(self::unit(json, from), Some(0xDC00..=0xDFFF)) => {
                    from = from.saturating_add(ESCAPE);
                }
                0xD800..=0xDFFF => return Some(at),
                _ => {}
            }
        }
        None
    })
}

/// The unit that an escape at a position names.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json
        .get(at..at.saturating_add(ESCAPE))?
        .strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn only_halves_are_replaced_and_only_where_a_text_has_to_be_whole() {
        for (given, read) in [
            (r#"{"a":"x"}"#, r#"{"a":"x"}"#),
            (r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\ud83d\ude00"}"#),
            (r#"{"a":"x\ud83d"}"#, r#"{"a":"x\ufffd"}"#),
            (r#"{"a":"\ude00x"}"#, r#"{"a":"\ufffdx"}"#),
            (
                r#"{"a":"\ud83d\ud83d\ude00"}"#,
                r#"{"a":"\ufffd\ud83d\ude00"}"#,
            ),
            (r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#),
            (r#"{"a":"\\\ud83d"}"#, r#"{"a":"\\\ufffd"}"#),
            (
                r#"{"\ud83d":{"b":["\ud83d"]}}"#,
                r#"{"\ufffd":{"b":["\ufffd"]}}"#,
            ),
            (
                r#"{"events":["\ud83d"],"key":"\ud83d"}"#,
                r#"{"events":["\ud83d"],"key":"\ufffd"}"#,
            ),
            (r#"["\ud83d"]"#, r#"["\ud83d"]"#),
        ] {
            assert_eq!(mended(given), read, "{given}");
        }
    }
}
