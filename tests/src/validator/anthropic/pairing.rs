//! Calls and their results.
//!
//! - Every call of an assistant's message has exactly one result in the message right behind it, results first.

use super::super::Rule;
use super::super::request::{Block, Found, Request, Turn, found, word};
use std::collections::BTreeSet;

pub(super) const RULES: &[Rule] = &[
    ("call-id", call_id),
    ("call-id-unique", call_id_unique),
    ("call-name", call_name),
    ("call-input", call_input),
    ("result-missing", result_missing),
    ("result-orphan", result_orphan),
    ("result-twice", result_twice),
    ("results-first", results_first),
    ("tools-with-calls", tools_with_calls),
];

/// Longest tool name (platform.claude.com, api/messages: `^[a-zA-Z0-9_-]{1,128}$`).
const NAME: usize = 128;

fn calls<'a, 'r>(turn: &'r Turn<'a>) -> impl Iterator<Item = &'r Block<'a>> {
    turn.blocks.iter().filter(|block| block.kind == "tool_use")
}

fn results<'a, 'r>(turn: &'r Turn<'a>) -> impl Iterator<Item = &'r Block<'a>> {
    turn.blocks
        .iter()
        .filter(|block| block.kind == "tool_result")
}

fn call_id(request: &Request<'_>) -> Vec<Found> {
    let calls = request.blocks().filter(|block| block.kind == "tool_use");
    calls
        .filter(|block| !word(block.text("id"), usize::MAX))
        .map(|block| found(&block.path, format!("id={:?}", block.text("id"))))
        .collect()
}

fn call_id_unique(request: &Request<'_>) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let calls = request
        .blocks()
        .filter(|block| block.kind == "tool_use" || block.kind == "server_tool_use");
    calls
        .filter(|block| !seen.insert(block.text("id")))
        .map(|block| {
            found(
                &block.path,
                format!("`tool_use` ids must be unique id={}", block.text("id")),
            )
        })
        .collect()
}

fn call_name(request: &Request<'_>) -> Vec<Found> {
    let calls = request.blocks().filter(|block| block.kind == "tool_use");
    calls
        .filter(|block| !word(block.text("name"), NAME))
        .map(|block| found(&block.path, format!("name={:?}", block.text("name"))))
        .collect()
}

fn call_input(request: &Request<'_>) -> Vec<Found> {
    let calls = request
        .blocks()
        .filter(|block| block.kind.ends_with("tool_use"));
    calls
        .filter(|block| {
            block
                .value
                .get("input")
                .is_some_and(|input| !input.is_object())
        })
        .map(|block| found(&block.path, "input is no object"))
        .collect()
}

fn result_missing(request: &Request<'_>) -> Vec<Found> {
    let mut missing = Vec::new();
    for (index, turn) in request.messages.iter().enumerate() {
        let next = request
            .messages
            .get(index + 1)
            .filter(|next| next.role == "user");
        let answered: BTreeSet<&str> = next
            .into_iter()
            .flat_map(results)
            .map(|block| block.text("tool_use_id"))
            .collect();
        let open = calls(turn).filter(|call| !answered.contains(call.text("id")));
        missing.extend(open.map(|call| {
            found(
                &call.path,
                format!("without `tool_result` id={}", call.text("id")),
            )
        }));
    }
    missing
}

fn result_orphan(request: &Request<'_>) -> Vec<Found> {
    let mut orphans = Vec::new();
    for (index, turn) in request.messages.iter().enumerate() {
        let before = index
            .checked_sub(1)
            .and_then(|i| request.messages.get(i))
            .filter(|turn| turn.role == "assistant");
        let asked: BTreeSet<&str> = before
            .into_iter()
            .flat_map(calls)
            .map(|call| call.text("id"))
            .collect();
        let strays = results(turn).filter(|result| !asked.contains(result.text("tool_use_id")));
        orphans.extend(strays.map(|block| {
            found(
                &block.path,
                format!("unexpected id={}", block.text("tool_use_id")),
            )
        }));
    }
    orphans
}

fn result_twice(request: &Request<'_>) -> Vec<Found> {
    let mut twice = Vec::new();
    for turn in &request.messages {
        let mut seen = BTreeSet::new();
        let again = results(turn).filter(|result| !seen.insert(result.text("tool_use_id")));
        twice.extend(again.map(|block| {
            found(
                &block.path,
                format!("a second result id={}", block.text("tool_use_id")),
            )
        }));
    }
    twice
}

fn results_first(request: &Request<'_>) -> Vec<Found> {
    let late = request.messages.iter().flat_map(|turn| {
        turn.blocks
            .iter()
            .skip_while(|block| block.kind == "tool_result")
            .filter(|block| block.kind == "tool_result")
    });
    late.map(|block| found(&block.path, "a result behind other content"))
        .collect()
}

fn tools_with_calls(request: &Request<'_>) -> Vec<Found> {
    let bare = request.body["tools"].as_array().is_none_or(Vec::is_empty);
    let call = request
        .blocks()
        .find(|block| block.kind == "tool_use" || block.kind == "tool_result");
    let wanted = call.filter(|_| bare && request.facts.tools_with_calls);
    wanted
        .map(|block| found(&block.path, "a call in a request without tools"))
        .into_iter()
        .collect()
}
