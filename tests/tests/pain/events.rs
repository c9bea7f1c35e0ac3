//! Section 14: failures of hosts that keep events.

use crate::desk::Desk;
use crate::live::{Live, said};
use recount::{ErrorKind, api};
use serde_json::{Value, json};

#[test]
fn pain_93_recovery_keeps_every_event_that_was_acknowledged() {
    let desk = Desk::new();
    for turn in 0..50 {
        desk.turn(&turn.to_string());
    }
    desk.fold(desk.head() + 1, "s");
    for turn in 50..130 {
        desk.turn(&turn.to_string());
    }
    let synced = desk.session().sync().unwrap();
    assert_eq!(synced.durable, Some(desk.head()));
    // As after a crash: the files as they lie, nothing closed.
    let copy = tempfile::tempdir().unwrap();
    copied(desk.folder(), copy.path());
    let engine = recount_tests::host::engine(copy.path()).unwrap();
    let session = engine.session("s").unwrap();
    assert_eq!(session.status().unwrap().head, desk.head());
    let shown = session
        .project(api::Project {
            heal: true,
            ..Default::default()
        })
        .unwrap();
    assert_eq!(shown.digest, desk.digest());
    assert!(session.verify().unwrap().problems.is_empty());
}

fn copied(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        if old.is_dir() {
            copied(&old, &new);
        } else if old.is_file() {
            std::fs::copy(old, new).unwrap();
        }
    }
}

#[test]
fn pain_94_a_session_whose_first_record_is_lost_is_shown() {
    for without_store in [false, true] {
        let mut desk = Desk::new();
        desk.turn("one");
        desk.says("and?");
        let head = desk.head();
        desk.reopen_after(|folder| {
            damage_first_record(&folder.join("segments/0000000000000000.seg"));
            if without_store {
                std::fs::remove_dir_all(folder.join("store")).unwrap();
            }
        });
        let verified = desk.session().verify().unwrap();
        assert_eq!(verified.state, api::State::Damaged, "{verified:?}");
        assert_eq!(
            (verified.damaged[0].first, verified.damaged[0].last),
            (0, 0)
        );
        assert!(desk.head() >= head);
        let sent = desk.sent();
        assert!(sent.shows("question one") && sent.shows("and?"));
        desk.answers("still here");
        desk.says("good");
        assert!(desk.sent().shows("still here"));
    }
}

/// Turns a bit in the frame behind the segment's opening one: that of the first record.
fn damage_first_record(segment: &std::path::Path) {
    let mut bytes = std::fs::read(segment).unwrap();
    let frames: Vec<usize> = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, window)| *window == b"RCF\x01")
        .map(|(at, _)| at)
        .collect();
    bytes[frames[1] + 100] ^= 1;
    std::fs::write(segment, bytes).unwrap();
}

#[test]
fn pain_95_a_rollback_reads_what_a_fold_put_away() {
    let mut desk = Desk::new();
    for turn in 0..25 {
        desk.turn(&format!("T{turn}."));
    }
    let place = desk.head() - 30;
    let there = desk.project(api::At::Seq(place)).digest;
    desk.fold(desk.head() + 1, "s");
    desk.turn("after");
    desk.reopen();
    let back = desk.session().rollback(api::To::Seq(place)).unwrap();
    assert_eq!(
        (back.digest.as_deref(), desk.digest()),
        (Some(there.as_str()), there.clone())
    );
}

#[test]
fn pain_96_a_bad_last_event_ends_no_session() {
    let mut desk = Desk::new();
    desk.turn("one");
    desk.says("and?");
    let before = desk.digest();
    for bad in [
        json!({"type": "compact_commit", "payload": "garbage"}),
        json!({"type": "compact_commit", "keep_from": "x", "summary": 7}),
        json!({"type": "compact_commit", "first": 9, "last": 1, "summary": "s"}),
        json!({"type": "compact_commit", "keep_from": 9_999, "summary": "s"}),
    ] {
        let error = desk.try_log(&bad).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Rejected),
            "{bad}: {error}"
        );
    }
    let newer = serde_json::value::to_raw_value(
        &json!({"type": "compact_commit_9", "payload": {"garbage": [1, 2]}}),
    )
    .unwrap();
    let ask = api::Append {
        events: vec![newer],
        unknown: Some("keep".into()),
        ..Default::default()
    };
    desk.session().append_with(ask).unwrap();
    assert_eq!(desk.digest(), before);
    desk.reopen();
    assert_eq!(desk.digest(), before);
    let fork = desk.session().fork("f", api::At::Head).unwrap();
    fork.append(&[r#"{"type":"message","role":"user","content":"in the fork"}"#])
        .unwrap();
    assert!(crate::desk::sent(&fork).shows("in the fork"));
}

#[test]
fn pain_97_what_a_session_began_with_is_never_rolled_away() {
    let desk = Desk::new();
    let system = desk.log(&json!({"type": "system", "content": "Be brief."}));
    desk.turn("one");
    desk.session().rollback(api::To::Seq(system)).unwrap();
    desk.says("question");
    let sent = desk.sent();
    assert!(sent.shows("Be brief.") && !sent.shows("question one"));
    let status = desk.session().status().unwrap();
    assert_eq!(status.model.as_deref(), Some("claude-sonnet-5"));
}

#[test]
fn pain_98_a_fold_leaves_its_trace() {
    let mut desk = Desk::new();
    let first = desk.turn("one");
    desk.turn("two");
    let last = desk.head();
    let commit = desk.fold(last + 1, "what was said");
    desk.says("and?");
    desk.reopen();
    let logged: Value =
        serde_json::from_str(desk.session().log(commit, 1).unwrap().events[0].get()).unwrap();
    assert_eq!(
        (&logged["first"], &logged["last"], &logged["summary"]),
        (&json!(first), &json!(last), &json!("what was said"))
    );
    assert_eq!(logged["covered"].as_array().map(Vec::len), Some(4));
    let explained = desk.session().explain(api::At::Head).unwrap();
    let hidden: Vec<_> = explained
        .absent
        .iter()
        .filter(|absent| absent.by == Some(commit))
        .collect();
    assert_eq!(hidden.len(), 4, "{:?}", explained.absent);
    assert_eq!(desk.session().verify().unwrap().state, api::State::Clean);
}

#[test]
fn pain_98_a_compaction_says_that_it_began_what_it_covers_and_how_it_ended() {
    let mut live = Live::new("none", 200_000, &json!({}));
    for turn in 0..4 {
        live.turn("go on", &said(&format!("turn{turn}"), 100))
            .tokens();
    }
    live.desk.says("and?");
    let before = live.desk.digest();
    let plan = live
        .desk
        .session()
        .compact(api::Compact::default())
        .unwrap();
    let body = |request: &api::Request| request.body.get().to_owned();
    let asked = body(&plan.requests[0].request);
    // It began, and nobody came back.
    live.desk.reopen();
    let planned = live.logged("compact_plan").pop().unwrap();
    assert_eq!(
        (&planned["id"], &planned["trigger"]),
        (&json!(plan.compaction), &json!("manual"))
    );
    assert!(
        planned["first"].is_u64() && planned["last"].is_u64() && planned["instruction"].is_string()
    );
    let open = live.desk.session().actions().unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(
        body(open[0].request.as_ref().unwrap()),
        asked,
        "the same request, byte for byte"
    );
    assert_eq!(live.desk.digest(), before, "a plan shows nothing");
    // Given up, and why.
    let ask = api::Abandon {
        session: "s".into(),
        compaction: plan.compaction.clone(),
        reason: "the person changed her mind".into(),
        ..Default::default()
    };
    live.desk.engine().abandon(&ask).unwrap();
    let abandoned = live.logged("compact_abandon").pop().unwrap();
    assert_eq!(abandoned["reason"], "the person changed her mind");
    assert!(live.desk.session().actions().unwrap().is_empty());
    // And once to its end.
    let plan = live
        .desk
        .session()
        .compact(api::Compact::default())
        .unwrap();
    assert_eq!(live.summarise(&plan.compaction, plan.requests), "committed");
    live.desk.reopen();
    let commit = live.logged("compact_commit").pop().unwrap();
    assert_eq!(commit["id"], json!(plan.compaction));
    assert_eq!(
        (&commit["boundary"]["by"], &commit["boundary"]["trigger"]),
        (&json!("model"), &json!("manual"))
    );
    assert!(commit["after"].as_u64() < commit["before"].as_u64());
    assert_eq!(
        live.logged("usage").pop().unwrap()["compaction"],
        commit["id"]
    );
    let listed = live.status().compactions;
    assert_eq!(
        (listed.len(), listed[0].id.as_deref()),
        (1, Some(plan.compaction.as_str()))
    );
}
