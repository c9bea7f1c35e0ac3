//! How real providers say no. Sources of the wordings: issues and pages of the vendors, and the open clients that parse them.

use crate::recordings::Dice;
use crate::validator::Wire;
use serde_json::{Value, json};

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Too many tokens.
    Tokens {
        /// Input.
        input: u64,
        /// The answer's limit.
        max_tokens: u64,
        /// What is allowed.
        window: u64,
        /// The input would fit without the answer's limit.
        with_output: bool,
    },
    /// Too many bytes.
    Bytes,
    /// Too many requests a minute: about something else.
    Rate,
}

/// What comes back, as `overflowed` takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Why.
    pub why: Why,
    /// `{status, body}`: the body as text, as it came.
    pub error: Value,
}

/// Words a refusal; which wording is drawn.
#[must_use]
pub fn word(wire: Wire, why: Why, dice: &mut Dice) -> Refusal {
    let (status, message, code) = match why {
        Why::Bytes => (413, "Request exceeds the maximum size".to_owned(), None),
        Why::Rate => (
            429,
            "This request would exceed your organization's rate limit of 400,000 input tokens per minute. Please try again later."
                .to_owned(),
            Some("rate_limit_error"),
        ),
        Why::Tokens { input, max_tokens, window, with_output } => {
            let (message, code) = match wire {
                Wire::Anthropic => (anthropic(input, max_tokens, window, with_output, dice), None),
                Wire::Chat => openai(input, max_tokens, window, with_output, dice),
            };
            (400, message, code)
        }
    };
    let body = match wire {
        Wire::Anthropic => {
            let kind = match status {
                413 => "request_too_large",
                429 => "rate_limit_error",
                _ => "invalid_request_error",
            };
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Wire::Chat => {
            json!({"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": code}})
        }
    };
    Refusal {
        why,
        error: json!({"status": status, "body": body.to_string()}),
    }
}

fn anthropic(
    input: u64,
    max_tokens: u64,
    window: u64,
    with_output: bool,
    dice: &mut Dice,
) -> String {
    if with_output {
        return format!(
            "input length and `max_tokens` exceed context limit: {input} + {max_tokens} > {window}, decrease input length or `max_tokens` and try again"
        );
    }
    match dice.below(4) {
        0 => "Prompt is too long".to_owned(),
        1 => "Input is too long for requested model.".to_owned(),
        _ => format!("prompt is too long: {input} tokens > {window} maximum"),
    }
}

fn openai(
    input: u64,
    max_tokens: u64,
    window: u64,
    with_output: bool,
    dice: &mut Dice,
) -> (String, Option<&'static str>) {
    let code = Some("context_length_exceeded");
    if with_output {
        return (
            format!(
                "This model's maximum context length is {window} tokens. However, you requested {max_tokens} output tokens and your prompt contains at least {input} input tokens, for a total of at least {} tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
                input + max_tokens
            ),
            None,
        );
    }
    match dice.below(3) {
        0 => (
            "Your input exceeds the context window of this model. Please adjust your input and try again."
                .to_owned(),
            code,
        ),
        _ => (
            format!(
                "This model's maximum context length is {window} tokens. However, your messages resulted in {input} tokens. Please reduce the length of the messages."
            ),
            code,
        ),
    }
}
