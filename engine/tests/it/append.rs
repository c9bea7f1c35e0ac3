//! Appending: batches, keys, expectations, drafts, refusals that leave nothing.

use crate::common::{CALL, CHAT, Fixture, answers, body, digest, says};
use recount::{ErrorKind, api};
use serde_json::value::RawValue;

fn raw(events: &[&str]) -> Vec<Box<RawValue>> {
    events
        .iter()
        .map(|event| RawValue::from_string((*event).to_owned()).unwrap())
        .collect()
}

fn keyed(key: &str, events: &[&str]) -> api::Append {
    api::Append {
        key: Some(key.into()),
        events: raw(events),
        ..Default::default()
    }
}

#[test]
fn one_misfit_rejects_all_and_names_its_place() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let before = (digest(&session), session.status().unwrap().head);
    let error = session
        .append(&[
            &says("more"),
            r#"{"type":"tool_result","call":"nobody","content":"x"}"#,
        ])
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.index()),
        (ErrorKind::Rejected, Some(1)),
        "{error}"
    );
    let error = session
        .append(&[&says("more"), r#"{"type":"message","content":"x"}"#])
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.index()),
        (ErrorKind::Invalid, Some(1)),
        "{error}"
    );
    assert_eq!((digest(&session), session.status().unwrap().head), before);
}

#[test]
fn a_batch_may_name_its_own_positions() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let head = session.status().unwrap().head;
    let rollback = format!(r#"{{"type":"rollback","to":{{"seq":{}}}}}"#, head + 1);
    session
        .append(&[&says("first words"), &says("second words"), &rollback])
        .unwrap();
    let text = body(&session);
    assert!(
        text.contains("first words") && !text.contains("second words"),
        "{text}"
    );
}

#[test]
fn rule_07_a_key_is_done_once() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let first = session.append_with(keyed("k", &[&says("once")])).unwrap();
    let head = session.append(&[&answers("yes")]).unwrap().head;
    let later = r#"{"at":99,"type":"message","role":"user","content":"once"}"#;
    let again = session
        .append_with(api::Append {
            expect: Some(0),
            ..keyed("k", &[later])
        })
        .unwrap();
    assert_eq!(
        (again.first, again.head, again.repeated),
        (first.first, first.head, true)
    );
    assert_eq!(session.status().unwrap().head, head);
    let error = session
        .append_with(keyed("k", &[&says("twice")]))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
}

#[test]
fn rule_07_keys_outlive_rollbacks_and_reopening() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let at = session.status().unwrap().head;
    let first = session.append_with(keyed("k", &[&says("once")])).unwrap();
    session.rollback(api::To::Seq(at)).unwrap();
    session.engine().close().unwrap();
    drop(session);
    let session = fixture.engine().session("s").unwrap();
    let again = session.append_with(keyed("k", &[&says("once")])).unwrap();
    assert_eq!((again.first, again.repeated), (first.first, true));
    let fork = session.fork("f", api::At::Head).unwrap();
    assert!(
        !fork
            .append_with(keyed("k", &[&says("once")]))
            .unwrap()
            .repeated,
        "a fork knows none of its parent's keys"
    );
}

#[test]
fn a_repeated_rollback_goes_back_once() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    session
        .append(&[&answers("a"), &says("b"), &answers("c"), &says("d")])
        .unwrap();
    let ask = || api::Rollback {
        session: String::new(),
        to: api::To::Turns(1),
        key: Some("r".into()),
        expect: None,
        at: None,
    };
    let one = session.rollback_with(ask()).unwrap();
    let two = session.rollback_with(ask()).unwrap();
    assert_eq!(
        (one.event, one.to, one.digest),
        (two.event, two.to, two.digest)
    );
}

#[test]
fn expect_compares_with_the_head() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let head = session.status().unwrap().head;
    let wrong = api::Append {
        expect: Some(head + 1),
        events: raw(&[&says("x")]),
        ..Default::default()
    };
    let error = session.append_with(wrong).unwrap_err();
    assert_eq!(
        (error.kind(), error.head()),
        (ErrorKind::Conflict, Some(head))
    );
    let right = api::Append {
        expect: Some(head),
        events: raw(&[&says("x")]),
        ..Default::default()
    };
    session.append_with(right).unwrap();
}

#[test]
fn rule_35_unknown_types_are_refused_or_kept() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let event = r#"{"type":"weather","sky":"grey"}"#;
    assert_eq!(
        session.append(&[event]).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let keep = api::Append {
        unknown: Some("keep".into()),
        events: raw(&[event]),
        ..Default::default()
    };
    let receipt = session.append_with(keep).unwrap();
    let log = session.log(receipt.first, 1).unwrap();
    assert!(log.events[0].get().contains("weather"), "{}", log.events[0]);
}

#[test]
fn only_the_engine_writes_its_own_kinds() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let error = session
        .append(&[r#"{"type":"rendering","version":1}"#])
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.field()),
        (ErrorKind::Invalid, Some("type"))
    );
}

#[test]
fn an_interrupt_closes_the_draft_and_every_open_call() {
    let fixture = Fixture::new();
    let session = fixture
        .engine()
        .create("s", Some("claude-opus-4-5".into()))
        .unwrap();
    session.append(&[CHAT[2], CALL]).unwrap();
    let waiting = session.project(api::Project::default()).unwrap();
    assert_eq!(
        waiting.waiting.map(|waiting| waiting.whom).as_deref(),
        Some("results")
    );
    let draft = r#"{"type":"draft","response":"m2","index":0,"block":{"type":"text","text":"half a thou"}}"#;
    let head = session.status().unwrap().head;
    assert_eq!(session.append(&[draft]).unwrap().first, head + 1);
    let done = session.interrupt(api::Interrupt::default()).unwrap();
    assert_eq!((done.closed.len(), done.draft), (1, true));
    assert_eq!(done.closed[0].call, "t1");
    assert_eq!(done.durable, Some(done.head));
    let text = body(&session);
    assert!(
        text.contains("half a thou") && text.contains("[Interrupted"),
        "{text}"
    );
    let nothing = session.interrupt(api::Interrupt::default()).unwrap();
    assert_eq!((nothing.closed.len(), nothing.head), (0, done.head));
}

#[test]
fn after_reopening_an_open_call_is_told_of_and_can_be_closed() {
    let fixture = Fixture::new();
    {
        let session = fixture
            .engine()
            .create("s", Some("claude-opus-4-5".into()))
            .unwrap();
        session.append(&[CHAT[2], CALL]).unwrap();
    }
    let engine = fixture.engine();
    let opened = engine
        .open_session(&api::Open {
            session: "s".into(),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(
        (
            opened.open_calls[0].tool.as_str(),
            opened.open_calls[0].call.as_str()
        ),
        ("read", "t1")
    );
    let session = engine.session("s").unwrap();
    let (seq, index) = opened.open_calls[0].block;
    let closing = format!(
        r#"{{"type":"tool_result","block":[{seq},{index}],"status":"unknown","content":"The host stopped."}}"#
    );
    session.append(&[&closing]).unwrap();
    assert_eq!(session.status().unwrap().open_calls, 0);
}

#[test]
fn a_result_is_said_again_or_refused() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    session.append(&[CHAT[4]]).unwrap();
    let error = session
        .append(&[r#"{"type":"tool_result","call":"t1","content":"other"}"#])
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rejected, "{error}");
}

#[test]
fn rule_15_a_summary_must_be_smaller() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    session.append(&[&answers("fine"), &says("go on")]).unwrap();
    let head = session.status().unwrap().head;
    let long = "long ".repeat(2_000);
    let commit = format!(r#"{{"type":"compact_commit","keep_from":{head},"summary":"{long}"}}"#);
    let error = session.append(&[&commit]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rejected, "{error}");
    assert_eq!(session.status().unwrap().head, head);
}

#[test]
fn a_receipt_names_the_first_piece_that_changed() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    digest(&session);
    assert_eq!(
        session
            .append(&[&answers("fine"), &says("go on")])
            .unwrap()
            .first_changed,
        None
    );
    digest(&session);
    let replace = r#"{"type":"replace","block":[6,0],"with":"[cleared]"}"#;
    let receipt = session.append(&[replace]).unwrap();
    assert_eq!(
        receipt.first_changed.and_then(|changed| changed.event),
        Some(receipt.first)
    );
}

#[test]
fn ordered_events_are_synced_on_demand() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let ask = api::Append {
        durability: Some(api::Durability::Ordered),
        events: raw(&[&says("x")]),
        ..Default::default()
    };
    let receipt = session.append_with(ask).unwrap();
    let synced = session.sync().unwrap();
    assert_eq!(synced.durable, Some(receipt.head));
}

#[test]
fn a_final_message_ends_its_draft_also_within_a_batch() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let draft =
        r#"{"type":"draft","response":"m2","index":0,"block":{"type":"text","text":"half"}}"#;
    let whole = r#"{"type":"message","role":"assistant","response":"m2","content":[{"type":"text","text":"half and half"}]}"#;
    session.append(&[draft, whole]).unwrap();
    assert!(!session.interrupt(api::Interrupt::default()).unwrap().draft);
    session
        .append(&[&says("go on"), &draft.replace("m2", "m3")])
        .unwrap();
    assert!(session.append(&[draft, "{}"]).is_err());
    let done = session.interrupt(api::Interrupt::default()).unwrap();
    assert!(done.draft);
    let log = session.log(done.first, 1).unwrap();
    assert!(log.events[0].get().contains("m3"), "{}", log.events[0]);
}
