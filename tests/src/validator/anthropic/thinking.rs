//! Thinking: verbatim or absent, where it may stand, when it must.

use super::super::Rule;
use super::super::request::{Block, Found, Request, Turn, found, list};

pub(super) const RULES: &[Rule] = &[
    ("thinking-config", config),
    ("thinking-budget", budget),
    ("thinking-off", off),
    ("thinking-signature", signature),
    ("thinking-last", last),
    ("thinking-loop", in_loop),
    ("thinking-first", first),
    ("clear-thinking", clear),
];

/// Smallest budget (platform.claude.com, extended thinking).
const LEAST_BUDGET: u64 = 1_024;

fn is_thinking(block: &Block<'_>) -> bool {
    matches!(block.kind, "thinking" | "redacted_thinking")
}

/// Thinking is on.
fn on(request: &Request<'_>) -> bool {
    matches!(
        request.body["thinking"]["type"].as_str(),
        Some("enabled" | "adaptive" | "between_tools")
    )
}

fn config(request: &Request<'_>) -> Vec<Found> {
    let thinking = &request.body["thinking"];
    let known = on(request) || thinking["type"].as_str() == Some("disabled");
    let wrong = !thinking.is_null() && !known
        || thinking["type"] == "disabled" && thinking.get("budget_tokens").is_some();
    if wrong {
        vec![found(
            "thinking",
            "unknown type, or a budget although disabled",
        )]
    } else {
        Vec::new()
    }
}

fn budget(request: &Request<'_>) -> Vec<Found> {
    if request.body["thinking"]["type"] != "enabled" {
        return Vec::new();
    }
    let most = request.body["max_tokens"].as_u64().unwrap_or(0);
    let budget = request.body["thinking"]["budget_tokens"]
        .as_u64()
        .unwrap_or(0);
    let fits = budget >= LEAST_BUDGET && budget < most;
    if fits {
        Vec::new()
    } else {
        vec![found(
            "thinking.budget_tokens",
            format!("budget={budget} max_tokens={most}"),
        )]
    }
}

fn off(request: &Request<'_>) -> Vec<Found> {
    let blocks = request
        .blocks()
        .filter(|block| is_thinking(block) && !on(request));
    blocks
        .map(|block| found(&block.path, "thinking in a request that turns it off"))
        .collect()
}

fn signature(request: &Request<'_>) -> Vec<Found> {
    let blocks = request.blocks().filter(|block| match block.kind {
        "thinking" => block.text("signature").is_empty() || !block.value["thinking"].is_string(),
        "redacted_thinking" => block.text("data").is_empty(),
        _ => false,
    });
    blocks
        .map(|block| found(&block.path, "no signature, or no thinking"))
        .collect()
}

fn last(request: &Request<'_>) -> Vec<Found> {
    let final_block = request.messages.last().and_then(|turn| turn.blocks.last());
    let thinking = final_block.filter(|block| is_thinking(block));
    thinking
        .map(|block| found(&block.path, "the final block cannot be thinking"))
        .into_iter()
        .collect()
}

/// While a tool loop is open and thinking is `enabled`, each assistant's message of the loop begins with thinking.
fn in_loop(request: &Request<'_>) -> Vec<Found> {
    if request.body["thinking"]["type"] != "enabled" {
        return Vec::new();
    }
    let turns = loop_turns(request);
    turns
        .into_iter()
        .filter(|turn| opening(turn).is_some_and(|block| !is_thinking(block)))
        .filter(|turn| turn.blocks.iter().any(|block| block.kind == "tool_use"))
        .map(|turn| found(&turn.path, "expected thinking, found another block"))
        .collect()
}

/// What a message begins with, compactions aside.
fn opening<'a, 'r>(turn: &'r Turn<'a>) -> Option<&'r Block<'a>> {
    let mut blocks = turn.blocks.iter();
    blocks.find(|block| block.kind != "compaction")
}

/// The assistant's messages since the user last said something else than results.
fn loop_turns<'a, 'r>(request: &'r Request<'a>) -> Vec<&'r Turn<'a>> {
    let only_results = |turn: &Turn<'_>| {
        !turn.blocks.is_empty() && turn.blocks.iter().all(|b| b.kind == "tool_result")
    };
    let turns = request.messages.iter().rev();
    turns
        .take_while(|turn| turn.role == "assistant" || only_results(turn))
        .filter(|turn| turn.role == "assistant")
        .collect()
}

fn first(request: &Request<'_>) -> Vec<Found> {
    let turns = request
        .messages
        .iter()
        .filter(|_| request.facts.thinking_first);
    turns
        .filter(|turn| {
            turn.blocks.iter().any(is_thinking) && !opening(turn).is_some_and(is_thinking)
        })
        .map(|turn| found(&turn.path, "a message with thinking must begin with it"))
        .collect()
}

/// The edit that clears thinking stands first and needs thinking.
fn clear(request: &Request<'_>) -> Vec<Found> {
    let edits: Vec<_> = list(&request.body["context_management"]["edits"]).collect();
    let place = edits.iter().position(|edit| {
        edit["type"]
            .as_str()
            .is_some_and(|t| t.starts_with("clear_thinking"))
    });
    match place {
        Some(0) if on(request) => Vec::new(),
        Some(at) => vec![found(
            format!("context_management.edits[{at}]"),
            "clears thinking: first, and with thinking on",
        )],
        None => Vec::new(),
    }
}
