//! Who speaks when.

use super::super::Rule;
use super::super::request::{Found, Request, Turn, found};
use serde_json::Value;

pub(super) const RULES: &[Rule] = &[
    ("role", role),
    ("first-user", first_user),
    ("roles-alternate", alternate),
    ("system-role", system_role),
    ("system-place", system_place),
    ("system-words", system_words),
    ("prefill", prefill),
    ("prefill-space", prefill_space),
];

fn role(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .filter(|turn| !["user", "assistant", "system"].contains(&turn.role))
        .map(|turn| found(format!("{}.role", turn.path), format!("role={}", turn.role)))
        .collect()
}

/// A compaction stands for everything before it, so that it may come first.
fn begins_compacted(turn: &Turn<'_>) -> bool {
    let first = turn.blocks.first();
    first.is_some_and(|block| block.kind == "compaction")
}

fn first_user(request: &Request<'_>) -> Vec<Found> {
    let first = request.messages.first();
    first
        .filter(|turn| turn.role == "assistant" && !begins_compacted(turn))
        .map(|turn| found(&turn.path, "the first message must be the user's"))
        .into_iter()
        .collect()
}

/// The API joins neighbours of one role, older models and gateways refuse them: a request never has any.
fn alternate(request: &Request<'_>) -> Vec<Found> {
    let pairs = request.messages.windows(2);
    pairs
        .filter_map(|pair| match pair {
            [a, b] if a.role == b.role => Some(found(&b.path, format!("twice role={}", b.role))),
            _ => None,
        })
        .collect()
}

fn system_role(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .filter(|turn| turn.role == "system" && !request.facts.system_role)
        .map(|turn| found(&turn.path, "role 'system' is not supported on this model"))
        .collect()
}

/// Not first; behind a user's message that answers no call, or an assistant's that ends in a server result; last or before the
/// assistant.
fn system_place(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter().enumerate();
    turns
        .filter(|(i, turn)| turn.role == "system" && !well_placed(request, *i))
        .map(|(_, turn)| found(&turn.path, "a system message has no place here"))
        .collect()
}

fn well_placed(request: &Request<'_>, index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|i| request.messages.get(i));
    let after = request.messages.get(index + 1);
    let behind = before.is_some_and(|turn| match turn.role {
        "user" => true,
        "assistant" => turn
            .blocks
            .last()
            .is_some_and(|block| block.kind.ends_with("_tool_result")),
        _ => false,
    });
    behind && after.is_none_or(|turn| turn.role == "assistant")
}

fn system_words(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter().filter(|turn| turn.role == "system");
    turns
        .flat_map(|turn| &turn.blocks)
        .filter(|block| block.kind != "text")
        .map(|block| {
            found(
                &block.path,
                format!("a system message holds words only type={}", block.kind),
            )
        })
        .collect()
}

fn prefill(request: &Request<'_>) -> Vec<Found> {
    let last = request.messages.last();
    last.filter(|turn| turn.role == "assistant" && !request.facts.prefill && !paused(request))
        .map(|turn| found(&turn.path, "the conversation must end with a user message"))
        .into_iter()
        .collect()
}

/// A paused response is sent again as it is: it ends in a server call or its result, or in a compaction.
fn paused(request: &Request<'_>) -> bool {
    let last = request.messages.last().and_then(|turn| turn.blocks.last());
    last.is_some_and(|block| {
        matches!(block.kind, "server_tool_use" | "compaction")
            || block.kind.ends_with("_tool_result")
    })
}

fn prefill_space(request: &Request<'_>) -> Vec<Found> {
    let last = request
        .messages
        .last()
        .filter(|turn| turn.role == "assistant");
    let ends = last.and_then(|turn| match turn.object.get("content") {
        Some(Value::String(text)) => Some(text.as_str()),
        _ => turn
            .blocks
            .last()
            .filter(|block| block.kind == "text")
            .map(|block| block.text("text")),
    });
    let open = ends.is_some_and(|text| text.ends_with(char::is_whitespace));
    if open {
        vec![found(
            "messages",
            "the final assistant content ends with white space",
        )]
    } else {
        Vec::new()
    }
}
