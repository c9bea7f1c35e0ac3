//! What explanations and differences say, and instruction files, through the engine.

use crate::common::{Fixture, answers, digest, says};
use crate::status::{goes_on, session};
use recount::api;

#[test]
fn p3_and_p8_instructions_over_the_engine() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"claude-code"}"#);
    let ask = |path: &str, content: &str, scope| api::Instruct {
        path: path.into(),
        content: content.into(),
        scope,
        ..Default::default()
    };
    let bare = digest(&session);
    let root = ask("AGENTS.md", "Use tabs.", api::InstructScope::Root);
    let first = session.instruct(root.clone()).unwrap();
    assert!(first.changed);
    let again = session.instruct(root).unwrap();
    assert_eq!(
        (again.changed, again.event, again.head),
        (false, None, first.head)
    );
    let nested = ask("src/AGENTS.md", "Small files.", api::InstructScope::Nested);
    let shown = session.instruct(nested.clone()).unwrap();
    assert!(!session.instruct(nested.clone()).unwrap().changed);
    assert!(
        session
            .instruct(ask("x", "", api::InstructScope::Nested))
            .is_err()
    );
    let keyed = api::Instruct {
        key: Some("k".into()),
        ..ask("b.md", "B.", api::InstructScope::Root)
    };
    let one = session.instruct(keyed.clone()).unwrap();
    assert_eq!(session.instruct(keyed).unwrap(), one);
    // A fold hides it; the next prompt shows it again, once.
    goes_on(&session);
    let head = session.status().unwrap().head;
    session
        .append(&[&format!(
            r#"{{"type":"compact_commit","keep_from":{head},"summary":"s"}}"#
        )])
        .unwrap();
    session.prepare(api::Prepare::default()).unwrap();
    assert!(!session.instruct(nested).unwrap().changed);
    let body = crate::common::body(&session);
    assert_eq!(body.matches("Small files.").count(), 1);
    assert!(body.contains("Use tabs."));
    // The way back.
    session
        .rollback(api::To::Seq(shown.event.unwrap() - 1))
        .unwrap();
    assert!(!crate::common::body(&session).contains("Small files."));
    session
        .rollback(api::To::Seq(first.event.unwrap() - 1))
        .unwrap();
    assert_eq!(digest(&session), bare);
}

#[test]
fn explain_names_absent_blocks_and_adds_up_to_the_body() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    session
        .append(&[
            r#"{"type":"policy","preset":"claude-code"}"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"So."}]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":"AAAA"}}]}"#,
        ])
        .unwrap();
    let head = session.status().unwrap().head;
    let replace = session
        .append(&[r#"{"type":"replace","block":[6,0],"with":"[cleared]"}"#])
        .unwrap()
        .first;
    let explained = session.explain(api::At::Head).unwrap();
    let tokens: u64 = explained.shown.iter().map(|piece| piece.tokens).sum();
    assert_eq!(tokens, explained.tokens.total);
    let bytes: u64 = explained.shown.iter().map(|piece| piece.bytes).sum();
    assert_eq!(bytes + explained.frame_bytes, explained.bytes);
    assert_eq!(explained.overhead_tokens, 400);
    assert_eq!(
        explained.metered,
        (tokens * explained.factor_milli).div_ceil(1_000) + 400
    );
    let of = |block| {
        explained
            .absent
            .iter()
            .find(|absent| absent.block == Some(block))
            .unwrap_or_else(|| panic!("{block:?}: {:?}", explained.absent))
    };
    let replaced = of((6, 0));
    assert_eq!(replaced.by, Some(replace));
    assert_eq!(
        replaced.back.as_ref().unwrap().get(),
        format!(r#"{{"undo":{{"event":{replace}}}}}"#)
    );
    assert_eq!(of((head - 1, 0)).cause, "left out: thinking off");
    assert!(of((head, 1)).cause.contains("image"));
    // One block alone.
    let one = session
        .engine()
        .explain(&api::Explain {
            session: "s".into(),
            at: api::At::Head,
            block: Some((6, 0)),
        })
        .unwrap();
    assert_eq!((one.shown.len(), one.absent.len()), (1, 1));
}

#[test]
fn diff_names_the_event_behind_the_first_byte() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let head = session.status().unwrap().head;
    let before = crate::common::body(&session);
    let replace = session
        .append(&[r#"{"type":"replace","block":[6,0],"with":"[cleared]"}"#])
        .unwrap()
        .first;
    let side = |at| api::Side {
        at,
        ..Default::default()
    };
    let differed = session
        .diff(side(api::At::Seq(head)), side(api::At::Head))
        .unwrap();
    let first = differed.first.unwrap();
    assert_eq!(first.event, Some(replace));
    let place = before.find("forty-two").unwrap() as u64;
    assert_eq!(first.byte, place, "the first byte of the body");
    // The other way round, and across a fold.
    let back = session
        .diff(side(api::At::Head), side(api::At::Seq(head)))
        .unwrap();
    assert_eq!(back.first.unwrap().byte, place);
    let commit = session
        .append(&[&answers(&"long ".repeat(50)), &says("b")])
        .and_then(|done| {
            session.append(&[&format!(
                r#"{{"type":"compact_commit","keep_from":{},"summary":"s"}}"#,
                done.head
            )])
        })
        .unwrap()
        .first;
    let folded = session
        .diff(side(api::At::Seq(commit - 1)), side(api::At::Head))
        .unwrap();
    assert_eq!(folded.first.unwrap().event, Some(commit));
}

#[test]
fn diff_shows_what_a_policy_would_do() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let head = session.status().unwrap().head;
    let long = "word ".repeat(20_000);
    session
        .append(&[
            r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Grep","input":{}}]}"#,
            &format!(r#"{{"type":"tool_result","call":"t2","content":"{long}"}}"#),
        ])
        .unwrap();
    let under = |policy: &str| api::Side {
        policy: Some(policy.into()),
        ..Default::default()
    };
    let differed = session
        .diff(api::Side::default(), under("claude-code"))
        .unwrap();
    assert!(!differed.equal);
    assert_eq!(differed.changed.len(), 1);
    assert_eq!(differed.changed[0].block, Some((head + 2, 0)));
    assert!(differed.tokens_b.results < differed.tokens_a.results);
    assert!(
        session
            .diff(under("none"), api::Side::default())
            .unwrap()
            .equal
    );
    // Nothing was logged by asking.
    assert_eq!(session.status().unwrap().head, head + 2);
    let error = session
        .diff(api::Side::default(), under("nothing"))
        .unwrap_err();
    assert_eq!(error.field(), Some("policy"));
}
