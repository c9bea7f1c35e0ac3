//! Profiles and policies by name and as objects.

use crate::common::Fixture;
use recount::profiles::{names, resolve, resolve_policy, shipped};
use recount::{ErrorKind, api};

#[test]
fn every_shipped_profile_can_be_found_and_used() {
    assert!(names().len() > 10);
    for name in names() {
        let profile = shipped(name).unwrap();
        assert_eq!(profile.model.as_str(), Some(name));
        assert!(profile.max_output < profile.window, "{name}");
    }
}

#[test]
fn a_dated_model_has_its_familys_profile_under_its_own_name() {
    let dated = shipped("claude-opus-4-5-20251101").unwrap();
    let family = shipped("claude-opus-4-5").unwrap();
    assert_eq!(
        (dated.window, dated.model.as_str()),
        (family.window, Some("claude-opus-4-5-20251101"))
    );
    assert!(shipped("claude-opus-4-5-turbo").is_none());
    assert!(shipped("gpt-5-2025-08-07").is_some());
}

#[test]
fn what_is_no_profile_is_refused_with_what_there_is() {
    let error = resolve(&"nothing".into()).unwrap_err();
    assert_eq!(
        (error.kind(), error.field()),
        (ErrorKind::Invalid, Some("profile"))
    );
    assert!(error.next().contains("claude-opus-4-5"));
    for json in [
        "1",
        "[]",
        "{}",
        r#"{"provider":"x"}"#,
        r#"{"provider":"x","model":"m","window":"many","max_output":1}"#,
    ] {
        assert!(resolve(&api::Spec::json(json).unwrap()).is_err(), "{json}");
    }
    assert!(resolve_policy(&"nothing".into()).is_err());
    assert!(
        resolve_policy(&api::Spec::json(r#"{"preset":"cline","auto":false}"#).unwrap()).is_ok()
    );
}

#[test]
fn a_policy_is_kept_in_the_session() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let ask = api::Open {
        session: "s".into(),
        create: true,
        policy: Some("none".into()),
        ..Default::default()
    };
    engine.open_session(&ask).unwrap();
    let again = engine.open_session(&ask).unwrap();
    assert_eq!(again.head, 1);
    let log = engine.session("s").unwrap().log(1, 1).unwrap();
    assert!(
        log.events[0].get().contains(r#""preset":"none""#),
        "{}",
        log.events[0]
    );
}
