//! Checkpoints, rollbacks, undos.

use crate::common::{Fixture, answers, body, digest, says};
use recount::{ErrorKind, Session, api};

fn long(fixture: &Fixture) -> Session {
    let session = fixture.chat();
    session
        .append(&[&answers("a1"), &says("u2"), &answers("a2"), &says("u3")])
        .unwrap();
    session
}

#[test]
fn a_checkpoint_is_a_place_to_come_back_to() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    let marked = session.checkpoint("here").unwrap();
    let before = digest(&session);
    session.append(&[&answers("a3"), &says("u4")]).unwrap();
    let there = session
        .project(api::Project {
            at: api::At::Checkpoint("here".into()),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(
        (there.digest.clone(), there.cut),
        (before.clone(), marked.seq)
    );
    let back = session
        .rollback(api::To::Checkpoint("here".into()))
        .unwrap();
    assert_eq!(
        (back.to, back.at, back.digest),
        (marked.seq, marked.at, Some(before))
    );
    let error = session
        .rollback(api::To::Checkpoint("nowhere".into()))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn law_05_a_rollback_and_its_undo_restore_the_bytes() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    let (before, text) = (digest(&session), body(&session));
    let back = session.rollback(api::To::Turns(2)).unwrap();
    assert_ne!(back.digest.as_deref(), Some(before.as_str()));
    let undone = session.undo(back.event).unwrap();
    assert_eq!(undone.digest.as_deref(), Some(before.as_str()));
    assert_eq!(body(&session), text);
}

#[test]
fn rule_18_more_turns_than_there_are() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    assert_eq!(
        session.rollback(api::To::Turns(99)).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        session.rollback(api::To::Turns(0)).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert_eq!(session.status().unwrap().turns, 3);
}

#[test]
fn rule_17_a_rollback_in_time_says_what_it_passed_over() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    session
        .append(&[
            r#"{"type":"message","role":"user","content":"from the future","at":9999999999999}"#,
        ])
        .unwrap();
    let back_in_time = r#"{"type":"message","role":"user","content":"now","at":1800000000000}"#;
    let receipt = session.append(&[back_in_time]).unwrap();
    let back = session.rollback(api::To::Time(1_800_000_000_000)).unwrap();
    assert_eq!((back.to, back.skipped), (receipt.head, 1));
    assert!(back.why.is_some_and(|why| why.contains("clocks")));
    assert_eq!(
        session.rollback(api::To::Time(1)).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn an_undo_takes_out_one_event_and_keeps_what_came_later() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    let head = session.status().unwrap().head;
    let commit = format!(r#"{{"type":"compact_commit","keep_from":{head},"summary":"s"}}"#);
    let commit = session.append(&[&commit]).unwrap().first;
    session.append(&[&answers("later")]).unwrap();
    assert!(!body(&session).contains("forty-two"));
    session.undo(commit).unwrap();
    let text = body(&session);
    assert!(text.contains("forty-two") && text.contains("later"));
    assert_eq!(
        session.undo(commit).unwrap_err().kind(),
        ErrorKind::Rejected
    );
    assert_eq!(session.undo(4).unwrap_err().kind(), ErrorKind::Rejected);
    assert!(session.undo(9_999).is_err());
}

#[test]
fn the_future_is_refused() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    let head = session.status().unwrap().head;
    assert!(session.rollback(api::To::Seq(head + 1)).is_err());
    assert_eq!(session.status().unwrap().head, head);
    assert!(
        session
            .project(api::Project {
                at: api::At::Seq(head + 1),
                ..Default::default()
            })
            .is_err()
    );
}

#[test]
fn a_rollback_says_when_the_profile_changed() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    let head = session.status().unwrap().head;
    let other = api::Open {
        session: "s".into(),
        profile: Some("gpt-5".into()),
        ..Default::default()
    };
    let opened = session.engine().open_session(&other).unwrap();
    assert_eq!((opened.created, opened.head), (false, head + 1));
    assert_eq!(
        session.engine().open_session(&other).unwrap().head,
        head + 1,
        "the same profile is not appended again"
    );
    let back = session.rollback(api::To::Seq(head)).unwrap();
    assert!(back.why.is_some_and(|why| why.contains("profile")));
}
