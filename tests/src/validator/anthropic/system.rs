//! The system prompt.

use super::super::Rule;
use super::super::request::{Found, Request, blank, blocks, found, strangers};
use serde_json::Value;

pub(super) const RULES: &[Rule] = &[
    ("system-shape", shape),
    ("system-keys", system_keys),
    ("system-blank", system_blank),
];

fn shape(request: &Request<'_>) -> Vec<Found> {
    let system = &request.body["system"];
    let fits = match system {
        Value::Null => request.body.get("system").is_none(),
        Value::String(_) => true,
        Value::Array(list) => list
            .iter()
            .all(|block| block["type"] == "text" && block["text"].is_string()),
        _ => false,
    };
    if fits {
        Vec::new()
    } else {
        vec![found(
            "system",
            "neither a string nor a list of text blocks",
        )]
    }
}

fn system_keys(request: &Request<'_>) -> Vec<Found> {
    let blocks = blocks("system", &request.body["system"]);
    blocks
        .iter()
        .flat_map(|block| {
            strangers(
                &block.path,
                block.value,
                &["type", "text", "cache_control", "citations"],
            )
        })
        .collect()
}

fn system_blank(request: &Request<'_>) -> Vec<Found> {
    let blocks = blocks("system", &request.body["system"]);
    let texts = blocks
        .iter()
        .filter(|block| block.value["text"].as_str().is_some_and(blank));
    texts
        .map(|block| {
            found(
                &block.path,
                "text content blocks must contain non-whitespace text",
            )
        })
        .collect()
}
