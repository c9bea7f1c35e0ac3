//! The request around the pieces.

use super::{Making, Piece, Role, words};
use crate::model::tame::clean;
use crate::validator::Wire;
use serde_json::{Map, Value, json};

/// Members of an Anthropic request that a profile's params may set.
const ANTHROPIC: [&str; 13] = [
    "temperature",
    "top_k",
    "top_p",
    "stop_sequences",
    "stream",
    "thinking",
    "tool_choice",
    "metadata",
    "service_tier",
    "container",
    "context_management",
    "mcp_servers",
    "output_config",
];

/// Members of a Chat request that a profile's params may set.
const CHAT: [&str; 27] = [
    "temperature",
    "top_p",
    "n",
    "stop",
    "stream",
    "stream_options",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "seed",
    "user",
    "metadata",
    "store",
    "service_tier",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "presence_penalty",
    "frequency_penalty",
    "prompt_cache_key",
    "verbosity",
    "safety_identifier",
    "modalities",
    "prediction",
    "audio",
    "web_search_options",
];

/// The answer's limit when the window leaves enough.
fn limit(profile: &Value) -> u64 {
    let own = ["max_tokens", "max_completion_tokens"]
        .iter()
        .find_map(|key| profile["params"][*key].as_u64());
    own.unwrap_or_else(|| profile["max_output"].as_u64().unwrap_or(0))
}

/// The budget of thinking does not fit into the answer's limit.
pub(super) fn narrow(profile: &Value) -> bool {
    let thinking = &profile["params"]["thinking"];
    let budget = thinking["budget_tokens"].as_u64().unwrap_or(0);
    thinking["type"] == "enabled" && (budget < 1_024 || budget >= limit(profile))
}

/// The tools, ordered by name, the last of equal names.
pub(super) fn tools(making: &Making<'_, '_>) -> Vec<Piece> {
    let Some(event) = making.fold.newest("tools") else {
        return Vec::new();
    };
    let mut tools: Vec<(String, Piece)> = Vec::new();
    for (index, tool) in event.event["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let made = match making.wire {
            Wire::Anthropic => anthropic_tool(tool),
            Wire::Chat => chat_tool(tool),
        };
        let Some((name, value)) = made else { continue };
        tools.retain(|(other, _)| *other != name);
        tools.push((
            name,
            Piece {
                role: Role::Tool,
                value,
                source: Some((event.seq, index)),
                entry: None,
            },
        ));
    }
    tools.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
    tools.into_iter().map(|(_, piece)| piece).collect()
}

fn is_custom(tool: &Value) -> bool {
    tool.get("type")
        .is_none_or(|kind| kind.is_null() || kind == "custom")
}

fn schema(tool: &Value) -> Value {
    let schema = &tool["input_schema"];
    if schema["type"] == "object" {
        clean(schema)
    } else {
        json!({"type": "object", "properties": {}})
    }
}

fn anthropic_tool(tool: &Value) -> Option<(String, Value)> {
    if tool["type"] == "function" && tool["function"].is_object() {
        return foreign_tool(&tool["function"]);
    }
    let given = tool["name"].as_str()?;
    if !is_custom(tool) {
        let mut whole = clean(tool);
        whole.as_object_mut()?.remove("cache_control");
        return Some((given.to_owned(), whole));
    }
    let kept = [
        "type",
        "name",
        "description",
        "input_schema",
        "allowed_callers",
        "defer_loading",
        "eager_input_streaming",
        "input_examples",
        "strict",
    ];
    let name = words::name(given, 128);
    let mut value = super::anthropic::members(tool, &kept);
    let object = value.as_object_mut()?;
    if !tool["description"].is_string() {
        object.shift_remove("description");
    }
    object.insert("name".to_owned(), name.clone().into());
    object.insert("input_schema".to_owned(), schema(tool));
    Some((name, value))
}

/// A Chat tool on the Anthropic wire.
fn foreign_tool(function: &Value) -> Option<(String, Value)> {
    let name = words::name(function["name"].as_str()?, 128);
    let mut value = json!({"name": name});
    if function["description"].is_string() {
        value["description"] = clean(&function["description"]);
    }
    let parameters = &function["parameters"];
    value["input_schema"] = if parameters.is_object() {
        clean(parameters)
    } else {
        schema(&Value::Null)
    };
    Some((name, value))
}

fn chat_tool(tool: &Value) -> Option<(String, Value)> {
    if tool["type"] == "function" && tool["function"].is_object() {
        let name = words::name(tool["function"]["name"].as_str()?, 64);
        let mut whole = clean(tool);
        whole["function"]["name"] = name.clone().into();
        return Some((name, whole));
    }
    let name = words::name(tool["name"].as_str().filter(|_| is_custom(tool))?, 64);
    let mut function = Map::new();
    function.insert("name".to_owned(), name.clone().into());
    if tool["description"].is_string() {
        function.insert("description".to_owned(), clean(&tool["description"]));
    }
    let given = &tool["input_schema"];
    let parameters = if given.is_object() {
        clean(given)
    } else {
        schema(&Value::Null)
    };
    function.insert("parameters".to_owned(), parameters);
    Some((name, json!({"type": "function", "function": function})))
}

/// The body. `off`: thinking is turned off.
pub(super) fn body(making: &Making<'_, '_>, off: bool) -> Value {
    let of = |role: Role| {
        making
            .pieces
            .iter()
            .filter(move |piece| piece.role == role)
            .map(|piece| piece.value.clone())
    };
    let tools: Vec<Value> = of(Role::Tool).collect();
    let system: Vec<Value> = of(Role::Header).collect();
    let mut body = Map::new();
    let none = tools.is_empty();
    if !none {
        body.insert("tools".to_owned(), tools.into());
    }
    let limit = limit(&making.profile);
    match making.wire {
        Wire::Anthropic => {
            if !system.is_empty() {
                body.insert("system".to_owned(), system.into());
            }
            body.insert("messages".to_owned(), anthropic(&making.pieces).into());
            body.insert("model".to_owned(), making.profile["model"].clone());
            body.insert("max_tokens".to_owned(), limit.into());
        }
        Wire::Chat => {
            body.insert("messages".to_owned(), chat(&making.pieces, system).into());
            body.insert("model".to_owned(), making.profile["model"].clone());
            body.insert("max_completion_tokens".to_owned(), limit.into());
        }
    }
    for (key, value) in params(making, none, off) {
        body.insert(key, value);
    }
    Value::Object(body)
}

fn params(making: &Making<'_, '_>, no_tools: bool, off: bool) -> Vec<(String, Value)> {
    let allowed: &[&str] = match making.wire {
        Wire::Anthropic => &ANTHROPIC,
        Wire::Chat => &CHAT,
    };
    let given = making.profile["params"].as_object().into_iter().flatten();
    given
        .filter(|(key, _)| allowed.contains(&key.as_str()))
        .filter(|(key, _)| {
            !no_tools || !matches!(key.as_str(), "tool_choice" | "parallel_tool_calls")
        })
        .map(|(key, value)| match key.as_str() {
            "thinking" if off => (key.clone(), json!({"type": "disabled"})),
            _ => (key.clone(), clean(value)),
        })
        .collect()
}

fn conversation(pieces: &[Piece]) -> impl Iterator<Item = &Piece> {
    pieces
        .iter()
        .filter(|piece| !matches!(piece.role, Role::Tool | Role::Header))
}

fn anthropic(pieces: &[Piece]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for piece in conversation(pieces) {
        let role = if piece.role == Role::Assistant {
            "assistant"
        } else {
            "user"
        };
        match messages.last_mut() {
            Some((last, content)) if *last == role => content.push(piece.value.clone()),
            _ => messages.push((role, vec![piece.value.clone()])),
        }
    }
    messages
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

fn chat(pieces: &[Piece], system: Vec<Value>) -> Vec<Value> {
    let mut messages: Vec<(Role, Vec<Value>)> = Vec::new();
    for piece in conversation(pieces) {
        match messages.last_mut() {
            Some((role, content)) if *role == piece.role && piece.role != Role::Result => {
                content.push(piece.value.clone())
            }
            _ => messages.push((piece.role, vec![piece.value.clone()])),
        }
    }
    let header = (!system.is_empty()).then(|| json!({"role": "system", "content": system}));
    header
        .into_iter()
        .chain(messages.into_iter().map(chat_message))
        .collect()
}

fn chat_message((role, pieces): (Role, Vec<Value>)) -> Value {
    match role {
        Role::Result => pieces.into_iter().next().unwrap_or(Value::Null),
        Role::Assistant => {
            let (calls, texts): (Vec<Value>, Vec<Value>) = pieces
                .into_iter()
                .partition(|piece| piece["type"] == "function");
            let content = if texts.is_empty() {
                Value::Null
            } else {
                texts.into()
            };
            let mut message = json!({"role": "assistant", "content": content});
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            message
        }
        Role::System => json!({"role": "system", "content": pieces}),
        _ => json!({"role": "user", "content": pieces}),
    }
}
