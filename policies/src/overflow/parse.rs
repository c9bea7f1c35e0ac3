//! What a provider's refusal says (R1): whether it is about size, of what, and the true counts where they are given.
//!
//! - Total and bounded: a refusal may hold anything. So many bytes are read, so many values, so many levels.
//! - Walks through nested errors, causes and bodies, and through JSON in strings.

use super::wordings::{CODES, NEVER, OTHER_STATUSES, WORDINGS};
use crate::compact::shorten::head;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::Excess;
use serde_json::Value;

/// Bytes of a refusal that are read.
const MOST_BYTES: usize = 64 * 1024;
/// Bytes of one message that are matched.
const MOST_WORDS: usize = 4_096;
/// Messages that are matched.
const MOST_MESSAGES: usize = 64;
/// Values that are looked at.
const MOST_VALUES: usize = 1_024;
/// Levels of nesting, in values and in strings: eight around the error, itself, and its message.
const MOST_DEPTH: u8 = 10;
/// Characters that `~` may stand for.
const MOST_BETWEEN: usize = 200;

/// Members that hold messages or more of the same.
const INSIDE: &[&str] = &[
    "error",
    "errors",
    "cause",
    "message",
    "msg",
    "detail",
    "details",
    "description",
    "reason",
    "responsebody",
    "response_body",
    "response",
    "body",
    "data",
    "metadata",
    "raw",
    "inner",
    "innererror",
    "inner_error",
    "title",
    "stop_reason",
    "incomplete_details",
];
/// Members that hold codes.
const CODED: &[&str] = &["code", "type", "status", "name"];
/// Members that hold a number of HTTP.
const STATUSES: &[&str] = &["status", "statuscode", "status_code", "code"];

/// What a provider said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// The status of HTTP.
    pub status: Option<u16>,
    /// Its code.
    pub code: Option<&'a str>,
    /// Its words, or the whole body.
    pub body: &'a str,
}

/// What that meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Too much of what; none when it is about something else.
    pub excess: Option<Excess>,
    /// How much it was; with the answer's tokens where those were counted in.
    pub actual: Option<u64>,
    /// How much is allowed.
    pub limit: Option<u64>,
}

/// Reads a refusal.
#[must_use]
pub fn parse(said: &Said<'_>) -> Verdict {
    let mut heard = Heard {
        statuses: said.status.into_iter().collect(),
        ..Heard::default()
    };
    heard.codes.extend(said.code.map(tidy));
    heard.text(head(said.body, MOST_BYTES), 0);
    heard.verdict()
}

/// What was found in a refusal.
#[derive(Default)]
struct Heard {
    statuses: Vec<u16>,
    codes: Vec<String>,
    messages: Vec<String>,
    values: usize,
}

impl Heard {
    /// Words, or JSON in them.
    fn text(&mut self, text: &str, depth: u8) {
        if self.messages.len() >= MOST_MESSAGES {
            return;
        }
        let inner = (depth < MOST_DEPTH).then(|| json_in(text)).flatten();
        match inner {
            Some((before, value)) => {
                if !before.trim().is_empty() {
                    self.messages.push(tidy(before));
                }
                self.value(&value, depth.saturating_add(1));
            }
            None => self.messages.push(tidy(text)),
        }
    }

    fn value(&mut self, value: &Value, depth: u8) {
        self.values = self.values.saturating_add(1);
        if depth > MOST_DEPTH || self.values > MOST_VALUES {
            return;
        }
        match value {
            Value::String(text) => self.text(text, depth),
            Value::Array(list) => list
                .iter()
                .for_each(|one| self.value(one, depth.saturating_add(1))),
            Value::Object(members) => {
                for (key, value) in members {
                    self.member(&key.to_ascii_lowercase(), value, depth);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn member(&mut self, key: &str, value: &Value, depth: u8) {
        if STATUSES.contains(&key)
            && let Some(status) = value.as_u64().and_then(|status| u16::try_from(status).ok())
        {
            self.statuses.push(status);
        }
        match value.as_str() {
            Some(code) if CODED.contains(&key) && self.codes.len() < MOST_MESSAGES => {
                self.codes.push(tidy(code));
            }
            _ if INSIDE.contains(&key) => self.value(value, depth.saturating_add(1)),
            _ => {}
        }
    }

    fn verdict(&self) -> Verdict {
        let never = |text: &String| NEVER.iter().any(|never| has_word(text, never));
        let other = |status: &u16| OTHER_STATUSES.contains(status);
        if self.statuses.iter().any(other)
            || self.messages.iter().any(never)
            || self.codes.iter().any(never)
        {
            return Verdict::default();
        }
        let worded = WORDINGS.iter().find_map(|(wording, excess, _)| {
            let numbers = self.messages.iter().find_map(|text| found(text, wording))?;
            Some((*excess, numbers))
        });
        let coded = self.codes.iter().find_map(|code| {
            let known = CODES.iter().find(|(known, ..)| code.contains(known));
            known.map(|(_, excess, _)| *excess)
        });
        match (worded, coded) {
            // Numbers are in the words; that it is about tokens, the code knows better than general words about bytes.
            (Some((Excess::Bytes, _)), Some(Excess::Tokens)) => only(Excess::Tokens),
            (Some((excess, numbers)), _) => numbers.verdict(excess),
            (None, Some(excess)) => only(excess),
            (None, None) if self.statuses.contains(&413) => only(Excess::Bytes),
            (None, None) => Verdict::default(),
        }
    }
}

const fn only(excess: Excess) -> Verdict {
    Verdict {
        excess: Some(excess),
        actual: None,
        limit: None,
    }
}

/// The JSON object or list in a text, with the words before it.
fn json_in(text: &str) -> Option<(&str, Value)> {
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?.checked_add(1)?;
    let value = serde_json::from_str(text.get(start..end)?).ok()?;
    Some((text.get(..start)?, value))
}

/// Lower case, without quotes and brackets, single spaces.
fn tidy(text: &str) -> String {
    let mut tidy = String::new();
    for letter in head(text, MOST_WORDS).chars() {
        match letter {
            '`' | '"' | '\'' | '(' | ')' | '[' | ']' | '*' | '\\' => {}
            space if space.is_whitespace() => {
                if !tidy.ends_with(' ') {
                    tidy.push(' ');
                }
            }
            letter => tidy.extend(letter.to_lowercase()),
        }
    }
    tidy
}

/// The words stand in the text; short ones as words of their own.
fn has_word(text: &str, word: &str) -> bool {
    if word.len() > 4 {
        return text.contains(word);
    }
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| part == word)
}

/// Numbers of a wording.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    actual: Option<u64>,
    more: Option<u64>,
    limit: Option<u64>,
}

impl Numbers {
    fn verdict(self, excess: Excess) -> Verdict {
        let more = self.more.unwrap_or(0);
        Verdict {
            excess: Some(excess),
            actual: self.actual.map(|actual| actual.saturating_add(more)),
            limit: self.limit,
        }
    }
}

/// The wording somewhere in the text, and its numbers.
fn found(text: &str, wording: &str) -> Option<Numbers> {
    let (literal, _) = split(wording);
    if literal.is_empty() {
        return None;
    }
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find(literal) {
        let start = from.checked_add(at)?;
        if let Some(numbers) = matched(text.get(start..)?, wording) {
            return Some(numbers);
        }
        from = start.checked_add(literal.len())?;
    }
    None
}

/// The literal at the beginning of a wording, and the rest.
fn split(wording: &str) -> (&str, &str) {
    let end = wording.find(['{', '~']).unwrap_or(wording.len());
    wording.split_at(end)
}

/// The text begins with the wording.
fn matched(text: &str, wording: &str) -> Option<Numbers> {
    let (mut text, mut wording) = (text, wording);
    let mut numbers = Numbers::default();
    loop {
        let (literal, rest) = split(wording);
        text = text.strip_prefix(literal)?;
        let Some(mark) = rest.chars().next() else {
            return Some(numbers);
        };
        if mark == '~' {
            return between(text, rest.get(1..)?.trim_start(), numbers);
        }
        let (value, after) = number(text)?;
        match rest.get(..3)? {
            "{a}" => numbers.actual = Some(value),
            "{b}" => numbers.more = Some(value),
            _ => numbers.limit = Some(value),
        }
        (text, wording) = (after, rest.get(3..)?);
    }
}

/// The rest of a wording, after anything.
fn between(text: &str, wording: &str, so_far: Numbers) -> Option<Numbers> {
    let near = head(text, MOST_BETWEEN);
    for (at, _) in near.char_indices() {
        let rest = text.get(at..)?;
        // A number is not begun in its middle.
        let inside = text
            .get(..at)
            .is_some_and(|before| before.ends_with(|letter: char| letter.is_ascii_digit()));
        if wording.starts_with('{') && inside {
            continue;
        }
        if let Some(found) = matched(rest, wording) {
            return Some(Numbers {
                actual: found.actual.or(so_far.actual),
                more: found.more.or(so_far.more),
                limit: found.limit.or(so_far.limit),
            });
        }
    }
    None
}

/// The number at the beginning of a text, thousands separated or not.
fn number(text: &str) -> Option<(u64, &str)> {
    let separates = |letter: char| matches!(letter, ',' | '_');
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && !separates(letter))
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let trimmed = digits.trim_end_matches(separates);
    let rest = text.get(trimmed.len()..).unwrap_or(rest);
    if !trimmed.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let digits: String = trimmed.chars().filter(char::is_ascii_digit).collect();
    Some((digits.parse().ok()?, rest))
}
