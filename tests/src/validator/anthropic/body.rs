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
    ("messages-count", messages_count),
    ("message-object", message_object),
    ("message-keys", message_keys),
    ("content-shape", content_shape),
];

/// Most messages in a request (platform.claude.com, api/messages).
const MOST_MESSAGES: usize = 100_000;

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
    strangers("", request.body, keys::ANTHROPIC_BODY)
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

fn max_tokens(request: &Request<'_>) -> Vec<Found> {
    let positive = request.body["max_tokens"]
        .as_u64()
        .is_some_and(|tokens| tokens > 0);
    if positive {
        Vec::new()
    } else {
        vec![found("max_tokens", "not a positive integer")]
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

fn messages_count(request: &Request<'_>) -> Vec<Found> {
    let count = request.messages.len();
    if count > MOST_MESSAGES {
        vec![found(
            "messages",
            format!("messages={count} limit={MOST_MESSAGES}"),
        )]
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

fn message_keys(request: &Request<'_>) -> Vec<Found> {
    let messages = list(&request.body["messages"]).enumerate();
    messages
        .flat_map(|(i, value)| strangers(&format!("messages[{i}]"), value, &["role", "content"]))
        .collect()
}

fn content_shape(request: &Request<'_>) -> Vec<Found> {
    let fits =
        |value: &Value| value.is_string() || list(value).all(Value::is_object) && value.is_array();
    let turns = request.messages.iter();
    turns
        .filter(|turn| !turn.object.get("content").is_some_and(fits))
        .map(|turn| {
            found(
                format!("{}.content", turn.path),
                "neither a string nor a list of blocks",
            )
        })
        .collect()
}
