//! The request itself and the shape of its messages.

use super::super::Rule;
use super::super::keys;
use super::super::request::{Found, Request, found, list, strangers};
use serde_json::Value;

pub(super) const RULES: &[Rule] = &[
    ("body-object", object),
    ("body-bytes", bytes),
    ("body-keys", body_keys),
    ("model", model),
    ("max-tokens", max_tokens),
    ("messages-list", messages_list),
    ("messages-empty", messages_empty),
    ("message-object", message_object),
];

fn object(request: &Request<'_>) -> Vec<Found> {
    if request.body.is_object() {
        Vec::new()
    } else {
        vec![found("", "the body is no object")]
    }
}

fn bytes(request: &Request<'_>) -> Vec<Found> {
    let limit = request.facts.body_bytes;
    let over = limit > 0 && request.bytes > limit;
    if over {
        vec![found("", format!("bytes={} limit={limit}", request.bytes))]
    } else {
        Vec::new()
    }
}

fn body_keys(request: &Request<'_>) -> Vec<Found> {
    strangers("", request.body, keys::CHAT_BODY)
}

fn model(request: &Request<'_>) -> Vec<Found> {
    let named = request.body["model"]
        .as_str()
        .is_some_and(|name| !name.is_empty());
    if named {
        Vec::new()
    } else {
        vec![found("model", "no model is named")]
    }
}

/// Either limit may be given, not both, and not below 1.
fn max_tokens(request: &Request<'_>) -> Vec<Found> {
    let limits: Vec<&Value> = ["max_tokens", "max_completion_tokens"]
        .iter()
        .filter_map(|key| request.body.get(*key))
        .collect();
    let fits = limits.len() < 2
        && limits
            .iter()
            .all(|limit| limit.is_null() || limit.as_u64().is_some_and(|n| n > 0));
    if fits {
        Vec::new()
    } else {
        vec![found(
            "max_completion_tokens",
            "two limits, or no positive integer",
        )]
    }
}

fn messages_list(request: &Request<'_>) -> Vec<Found> {
    if request.body["messages"].is_array() {
        Vec::new()
    } else {
        vec![found("messages", "no list")]
    }
}

fn messages_empty(request: &Request<'_>) -> Vec<Found> {
    let empty = request.body["messages"]
        .as_array()
        .is_some_and(Vec::is_empty);
    if empty {
        vec![found("messages", "at least one message is required")]
    } else {
        Vec::new()
    }
}

fn message_object(request: &Request<'_>) -> Vec<Found> {
    let messages = list(&request.body["messages"]).enumerate();
    messages
        .filter(|(_, value)| !value.is_object())
        .map(|(i, _)| found(format!("messages[{i}]"), "no object"))
        .collect()
}
