//! Whole files of recorded operations: run, compared, counted by operation.

use super::run::run;
use recount_events::raw;
use serde_json::Value;
use std::collections::BTreeMap;

/// What came of the cases of one operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    /// Equal to what was recorded.
    pub(crate) equal: u64,
    /// Anything else.
    pub(crate) different: u64,
}

/// What came of a file.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// By operation.
    pub(crate) counts: BTreeMap<String, Count>,
    /// Where results differ first: case, operation, path, what was expected, what came.
    pub(crate) differences: Vec<String>,
}

/// Runs all cases of a file.
pub(crate) fn compare(file: &str) -> Report {
    let mut report = Report::default();
    for line in file.split('\n').filter(|line| !line.trim().is_empty()) {
        let op = raw::member_words(line, "op")
            .unwrap_or_default()
            .into_owned();
        let case = raw::member(line, "case").unwrap_or("?");
        let expected =
            raw::member(line, "expected").and_then(|json| serde_json::from_str(json).ok());
        let got = raw::member(line, "input").and_then(|input| run(&op, input));
        let difference = match (expected, got) {
            (Some(expected), Some(got)) => differ(&expected, &got, "$"),
            (None, _) => Some("no expectation could be read".to_owned()),
            (_, None) => Some("an operation that is not known".to_owned()),
        };
        let count = report.counts.entry(op.clone()).or_default();
        match difference {
            None => count.equal += 1,
            Some(difference) => {
                count.different += 1;
                report
                    .differences
                    .push(format!("case {case}, {op}: {difference}"));
            }
        }
    }
    report
}

/// Where two values differ first; numbers are doubles, `mutatedInput` is left aside.
fn differ(expected: &Value, got: &Value, path: &str) -> Option<String> {
    match (expected, got) {
        (Value::Object(one), Value::Object(other)) => {
            let names = |map: &serde_json::Map<String, Value>| -> Vec<String> {
                map.keys()
                    .filter(|key| *key != "mutatedInput")
                    .cloned()
                    .collect()
            };
            let (mut left, mut right) = (names(one), names(other));
            left.sort();
            right.sort();
            if left != right {
                return Some(format!("{path}: members {left:?}, not {right:?}"));
            }
            left.iter()
                .find_map(|key| differ(&one[key], &other[key], &format!("{path}.{key}")))
        }
        (Value::Array(one), Value::Array(other)) => {
            let places = one.iter().zip(other).enumerate();
            let inner = places
                .clone()
                .find_map(|(index, (one, other))| differ(one, other, &format!("{path}[{index}]")));
            inner.or_else(|| {
                (one.len() != other.len())
                    .then(|| format!("{path}: {} elements, not {}", one.len(), other.len()))
            })
        }
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => None,
        _ if expected == got => None,
        _ => Some(format!(
            "{path}: expected {}, got {}",
            short(expected),
            short(got)
        )),
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(300).collect()
}
