//! What a provider told is believed as far as it can be about the prompt: T1.

use crate::common::{Fixture, answers, says};
use crate::status::{counts, goes_on, measured, session};
use recount::{Session, api};
use serde_json::value::RawValue;

const QUIET: &str = r#"{"preset":"claude-code","auto":false,"reactive":false}"#;

/// A session of about 3,000 counted tokens.
fn long(fixture: &Fixture) -> Session {
    let session = session(fixture, QUIET);
    session
        .append(&[&answers(&"some words ".repeat(1_500)), &says("?")])
        .unwrap();
    session
}

/// A prompt leaves and is refused; its counted tokens, and its digest.
fn refused(session: &Session, words: impl Fn(u64) -> String) -> (u64, String) {
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    let counted = prepared.prompt.tokens.total;
    let error = serde_json::json!({"status": 400, "body": words(counted)}).to_string();
    session
        .overflowed(api::Overflowed {
            error: Some(RawValue::from_string(error).unwrap()),
            issued: Some(prepared.prompt.digest.clone()),
            ..Default::default()
        })
        .unwrap();
    (counted, prepared.prompt.digest)
}

/// "prompt is too long", in numbers.
fn over(actual: u64, limit: u64) -> String {
    format!("prompt is too long: {actual} tokens > {limit} maximum")
}

/// The effective window: 90,000 where nothing smaller is believed.
fn effective(session: &Session) -> u64 {
    session.status().unwrap().lines.effective
}

#[test]
fn t1_a_refusal_of_another_prompt_does_not_shrink_the_window() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    // A tenth of what was counted, and ten times as much and more; nothing but a window that this prompt cannot be over.
    refused(&session, |counted| over(counted / 10, counted / 11));
    assert_eq!(effective(&session), 90_000);
    refused(&session, |counted| over(counted * 20, counted * 19));
    assert_eq!(effective(&session), 90_000);
    refused(&session, |_| {
        "This model's maximum context length is 80000 tokens.".to_owned()
    });
    assert_eq!(effective(&session), 90_000);
    // Four times what was counted can be: then it is believed.
    refused(&session, |counted| over(counted * 4, counted * 3));
    assert!(effective(&session) < 10_000);
}

#[test]
fn t1_a_larger_prompt_that_is_accepted_disproves_a_smaller_window() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    let (counted, prompt) = refused(&session, |counted| over(counted * 2, counted));
    assert_eq!(effective(&session), counted - counted / 2);
    // As large as the window that was named: that proves nothing.
    counts(&session, "r1", &prompt, counted);
    assert_eq!(effective(&session), counted - counted / 2);
    counts(&session, "r2", &prompt, counted + 1);
    assert_eq!(effective(&session), 90_000);
}

#[test]
fn t1_where_a_larger_prompt_was_accepted_two_refusals_have_to_say_so() {
    let fixture = Fixture::new();
    let session = long(&fixture);
    measured(&session, "r1", 6_000);
    goes_on(&session);
    for _ in 0..2 {
        // The same prompt, refused again, says nothing new.
        refused(&session, |_| over(6_100, 5_000));
        assert_eq!(effective(&session), 90_000);
    }
    goes_on(&session);
    refused(&session, |_| over(6_200, 5_000));
    assert_eq!(effective(&session), 2_500);
}

#[test]
fn t1_a_small_prompt_teaches_in_proportion_to_its_size() {
    let fixture = Fixture::new();
    let session = session(&fixture, QUIET);
    let words = "some words ".repeat(250);
    session.append(&[&answers(&words), &says("?")]).unwrap();
    let prepared = session.prepare(api::Prepare::default()).unwrap();
    let counted = prepared.prompt.tokens.total;
    assert!((500..600).contains(&counted), "{counted}");
    let taught = |request: &str, tokens: u64| {
        counts(&session, request, &prepared.prompt.digest, tokens);
        session.status().unwrap().factor_milli
    };
    // What whole prompts of some model count is taken as it is; of what is beyond, a quarter: from 2,000 counted tokens on it is all.
    assert_eq!(taught("r1", counted * 3 / 2) / 10, 149);
    let most = taught("r2", counted * 4);
    assert!((2_150..2_350).contains(&most), "{most}");
    let least = taught("r3", counted / 2);
    assert!((840..900).contains(&least), "{least}");
    // A large one teaches wholly, also when a small one comes after it.
    let more = answers(&"some words ".repeat(1_500));
    session.append(&[&more, &says("?")]).unwrap();
    let large = session.prepare(api::Prepare::default()).unwrap();
    counts(
        &session,
        "r4",
        &large.prompt.digest,
        large.prompt.tokens.total * 2,
    );
    assert_eq!(session.status().unwrap().factor_milli, 2_000);
    session.rollback(api::To::Turns(1)).unwrap();
    assert_eq!(taught("r5", counted), 2_000);
}

#[test]
fn t1_a_usage_without_names_measures_what_stood_before_its_answer() {
    let fixture = Fixture::new();
    let session = session(&fixture, QUIET);
    let words = answers(&"some words ".repeat(1_500));
    session.append(&[&words, &says("?"), &words]).unwrap();
    let unnamed = r#"{"type":"usage","input":4000,"cache_read":1000,"output":7}"#;
    session.append(&[unnamed, &says("and then?")]).unwrap();
    let known = || session.status().unwrap().measured;
    assert_eq!(known(), 5_000);
    // Also when more came since.
    let appended = session.append(&[&answers("later"), &says("on")]).unwrap();
    assert_eq!(known(), 5_000);
    // The answer is hidden: the count is none of what stands before an older one.
    let hidden = format!(
        r#"{{"type":"delete_range","first":{},"last":{}}}"#,
        appended.first - 3,
        appended.first - 3
    );
    session.append(&[&hidden]).unwrap();
    assert_eq!(known(), 0);
    session.undo(appended.first + 2).unwrap();
    assert_eq!(known(), 5_000);
    session.rollback(api::To::Turns(3)).unwrap();
    assert_eq!(known(), 0);
}

/// A request's own profile is no event: what was counted of its prompt is that model's all the same.
#[test]
fn t1_what_was_counted_under_a_requests_own_profile_is_that_models() {
    let fixture = Fixture::new();
    let session = fixture.engine().create("s", None).unwrap();
    session
        .append(&[
            &says("?"),
            &answers(&"some words ".repeat(1_500)),
            &says("?"),
        ])
        .unwrap();
    let under = |model: &str| {
        let profile = format!(
            r#"{{"provider":"openai","model":"{model}","wire":"openai_chat","window":100000,"max_output":10000}}"#
        );
        session
            .prepare(api::Prepare {
                profile: api::Spec::json(&profile),
                ..Default::default()
            })
            .unwrap()
    };
    let first = under("a-model").prompt;
    counts(&session, "r1", &first.digest, first.tokens.total * 2);
    goes_on(&session);
    let other = under("b-model").status;
    assert_eq!((other.measured, other.factor_milli), (0, 1_000));
    let same = under("a-model").status;
    assert_eq!(same.measured, first.tokens.total * 2);
    assert!(
        (1_990..=2_000).contains(&same.factor_milli),
        "{}",
        same.factor_milli
    );
}
