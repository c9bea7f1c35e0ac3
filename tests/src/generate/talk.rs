//! Messages, results, injections, replacements.

use super::blocks;
use super::dice::Dice;
use super::host::Host;
use super::words::words;
use serde_json::{Value, json};

/// The calls of a logged message: block index and id.
fn calls(event: &Value) -> Vec<(usize, Value)> {
    let said = match &event["content"] {
        Value::Array(list) => list.clone(),
        Value::String(_) => vec![Value::Null],
        _ => Vec::new(),
    };
    let listed = event["tool_calls"].as_array().cloned().unwrap_or_default();
    let all = said.into_iter().chain(listed).enumerate();
    all.filter(|(_, block)| block["type"] == "tool_use" || block["type"] == "function")
        .map(|(i, b)| (i, b["id"].clone()))
        .collect()
}

/// All calls so far: place and id.
fn all_calls(host: &Host) -> Vec<((usize, usize), Value)> {
    let log = host
        .log
        .iter()
        .enumerate()
        .filter(|(_, event)| event["role"] == "assistant");
    log.flat_map(|(seq, event)| {
        calls(event)
            .into_iter()
            .map(move |(index, id)| ((seq, index), id))
    })
    .collect()
}

/// A call to answer: mostly the newest that no result names.
fn to_answer(host: &Host, dice: &mut Dice) -> Option<((usize, usize), Value)> {
    let all = all_calls(host);
    let named = |id: &Value| {
        host.log.iter().any(|event| {
            event["call"] == *id
                || event["content"]
                    .to_string()
                    .contains(&format!("\"tool_use_id\":{id}"))
        })
    };
    let open: Vec<_> = all.iter().filter(|(_, id)| !named(id)).cloned().collect();
    let pool = if open.is_empty() || dice.percent(20) {
        all
    } else {
        open
    };
    dice.recent(&pool).cloned()
}

pub(super) fn message(host: &Host, dice: &mut Dice) -> Value {
    let last = host
        .log
        .iter()
        .rev()
        .find(|event| event["type"] == "message")
        .map(|event| event["role"].clone());
    let turn = last.is_none_or(|role| role == "assistant");
    let mut value = match dice.below(20) {
        0 => json!({"role": "system", "content": words(dice)}),
        1 => user(host, dice),
        2 => chat(host, dice),
        _ if turn => user(host, dice),
        _ => assistant(host, dice),
    };
    value["type"] = "message".into();
    value
}

fn user(host: &Host, dice: &mut Dice) -> Value {
    let mut content: Vec<Value> = Vec::new();
    if dice.percent(20) {
        let results = 1 + dice.below(2);
        for _ in 0..results {
            if let Some((_, id)) = to_answer(host, dice) {
                let body = result_content(dice);
                let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": body});
                if dice.percent(20) {
                    block["is_error"] = true.into();
                }
                content.push(block);
            }
        }
    }
    if content.is_empty() && dice.percent(40) {
        return json!({"role": "user", "content": words(dice)});
    }
    let more = dice.below(3) + usize::from(content.is_empty());
    content.extend((0..more).map(|_| blocks::said(dice)));
    if dice.percent(10) {
        content.reverse();
    }
    let mut value = json!({"role": "user", "content": content});
    if dice.percent(5) {
        value["authored"] = dice.percent(50).into();
    }
    value
}

fn assistant(host: &Host, dice: &mut Dice) -> Value {
    let content = match dice.below(12) {
        0 => json!(words(dice)),
        1 => json!([]),
        _ => json!(blocks::answer(dice, host.log.len())),
    };
    let mut value = json!({"role": "assistant", "content": content});
    about(host, dice, &mut value);
    value
}

/// Response, issuer, model, stop, the prompt answered.
fn about(host: &Host, dice: &mut Dice, value: &mut Value) {
    let last = host
        .log
        .iter()
        .rev()
        .find(|event| event["role"] == "assistant")
        .map(|event| event["response"].clone());
    match dice.below(6) {
        0 | 1 => {
            value["response"] = last
                .filter(Value::is_string)
                .unwrap_or_else(|| "msg_0".into())
        }
        2 | 3 => value["response"] = format!("msg_{}", host.log.len()).into(),
        _ => {}
    }
    if dice.percent(30) {
        value["issuer"] = dice
            .one(&["anthropic", "anthropic", "openai"])
            .copied()
            .unwrap_or("anthropic")
            .into();
    }
    if dice.percent(20) {
        value["model"] = dice
            .one(&["model-a", "model-b"])
            .copied()
            .unwrap_or("model-a")
            .into();
    }
    if dice.percent(10) {
        value["stop"] = dice
            .one(&["pause_turn", "end_turn", "tool_use"])
            .copied()
            .unwrap_or("end_turn")
            .into();
    }
    match (&host.digest, dice.below(10)) {
        (Some(digest), 0..=6) => value["issued"] = digest.as_str().into(),
        (_, 7) => value["issued"] = "ab".repeat(32).into(),
        _ => {}
    }
}

fn chat(host: &Host, dice: &mut Dice) -> Value {
    match dice.below(3) {
        0 => {
            json!({"format": "openai_chat", "role": "user", "content": [blocks::part(dice), blocks::part(dice)]})
        }
        1 => {
            let id = to_answer(host, dice).map_or(Value::from("none"), |(_, id)| id);
            json!({"format": "openai_chat", "role": "tool", "tool_call_id": id, "content": words(dice)})
        }
        _ => {
            let content = if dice.percent(50) {
                Value::Null
            } else {
                words(dice).into()
            };
            let mut value =
                json!({"format": "openai_chat", "role": "assistant", "content": content});
            value["tool_calls"] = blocks::chat_calls(dice, host.log.len()).into();
            value
        }
    }
}

fn result_content(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => json!(""),
        1 => json!(
            (0..dice.below(4))
                .map(|_| blocks::inside(dice))
                .collect::<Vec<_>>()
        ),
        2 => json!("same words"),
        _ => json!(words(dice)),
    }
}

pub(super) fn result(host: &Host, dice: &mut Dice) -> Value {
    let mut value = json!({"type": "tool_result"});
    match (dice.below(20), to_answer(host, dice)) {
        (0, _) => value["call"] = "nobody".into(),
        (1, _) => value["block"] = json!([dice.below(host.log.len() + 1), dice.below(2)]),
        (2..=6, Some(((seq, index), _))) => value["block"] = json!([seq, index]),
        (_, Some((_, id))) => value["call"] = id,
        (_, None) => value["call"] = "nobody".into(),
    }
    let statuses = [
        "ok",
        "ok",
        "ok",
        "error",
        "rejected",
        "interrupted",
        "interim",
        "interim",
        "not_started",
        "unknown",
    ];
    if dice.percent(60) {
        value["status"] = dice.one(&statuses).copied().unwrap_or("ok").into();
    }
    match dice.below(10) {
        0 => {
            value["bytes"] = dice
                .one(&["/wD/gGFiYw==", "YWJj", ""])
                .copied()
                .unwrap_or("")
                .into()
        }
        1 => {}
        _ => value["content"] = result_content(dice),
    }
    value
}

/// A block to replace: mostly a text or a result.
fn block(host: &Host, dice: &mut Dice) -> Value {
    let pool = host.of(&["tool_result", "message", "inject"]);
    let seq = if dice.percent(8) {
        dice.below(host.log.len() + 2)
    } else {
        dice.recent(&pool).copied().unwrap_or(0)
    };
    let index = [0, 0, 0, 1, 2].get(dice.below(5)).copied().unwrap_or(0);
    json!([seq, index])
}

pub(super) fn beside(host: &Host, dice: &mut Dice, name: &str) -> Value {
    if name == "inject" {
        let mut value = json!({"type": "inject", "slot": dice.one(&["rules", "memory"]).copied().unwrap_or("rules")});
        value["lifetime"] = dice
            .one(&["once", "session", "tail"])
            .copied()
            .unwrap_or("once")
            .into();
        value["content"] = match dice.below(8) {
            0 => json!(""),
            1 => json!([blocks::text(dice), blocks::image(dice)]),
            _ => json!(words(dice)),
        };
        if dice.percent(25) {
            value["supersede"] = true.into();
        }
        return value;
    }
    let with = match dice.below(8) {
        0 => json!([]),
        1 => json!(""),
        2 => json!([blocks::text(dice), blocks::text(dice)]),
        3 if dice.percent(40) => json!([blocks::call(dice, host.log.len())]),
        4 => json!([blocks::image(dice)]),
        _ => json!(format!("[spilled {}]", dice.below(100))),
    };
    let mut value = json!({"type": "replace", "with": with});
    match dice.below(6) {
        0 => value["blocks"] = json!([block(host, dice), block(host, dice)]),
        1 if dice.percent(20) => value["blocks"] = json!([]),
        _ => value["block"] = block(host, dice),
    }
    value
}
