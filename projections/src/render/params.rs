//! The request's parameters: which ones a wire has, and the body's end that they form.

use crate::render::json::{Object, is_string, token_or_mark, unique};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::raw::{is_json, member, member_words};
use recount_events::{Profile, Wire, sanitize};

/// Members of the body that are not parameters, or that the render writes itself.
const OWN: [&str; 6] = [
    "model",
    "messages",
    "system",
    "tools",
    "max_tokens",
    "max_completion_tokens",
];

/// Parameters of Anthropic Messages.
const ANTHROPIC: [&str; 13] = [
    "temperature",
    "top_k",
    "top_p",
    "stop_sequences",
    "stream",
    "thinking",
    "tool_choice",
    "metadata",
    "service_tier",
    "container",
    "context_management",
    "mcp_servers",
    "output_config",
];

/// Parameters of OpenAI Chat Completions.
const CHAT: [&str; 27] = [
    "temperature",
    "top_p",
    "n",
    "stop",
    "stream",
    "stream_options",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "seed",
    "user",
    "metadata",
    "store",
    "service_tier",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "presence_penalty",
    "frequency_penalty",
    "prompt_cache_key",
    "verbosity",
    "safety_identifier",
    "modalities",
    "prediction",
    "audio",
    "web_search_options",
];

/// Of no use without tools.
const WITH_TOOLS: [&str; 2] = ["tool_choice", "parallel_tool_calls"];

/// What the parameters say about thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Nothing, or that there is none.
    Off,
    /// More than the answer's limit can hold, or less than there has to be.
    Unfit,
    /// Always, this many tokens: an open tool loop has to begin with it.
    Enabled(u64),
    /// When the model wants.
    Adaptive,
}

/// Fewest tokens of thinking (vendor's page on extended thinking).
pub(crate) const LEAST_THINKING: u64 = 1024;

/// The members of the profile's parameters.
pub(crate) fn all(profile: &Profile) -> Vec<(Cow<'_, str>, &str)> {
    let raw = profile
        .params
        .as_ref()
        .and_then(recount_events::Text::as_str);
    raw.filter(|raw| is_json(raw))
        .map(unique)
        .unwrap_or_default()
}

/// What the profile's parameters say about thinking on this wire.
pub(crate) fn thinking(profile: &Profile, wire: Wire) -> Asked {
    if wire != Wire::Anthropic {
        return Asked::Off;
    }
    let asked = all(profile).into_iter().find(|(key, _)| key == "thinking");
    match asked.map(|(_, raw)| (raw, member_words(raw, "type"))) {
        Some((raw, Some(kind))) if kind == "enabled" => enabled(profile, raw),
        Some((_, Some(kind))) if kind == "adaptive" => Asked::Adaptive,
        _ => Asked::Off,
    }
}

fn enabled(profile: &Profile, raw: &str) -> Asked {
    let tokens = member(raw, "budget_tokens").and_then(number).unwrap_or(0);
    if tokens < LEAST_THINKING || tokens >= wanted(profile) {
        Asked::Unfit
    } else {
        Asked::Enabled(tokens)
    }
}

fn number(raw: &str) -> Option<u64> {
    raw.trim_ascii().parse().ok()
}

/// The answer's limit that the parameters name, else the profile's.
pub(crate) fn wanted(profile: &Profile) -> u64 {
    let named = |name: &str| {
        let own = all(profile).into_iter().find(|(key, _)| key == name);
        own.and_then(|(_, raw)| number(raw))
            .filter(|limit| *limit > 0)
    };
    named("max_tokens")
        .or_else(|| named("max_completion_tokens"))
        .unwrap_or(profile.max_output)
}

/// The parameters as the body names them.
pub(crate) struct Written {
    /// A JSON object: model, answer's limit, parameters.
    pub(crate) object: String,
    /// Parameters that the wire does not have.
    pub(crate) left_out: Vec<String>,
}

/// Writes model, answer's limit and parameters. `off`: thinking is turned off.
pub(crate) fn write(profile: &Profile, wire: Wire, limit: u64, tools: bool, off: bool) -> Written {
    let (known, limit_name): (&[&str], _) = match wire {
        Wire::Anthropic => (&ANTHROPIC, "max_tokens"),
        _ => (&CHAT, "max_completion_tokens"),
    };
    let mut object = Object::new();
    object
        .raw("model", &model(profile))
        .raw(limit_name, &limit.to_string());
    let mut left_out = Vec::new();
    for (key, raw) in all(profile) {
        match &*key {
            own if OWN.contains(&own) => {}
            "thinking" if off => {
                object.raw("thinking", "{\"type\":\"disabled\"}");
            }
            "thinking" if wire == Wire::Anthropic => {
                object.raw("thinking", &sanitize(&narrowed(raw, limit)));
            }
            key if known.contains(&key) && (tools || !WITH_TOOLS.contains(&key)) => {
                object.raw(key, &sanitize(raw));
            }
            key => left_out.push(key.to_string()),
        }
    }
    Written {
        object: object.finish(),
        left_out,
    }
}

/// Thinking that would take more than the whole answer takes what there is but for one token, and no less than there has to be.
fn narrowed(raw: &str, limit: u64) -> Cow<'_, str> {
    let enabled = member_words(raw, "type").is_some_and(|kind| kind == "enabled");
    let tokens = member(raw, "budget_tokens").and_then(number);
    if !enabled || tokens.is_none_or(|tokens| tokens < limit) {
        return Cow::Borrowed(raw);
    }
    let room = limit.saturating_sub(1).max(LEAST_THINKING).to_string();
    let mut object = Object::new();
    for (key, value) in unique(raw) {
        object.raw(&key, if key == "budget_tokens" { &room } else { value });
    }
    Cow::Owned(object.finish())
}

fn model(profile: &Profile) -> Cow<'_, str> {
    let token = token_or_mark(&profile.model);
    debug_assert!(is_string(&token), "a token is a string");
    match sanitize(&token) {
        Cow::Borrowed(_) => token,
        Cow::Owned(clean) => Cow::Owned(clean),
    }
}

/// The body behind the messages: the members of the parameters' object, and the end.
pub(crate) fn tail(object: &str) -> String {
    [",", object.strip_prefix('{').unwrap_or(object)].concat()
}
