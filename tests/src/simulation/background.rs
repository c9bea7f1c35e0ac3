//! What a host does beside the talk: it stages spans for collapsing, and keeps notes of the session.

use serde_json::{Value, json};

/// Exchanges of a span.
const SPAN: usize = 4;
/// Exchanges between two notes.
const NOTES: usize = 10;
/// Characters that are kept of each text.
const KEPT: usize = 120;

/// An answer with its results.
#[derive(Clone, Debug)]
struct Exchange {
    first: u64,
    last: u64,
    words: String,
}

/// What was said since, by exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct Background {
    exchanges: Vec<Exchange>,
    open: Option<Exchange>,
    staged: usize,
    noted: usize,
}

impl Background {
    /// The next answer begins.
    pub(super) fn begins(&mut self) {
        self.exchanges.extend(self.open.take());
    }

    /// Something was appended.
    pub(super) fn said(&mut self, seq: u64, event: &Value) {
        let open = match (&mut self.open, event["role"] == "assistant") {
            (Some(open), _) => open,
            (none, true) => none.insert(Exchange {
                first: seq,
                last: seq,
                words: String::new(),
            }),
            (None, false) => return,
        };
        // A person's words begin something else.
        if event["role"] == "user" && event["content"].is_string() {
            return self.begins();
        }
        open.last = seq;
        let blocks = event["content"].as_array();
        for text in blocks
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str())
        {
            open.words.extend(text.chars().take(KEPT));
            open.words.push(' ');
        }
    }

    /// What is to be appended now: `stages`, `notes`.
    pub(super) fn due(&mut self, (stages, notes): (bool, bool), now: u64) -> Vec<Value> {
        let mut due = Vec::new();
        if stages && let Some((number, span)) = next(&self.exchanges, &mut self.staged, SPAN) {
            let (first, last) = ends(span);
            due.push(json!({"type": "collapse_stage", "id": format!("span-{number}"), "first": first, "last": last, "summary": words(span), "at": now}));
        }
        if notes && let Some((number, span)) = next(&self.exchanges, &mut self.noted, NOTES) {
            let (first, last) = ends(span);
            due.push(json!({"type": "memory", "id": format!("note-{number}"), "text": words(span), "covers": [first, last], "importance": 1, "scope": "session", "at": now}));
        }
        due
    }
}

/// The next so many exchanges, once they are there.
fn next<'a>(
    all: &'a [Exchange],
    done: &mut usize,
    count: usize,
) -> Option<(usize, &'a [Exchange])> {
    let from = *done;
    let span = all.get(from..from + count)?;
    *done += count;
    Some((from, span))
}

fn ends(span: &[Exchange]) -> (u64, u64) {
    let first = span.first().map_or(0, |one| one.first);
    (first, span.last().map_or(0, |one| one.last))
}

fn words(span: &[Exchange]) -> String {
    let said: String = span.iter().map(|one| one.words.as_str()).collect();
    format!("{} steps: {}", span.len(), said.trim())
}
