//! How providers say that a prompt is too much: one line a wording, with where it is known from.
//!
//! - A wording is matched anywhere in a message, in lower case, without quotes, brackets and double spaces.
//! - `{a}` is a part of the prompt (several add up), `{m}` what the prompt has at the least, `{o}` what was asked for the answer, `{t}` prompt
//!   and answer together, `{e}` how much it is over, `{l}` what is allowed, `~` anything between, within a few words.
//! - The first line that matches counts; those with numbers stand before those without.

use super::token_wordings::TOKENS;
use recount_events::Excess;

/// All wordings: the words, what they are about, where they are known from. Pictures first: their refusals speak of sizes and maxima too.
pub fn wordings() -> impl Iterator<Item = (&'static str, Excess, &'static str)> {
    let of = |table: &'static [(&str, &str)], excess| {
        table
            .iter()
            .map(move |(words, source)| (*words, excess, *source))
    };
    of(IMAGES, Excess::Images)
        .chain(of(TOKENS, Excess::Tokens))
        .chain(of(BYTES, Excess::Bytes))
}

/// Wording and source.
const IMAGES: &[(&str, &str)] = &[
    (
        "too many images and documents: {a} + {a} > {l}",
        "Anthropic, public error texts",
    ),
    (
        "too many images~: {a} > {l}",
        "Anthropic and compatible gateways, public error texts",
    ),
    (
        "image exceeds~maximum: {a} bytes > {l} bytes",
        "Anthropic, errors page: pictures over 5 MB",
    ),
    (
        "image~exceed max allowed size~: {l} pixels",
        "Anthropic, vision page: pixels a side",
    ),
    ("too many images", "OpenAI and Gemini, public error texts"),
    ("image exceeds", "Anthropic, errors page"),
    ("image is too large", "public error texts"),
    ("image dimensions exceed", "Anthropic, vision page"),
    ("media too large", "public analyses of claude-code"),
];

/// Wording and source.
const BYTES: &[(&str, &str)] = &[
    (
        "request payload size exceeds the limit: {l} bytes",
        "Gemini, public error texts",
    ),
    (
        "maximum request body size {l} exceeded, actual body size {a}",
        "aiohttp servers, public error texts",
    ),
    (
        "sent message larger than max {a} vs. {l}",
        "gRPC in front of a model, tests of public clients",
    ),
    (
        "total message size {a} exceeds limit {l}",
        "Moonshot, tests of public clients",
    ),
    (
        "request exceeds the maximum size",
        "Anthropic, errors page: body over 32 MB",
    ),
    (
        "request exceeds the maximum allowed number of bytes",
        "Anthropic, errors page",
    ),
    ("request_too_large", "Anthropic, errors page: status 413"),
    ("request entity too large", "HTTP servers"),
    ("payload too large", "HTTP servers"),
    ("content too large", "HTTP servers"),
    ("request body too large", "HTTP servers"),
    ("request too large", "HTTP servers"),
];

/// Codes that mean it by themselves.
pub(super) const CODES: &[(&str, Excess, &str)] = &[
    ("context_length_exceeded", Excess::Tokens, "OpenAI"),
    (
        "model_max_prompt_tokens_exceeded",
        Excess::Tokens,
        "Copilot",
    ),
    (
        "context_window_exceeded",
        Excess::Tokens,
        "OpenAI-compatible servers",
    ),
    (
        "model_context_window_exceeded",
        Excess::Tokens,
        "Anthropic, as a stop reason",
    ),
    ("prompt_too_long", Excess::Tokens, "gateways"),
    (
        "exceed_context_size_error",
        Excess::Tokens,
        "llama.cpp, github.com/ggml-org/llama.cpp/pull/15780",
    ),
    ("request_too_large", Excess::Bytes, "Anthropic, status 413"),
];

/// What is never about the size of one prompt, whatever else is said.
pub(super) const NEVER: &[&str] = &[
    "rate limit",
    "rate_limit",
    "rate-limit",
    "ratelimit",
    "too many requests",
    "per minute",
    "per-minute",
    "per min",
    "per day",
    "per hour",
    "per second",
    "tpm",
    "quota",
    "throttl",
    "resource_exhausted",
    "overloaded",
    // A limit of the answer, not of the prompt.
    "maximum allowed number of output tokens",
];

/// Statuses that are about something else: who asks, how often, where.
pub(super) const OTHER_STATUSES: &[u16] = &[401, 403, 404, 408, 409, 429, 503, 529];
