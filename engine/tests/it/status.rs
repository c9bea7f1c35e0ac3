//! The meter, the lines, the forecast, what compactions did: T1, T2, P5, P6, A11, A16.

use crate::common::{Fixture, answers, digest, says};
use recount::{ErrorKind, Session, api};

/// A session with a policy, on a model of a window of 100,000 tokens.
fn session(fixture: &Fixture, policy: &str) -> Session {
    let engine = fixture.engine();
    engine
        .open_session(&api::Open {
            session: "s".into(),
            create: true,
            profile: api::Spec::json(
                r#"{"provider":"openai","model":"m","wire":"openai_chat","window":100000,"max_output":10000,"prefill":true}"#,
            ),
            policy: api::Spec::json(policy),
            ..Default::default()
        })
        .unwrap();
    let session = engine.session("s").unwrap();
    session
        .append(&[r#"{"type":"system","content":"Be brief."}"#, &says("hello")])
        .unwrap();
    session
}

/// The prompt leaves, and the provider counts so many tokens of it.
fn measured(session: &Session, request: &str, tokens: u64) -> String {
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    counts(session, request, &prepared.prompt.digest, tokens);
    prepared.prompt.digest
}

fn counts(session: &Session, request: &str, digest: &str, tokens: u64) {
    session
        .append(&[&format!(
            r#"{{"type":"usage","request":"{request}","issued":"{digest}","input":{tokens},"output":7}}"#
        )])
        .unwrap();
}

fn goes_on(session: &Session) {
    session
        .append(&[&answers("It is so."), &says("And then?")])
        .unwrap();
}

#[test]
fn t1_a_compactions_own_usage_says_nothing_about_the_prompt() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"claude-code"}"#);
    measured(&session, "r1", 5_000);
    goes_on(&session);
    measured(&session, "r2", 6_000);
    let before = session.status().unwrap();
    assert_eq!((before.tokens.total, before.measured), (6_000, 6_000));
    session
        .append(&[r#"{"type":"usage","request":"own","compaction":"c1","input":90000,"output":900,"cache_read":50}"#])
        .unwrap();
    let after = session.status().unwrap();
    assert_eq!(after.tokens, before.tokens);
    assert_eq!(after.factor_milli, before.factor_milli);
    assert_eq!(
        after.estimated_next_round_tokens,
        before.estimated_next_round_tokens
    );
    // A16: its account is kept, and the totals hold it.
    assert_eq!(
        (
            after.compaction_calls.requests,
            after.compaction_calls.input
        ),
        (1, 90_000)
    );
    assert_eq!(after.compaction_calls.cache_read, 50);
    assert_eq!(after.usage.input, before.usage.input + 90_000);
}

#[test]
fn t2_the_level_at_each_line_and_one_below() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"claude-code","auto":false}"#);
    let digest = measured(&session, "r1", 100);
    let lines = session.status().unwrap().lines;
    // 100,000 less 10,000 of answer; less 13,000; less 20,000; 90,000 less 3,000.
    assert_eq!(
        (
            lines.effective,
            lines.trigger,
            lines.warning,
            lines.blocking
        ),
        (90_000, 77_000, 57_750, 87_000)
    );
    for (tokens, level) in [
        (lines.warning - 1, "normal"),
        (lines.error, "error"),
        (lines.blocking - 1, "error"),
        (lines.blocking, "blocked"),
    ] {
        counts(&session, "r1", &digest, tokens);
        let status = session.status().unwrap();
        assert_eq!((status.weighed, status.level.as_str()), (tokens, level));
    }
    // With proactive tiers nothing is blocked; and a session without a policy is never.
    session
        .append(&[r#"{"type":"policy","preset":"claude-code"}"#])
        .unwrap();
    assert_eq!(session.status().unwrap().level, "error");
}

#[test]
fn t2_no_warning_right_after_a_cleaning() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"claude-code"}"#);
    let question = session.status().unwrap().head;
    session
        .append(&[&answers(&"many words ".repeat(200)), &says("And then?")])
        .unwrap();
    let digest = measured(&session, "r1", 70_000);
    let status = session.status().unwrap();
    assert_eq!((status.level.as_str(), status.suppressed), ("error", false));
    let commit = session
        .append(&[&format!(
            r#"{{"type":"delete_range","first":{question},"last":{}}}"#,
            question + 1
        )])
        .unwrap()
        .first;
    let cleaned = session.status().unwrap();
    assert!(cleaned.suppressed);
    assert_eq!(cleaned.level, "normal");
    // The way back.
    session.undo(commit).unwrap();
    let back = session.status().unwrap();
    assert_eq!((back.level.as_str(), back.suppressed), ("error", false));
    assert_eq!(back.tokens, status.tokens);
    // The next usage ends it.
    session
        .append(&[&format!(
            r#"{{"type":"delete_range","first":{question},"last":{}}}"#,
            question + 1
        )])
        .unwrap();
    assert!(session.status().unwrap().suppressed);
    counts(&session, "r2", &digest, 70_000);
    assert!(!session.status().unwrap().suppressed);
}

#[test]
fn p5_the_forecast_is_a_moving_average_in_integers() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"claude-code"}"#);
    let none = session.status().unwrap();
    assert_eq!(none.rounds_until_compression, None, "no round is known");
    for (request, tokens) in [("r1", 10_000), ("r2", 14_000), ("r3", 22_000)] {
        measured(&session, request, tokens);
        goes_on(&session);
    }
    // Rounds of 4,000 and 8,000: three quarters of the first and a quarter of the second.
    let digest = measured(&session, "r4", 22_000);
    let status = session.status().unwrap();
    assert_eq!(status.estimated_next_round_tokens, 5_000);
    assert_eq!(status.compression_threshold, Some(77_000));
    assert_eq!(status.compression_progress, 22_000 * 100 / 77_000);
    assert_eq!(status.rounds_until_compression, Some(55_000 / 5_000));
    counts(&session, "r4", &digest, 76_999);
    assert!(session.status().unwrap().rounds_until_compression >= Some(0));
    counts(&session, "r4", &digest, 77_000);
    let over = session.status().unwrap();
    assert_eq!(
        (over.compression_progress, over.rounds_until_compression),
        (100, Some(-1))
    );
}

#[test]
fn p5_a_limit_of_the_policys_own_weighs_messages_alone() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"five-layer"}"#);
    measured(&session, "r1", 6_000);
    let status = session.status().unwrap();
    assert!(status.floor.tokens > 0);
    assert_eq!(status.weighed, 6_000 - status.floor.tokens);
    assert_eq!(status.trigger, Some(12_000));
    assert_eq!(status.policy.as_deref(), Some("five-layer"));
    assert_eq!(status.compression_progress, status.weighed * 100 / 12_000);
    let by = status.tokens.by;
    let sum = by.tools + by.system + by.messages + by.results + by.summaries + by.injections;
    assert_eq!(sum, status.tokens.total);
    let by = status.bytes_by.unwrap();
    assert!(by.system > 0 && by.messages > 0 && by.messages < status.bytes);
}

#[test]
fn p6_the_estimates_error_is_shown_and_the_factor_learnt() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"claude-code"}"#);
    session
        .append(&[&answers(&"some words ".repeat(300)), &says("?")])
        .unwrap();
    let counted = session
        .project(api::Project::default())
        .unwrap()
        .tokens
        .total;
    measured(&session, "r1", counted * 2);
    let status = session.status().unwrap();
    // Before, a thousand counted tokens were taken for a thousand: half of what it was.
    let estimator = status.estimator.unwrap();
    assert_eq!(
        (
            estimator.estimated,
            estimator.counted,
            estimator.error_milli
        ),
        (counted, counted * 2, -500)
    );
    assert_eq!(status.factor_milli, 2_000);
    goes_on(&session);
    let counted = session
        .project(api::Project::default())
        .unwrap()
        .tokens
        .total;
    measured(&session, "r2", counted * 2);
    assert_eq!(session.status().unwrap().estimator.unwrap().error_milli, 0);
}

#[test]
fn a11_both_counts_of_a_compaction_are_kept() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"claude-code"}"#);
    let question = session.status().unwrap().head;
    session
        .append(&[&answers(&"many words ".repeat(200)), &says("And then?")])
        .unwrap();
    measured(&session, "r1", 5_000);
    let commit = session
        .append(&[&format!(
            r#"{{"type":"compact_commit","id":"mine","first":{question},"last":{},"summary":"s","before":400,"after":20}}"#,
            question + 1
        )])
        .unwrap()
        .first;
    let one = session.status().unwrap().compactions.remove(0);
    assert_eq!((one.event, one.id.as_deref()), (commit, Some("mine")));
    assert_eq!((one.first, one.last), (Some(question), Some(question + 1)));
    assert_eq!(
        (one.before, one.after, one.counted),
        (Some(400), Some(20), None)
    );
    session
        .append(&[
            r#"{"type":"usage","request":"own","compaction":"mine","input":4000,"output":90}"#,
        ])
        .unwrap();
    assert_eq!(session.status().unwrap().compactions[0].counted, None);
    measured(&session, "r2", 700);
    assert_eq!(session.status().unwrap().compactions[0].counted, Some(700));
    drop(session);
    let again = fixture.engine().session("s").unwrap();
    assert_eq!(again.status().unwrap().compactions[0].counted, Some(700));
    again.undo(commit).unwrap();
    assert!(again.status().unwrap().compactions.is_empty());
}

#[test]
fn a_policy_is_kept_with_all_its_numbers() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#"{"preset":"claude-code"}"#);
    let event = session
        .append(&[r#"{"type":"policy","preset":"five-layer","params":{"micro":{"keep":2}}}"#])
        .unwrap()
        .first;
    let log = session.log(event, 1).unwrap();
    let line = log.events[0].get();
    assert!(line.contains(r#""keep":2"#), "{line}");
    assert!(line.contains(r#""limit":25000"#), "{line}");
    for (params, field) in [
        (r#"{"micro":{"kept":2}}"#, "params.micro.kept"),
        (r#"{"micro":{"keep":"two"}}"#, "params.micro.keep"),
        (r#"{"snap":{}}"#, "params.snap"),
        (r#"{"micro":3}"#, "params.micro"),
    ] {
        let event = format!(r#"{{"type":"policy","preset":"none","params":{params}}}"#);
        let error = session.append(&[&event]).unwrap_err();
        assert_eq!(
            (error.kind(), error.field()),
            (ErrorKind::Invalid, Some(field))
        );
        let open = api::Open {
            session: "s".into(),
            policy: api::Spec::json(&format!(r#"{{"preset":"none","params":{params}}}"#)),
            ..Default::default()
        };
        let error = session.engine().open_session(&open).unwrap_err();
        assert_eq!(error.field(), Some(field));
    }
    // What hello lists is what the event of a preset holds.
    let hello = session.engine().hello().unwrap();
    assert_eq!(hello.preset_params.len(), hello.presets.len());
    let event = session
        .append(&[r#"{"type":"policy","preset":"recount"}"#])
        .unwrap()
        .first;
    let line = session.log(event, 1).unwrap().events[0].get().to_owned();
    assert!(
        line.contains(hello.preset_params["recount"].get()),
        "{line}"
    );
}

/// What was told without asking.
fn told(
    fixture: &Fixture,
) -> (
    recount::Engine,
    std::sync::Arc<std::sync::Mutex<Vec<recount::Notice>>>,
) {
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let notices = recount::Notices::default();
    let ear = std::sync::Arc::clone(&heard);
    notices.listen(move |notice| ear.lock().unwrap().push(notice.clone()));
    let options = recount::Options {
        notices,
        ..Default::default()
    };
    (
        recount::Engine::open(fixture.path(), options).unwrap(),
        heard,
    )
}

#[test]
fn m8_a_fall_of_the_cache_is_logged_before_the_next_prompt_and_told() {
    let fixture = Fixture::new();
    drop(session(&fixture, r#"{"preset":"claude-code"}"#));
    let (engine, heard) = told(&fixture);
    let session = engine.session("s").unwrap();
    let reads = |request: &str, read: u64| {
        let digest = session
            .prepare(api::Prepare::default())
            .unwrap()
            .prompt
            .digest;
        session
            .append(&[
                &format!(
                    r#"{{"type":"usage","request":"{request}","issued":"{digest}","input":9,"output":7,"cache_read":{read}}}"#
                ),
                &answers("So."),
                &says("Go on."),
            ])
            .unwrap();
    };
    reads("r1", 50_000);
    let system = session
        .append(&[r#"{"type":"system","content":"Be quick."}"#])
        .unwrap()
        .first;
    reads("r2", 100);
    assert!(session.status().unwrap().cache_breaks.is_empty());
    session.prepare(api::Prepare::default()).unwrap();
    let status = session.status().unwrap();
    let fell = &status.cache_breaks[0];
    assert_eq!(
        (fell.before, fell.after, fell.cause.as_str()),
        (50_000, 100, "changed")
    );
    let line = session.log(fell.event, 1).unwrap().events[0]
        .get()
        .to_owned();
    assert!(line.contains(&format!(r#""event":{system}"#)), "{line}");
    session.prepare(api::Prepare::default()).unwrap();
    assert_eq!(
        session.status().unwrap().cache_breaks.len(),
        1,
        "logged once"
    );
    let heard = heard.lock().unwrap();
    let told = heard.iter().filter(|notice| {
        matches!(notice, recount::Notice::CacheBreak { session, by, .. } if session == "s" && *by == Some(system))
    });
    assert_eq!(told.count(), 1);
}

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

#[test]
fn t1_a_refusal_that_tells_teaches_the_factor_and_the_window() {
    let fixture = Fixture::new();
    let session = session(
        &fixture,
        r#"{"preset":"claude-code","auto":false,"reactive":false}"#,
    );
    session
        .append(&[&answers(&"some words ".repeat(300)), &says("?")])
        .unwrap();
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    let counted = prepared.prompt.tokens.total;
    let before = session.status().unwrap();
    assert_eq!((before.factor_milli, before.measured), (1_000, 0));
    assert_eq!(before.lines.effective, 90_000);
    let (actual, limit) = (counted * 2, counted);
    let error = serde_json::value::RawValue::from_string(format!(
        r#"{{"status":400,"body":"prompt is too long: {actual} tokens > {limit} maximum"}}"#
    ))
    .unwrap();
    let answer = session
        .overflowed(api::Overflowed {
            error: Some(error),
            ..Default::default()
        })
        .unwrap();
    assert_eq!((answer.actual, answer.limit), (Some(actual), Some(limit)));
    let after = session.status().unwrap();
    assert_eq!(after.factor_milli, 2_000);
    assert_eq!((after.measured, after.tokens.total), (actual, actual));
    // The window that it named, less half of it for the answer.
    assert_eq!(after.lines.effective, limit - limit / 2);
    // Another model's window is its own.
    session
        .append(&[r#"{"type":"profile","provider":"openai","model":"other","wire":"openai_chat","window":100000,"max_output":10000}"#])
        .unwrap();
    let other = session.status().unwrap();
    assert_eq!((other.lines.effective, other.factor_milli), (90_000, 1_000));
}

#[test]
fn m5_what_a_cache_edit_freed_is_told_by_the_next_answer() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    engine
        .open_session(&api::Open {
            session: "s".into(),
            create: true,
            profile: api::Spec::json(
                r#"{"provider":"anthropic","model":"m","window":200000,"max_output":10000,"cache_edits":true}"#,
            ),
            policy: api::Spec::json(
                r#"{"preset":"claude-code","params":{"micro":{"cached_trigger":3,"cached_keep":1},"snip":{"duplicates":false}}}"#,
            ),
            ..Default::default()
        })
        .unwrap();
    let session = engine.session("s").unwrap();
    session.append(&[&says("Look around.")]).unwrap();
    for call in 0..4 {
        session
            .append(&[
                &format!(r#"{{"type":"message","role":"assistant","content":[{{"type":"tool_use","id":"t{call}","name":"Grep","input":{{"q":{call}}}}}]}}"#),
                &format!(r#"{{"type":"tool_result","call":"t{call}","content":"found {call}"}}"#),
            ])
            .unwrap();
    }
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    let edits = session.status().unwrap().pending_edits;
    assert_eq!(edits.len(), 1, "{:?}", prepared.tiers);
    session
        .append(&[
            &format!(
                r#"{{"type":"usage","request":"r1","issued":"{}","input":100,"output":7,"cache_deleted":900}}"#,
                prepared.prompt.digest
            ),
            &answers("So."),
            &says("Go on."),
        ])
        .unwrap();
    session.prepare(api::Prepare::default()).unwrap();
    assert!(session.status().unwrap().pending_edits.is_empty());
    let head = session.status().unwrap().head;
    let log = session.log(0, head + 1).unwrap();
    let acks = log.events.iter().filter(|event| {
        event.get().contains(r#""type":"cache_ack""#)
            && event.get().contains(r#""deleted_tokens":900"#)
    });
    assert_eq!(acks.count(), 1);
}
