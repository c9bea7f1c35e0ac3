//! A first session from end to end, through the library and through the dispatcher.

use crate::common::{CHAT, Fixture};
use recount::{Engine, Options, api};

#[test]
fn a_session_goes_forth_and_back() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let session = engine
        .create("s", Some("claude-sonnet-4-5".into()))
        .unwrap();
    session
        .append(&[
            r#"{"type":"system","content":"Be brief."}"#,
            r#"{"type":"message","role":"user","content":"hello"}"#,
        ])
        .unwrap();
    let one = session.project(api::Project::default()).unwrap();
    assert_eq!(one.outcome, api::Outcome::Ready);
    let receipt = session
        .append(&[
            r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"hi"}],"response":"m1"}"#,
            r#"{"type":"message","role":"user","content":"and now?"}"#,
        ])
        .unwrap();
    assert_eq!((receipt.first, receipt.head), (4, 5));
    let two = session.project(api::Project::default()).unwrap();
    assert_ne!(one.digest, two.digest);
    let back = session.rollback(api::To::Turns(1)).unwrap();
    assert_eq!((back.to, back.event), (4, 6));
    let undone = session.undo(6).unwrap();
    assert_eq!(undone.digest.as_deref(), Some(two.digest.as_str()));
    let back = session.rollback(api::To::Seq(3)).unwrap();
    assert_eq!(back.digest.as_deref(), Some(one.digest.as_str()));
    let again = session.project(api::Project::default()).unwrap();
    assert_eq!(
        again.request.unwrap().body.get(),
        one.request.unwrap().body.get()
    );
}

#[test]
fn reopening_gives_the_same_bytes() {
    let fixture = Fixture::new();
    let before = {
        let engine = fixture.engine();
        let session = engine.create("s", Some("gpt-5".into())).unwrap();
        session.append(CHAT).unwrap();
        let before = session.project(api::Project::default()).unwrap();
        drop(session);
        engine.close().unwrap();
        before
    };
    let engine = Engine::open(fixture.path(), Options::default()).unwrap();
    let session = engine.session("s").unwrap();
    let after = session.project(api::Project::default()).unwrap();
    assert_eq!(before.digest, after.digest);
    assert_eq!(before.body_digest, after.body_digest);
    assert_eq!(before.tokens, after.tokens);
}

#[test]
fn prepare_issues_and_verify_holds() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let session = engine.create("s", Some("claude-opus-4-5".into())).unwrap();
    session.append(CHAT).unwrap();
    let prepared = session
        .prepare(api::Prepare {
            now: Some(5),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    assert!(prepared.issued.is_some());
    assert!(
        prepared
            .prompt
            .durable
            .is_some_and(|durable| durable >= prepared.issued.unwrap())
    );
    let verified = session.verify().unwrap();
    assert_eq!(
        (verified.state, verified.prompts),
        (api::State::Clean, 1),
        "{verified:?}"
    );
    let whole = engine.verify().unwrap();
    assert_eq!(whole.state, api::State::Clean);
    assert_eq!(
        engine.list(&api::List::default()).unwrap().sessions[0].session,
        "s"
    );
}
