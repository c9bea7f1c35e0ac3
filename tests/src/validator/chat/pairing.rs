//! Calls and the tool messages that answer them.
//!
//! - Behind an assistant's message with calls stands one tool message for each call, and nothing else, before anything else.

use super::super::Rule;
use super::super::request::{Found, Request, found, list, strangers, word};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const RULES: &[Rule] = &[
    ("calls-list", calls_list),
    ("call-keys", call_keys),
    ("call-id", call_id),
    ("call-id-unique", call_id_unique),
    ("call-name", call_name),
    ("call-arguments", call_arguments),
    ("result-missing", result_missing),
    ("result-orphan", result_orphan),
    ("result-twice", result_twice),
];

/// Longest id of a call (agno-agi/agno#5382).
const ID: usize = 40;
/// Longest name of a function (OpenAI's API reference: a-z, A-Z, 0-9, underscores and dashes, at most 64).
const NAME: usize = 64;

fn calls_of(turn: &serde_json::Map<String, Value>) -> impl Iterator<Item = &Value> {
    list(turn.get("tool_calls").unwrap_or(&Value::Null))
}

fn calls<'a>(request: &Request<'a>) -> Vec<(String, &'a Value)> {
    let turns = request.messages.iter();
    turns
        .flat_map(|turn| {
            calls_of(turn.object)
                .enumerate()
                .map(|(i, call)| (format!("{}.tool_calls[{i}]", turn.path), call))
        })
        .collect()
}

fn id(call: &Value) -> &str {
    call["id"].as_str().unwrap_or("")
}

fn calls_list(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .filter(|turn| {
            turn.object
                .get("tool_calls")
                .is_some_and(|calls| calls.as_array().is_none_or(Vec::is_empty))
        })
        .map(|turn| {
            found(
                format!("{}.tool_calls", turn.path),
                "no list, or an empty one",
            )
        })
        .collect()
}

fn call_keys(request: &Request<'_>) -> Vec<Found> {
    let calls = calls(request);
    let wrong_type = calls.iter().filter(|(_, call)| call["type"] != "function");
    let wrong_type = wrong_type.map(|(path, _)| found(path, "type is not function"));
    let extra = calls.iter().flat_map(|(path, call)| {
        let inner = strangers(
            &format!("{path}.function"),
            &call["function"],
            &["name", "arguments"],
        );
        strangers(path, call, &["id", "type", "function"])
            .into_iter()
            .chain(inner)
    });
    wrong_type.chain(extra).collect()
}

fn call_id(request: &Request<'_>) -> Vec<Found> {
    let calls = calls(request).into_iter();
    calls
        .filter(|(_, call)| !word(id(call), ID))
        .map(|(path, call)| found(path, format!("id={:?}", id(call))))
        .collect()
}

fn call_id_unique(request: &Request<'_>) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let calls = calls(request).into_iter();
    calls
        .filter(|(_, call)| !seen.insert(id(call)))
        .map(|(path, call)| found(path, format!("twice id={}", id(call))))
        .collect()
}

fn call_name(request: &Request<'_>) -> Vec<Found> {
    let calls = calls(request).into_iter();
    calls
        .filter(|(_, call)| !word(call["function"]["name"].as_str().unwrap_or(""), NAME))
        .map(|(path, call)| found(path, format!("name={}", call["function"]["name"])))
        .collect()
}

fn call_arguments(request: &Request<'_>) -> Vec<Found> {
    let calls = calls(request).into_iter();
    calls
        .filter(|(_, call)| !call["function"]["arguments"].is_string())
        .map(|(path, _)| found(path, "arguments are no string"))
        .collect()
}

/// The ids of the tool messages right behind a message.
fn answers<'a>(request: &Request<'a>, index: usize) -> Vec<&'a str> {
    let behind = request
        .messages
        .iter()
        .skip(index + 1)
        .take_while(|turn| turn.role == "tool");
    behind
        .map(|turn| {
            turn.object
                .get("tool_call_id")
                .and_then(Value::as_str)
                .unwrap_or("")
        })
        .collect()
}

fn result_missing(request: &Request<'_>) -> Vec<Found> {
    let mut missing = Vec::new();
    for (index, turn) in request.messages.iter().enumerate() {
        let answers = answers(request, index);
        let open = calls_of(turn.object).filter(|call| !answers.contains(&id(call)));
        missing
            .extend(open.map(|call| found(&turn.path, format!("no tool message id={}", id(call)))));
    }
    missing
}

fn result_orphan(request: &Request<'_>) -> Vec<Found> {
    let mut asked: Vec<&str> = Vec::new();
    let mut orphans = Vec::new();
    for turn in &request.messages {
        if turn.role != "tool" {
            asked = calls_of(turn.object).map(id).collect();
            continue;
        }
        let answer = turn
            .object
            .get("tool_call_id")
            .and_then(Value::as_str)
            .unwrap_or("");
        if !asked.contains(&answer) {
            orphans.push(found(&turn.path, format!("no preceding call id={answer}")));
        }
    }
    orphans
}

fn result_twice(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter().enumerate();
    turns
        .filter(|(index, turn)| {
            let answers = answers(request, *index);
            turn.role != "tool" && answers.iter().collect::<BTreeSet<_>>().len() < answers.len()
        })
        .map(|(_, turn)| found(&turn.path, "a second tool message of one call"))
        .collect()
}
