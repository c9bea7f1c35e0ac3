//! The meter, the lines, the forecast, what compactions did: T1, T2, P5, P6, A11, A16.

use crate::common::{Fixture, answers, says};
use recount::{ErrorKind, Session, api};

/// A session with a policy, on a model of a window of 100,000 tokens.
pub(crate) fn session(fixture: &Fixture, policy: &str) -> Session {
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
pub(crate) fn measured(session: &Session, request: &str, tokens: u64) -> String {
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    counts(session, request, &prepared.prompt.digest, tokens);
    prepared.prompt.digest
}

pub(crate) fn counts(session: &Session, request: &str, digest: &str, tokens: u64) {
    session
        .append(&[&format!(
            r#"{{"type":"usage","request":"{request}","issued":"{digest}","input":{tokens},"output":7}}"#
        )])
        .unwrap();
}

pub(crate) fn goes_on(session: &Session) {
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
        .append(&[&answers(&"some words ".repeat(1_500)), &says("?")])
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
fn t1_a_refusal_that_tells_teaches_the_factor_and_the_window() {
    let fixture = Fixture::new();
    let session = session(
        &fixture,
        r#"{"preset":"claude-code","auto":false,"reactive":false}"#,
    );
    session
        .append(&[&answers(&"some words ".repeat(1_500)), &says("?")])
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
