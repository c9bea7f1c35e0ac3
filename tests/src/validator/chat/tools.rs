//! The functions that a request offers.

use super::super::Rule;
use super::super::request::{Found, Request, found, list, strangers, word};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const RULES: &[Rule] = &[
    ("tool-shape", shape),
    ("tool-keys", tool_keys),
    ("tool-name", name),
    ("tool-twice", twice),
    ("tool-choice", choice),
];

/// Longest name of a function.
const NAME: usize = 64;

fn tools<'a>(request: &Request<'a>) -> impl Iterator<Item = (String, &'a Value)> {
    list(&request.body["tools"])
        .enumerate()
        .map(|(i, tool)| (format!("tools[{i}]"), tool))
}

fn shape(request: &Request<'_>) -> Vec<Found> {
    let fits = |tool: &Value| {
        let function = &tool["function"];
        tool["type"] == "function"
            && function.is_object()
            && function.get("description").is_none_or(Value::is_string)
            && function.get("parameters").is_none_or(Value::is_object)
    };
    let empty = request
        .body
        .get("tools")
        .is_some_and(|tools| tools.as_array().is_none_or(Vec::is_empty));
    let odd = tools(request)
        .filter(|(_, tool)| !fits(tool))
        .map(|(path, _)| found(path, "no function"));
    odd.chain(empty.then(|| found("tools", "no list, or an empty one")))
        .collect()
}

fn tool_keys(request: &Request<'_>) -> Vec<Found> {
    tools(request)
        .flat_map(|(path, tool)| {
            let allowed = ["name", "description", "parameters", "strict"];
            let inner = strangers(&format!("{path}.function"), &tool["function"], &allowed);
            strangers(&path, tool, &["type", "function"])
                .into_iter()
                .chain(inner)
        })
        .collect()
}

fn name(request: &Request<'_>) -> Vec<Found> {
    tools(request)
        .filter(|(_, tool)| !word(tool["function"]["name"].as_str().unwrap_or(""), NAME))
        .map(|(path, tool)| found(path, format!("name={}", tool["function"]["name"])))
        .collect()
}

fn twice(request: &Request<'_>) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let named =
        tools(request).filter_map(|(path, tool)| Some((path, tool["function"]["name"].as_str()?)));
    named
        .filter(|(_, name)| !seen.insert(*name))
        .map(|(path, name)| found(path, format!("twice name={name}")))
        .collect()
}

fn choice(request: &Request<'_>) -> Vec<Found> {
    let bare = tools(request).next().is_none();
    let chosen = ["tool_choice", "parallel_tool_calls"]
        .iter()
        .filter(|key| request.body.get(**key).is_some());
    chosen
        .filter(|_| bare)
        .map(|key| found(*key, "a choice without tools"))
        .collect()
}
