//! A host that remembers what was accepted, so that most of what it says next makes sense.

use super::dice::Dice;
use super::{KINDS, Op, fixed, folds, ledger, talk};
use serde_json::Value;

/// An event as handed in.
#[derive(Clone, Debug)]
pub struct Given {
    /// The JSON text, lone surrogates as escapes.
    pub raw: String,
    /// The value, lone surrogates as U+FDD0.
    pub value: Value,
}

/// What a host remembers.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// The events accepted so far.
    pub log: Vec<Value>,
    /// The digest of the prompt that it would answer now.
    pub digest: Option<String>,
    /// The profile binds thinking, so broken text is kept out: digests are then comparable.
    pub tidy: bool,
}

impl Host {
    /// A host before its first event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next event.
    #[must_use]
    pub fn event(&self, op: Op) -> Given {
        let mut dice = Dice(op.seed);
        let name = KINDS.get(op.kind).map_or("message", |(name, _, _)| name);
        let mut value = match name {
            "message" => talk::message(self, &mut dice),
            "tool_result" => talk::result(self, &mut dice),
            "inject" | "replace" => talk::beside(self, &mut dice, name),
            "delete_range" | "snip" | "collapse_stage" | "collapse_commit" | "collapse_discard"
            | "compact_plan" | "compact_chunk" | "compact_commit" | "compact_abandon" => {
                folds::fold(self, &mut dice, name)
            }
            "rollback" | "undo" | "checkpoint" => folds::travel(self, &mut dice, name),
            "system" | "tools" | "profile" | "policy" | "rendering" => {
                fixed::header(&mut dice, name)
            }
            _ => ledger::event(self, &mut dice, name),
        };
        value["at"] = (1_700_000_000_000u64 + self.log.len() as u64 * 1_000
            - dice.below(3) as u64 * 1_500)
            .into();
        if dice.percent(4) && !matches!(name, "rollback" | "undo") && !self.log.is_empty() {
            value["because"] = dice.below(self.log.len() + 1).into();
        }
        if dice.percent(3) {
            value["x_host"] = "kept".into();
        }
        if self.tidy {
            value = tidied(&value);
        }
        let raw = value.to_string().replace(super::words::WILD, "\\ud800");
        Given { raw, value }
    }

    /// The event took the next position.
    pub fn accepted(&mut self, given: &Given) {
        self.log.push(given.value.clone());
    }

    /// The first event of most programs.
    #[must_use]
    pub fn profile(&self, seed: u64) -> Given {
        let mut value = fixed::profile(&mut Dice(seed));
        value["at"] = 1_699_999_990_000u64.into();
        Given {
            raw: value.to_string(),
            value,
        }
    }

    /// Positions of events of these types.
    pub(super) fn of(&self, kinds: &[&str]) -> Vec<usize> {
        let log = self.log.iter().enumerate();
        log.filter(|(_, event)| kinds.iter().any(|kind| event["type"] == *kind))
            .map(|(seq, _)| seq)
            .collect()
    }
}

/// The value without broken text.
fn tidied(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(
            text.replace([super::words::WILD, '\0'], "_")
                .replace("/wD/gGFiYw==", "YWJj"),
        ),
        Value::Array(list) => Value::Array(list.iter().map(tidied).collect()),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), tidied(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}
