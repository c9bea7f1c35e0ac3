//! Section 6: resuming at the wrong place.

use crate::desk::{Desk, sent};
use recount::{ErrorKind, api};
use serde_json::{Value, json};

/// A line of a Claude Code recording.
fn line(kind: &str, uuid: &str, parent: Option<&str>, more: &Value) -> String {
    let mut record = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "r", "timestamp": "2026-01-01T00:00:00.000Z"});
    if let (Some(record), Some(more)) = (record.as_object_mut(), more.as_object()) {
        record.extend(more.clone());
    }
    format!("{record}\n")
}

fn user(uuid: &str, parent: Option<&str>) -> String {
    line(
        "user",
        uuid,
        parent,
        &json!({"message": {"role": "user", "content": format!("words of {uuid}")}}),
    )
}

fn model(uuid: &str, parent: Option<&str>, more: &Value) -> String {
    let message = json!({"id": format!("msg_{uuid}"), "role": "assistant", "type": "message", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": format!("words of {uuid}")}]});
    let mut all = json!({"message": message});
    if let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    line("assistant", uuid, parent, &all)
}

fn failure(uuid: &str, parent: Option<&str>) -> String {
    let message = json!({"id": uuid, "role": "assistant", "type": "message", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]});
    line(
        "assistant",
        uuid,
        parent,
        &json!({"isApiErrorMessage": true, "message": message}),
    )
}

/// Imports lines, says something more, and looks which words are sent.
fn resumed(lines: &[String], shown: &[&str], hidden: &[&str]) -> (Desk, api::Imported) {
    let desk = Desk::new();
    let path = desk.folder().join("r.jsonl");
    std::fs::write(&path, lines.concat()).unwrap();
    let imported = desk
        .engine()
        .import(&api::Import {
            path: path.to_string_lossy().into_owned(),
            ..Default::default()
        })
        .unwrap();
    let fork = desk
        .engine()
        .session("r")
        .unwrap()
        .fork("asked", api::At::Head)
        .unwrap();
    fork.append(&[r#"{"type":"message","role":"user","content":"and?"}"#])
        .unwrap();
    let sent = sent(&fork);
    for uuid in shown {
        assert!(
            sent.shows(&format!("words of {uuid}")),
            "{uuid} is missing: {}",
            sent.anthropic
        );
    }
    for uuid in hidden {
        assert!(
            !sent.shows(&format!("words of {uuid}")),
            "{uuid} is there: {}",
            sent.anthropic
        );
    }
    (desk, imported)
}

#[test]
fn pain_57_progress_entries_part_no_conversation() {
    let progress = |uuid: &str, parent: &str| {
        line(
            "progress",
            uuid,
            Some(parent),
            &json!({"data": {"type": "hook_progress"}}),
        )
    };
    let lines = [
        user("u1", None),
        model("a1", Some("u1"), &json!({})),
        progress("p1", "a1"),
        progress("p2", "a1"),
        progress("p3", "a1"),
        user("u2", Some("p3")),
        model("a2", Some("u2"), &json!({})),
        progress("p4", "a2"),
        user("u3", Some("a2")),
    ];
    resumed(&lines, &["u1", "a1", "u2", "a2", "u3"], &[]);
}

#[test]
fn pain_58_a_writer_with_an_old_head_is_told_so() {
    let desk = Desk::new();
    desk.turn("one");
    let seen = desk.head();
    desk.turn("by the other writer");
    let (head, digest) = (desk.head(), desk.digest());
    let event = serde_json::value::to_raw_value(
        &json!({"type": "message", "role": "user", "content": "stale"}),
    )
    .unwrap();
    let ask = api::Append {
        events: vec![event],
        expect: Some(seen),
        ..Default::default()
    };
    assert_eq!(
        desk.session().append_with(ask).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!((desk.head(), desk.digest()), (head, digest));
}

#[test]
fn pain_59_a_late_error_takes_no_answer_away() {
    let lines = [
        user("u1", None),
        failure("e1", Some("u1")),
        failure("e2", Some("e1")),
        model("a1", Some("u1"), &json!({})),
        failure("e3", Some("e2")),
        user("u2", Some("a1")),
    ];
    let (desk, imported) = resumed(&lines, &["u1", "a1", "u2"], &[]);
    assert_eq!(imported.read, 6);
    assert!(!sent(&desk.engine().session("r").unwrap()).shows("API Error"));
}

#[test]
fn pain_60_no_branch_is_dropped_without_a_word() {
    let lines = [
        user("u1", None),
        model("a1", Some("u1"), &json!({})),
        user("u2", Some("a1")),
        model("a2", Some("u2"), &json!({})),
        user("u3", Some("a1")),
        model("a3", Some("u3"), &json!({})),
    ];
    let (desk, _) = resumed(&lines, &["u1", "a1", "u3", "a3"], &["u2", "a2"]);
    let session = desk.engine().session("r").unwrap();
    let explained = session.explain(api::At::Head).unwrap();
    let by: Vec<&str> = explained
        .absent
        .iter()
        .map(|absent| absent.cause.as_str())
        .collect();
    let branch = explained
        .absent
        .iter()
        .filter(|absent| absent.cause.contains("roll"))
        .count();
    assert_eq!(branch, 2, "{by:?}");
    assert!(
        explained.absent.iter().all(|absent| absent.back.is_some()),
        "{explained:?}"
    );
}

#[test]
fn pain_61_a_marker_of_a_stale_process_moves_nothing() {
    let lines = [
        user("u1", None),
        model("a1", Some("u1"), &json!({})),
        user("u2", Some("a1")),
        model("a2", Some("u2"), &json!({})),
        line(
            "system",
            "m1",
            Some("a1"),
            &json!({"subtype": "session_end", "content": "bye"}),
        ),
    ];
    resumed(&lines, &["u1", "a1", "u2", "a2"], &[]);
}

#[test]
fn pain_62_the_newest_turn_is_there_after_many_folds() {
    let mut desk = Desk::new();
    for turn in 0..30 {
        desk.turn(&format!("T{turn}."));
        desk.fold(desk.head() + 1, &format!("up to {turn}"));
        if turn % 10 == 9 {
            desk.reopen();
        }
        let fork = desk
            .session()
            .fork(&format!("f{turn}"), api::At::Head)
            .unwrap();
        fork.append(&[r#"{"type":"message","role":"user","content":"the newest words"}"#])
            .unwrap();
        let sent = sent(&fork);
        assert!(
            sent.shows("the newest words") && sent.shows(&format!("up to {turn}")),
            "{turn}"
        );
    }
}

#[test]
fn pain_63_a_fork_leaves_its_parent_where_it_is() {
    let mut desk = Desk::new();
    desk.turn("one");
    desk.says("and?");
    let (head, digest) = (desk.head(), desk.digest());
    let fork = desk.session().fork("child", api::At::Seq(head)).unwrap();
    fork.append(&[r#"{"type":"message","role":"user","content":"in the child"}"#])
        .unwrap();
    assert!(sent(&fork).shows("in the child"));
    drop(fork);
    desk.reopen();
    assert_eq!((desk.head(), desk.digest()), (head, digest));
    assert!(!desk.sent().shows("in the child"));
    let names: Vec<String> = desk
        .engine()
        .list(&api::List::default())
        .unwrap()
        .sessions
        .into_iter()
        .map(|line| line.session)
        .collect();
    assert!(
        names.contains(&"s".into()) && names.contains(&"child".into()),
        "{names:?}"
    );
}
