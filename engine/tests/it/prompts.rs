//! Projecting, preparing, explaining, comparing, measuring.

use crate::common::{CHAT, Fixture, answers, body, digest, says};
use recount::{ErrorKind, api};
use serde_json::value::RawValue;

#[test]
fn without_a_profile_a_prompt_needs_one() {
    let fixture = Fixture::new();
    let session = fixture.engine().create("s", None).unwrap();
    session.append(CHAT).unwrap();
    let error = session.project(api::Project::default()).unwrap_err();
    assert_eq!(
        (error.kind(), error.field()),
        (ErrorKind::Invalid, Some("profile"))
    );
    let named = session
        .project(api::Project {
            profile: Some("gpt-4.1".into()),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(
        (named.wire.as_str(), named.model.as_str()),
        ("openai_chat", "gpt-4.1")
    );
    let back = session.rollback(api::To::Seq(2)).unwrap();
    assert!(back.digest.is_none());
}

#[test]
fn a_wire_that_is_not_rendered_is_refused_not_rendered_as_another() {
    let fixture = Fixture::new();
    let session = fixture.engine().create("s", None).unwrap();
    session.append(CHAT).unwrap();
    for wire in ["openai_responses", "gemini"] {
        let profile = format!(
            r#"{{"provider":"p","model":"m","wire":"{wire}","window":100000,"max_output":1000}}"#
        );
        let ask = |wire: Option<&str>| api::Project {
            profile: api::Spec::json(&profile),
            wire: wire.map(str::to_owned),
            ..Default::default()
        };
        let error = session.project(ask(None)).unwrap_err();
        assert_eq!(
            (error.kind(), error.field()),
            (ErrorKind::Invalid, Some("wire"))
        );
        assert_eq!(
            session.project(ask(Some("anthropic"))).unwrap().wire,
            "anthropic"
        );
    }
}

#[test]
fn text_object_and_file_hold_the_same_body() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let ask = |form| {
        session
            .project(api::Project {
                form,
                ..Default::default()
            })
            .unwrap()
    };
    let text = ask(api::As::Text);
    let words: String = serde_json::from_str(text.request.as_ref().unwrap().body.get()).unwrap();
    assert_eq!(words.len() as u64, text.bytes);
    assert_eq!(ask(api::As::Object).request.unwrap().body.get(), words);
    let file: String =
        serde_json::from_str(ask(api::As::File).request.unwrap().body.get()).unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), words);
    assert!(ask(api::As::None).request.is_none());
}

#[test]
fn pieces_add_up_and_since_lists_what_is_new() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let ask = |since: Option<String>| {
        session
            .project(api::Project {
                pieces: true,
                since,
                ..Default::default()
            })
            .unwrap()
    };
    let one = ask(None);
    let pieces = one.pieces.unwrap();
    assert_eq!(
        pieces.iter().map(|piece| piece.tokens).sum::<u64>(),
        one.tokens.total
    );
    session.append(&[&answers("fine"), &says("more")]).unwrap();
    let two = ask(Some(one.digest));
    assert_eq!(two.pieces.unwrap().len(), 2);
    assert_eq!(two.first_changed, None);
    assert!(
        session
            .project(api::Project {
                since: Some("zz".into()),
                ..Default::default()
            })
            .is_err()
    );
}

#[test]
fn prepare_logs_once_what_it_decides() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let head = session.status().unwrap().head;
    let one = session
        .prepare(api::Prepare {
            key: Some("p".into()),
            ..Default::default()
        })
        .unwrap();
    // The rendering's version, the counts, the issue.
    assert_eq!(one.head, head + 3);
    let again = session
        .prepare(api::Prepare {
            key: Some("p".into()),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(
        (again.issued, again.head, again.prompt.digest),
        (one.issued, one.head, one.prompt.digest)
    );
    let next = session.prepare(api::Prepare::default()).unwrap();
    assert_eq!(
        next.head,
        one.head + 1,
        "counts are logged once, the version once"
    );
}

#[test]
fn a_prompt_that_waits_issues_nothing() {
    let fixture = Fixture::new();
    let session = fixture
        .engine()
        .create("s", Some("claude-opus-4-6".into()))
        .unwrap();
    session.append(&[&says("hi"), &answers("hello")]).unwrap();
    let head = session.status().unwrap().head;
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    assert_eq!(
        (prepared.prompt.outcome, prepared.issued),
        (api::Outcome::Waiting, None)
    );
    assert_eq!(prepared.prompt.waiting.unwrap().whom, "person");
    assert_eq!(session.status().unwrap().head, head);
}

#[test]
fn a_request_of_its_own_profile_and_parameters_verifies() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let params = RawValue::from_string(r#"{"temperature":0.5}"#.into()).unwrap();
    let own = r#"{"provider":"anthropic","model":"m","window":100000,"max_output":1000,"params":{"top_k":3}}"#;
    let ask = api::Prepare {
        params: Some(params),
        profile: api::Spec::json(own),
        ..Default::default()
    };
    let prepared = session.prepare(ask).unwrap();
    let text: String = serde_json::from_str(prepared.prompt.request.unwrap().body.get()).unwrap();
    assert!(
        text.contains(r#""temperature":0.5"#) && text.contains(r#""top_k":3"#),
        "{text}"
    );
    let verified = session.verify().unwrap();
    assert_eq!(
        (verified.state, verified.prompts),
        (api::State::Clean, 1),
        "{verified:?}"
    );
}

#[test]
fn rule_21_a_hidden_session_injection_comes_again() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let inject =
        r#"{"type":"inject","slot":"rules","content":"Always be kind.","lifetime":"session"}"#;
    session
        .append(&[&answers("a"), inject, &says("b"), &answers("c"), &says("d")])
        .unwrap();
    let head = session.status().unwrap().head;
    session
        .append(&[&format!(
            r#"{{"type":"compact_commit","keep_from":{head},"summary":"s"}}"#
        )])
        .unwrap();
    assert!(!body(&session).contains("Always be kind."));
    session.prepare(api::Prepare::default()).unwrap();
    assert_eq!(body(&session).matches("Always be kind.").count(), 1);
    session.prepare(api::Prepare::default()).unwrap();
    assert_eq!(body(&session).matches("Always be kind.").count(), 1);
    assert_eq!(session.verify().unwrap().prompts, 2);
}

#[test]
fn what_does_not_fit_is_impossible_in_numbers() {
    let fixture = Fixture::new();
    let own = r#"{"provider":"openai","model":"m","window":60,"max_output":20}"#;
    let session = fixture.engine().create("s", api::Spec::json(own)).unwrap();
    session
        .append(&[&says(&"many words here ".repeat(100))])
        .unwrap();
    let projected = session.project(api::Project::default()).unwrap();
    assert_eq!(projected.outcome, api::Outcome::Impossible);
    let impossible = projected.impossible.unwrap();
    assert!(impossible.floor > impossible.limit && impossible.limit == 60);
    assert!(projected.request.is_none() && !impossible.largest.is_empty());
}

#[test]
fn a_usage_measures_the_prompt_that_it_names() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    let status = session.status().unwrap();
    assert_eq!(
        (status.source.as_str(), status.factor_milli),
        ("estimated", 1_600)
    );
    let usage = format!(
        r#"{{"type":"usage","request":"m2","issued":"{}","input":500,"output":7,"cache_read":100}}"#,
        prepared.prompt.digest
    );
    session.append(&[&usage]).unwrap();
    let status = session.status().unwrap();
    assert_eq!(
        (status.source.as_str(), status.tokens.total, status.measured),
        ("measured", 600, 600)
    );
    assert_eq!(
        (
            status.usage.input,
            status.usage.cache_read,
            status.usage.requests
        ),
        (500, 100, 1)
    );
    session
        .append(&[&answers("fine"), &says("more words")])
        .unwrap();
    let status = session.status().unwrap();
    assert_eq!(
        (status.source.as_str(), status.measured),
        ("estimated", 600)
    );
    assert!(status.tokens.total > 600);
    session.rollback(api::To::Seq(6)).unwrap();
    let after = session.status().unwrap();
    assert_eq!(
        after.usage, status.usage,
        "a rollback takes nothing from what was used"
    );
}

#[test]
fn explain_adds_up_and_knows_the_way_back() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    session.append(&[&answers("a"), &says("b")]).unwrap();
    let head = session.status().unwrap().head;
    let commit = session
        .append(&[&format!(
            r#"{{"type":"compact_commit","keep_from":{head},"summary":"s"}}"#
        )])
        .unwrap();
    let explained = session.explain(api::At::Head).unwrap();
    assert_eq!(
        explained
            .shown
            .iter()
            .map(|piece| piece.tokens)
            .sum::<u64>(),
        explained.tokens.total
    );
    let question = explained
        .absent
        .iter()
        .find(|absent| absent.event == 4)
        .unwrap();
    assert_eq!(question.by, Some(commit.first));
    assert_eq!(
        question.back.as_ref().unwrap().get(),
        format!(r#"{{"undo":{{"event":{}}}}}"#, commit.first)
    );
    session.rollback(api::To::Seq(4)).unwrap();
    let explained = session.explain(api::At::Head).unwrap();
    let answer = explained
        .absent
        .iter()
        .find(|absent| absent.event == 5)
        .unwrap();
    assert!(
        answer.back.as_ref().unwrap().get().contains("rollback"),
        "{answer:?}"
    );
}

#[test]
fn diff_finds_the_first_byte() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let head = session.status().unwrap().head;
    let side = |at| api::Side {
        at,
        ..Default::default()
    };
    assert!(
        session
            .diff(side(api::At::Head), side(api::At::Seq(head)))
            .unwrap()
            .equal
    );
    session
        .append(&[r#"{"type":"replace","block":[6,0],"with":"[cleared]"}"#])
        .unwrap();
    let differed = session
        .diff(side(api::At::Seq(head)), side(api::At::Head))
        .unwrap();
    assert!(!differed.equal && differed.added.is_empty() && differed.removed.is_empty());
    assert_eq!(differed.changed.len(), 1);
    assert!(differed.first.unwrap().byte > 0);
    let chat = api::Side {
        wire: Some("openai_chat".into()),
        ..Default::default()
    };
    assert!(!session.diff(side(api::At::Head), chat).unwrap().equal);
}

#[test]
fn a_prompt_changes_nothing() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let head = session.status().unwrap().head;
    for _ in 0..3 {
        digest(&session);
        session.explain(api::At::Head).unwrap();
    }
    assert_eq!(session.status().unwrap().head, head);
}

#[test]
fn another_models_usage_measures_nothing() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    let digest = prepared.prompt.digest;
    session
        .append(&[&format!(
            r#"{{"type":"usage","request":"m2","issued":"{digest}","input":500,"output":7}}"#
        )])
        .unwrap();
    let other = api::Open {
        session: "s".into(),
        profile: Some("claude-haiku-4-5".into()),
        ..Default::default()
    };
    session.engine().open_session(&other).unwrap();
    let status = session.status().unwrap();
    assert_eq!((status.measured, status.factor_milli), (0, 1_600));
}

#[test]
fn a_recordings_usage_is_anchored_before_its_response() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    session.append(&[r#"{"type":"message","role":"assistant","response":"m2","content":[{"type":"text","text":"It is forty-two."}]}"#, r#"{"type":"usage","request":"m2","input":900,"output":7}"#, &says("thanks")]).unwrap();
    let status = session.status().unwrap();
    assert_eq!(
        (status.source.as_str(), status.measured),
        ("estimated", 900)
    );
    assert!(
        status.tokens.total > 900 && status.tokens.total < 1_000,
        "{status:?}"
    );
    session
        .append(&[r#"{"type":"replace","block":[6,0],"with":"-"}"#])
        .unwrap();
    let freed = session.status().unwrap();
    assert!(freed.measured < 900, "{freed:?}");
}

#[test]
fn an_issued_prompt_that_changed_names_its_first_piece() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    session.append(&[&answers("fine"), &says("more")]).unwrap();
    assert_eq!(
        session
            .project(api::Project::default())
            .unwrap()
            .first_changed,
        None
    );
    let receipt = session
        .append(&[r#"{"type":"replace","block":[6,0],"with":"-"}"#])
        .unwrap();
    let changed = session
        .project(api::Project::default())
        .unwrap()
        .first_changed
        .unwrap();
    assert_eq!(changed.event, Some(receipt.first));
    let named = session
        .project(api::Project {
            since: Some(prepared.prompt.digest.clone()),
            pieces: true,
            ..Default::default()
        })
        .unwrap();
    assert_eq!(named.first_changed, Some(changed.clone()));
    let reopened = {
        session.engine().close().unwrap();
        drop(session);
        fixture.engine().session("s").unwrap()
    };
    assert_eq!(
        reopened
            .project(api::Project::default())
            .unwrap()
            .first_changed,
        Some(changed)
    );
}

#[test]
fn slices_are_the_body() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let prompt = session.prompt(api::Project::default()).unwrap();
    let joined: Vec<u8> = prompt.slices().flatten().copied().collect();
    assert_eq!(
        (joined.len() as u64, &joined),
        (prompt.answer().bytes, &prompt.body())
    );
    let text = session.project(api::Project::default()).unwrap();
    let words: String = serde_json::from_str(text.request.unwrap().body.get()).unwrap();
    assert_eq!(words.as_bytes(), joined);
    let (prepared, prompt) = session
        .prepare_prompt(api::Prepare {
            key: Some("k".into()),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(
        (prompt.body(), prepared.prompt.digest.as_str()),
        (joined.clone(), text.digest.as_str())
    );
    let (again, prompt) = session
        .prepare_prompt(api::Prepare {
            key: Some("k".into()),
            ..Default::default()
        })
        .unwrap();
    assert_eq!((again.issued, prompt.body()), (prepared.issued, joined));
}

#[test]
fn an_earlier_cut_and_a_rollback_are_measured_by_the_usages_of_their_own() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let said = |turn: u64| {
        let answer = format!(
            r#"{{"type":"message","role":"assistant","response":"r{turn}","content":[{{"type":"text","text":"answer {turn}"}}]}}"#
        );
        let usage = format!(
            r#"{{"type":"usage","request":"r{turn}","input":{},"output":7}}"#,
            20_000 + turn
        );
        session.append(&[&answer, &usage, &says("more")]).unwrap();
        session.status().unwrap().head
    };
    let early = said(0);
    let estimate = |at| {
        let ask = api::Project {
            at,
            ..Default::default()
        };
        session.project(ask).unwrap().estimate
    };
    let then = estimate(api::At::Head);
    // Measured, with a hundredth of margin, and the few words behind.
    assert!((20_000..20_300).contains(&then), "{then}");
    for turn in 1..=80 {
        said(turn);
    }
    assert_eq!(estimate(api::At::Seq(early)), then);
    session.rollback(api::To::Seq(early)).unwrap();
    assert_eq!(estimate(api::At::Head), then);
}

#[test]
fn what_is_not_there_is_said_not_shown_as_nothing() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let engine = session.engine();
    let beyond = api::Explain {
        session: session.name().to_owned(),
        block: Some((99_999, 0)),
        ..Default::default()
    };
    assert_eq!(
        engine.explain(&beyond).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let beyond = api::Sync {
        session: session.name().to_owned(),
        seq: Some(1_000_000),
    };
    assert_eq!(
        engine.sync(&beyond).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}
