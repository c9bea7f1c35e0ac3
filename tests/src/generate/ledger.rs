//! What the ledger keeps, notes, and edits of the provider's cache.

use super::dice::Dice;
use super::host::Host;
use super::words::words;
use serde_json::{Value, json};

pub(super) fn event(host: &Host, dice: &mut Dice, name: &str) -> Value {
    let head = host.log.len();
    let place = |dice: &mut Dice| {
        let pool = host.of(&["tool_result", "message"]);
        json!([dice.recent(&pool).copied().unwrap_or(0), 0])
    };
    let digest = host.digest.clone().unwrap_or_else(|| "00".repeat(32));
    let mut value = match name {
        "budget" => json!({"judged": [place(dice)]}),
        "cache_edit" => {
            json!({"id": dice.one(&["e1", "e2"]).copied().unwrap_or("e1"), "calls": [call(host, dice)]})
        }
        "cache_ack" => {
            json!({"id": dice.one(&["e1", "e1", "e2"]).copied().unwrap_or("e1"), "deleted_tokens": 10})
        }
        "cache_reset" => json!({"reason": "cold"}),
        "file_read" if dice.percent(50) => json!({"path": "/a/b", "block": place(dice)}),
        "file_read" => json!({"path": "/a/b"}),
        "memory" => memory(head, dice),
        "todo" => json!({"items": [{"text": "a", "done": false}, "b"]}),
        "opened" => json!({"session": "s", "kind": "main"}),
        "forked" => {
            json!({"session": "f", "from": {"session": "s", "seq": head.saturating_sub(dice.below(3)), "digest": digest}})
        }
        "counted" => {
            json!({"tokenizer": "o200k_base 1", "counts": [[dice.below(head.max(1)), 0, dice.below(100)]]})
        }
        "issued" => json!({
            "digest": digest, "cut": head.saturating_sub(1), "estimate": 1, "wire": "anthropic", "rendering": 1
        }),
        "usage" => {
            json!({"request": dice.one(&["r1", "r2"]).copied().unwrap_or("r1"), "input": dice.below(1000), "output": 1})
        }
        "cache_break" => {
            json!({"usage": head.saturating_sub(1), "before": 9_000, "after": dice.below(9_000), "cause": "changed"})
        }
        "done" if dice.percent(50) => json!({"action": "k1/1"}),
        "done" => json!({"action": "k1/1", "error": words(dice)}),
        "overflow" => json!({"error": words(dice), "actual": 5, "limit": 4, "kind": "tokens"}),
        "breaker" => {
            json!({"name": "compact", "state": dice.one(&["counts", "trips", "releases"]).copied().unwrap_or("counts"), "value": 1})
        }
        "erased" => json!({"events": [], "pieces": []}),
        _ => json!({}),
    };
    value["type"] = name.into();
    value
}

fn memory(head: usize, dice: &mut Dice) -> Value {
    let mut value = json!({"id": "m", "text": words(dice), "importance": -3});
    if dice.percent(40) {
        value["covers"] = json!([dice.below(head + 1), dice.below(head + 1)]);
    }
    value
}

/// A place that may be a call.
fn call(host: &Host, dice: &mut Dice) -> Value {
    let answers: Vec<usize> = host
        .log
        .iter()
        .enumerate()
        .filter(|(_, event)| event["role"] == "assistant")
        .map(|(seq, _)| seq)
        .collect();
    json!([dice.recent(&answers).copied().unwrap_or(0), dice.below(3)])
}
