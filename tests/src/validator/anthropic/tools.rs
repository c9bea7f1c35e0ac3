//! The tools that a request offers.

use super::super::Rule;
use super::super::keys;
use super::super::request::{Found, Request, found, list, strangers, word};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const RULES: &[Rule] = &[
    ("tool-object", object),
    ("tool-name", name),
    ("tool-twice", twice),
    ("tool-keys", tool_keys),
    ("tool-schema", schema),
    ("tool-description", description),
    ("tool-choice", choice),
];

/// Longest name (platform.claude.com, api/messages).
const NAME: usize = 128;

fn tools<'a>(request: &Request<'a>) -> impl Iterator<Item = (String, &'a Value)> {
    list(&request.body["tools"])
        .enumerate()
        .map(|(i, tool)| (format!("tools[{i}]"), tool))
}

fn custom(tool: &Value) -> bool {
    tool.get("type")
        .is_none_or(|kind| kind.is_null() || kind == "custom")
}

fn object(request: &Request<'_>) -> Vec<Found> {
    let listed = request.body.get("tools").is_none_or(Value::is_array);
    let odd = tools(request)
        .filter(|(_, tool)| !tool.is_object())
        .map(|(path, _)| found(path, "no object"));
    odd.chain((!listed).then(|| found("tools", "no list")))
        .collect()
}

fn name(request: &Request<'_>) -> Vec<Found> {
    let custom = tools(request).filter(|(_, tool)| tool.is_object() && custom(tool));
    custom
        .filter(|(_, tool)| !word(tool["name"].as_str().unwrap_or(""), NAME))
        .map(|(path, tool)| found(path, format!("name={}", tool["name"])))
        .collect()
}

fn twice(request: &Request<'_>) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let named = tools(request).filter_map(|(path, tool)| Some((path, tool["name"].as_str()?)));
    named
        .filter(|(_, name)| !seen.insert(*name))
        .map(|(path, name)| found(path, format!("twice name={name}")))
        .collect()
}

fn tool_keys(request: &Request<'_>) -> Vec<Found> {
    let custom = tools(request).filter(|(_, tool)| custom(tool));
    custom
        .flat_map(|(path, tool)| strangers(&path, tool, keys::ANTHROPIC_TOOL))
        .collect()
}

fn schema(request: &Request<'_>) -> Vec<Found> {
    let custom = tools(request).filter(|(_, tool)| tool.is_object() && custom(tool));
    custom
        .filter(|(_, tool)| tool["input_schema"]["type"] != "object")
        .map(|(path, _)| found(path, "input_schema is no schema of an object"))
        .collect()
}

fn description(request: &Request<'_>) -> Vec<Found> {
    let odd = tools(request).filter(|(_, tool)| {
        tool.get("description")
            .is_some_and(|text| !text.is_string())
    });
    odd.map(|(path, _)| found(path, "description is no string"))
        .collect()
}

fn choice(request: &Request<'_>) -> Vec<Found> {
    let chosen = request.body.get("tool_choice").is_some();
    let bare = tools(request).next().is_none();
    if chosen && bare {
        vec![found("tool_choice", "a choice without tools")]
    } else {
        Vec::new()
    }
}
