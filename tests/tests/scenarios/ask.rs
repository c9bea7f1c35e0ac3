//! From a command to a request: a method and its parameters.
//!
//! - `user hello` is an append of one event; ` && ` joins events to one batch; `[key=k expect=3] user hello` adds parameters.

use serde_json::{Map, Value, json};

/// A request, before the session is named in it.
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    /// What is appended, as raw JSON: its bytes must not pass through a reader.
    pub(crate) events: Vec<String>,
}

/// The request of a command; nothing when it is none.
pub(crate) fn ask(line: &str) -> Option<Ask> {
    let (options, line) = options(line);
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (method, mut params, events) = match call(verb, rest) {
        Some((method, params)) => (method, params, Vec::new()),
        None => ("append", json!({}), batch(line)?),
    };
    let params = params.as_object_mut()?;
    params.extend(options);
    Some(Ask {
        method: format!("v1.session.{method}"),
        params: std::mem::take(params),
        events,
    })
}

/// `[key=value …]` before a command.
fn options(line: &str) -> (Map<String, Value>, &str) {
    let Some((inside, rest)) = line
        .strip_prefix('[')
        .and_then(|line| line.split_once("] "))
    else {
        return (Map::new(), line);
    };
    let pairs = inside.split(' ').filter_map(|pair| pair.split_once('='));
    let options = pairs.map(|(key, value)| (key.to_owned(), value_of(value)));
    (options.collect(), rest)
}

fn value_of(word: &str) -> Value {
    serde_json::from_str(word).unwrap_or_else(|_| json!(word))
}

/// Methods that are no appends.
fn call(verb: &str, rest: &str) -> Option<(&'static str, Value)> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    Some(match (verb, words.as_slice()) {
        ("open", [name]) => ("open", json!({"session": name, "create": true})),
        ("open", [name, profile]) => (
            "open",
            json!({"session": name, "create": true, "profile": profile}),
        ),
        ("project", at) => ("project", json!({"at": cut(at)})),
        ("heal", []) => ("project", json!({"heal": true})),
        ("prepare", []) => ("prepare", json!({"now": 0})),
        ("interrupt", []) => ("interrupt", json!({})),
        ("mark", [label]) => ("checkpoint", json!({"label": label})),
        ("back", to) => ("rollback", json!({"to": cut(to)})),
        ("undo", [event]) => ("undo", json!({"event": value_of(event)})),
        ("fork", [new, at @ ..]) => ("fork", json!({"new": new, "at": cut(at)})),
        ("status", []) => ("status", json!({})),
        ("explain", at) => ("explain", json!({"at": cut(at)})),
        ("diff", [a, b]) => (
            "diff",
            json!({"a": {"at": {"seq": value_of(a)}}, "b": {"at": {"seq": value_of(b)}}}),
        ),
        ("log", [from, limit]) => (
            "log",
            json!({"from": value_of(from), "limit": value_of(limit)}),
        ),
        ("verify", []) => ("verify", json!({})),
        _ => return None,
    })
}

/// `to 3`, `turns 1`, `time 60` (seconds of the scenario's clock), `mark here`; nothing is the head.
fn cut(words: &[&str]) -> Value {
    match words {
        ["to" | "at", seq] => json!({"seq": value_of(seq)}),
        ["turns", turns] => json!({"turns": value_of(turns)}),
        ["time", seconds] => {
            json!({"time": super::world::START + seconds.parse::<u64>().unwrap_or(0) * 1_000})
        }
        ["mark", label] => json!({"checkpoint": label}),
        _ => json!("head"),
    }
}

fn batch(line: &str) -> Option<Vec<String>> {
    line.split(" && ").map(raw_event).collect()
}

fn raw_event(line: &str) -> Option<String> {
    if line.starts_with('{') {
        return Some(line.to_owned());
    }
    event(line).map(|event| event.to_string())
}

/// An event in short form.
fn event(line: &str) -> Option<Value> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (first, words) = rest.split_once(' ').unwrap_or((rest, ""));
    Some(match verb {
        "system" => json!({"type": "system", "content": rest}),
        "tools" => json!({"type": "tools", "tools": tools(rest)}),
        "user" => json!({"type": "message", "role": "user", "content": rest}),
        "assistant" => {
            json!({"type": "message", "role": "assistant", "content": answer(rest)})
        }
        "result" => json!({"type": "tool_result", "call": first, "content": words}),
        "interim" => {
            json!({"type": "tool_result", "call": first, "status": "interim", "content": words})
        }
        "note" => json!({"type": "inject", "slot": first, "lifetime": "once", "content": words}),
        "tail" => json!({"type": "inject", "slot": first, "lifetime": "tail", "content": words}),
        "replace" => json!({"type": "replace", "block": block(first), "with": words}),
        "compact" | "collapse" => fold(verb, first, words),
        "delete" => range(json!({"type": "delete_range"}), first),
        "snip" => {
            let messages: Vec<Value> = rest.split(' ').map(value_of).collect();
            json!({"type": "snip", "messages": messages})
        }
        "rollback" => json!({"type": "rollback", "to": cut(&[first, words])}),
        _ => return None,
    })
}

fn tools(names: &str) -> Vec<Value> {
    let names = names.split(' ');
    names
        .map(|name| json!({"name": name, "input_schema": {"type": "object"}}))
        .collect()
}

/// `words | id tool | id tool`: words, then calls.
fn answer(rest: &str) -> Vec<Value> {
    let mut parts = rest.split("| ").map(str::trim_end);
    let words = parts.next().unwrap_or_default();
    let mut blocks = Vec::new();
    if !words.is_empty() {
        blocks.push(json!({"type": "text", "text": words}));
    }
    blocks.extend(parts.map(|call| {
        let (id, tool) = call.split_once(' ').unwrap_or((call, "tool"));
        json!({"type": "tool_use", "id": id, "name": tool, "input": {}})
    }));
    blocks
}

/// `compact 2..5 words`, `compact keep=6 words`, `collapse 2..5 words`.
fn fold(verb: &str, place: &str, summary: &str) -> Value {
    let event = match verb {
        "compact" => json!({"type": "compact_commit", "summary": summary}),
        _ => json!({"type": "collapse_commit", "id": "part", "summary": summary}),
    };
    range(event, place)
}

fn range(mut event: Value, place: &str) -> Value {
    if let Some((first, last)) = place.split_once("..") {
        event["first"] = value_of(first);
        event["last"] = value_of(last);
    } else if let Some(seq) = place.strip_prefix("keep=") {
        event["keep_from"] = value_of(seq);
    }
    event
}

/// `4/1`: block 1 of event 4.
fn block(place: &str) -> Value {
    let (seq, index) = place.split_once('/').unwrap_or((place, "0"));
    json!([value_of(seq), value_of(index)])
}
