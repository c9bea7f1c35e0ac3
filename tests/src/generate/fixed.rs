//! Profiles, policies, system prompts, tools.

use super::dice::Dice;
use super::words::{tool_name, words};
use serde_json::{Value, json};

pub(super) fn header(dice: &mut Dice, name: &str) -> Value {
    match name {
        "system" => json!({"type": "system", "content": system(dice)}),
        "tools" => json!({"type": "tools", "tools": tools(dice)}),
        "policy" => json!({"type": "policy", "preset": "none", "auto": false}),
        "rendering" => json!({"type": "rendering", "version": 1}),
        _ => profile(dice),
    }
}

fn system(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => {
            json!([{"type": "text", "text": words(dice), "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "more"}])
        }
        1 => json!([{"type": "text", "text": " "}, {"type": "widget"}]),
        _ => json!(words(dice)),
    }
}

fn tools(dice: &mut Dice) -> Value {
    let mut tools = Vec::new();
    for _ in 0..dice.below(5) {
        let name = tool_name(dice);
        let tool = match dice.below(10) {
            0 => json!("not an object"),
            1 => json!({"description": "no name"}),
            2 => json!({"name": name}),
            3 => json!({"name": name, "description": 7, "input_schema": {"type": "string"}}),
            4 => {
                json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}})
            }
            5 => {
                json!({"name": name, "input_schema": {"type": "object"}, "server": "x", "cache_control": {"type": "ephemeral"}})
            }
            _ => {
                json!({"name": name, "description": "does it", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}})
            }
        };
        tools.push(tool);
    }
    if dice.percent(50) {
        tools.push(json!({"type": "web_search_20250305", "name": "web_search"}));
    }
    Value::Array(tools)
}

/// A profile of a wide window: budgets have their own law.
pub(super) fn profile(dice: &mut Dice) -> Value {
    let openai = dice.percent(30);
    let thinking = match dice.below(4) {
        0 => json!({"binds": true, "keeps": "all"}),
        1 => json!({"binds": false, "keeps": "last"}),
        2 => json!({"binds": false, "keeps": "none"}),
        _ => json!({"binds": false, "keeps": "all"}),
    };
    let mut params = match dice.below(6) {
        0 => json!({}),
        1 => {
            json!({"temperature": 1, "thinking": {"type": "adaptive"}, "betas": ["x"], "user": "u"})
        }
        2 => json!({"max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 4000}}),
        3 => json!({"thinking": {"type": "disabled"}, "seed": 1}),
        _ => json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
    };
    if dice.percent(20) {
        params["tool_choice"] = json!({"type": "auto"});
    }
    let images = match dice.below(4) {
        0 => json!({"count": 2, "bytes": 100, "pixels": 2000}),
        1 => json!({}),
        _ => json!({"count": 100, "bytes": 5_242_880, "pixels": 8000}),
    };
    json!({
        "type": "profile",
        "provider": if openai { "openai" } else { "anthropic" },
        "model": dice.one(&["model-a", "model-b"]).copied().unwrap_or("model-a"),
        "wire": if openai { "openai_chat" } else { "anthropic" },
        "window": 100_000_000,
        "max_output": 8192,
        "images": images,
        "prefill": dice.percent(30),
        "thinking": thinking,
        "cache_edits": dice.percent(60),
        "system_role": dice.percent(30),
        "params": params,
    })
}
