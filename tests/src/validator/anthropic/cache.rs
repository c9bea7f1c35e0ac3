//! Cache markers.

use super::super::Rule;
use super::super::request::{Block, Found, Request, blank, blocks, found, list};
use serde_json::Value;

pub(super) const RULES: &[Rule] = &[
    ("cache-count", count),
    ("cache-empty", empty),
    ("cache-thinking", thinking),
    ("cache-order", order),
];

/// Most markers in a request (platform.claude.com, prompt caching).
const MOST: usize = 4;

/// All marked places, in the order in which the provider reads the prompt.
fn marked<'a>(request: &Request<'a>) -> Vec<(String, &'a Value)> {
    let tools = list(&request.body["tools"])
        .enumerate()
        .map(|(i, tool)| (format!("tools[{i}]"), tool));
    let system = blocks("system", &request.body["system"])
        .into_iter()
        .map(|block| (block.path, block.value));
    let said = request
        .all_blocks()
        .into_iter()
        .map(|block| (block.path, block.value));
    let all = tools
        .chain(system)
        .chain(said)
        .map(|(path, value)| (path, &value["cache_control"]));
    all.filter(|(_, marker)| !marker.is_null()).collect()
}

fn count(request: &Request<'_>) -> Vec<Found> {
    let automatic = usize::from(!request.body["cache_control"].is_null());
    let markers = marked(request).len() + automatic;
    if markers > MOST {
        vec![found("", format!("markers={markers} limit={MOST}"))]
    } else {
        Vec::new()
    }
}

fn with_marker<'a>(request: &Request<'a>) -> Vec<Block<'a>> {
    request
        .all_blocks()
        .into_iter()
        .filter(|block| !block.value["cache_control"].is_null())
        .collect()
}

fn empty(request: &Request<'_>) -> Vec<Found> {
    let blocks = with_marker(request);
    blocks
        .iter()
        .filter(|block| block.kind == "text" && blank(block.text("text")))
        .map(|block| {
            found(
                &block.path,
                "cache_control cannot be set for empty text blocks",
            )
        })
        .collect()
}

fn thinking(request: &Request<'_>) -> Vec<Found> {
    let blocks = with_marker(request);
    blocks
        .iter()
        .filter(|block| block.kind.ends_with("thinking"))
        .map(|block| found(&block.path, "cache_control on thinking"))
        .collect()
}

/// Markers of an hour stand before those of five minutes.
fn order(request: &Request<'_>) -> Vec<Found> {
    let marked = marked(request);
    let short = marked.iter().position(|(_, marker)| marker["ttl"] != "1h");
    let behind = marked.iter().skip(short.unwrap_or(marked.len()));
    behind
        .filter(|(_, marker)| marker["ttl"] == "1h")
        .map(|(path, _)| found(path, "1h behind 5m"))
        .collect()
}
