//! Roo: summaries and markers hide what they stand for.

use crate::sent::same;
use crate::world::{World, memory};
use recount_events::{Body, Seq};
use recount_transcripts::{FormatName, Problem, read_task};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What Roo sends of a history: nothing with an existing parent, and of the rest the newest summary and what follows it, behind the
/// first message unless the summary is a person's.
pub(crate) fn sent(history: &[Value]) -> Vec<Value> {
    let ids: BTreeSet<&str> = history
        .iter()
        .filter_map(|message| {
            let id = if message["isSummary"] == true {
                "condenseId"
            } else {
                "truncationId"
            };
            message[id].as_str()
        })
        .collect();
    let hidden = |message: &&Value| {
        ["condenseParent", "truncationParent"]
            .iter()
            .any(|key| message[*key].as_str().is_some_and(|id| ids.contains(id)))
    };
    let left: Vec<Value> = history
        .iter()
        .filter(|message| !hidden(message))
        .cloned()
        .collect();
    let Some(summary) = left
        .iter()
        .rposition(|message| message["isSummary"] == true)
    else {
        return left;
    };
    let rest = left[summary..].iter().cloned();
    if summary == 0 || left[summary]["role"] == "user" {
        return rest.collect();
    }
    left.iter().take(1).cloned().chain(rest).collect()
}

fn said(role: &str, text: &str, ts: u64) -> Value {
    json!({"role": role, "content": [{"type": "text", "text": text}], "ts": ts})
}

fn with(mut message: Value, more: Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        message[key] = value.clone();
    }
    message
}

fn world(history: &[Value]) -> (World, recount_transcripts::Import) {
    let history = Value::Array(history.to_vec()).to_string();
    let files = memory(&[("api_conversation_history.json", &history)]);
    let import = read_task(
        Some(FormatName::RooTask),
        "305b3f90-e0e1-4870-8cf4-4fd33a08cfa4",
        &files,
    )
    .unwrap();
    (World::new(&import), import)
}

fn talk() -> Vec<Value> {
    (0..9)
        .map(|at| {
            said(
                if at % 2 == 0 { "user" } else { "assistant" },
                &format!("words {at}"),
                1_000 + at,
            )
        })
        .collect()
}

#[test]
fn a_summary_hides_what_stood_before_it() {
    let mut history = talk();
    history[4] = with(
        said("assistant", "so far", 1_004),
        json!({"isSummary": true}),
    );
    let (world, import) = world(&history);
    assert_eq!(world.misfits, Vec::<String>::new());
    same(
        &world.sent(),
        &Value::Array(sent(&history)),
        "an older summary",
    );
    assert_eq!(import.report.doubted, []);
    assert_eq!(sent(&history).len(), 6);
}

#[test]
fn parents_hide_what_names_them_and_orphans_are_shown() {
    let mut history = talk();
    for at in [1, 2, 3] {
        history[at] = with(history[at].clone(), json!({"condenseParent": "a"}));
    }
    history[4] = with(
        said("assistant", "so far", 1_004),
        json!({"isSummary": true, "condenseId": "a"}),
    );
    history[6] = with(history[6].clone(), json!({"truncationParent": "gone"}));
    let (world, import) = world(&history);
    same(&world.sent(), &Value::Array(sent(&history)), "condensed");
    assert_eq!(
        import
            .report
            .doubted
            .iter()
            .map(|doubt| doubt.problem)
            .collect::<Vec<_>>(),
        [Problem::UnknownReference]
    );
}

#[test]
fn a_marker_hides_what_was_cut_away() {
    let mut history = talk();
    for at in [1, 2, 5] {
        history[at] = with(history[at].clone(), json!({"truncationParent": "t"}));
    }
    history[3] = with(
        said("user", "some messages are hidden", 1_003),
        json!({"isTruncationMarker": true, "truncationId": "t"}),
    );
    let (world, _) = world(&history);
    assert_eq!(world.misfits, Vec::<String>::new());
    same(&world.sent(), &Value::Array(sent(&history)), "cut");
}

#[test]
fn a_summary_in_a_persons_role_stands_alone() {
    let mut history = talk();
    history[4] = with(
        said("user", "so far", 1_004),
        json!({"isSummary": true, "condenseId": "a"}),
    );
    let (mut world, import) = world(&history);
    same(
        &world.sent(),
        &Value::Array(sent(&history)),
        "a fresh start",
    );
    // Undoing what hides brings it back.
    let hides = import.sessions[0]
        .events
        .iter()
        .position(|imported| matches!(imported.event.body, Body::DeleteRange(_)));
    world.undo(Seq(hides.unwrap() as u64));
    same(&world.sent(), &Value::Array(history), "undone");
}
