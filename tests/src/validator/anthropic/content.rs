//! Blocks: their kinds, members, words.

use super::super::Rule;
use super::super::keys;
use super::super::request::{Block, Found, Request, blank, found, list, strangers};
use serde_json::Value;

pub(super) const RULES: &[Rule] = &[
    ("content-empty", content_empty),
    ("block-kind", block_kind),
    ("block-role", block_role),
    ("block-keys", block_keys),
    ("block-must", block_must),
    ("text-string", text_string),
    ("text-empty", text_empty),
    ("text-blank", text_blank),
    ("result-kind", result_kind),
    ("source-keys", source_keys),
];

fn kind(name: &str) -> Option<&'static keys::Kind> {
    keys::ANTHROPIC.iter().find(|kind| kind.name == name)
}

/// Every message has content, except the assistant's at the end.
fn content_empty(request: &Request<'_>) -> Vec<Found> {
    let last = request.messages.len().saturating_sub(1);
    let turns = request.messages.iter().enumerate();
    turns
        .filter(|(i, turn)| *i != last || turn.role != "assistant")
        .filter(|(_, turn)| match turn.object.get("content") {
            Some(Value::String(text)) => blank(text),
            _ => turn.blocks.is_empty(),
        })
        .map(|(_, turn)| found(&turn.path, "all messages must have non-empty content"))
        .collect()
}

fn block_kind(request: &Request<'_>) -> Vec<Found> {
    let unknown = request.blocks().filter(|block| kind(block.kind).is_none());
    unknown
        .map(|block| found(&block.path, format!("unknown type={}", block.kind)))
        .collect()
}

fn block_role(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .flat_map(|turn| turn.blocks.iter().map(|block| (turn.role, block)))
        .filter(|(role, block)| {
            kind(block.kind).is_some_and(|kind| !kind.roles.contains(role)) && *role != "system"
        })
        .map(|(role, block)| {
            found(
                &block.path,
                format!("type={} in a message of role={role}", block.kind),
            )
        })
        .collect()
}

fn block_keys(request: &Request<'_>) -> Vec<Found> {
    let blocks = request.all_blocks();
    blocks.iter().flat_map(extra).collect()
}

fn extra(block: &Block<'_>) -> Vec<Found> {
    let Some(kind) = kind(block.kind) else {
        return Vec::new();
    };
    let allowed: Vec<&str> = ["type"]
        .iter()
        .chain(kind.must)
        .chain(kind.may)
        .copied()
        .collect();
    strangers(&block.path, block.value, &allowed)
}

fn block_must(request: &Request<'_>) -> Vec<Found> {
    let blocks = request.all_blocks();
    blocks.iter().flat_map(missing).collect()
}

fn missing(block: &Block<'_>) -> Vec<Found> {
    let must = kind(block.kind).map_or(&[][..], |kind| kind.must);
    must.iter()
        .filter(|key| block.value.get(**key).is_none())
        .map(|key| found(&block.path, format!("missing key={key}")))
        .collect()
}

fn texts<'a>(request: &Request<'a>) -> Vec<Block<'a>> {
    let blocks = request.all_blocks().into_iter();
    blocks
        .filter(|block| block.kind == "text" && block.value.get("text").is_some())
        .collect()
}

fn text_string(request: &Request<'_>) -> Vec<Found> {
    let texts = texts(request);
    texts
        .iter()
        .filter(|block| !block.value["text"].is_string())
        .map(|block| found(&block.path, "no string"))
        .collect()
}

fn text_empty(request: &Request<'_>) -> Vec<Found> {
    let texts = texts(request);
    texts
        .iter()
        .filter(|block| block.value["text"].as_str() == Some(""))
        .map(|block| found(&block.path, "text content blocks must be non-empty"))
        .collect()
}

fn text_blank(request: &Request<'_>) -> Vec<Found> {
    let texts = texts(request);
    texts
        .iter()
        .filter(|block| {
            block.value["text"]
                .as_str()
                .is_some_and(|text| !text.is_empty() && blank(text))
        })
        .map(|block| {
            found(
                &block.path,
                "text content blocks must contain non-whitespace text",
            )
        })
        .collect()
}

fn result_kind(request: &Request<'_>) -> Vec<Found> {
    let results = request.blocks().filter(|block| block.kind == "tool_result");
    results.flat_map(wrong_content).collect()
}

fn wrong_content(result: &Block<'_>) -> Vec<Found> {
    let content = result.value.get("content");
    if content.is_some_and(|content| !content.is_string() && !list(content).all(Value::is_object)) {
        return vec![found(
            &result.path,
            "content is neither a string nor a list of blocks",
        )];
    }
    let inner = result.inner();
    let mut wrong: Vec<Found> = inner
        .iter()
        .filter(|block| !keys::IN_RESULT.contains(&block.kind))
        .map(|block| {
            found(
                &block.path,
                format!("no place in a result type={}", block.kind),
            )
        })
        .collect();
    if content.is_some_and(|content| !content.is_string() && !content.is_array()) {
        wrong.push(found(
            &result.path,
            "content is neither a string nor a list",
        ));
    }
    if result
        .value
        .get("is_error")
        .is_some_and(|flag| !flag.is_boolean())
    {
        wrong.push(found(&result.path, "is_error is no boolean"));
    }
    if result.value["is_error"] == true && inner.iter().any(|block| block.kind != "text") {
        wrong.push(found(&result.path, "an error holds something besides text"));
    }
    wrong
}

fn source_keys(request: &Request<'_>) -> Vec<Found> {
    let blocks = request.all_blocks();
    blocks.iter().flat_map(wrong_source).collect()
}

fn wrong_source(block: &Block<'_>) -> Vec<Found> {
    let table = match block.kind {
        "image" => keys::IMAGE_SOURCE,
        "document" => keys::DOCUMENT_SOURCE,
        _ => return Vec::new(),
    };
    let source = &block.value["source"];
    let path = format!("{}.source", block.path);
    let Some((_, must)) = table
        .iter()
        .find(|(name, _)| source["type"].as_str() == Some(name))
    else {
        return vec![found(path, "unknown type of source")];
    };
    let allowed: Vec<&str> = ["type"].iter().chain(*must).copied().collect();
    let absent = must.iter().filter(|key| source.get(**key).is_none());
    let absent: Vec<Found> = absent
        .map(|key| found(&path, format!("missing key={key}")))
        .collect();
    strangers(&path, source, &allowed)
        .into_iter()
        .chain(absent)
        .collect()
}
