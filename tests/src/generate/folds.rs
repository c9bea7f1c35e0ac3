//! Folds, deletions, travel.

use super::dice::Dice;
use super::host::Host;
use super::words::{label, words};
use serde_json::{Value, json};

/// Two ends of a range: mostly from a user's message to just before another one.
fn ends(host: &Host, dice: &mut Dice) -> (usize, usize) {
    let content = host.of(&["message", "tool_result", "inject"]);
    let turns: Vec<usize> = host
        .of(&["message"])
        .into_iter()
        .filter(|seq| host.log.get(*seq).is_some_and(|e| e["role"] == "user"))
        .collect();
    let any = |dice: &mut Dice| dice.one(&content).copied().unwrap_or(0);
    let (a, b) = match dice.below(10) {
        0 => (
            dice.below(host.log.len() + 2),
            dice.below(host.log.len() + 2),
        ),
        1..=3 => (any(dice), any(dice)),
        _ => {
            let first = dice.one(&turns).copied().unwrap_or(0);
            let later: Vec<usize> = turns.iter().copied().filter(|turn| *turn > first).collect();
            let end = dice.one(&later).copied().unwrap_or(host.log.len());
            let last = content
                .iter()
                .copied()
                .filter(|seq| *seq < end)
                .max()
                .unwrap_or(first);
            (first, last)
        }
    };
    if dice.percent(3) {
        (a, b)
    } else {
        (a.min(b), a.max(b))
    }
}

/// `first` and `last`, `keep_from`, a marker, or nothing.
fn ranged(host: &Host, dice: &mut Dice, mut value: Value, marker: bool) -> Value {
    match dice.below(20) {
        0 if marker => value["first"] = Value::Null,
        1 if dice.percent(30) => {}
        2..=4 => value["keep_from"] = dice.below(host.log.len() + 2).into(),
        _ => {
            let (first, last) = ends(host, dice);
            value["first"] = first.into();
            value["last"] = last.into();
        }
    }
    value
}

fn id(dice: &mut Dice) -> &'static str {
    dice.one(&["one", "two", "three", "<&\">"])
        .copied()
        .unwrap_or("one")
}

/// A name that waits for its end, if there is one.
fn waiting(host: &Host, dice: &mut Dice, kind: &str) -> Value {
    let names: Vec<Value> = host
        .of(&[kind])
        .into_iter()
        .filter_map(|seq| host.log.get(seq))
        .map(|event| event["id"].clone())
        .collect();
    dice.recent(&names)
        .cloned()
        .unwrap_or_else(|| "none".into())
}

pub(super) fn fold(host: &Host, dice: &mut Dice, name: &str) -> Value {
    let mut value = json!({"type": name});
    match name {
        "delete_range" => ranged(host, dice, value, dice.0.is_multiple_of(9)),
        "snip" => {
            let pool = host.of(&["message", "tool_result", "inject", "usage"]);
            let many = if dice.percent(5) {
                0
            } else {
                1 + dice.below(3)
            };
            let start = dice.below(pool.len());
            let mut list: Vec<usize> = pool.iter().copied().skip(start).take(many).collect();
            if dice.percent(5) {
                list.extend(list.clone());
            }
            value["messages"] = json!(list);
            value
        }
        "collapse_stage" => {
            value["id"] = id(dice).into();
            value["summary"] = words(dice).into();
            ranged(host, dice, value, false)
        }
        "collapse_commit" => {
            let staged = waiting(host, dice, "collapse_stage");
            if staged != "none" && dice.percent(60) {
                value["id"] = staged;
                return value;
            }
            value["id"] = id(dice).into();
            value["summary"] = words(dice).into();
            ranged(host, dice, value, true)
        }
        "collapse_discard" => {
            value["id"] = waiting(host, dice, "collapse_stage");
            value
        }
        "compact_plan" => {
            value["id"] = id(dice).into();
            value = ranged(host, dice, value, false);
            let (first, last) = (value["first"].clone(), value["last"].clone());
            value["chunks"] = if first.is_u64() {
                json!([[first, first], [first, last]])
            } else {
                json!([])
            };
            value
        }
        "compact_chunk" => {
            value["id"] = waiting(host, dice, "compact_plan");
            value["chunk"] = usize::from(dice.percent(20)).into();
            value["text"] = words(dice).into();
            value
        }
        "compact_abandon" => {
            value["id"] = waiting(host, dice, "compact_plan");
            value["reason"] = "later".into();
            value
        }
        _ => commit(host, dice, value),
    }
}

/// A commit of a plan, or of a host's own.
fn commit(host: &Host, dice: &mut Dice, mut value: Value) -> Value {
    let plans = host.of(&["compact_plan"]);
    if dice.percent(95) {
        value["summary"] = words(dice).into();
    }
    let plan = plans
        .last()
        .and_then(|seq| host.log.get(*seq))
        .filter(|_| dice.percent(40));
    if let Some(plan) = plan.filter(|plan| plan["first"].is_u64()) {
        value["id"] = plan["id"].clone();
        value["first"] = plan["first"].clone();
        value["last"] = plan["last"].clone();
        return value;
    }
    if dice.percent(30) {
        value["id"] = id(dice).into();
    }
    ranged(host, dice, value, true)
}

pub(super) fn travel(host: &Host, dice: &mut Dice, name: &str) -> Value {
    let mut value = json!({"type": name});
    match name {
        "checkpoint" => {
            value["label"] = label(dice).into();
            if dice.percent(30) {
                value["workspace"] = "ref-1".into();
            }
        }
        "rollback" => value["to"] = target(host, dice),
        _ => {
            let kinds = [
                "compact_commit",
                "collapse_commit",
                "collapse_stage",
                "delete_range",
                "snip",
                "replace",
                "undo",
                "rollback",
                "inject",
                "system",
                "profile",
                "tools",
                "checkpoint",
                "collapse_discard",
            ];
            let pool = host.of(&kinds);
            let seq = if dice.percent(12) {
                dice.below(host.log.len() + 1)
            } else {
                dice.recent(&pool).copied().unwrap_or(0)
            };
            value["event"] = seq.into();
        }
    }
    value
}

fn target(host: &Host, dice: &mut Dice) -> Value {
    let head = host.log.len();
    match dice.below(12) {
        0 => json!({"seq": head + dice.below(2)}),
        1 | 2 => json!({"turns": dice.below(4)}),
        3 | 4 => json!({"checkpoint": label(dice)}),
        5 | 6 => {
            let some = dice.below(head.max(1));
            let at = host
                .log
                .get(some)
                .and_then(|event| event["at"].as_u64())
                .unwrap_or(0);
            json!({"time": if dice.percent(10) { 5 } else { at }})
        }
        7 | 8 => json!({"seq": dice.below(head.max(1))}),
        _ => json!({"seq": head.saturating_sub(1 + dice.below(6))}),
    }
}
