//! Cache markers.

use super::super::Rule;
use super::super::request::{Block, Found, Request, blank, blocks, found, list};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const RULES: &[Rule] = &[
    ("cache-count", count),
    ("cache-empty", empty),
    ("cache-thinking", thinking),
    ("cache-order", order),
    ("cache-deferred", deferred),
    ("cache-edits-allowed", edits_allowed),
    ("cache-reference", references),
    ("cache-edits-shape", edits_shape),
    ("cache-edits-known", edits_known),
    ("cache-edits-twice", edits_twice),
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

/// A tool that is loaded later is in no prefix.
fn deferred(request: &Request<'_>) -> Vec<Found> {
    let tools = list(&request.body["tools"]).enumerate();
    tools
        .filter(|(_, tool)| tool["defer_loading"] == true && !tool["cache_control"].is_null())
        .map(|(i, _)| found(format!("tools[{i}]"), "cache_control and defer_loading"))
        .collect()
}

/// Blocks that have to do with edits of the cache.
fn editing<'r, 'a>(request: &'r Request<'a>) -> impl Iterator<Item = &'r Block<'a>> {
    let blocks = request.blocks();
    blocks
        .filter(|block| block.kind == "cache_edits" || block.value.get("cache_reference").is_some())
}

fn edits_allowed(request: &Request<'_>) -> Vec<Found> {
    let allowed = request.facts.cache_edits;
    editing(request)
        .filter(|_| !allowed)
        .map(|block| found(&block.path, "the model takes no edits of its cache"))
        .collect()
}

/// A reference is the result's own id, and stands inside of what is kept: in front of the last marker.
fn references(request: &Request<'_>) -> Vec<Found> {
    let blocks: Vec<&Block<'_>> = request.blocks().collect();
    let kept = blocks
        .iter()
        .rposition(|block| !block.value["cache_control"].is_null())
        .unwrap_or(0);
    let named = blocks.iter().enumerate();
    named
        .filter_map(|(place, block)| Some((place, block, block.value.get("cache_reference")?)))
        .filter_map(|(place, block, name)| {
            let own = *name == block.value["tool_use_id"];
            let text = match (own, place < kept) {
                (true, true) => return None,
                (false, _) => "cache_reference is not the result's id",
                (true, false) => "cache_reference behind the last cache_control",
            };
            Some(found(&block.path, text))
        })
        .collect()
}

/// What a block of edits says to be deleted.
fn deleted<'a>(block: &Block<'a>) -> Vec<&'a str> {
    list(&block.value["edits"])
        .filter_map(|edit| edit["cache_reference"].as_str())
        .collect()
}

fn edits<'r, 'a>(request: &'r Request<'a>) -> impl Iterator<Item = &'r Block<'a>> {
    editing(request).filter(|block| block.kind == "cache_edits")
}

fn edits_shape(request: &Request<'_>) -> Vec<Found> {
    let sound = |edit: &Value| {
        edit.as_object().is_some_and(|edit| edit.len() == 2)
            && edit["type"] == "delete"
            && edit["cache_reference"].is_string()
    };
    edits(request)
        .filter(|block| {
            let all = block.value["edits"].as_array();
            all.is_none_or(|all| all.is_empty() || !all.iter().all(sound))
        })
        .map(|block| found(&block.path, "edits are a list of deletions"))
        .collect()
}

/// An edit names what stands before it.
fn edits_known(request: &Request<'_>) -> Vec<Found> {
    let mut known = BTreeSet::new();
    let mut strange = Vec::new();
    for block in editing(request) {
        known.extend(block.value["cache_reference"].as_str());
        let unknown = deleted(block)
            .into_iter()
            .filter(|name| !known.contains(name));
        strange.extend(unknown.map(|name| found(&block.path, format!("unknown reference={name}"))));
    }
    strange
}

fn edits_twice(request: &Request<'_>) -> Vec<Found> {
    let mut gone = BTreeSet::new();
    let all =
        edits(request).flat_map(|block| deleted(block).into_iter().map(move |name| (block, name)));
    all.filter(|(_, name)| !gone.insert(*name))
        .map(|(block, name)| found(&block.path, format!("deleted before reference={name}")))
        .collect()
}
