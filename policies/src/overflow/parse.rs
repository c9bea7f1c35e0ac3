//! What a provider's refusal says (R1): whether it is about size, of what, and the true counts where they are given.
//!
//! - Total and bounded: a refusal may hold anything. So many bytes are read, so many values, so many levels.
//! - Walks through nested errors, causes and bodies, and through JSON in strings.

use super::wordings::{CODES, NEVER, OTHER_STATUSES, wordings};
use crate::compact::shorten::head;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::Excess;
use serde_json::{Map, Value};

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
    /// How much it was; of tokens the prompt's alone, without what was asked for the answer.
    pub actual: Option<u64>,
    /// How much is allowed; where an answer's tokens are told too, for both together.
    pub limit: Option<u64>,
    /// Tokens that were asked for the answer, where they are told.
    pub answer: Option<u64>,
    /// Tokens of prompt and answer together, where they are told.
    pub total: Option<u64>,
    /// The prompt has at least so many: whoever refused did not count on.
    pub at_least: bool,
}

impl Verdict {
    /// The answer was counted in: with a shorter one, the same prompt may fit.
    #[must_use]
    pub const fn counts_the_answer(&self) -> bool {
        self.answer.is_some() || self.total.is_some()
    }
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
                self.counts(members);
                for (key, value) in members {
                    self.member(&key.to_ascii_lowercase(), value, depth);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Counts in members beside the words and the type, told as one message: a wording decides what they mean.
    fn counts(&mut self, members: &Map<String, Value>) {
        let count = |key| members.get(key).and_then(Value::as_u64);
        // llama.cpp: github.com/ggml-org/llama.cpp/pull/15780
        let (Some(prompt), Some(window)) = (count("n_prompt_tokens"), count("n_ctx")) else {
            return;
        };
        if self.messages.len() >= MOST_MESSAGES {
            return;
        }
        let words = |key| tidy(members.get(key).and_then(Value::as_str).unwrap_or_default());
        // Long words are shortened, the numbers never.
        self.messages.push(format!(
            "{} {} n_prompt_tokens: {prompt}, n_ctx: {window}",
            words("message"),
            words("type")
        ));
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
        let worded = wordings().find_map(|(wording, excess, _)| {
            let numbers = self.messages.iter().find_map(|text| found(text, wording))?;
            Some((excess, numbers))
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

fn only(excess: Excess) -> Verdict {
    Numbers::default().verdict(excess)
}

/// The JSON object or list of more than numbers in a text, with the words before it.
fn json_in(text: &str) -> Option<(&str, Value)> {
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?.checked_add(1)?;
    let value: Value = serde_json::from_str(text.get(start..end)?).ok()?;
    let has_words = match &value {
        Value::Array(list) => list.iter().any(|one| !one.is_number()),
        _ => true,
    };
    has_words.then_some((text.get(..start)?, value))
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

/// Numbers of a wording, by their marks.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    actual: Option<u64>,
    least: Option<u64>,
    answer: Option<u64>,
    total: Option<u64>,
    over: Option<u64>,
    limit: Option<u64>,
}

impl Numbers {
    /// With one more.
    fn and(mut self, mark: &str, value: u64) -> Self {
        match mark {
            "{a}" => {
                self.actual = Some(
                    self.actual
                        .map_or(value, |so_far| so_far.saturating_add(value)),
                );
            }
            "{m}" => self.least = Some(value),
            "{o}" => self.answer = Some(value),
            "{t}" => self.total = Some(value),
            "{e}" => self.over = Some(value),
            _ => self.limit = Some(value),
        }
        self
    }

    fn verdict(self, excess: Excess) -> Verdict {
        let rest = self.total.zip(self.answer);
        let rest = rest.map(|(total, answer)| total.saturating_sub(answer));
        let over = self.over.zip(self.limit);
        let over = over.map(|(over, limit)| over.saturating_add(limit));
        Verdict {
            excess: Some(excess),
            actual: self.actual.or(self.least).or(rest).or(over),
            limit: self.limit,
            answer: self.answer,
            total: self.total,
            at_least: self.actual.is_none() && self.least.is_some(),
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
        if let Some(numbers) = matched(text.get(start..)?, wording, Numbers::default()) {
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

/// The text begins with the wording; its numbers with those so far.
fn matched(text: &str, wording: &str, so_far: Numbers) -> Option<Numbers> {
    let (mut text, mut wording, mut numbers) = (text, wording, so_far);
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
        numbers = numbers.and(rest.get(..3)?, value);
        (text, wording) = (after, rest.get(3..)?);
    }
}

/// The rest of a wording, after anything.
fn between(text: &str, wording: &str, so_far: Numbers) -> Option<Numbers> {
    let near = head(text, MOST_BETWEEN);
    near.char_indices().find_map(|(at, _)| {
        // A number is not begun in its middle.
        let inside = text.get(..at).is_some_and(ends_in_a_number);
        if wording.starts_with('{') && inside {
            return None;
        }
        matched(text.get(at..)?, wording, so_far)
    })
}

/// The text ends with a digit, or with what separates thousands behind one.
fn ends_in_a_number(text: &str) -> bool {
    text.trim_end_matches([',', '_'])
        .ends_with(|letter: char| letter.is_ascii_digit())
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
