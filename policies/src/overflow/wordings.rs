//! How providers say that a prompt is too much: one line a wording, with where it is known from.
//!
//! - A wording is matched anywhere in a message, in lower case, without quotes, brackets and double spaces.
//! - `{a}` is how much it was, `{b}` what comes on top of that (the answer's tokens), `{l}` what is allowed, `~` anything between, within
//!   a few words.
//! - The first line that matches counts; those with numbers stand before those without.

use recount_events::Excess::{self, Bytes, Images, Tokens};

/// Wording, what it is about, source.
pub(super) const WORDINGS: &[(&str, Excess, &str)] = &[
    // Pictures first: their refusals speak of sizes and maxima too.
    (
        "too many images and documents: {a} + {b} > {l}",
        Images,
        "Anthropic, public error texts",
    ),
    (
        "too many images~: {a} > {l}",
        Images,
        "Anthropic and compatible gateways, public error texts",
    ),
    (
        "image exceeds~maximum: {a} bytes > {l} bytes",
        Images,
        "Anthropic, errors page: pictures over 5 MB",
    ),
    (
        "image~exceed max allowed size~: {l} pixels",
        Images,
        "Anthropic, vision page: pixels a side",
    ),
    (
        "too many images",
        Images,
        "OpenAI and Gemini, public error texts",
    ),
    ("image exceeds", Images, "Anthropic, errors page"),
    ("image is too large", Images, "public error texts"),
    ("image dimensions exceed", Images, "Anthropic, vision page"),
    ("media too large", Images, "public analyses of claude-code"),
    // Tokens, with numbers.
    (
        "prompt is too long: {a} tokens > {l} maximum",
        Tokens,
        "Anthropic, github.com/anthropics/claude-code/issues/820",
    ),
    (
        "prompt is too long: {a} > {l}",
        Tokens,
        "Anthropic, looser gateways",
    ),
    (
        "input length and max_tokens exceed context limit: {a} + {b} > {l}",
        Tokens,
        "Anthropic before 4.5, widely quoted",
    ),
    (
        "prompt token count of {a} exceeds the limit of {l}",
        Tokens,
        "Copilot, github.com/ericc-ch/copilot-api/issues/210",
    ),
    (
        "maximum context length is {l} tokens~requested {b} output tokens and your prompt contains~{a} input tokens",
        Tokens,
        "vLLM, tests of cline's error classification",
    ),
    (
        "maximum context length is {l} tokens~messages resulted in {a} tokens",
        Tokens,
        "OpenAI Chat, tests of cline's error classification",
    ),
    (
        "input tokens exceed the configured limit of {l} tokens~messages resulted in {a} tokens",
        Tokens,
        "OpenAI, models of the GPT-5 family, public error texts",
    ),
    (
        "requested tokens {a} exceed context window of {l}",
        Tokens,
        "llama-cpp-python, public error texts",
    ),
    (
        "input {a} tokens is longer than the model~context length {l} tokens",
        Tokens,
        "SGLang, public error texts",
    ),
    (
        "maximum context length is {l} tokens~requested~{a} tokens",
        Tokens,
        "OpenAI-compatible servers, public error texts",
    ),
    (
        "maximum prompt length is {l} but the request contains {a} tokens",
        Tokens,
        "xAI, tests of public clients",
    ),
    (
        "input token count {a} exceeds the maximum number of tokens allowed {l}",
        Tokens,
        "Gemini, tests of public clients",
    ),
    (
        "prompt tokens limit exceeded: {a} > {l}",
        Tokens,
        "OpenRouter, status 402",
    ),
    (
        "prompt contains {a} tokens~too large for model with {l} maximum context length",
        Tokens,
        "Mistral, public error texts",
    ),
    (
        "request~{a} tokens exceeds the available context size~{l}",
        Tokens,
        "llama.cpp, public error texts",
    ),
    // Tokens, with the limit only.
    (
        "input token count exceeds the maximum number of tokens allowed {l}",
        Tokens,
        "Gemini, the form without the count",
    ),
    (
        "maximum context length is {l} tokens",
        Tokens,
        "OpenRouter, tests of cline's error classification",
    ),
    (
        "maximum prompt length is {l}",
        Tokens,
        "xAI, tests of public clients",
    ),
    (
        "exceeded model token limit: {l}",
        Tokens,
        "Moonshot, public error texts",
    ),
    // Tokens, without numbers.
    (
        "prompt is too long",
        Tokens,
        "Anthropic, the words that its documentation promises",
    ),
    (
        "input is too long for requested model",
        Tokens,
        "Bedrock, errors page of claude-code",
    ),
    (
        "prompt_too_long",
        Tokens,
        "gateways, `capability_rejected: prompt_too_long`",
    ),
    (
        "input exceeds the context window",
        Tokens,
        "OpenAI Responses, tests of codex-compatible clients",
    ),
    (
        "exceed context limit",
        Tokens,
        "Anthropic before 4.5, shortened",
    ),
    (
        "context_length_exceeded",
        Tokens,
        "OpenAI, the code inside other words",
    ),
    (
        "model_context_window_exceeded",
        Tokens,
        "Anthropic 4.5, as a stop reason",
    ),
    (
        "exceeds the maximum number of tokens allowed",
        Tokens,
        "Gemini, shortened",
    ),
    (
        "exceeds the available context size",
        Tokens,
        "llama.cpp, public error texts",
    ),
    (
        "maximum context length",
        Tokens,
        "OpenAI-compatible servers, shortened",
    ),
    (
        "context window exceeds limit",
        Tokens,
        "MiniMax, public error texts",
    ),
    (
        "exceeds the context window",
        Tokens,
        "OpenAI-compatible servers, shortened",
    ),
    // Bytes.
    (
        "request payload size exceeds the limit: {l} bytes",
        Bytes,
        "Gemini, public error texts",
    ),
    (
        "request exceeds the maximum size",
        Bytes,
        "Anthropic, errors page: body over 32 MB",
    ),
    (
        "request_too_large",
        Bytes,
        "Anthropic, errors page: status 413",
    ),
    ("request entity too large", Bytes, "HTTP servers"),
    ("payload too large", Bytes, "HTTP servers"),
    ("content too large", Bytes, "HTTP servers"),
    ("request body too large", Bytes, "HTTP servers"),
    ("request too large", Bytes, "HTTP servers"),
];

/// Codes that mean it by themselves.
pub(super) const CODES: &[(&str, Excess, &str)] = &[
    ("context_length_exceeded", Tokens, "OpenAI"),
    ("model_max_prompt_tokens_exceeded", Tokens, "Copilot"),
    (
        "context_window_exceeded",
        Tokens,
        "OpenAI-compatible servers",
    ),
    (
        "model_context_window_exceeded",
        Tokens,
        "Anthropic, as a stop reason",
    ),
    ("prompt_too_long", Tokens, "gateways"),
    ("request_too_large", Bytes, "Anthropic, status 413"),
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
