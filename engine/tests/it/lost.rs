//! A log that was cut short behind the engine's back: what is missing is said, its positions are not given again, and every
//! session goes on, even one of which nothing is left.

use crate::common::{CHAT, Fixture, answers, says};
use recount::{Engine, api};
use std::path::PathBuf;

fn newest(fixture: &Fixture) -> PathBuf {
    let segments = std::fs::read_dir(fixture.path().join("segments")).unwrap();
    segments.map(|entry| entry.unwrap().path()).max().unwrap()
}

fn opened(engine: &Engine, session: &str) -> api::Opened {
    let ask = api::Open {
        session: session.into(),
        ..Default::default()
    };
    engine.open_session(&ask).unwrap()
}

/// A session of some turns, closed; and its head.
fn talked(fixture: &Fixture) -> u64 {
    let session = fixture.chat();
    for turn in 0..10 {
        session
            .append(&[
                &answers(&format!("answer {turn}")),
                &says(&format!("turn {turn}")),
            ])
            .unwrap();
    }
    let head = session.status().unwrap().head;
    session.engine().close().unwrap();
    head
}

#[test]
fn a_log_cut_short_is_truncated_and_goes_on_behind_what_was_lost() {
    for twelfth in [3, 6, 9, 11] {
        let fixture = Fixture::new();
        let head = talked(&fixture);
        let path = newest(&fixture);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() * twelfth / 12]).unwrap();

        let engine = fixture.engine();
        let found = opened(&engine, "s");
        assert_eq!(found.recovered.state, api::State::Truncated, "{found:?}");
        let [lost] = &found.recovered.damaged[..] else {
            panic!("{found:?}")
        };
        assert_eq!((lost.last, lost.bytes), (head, 0), "{found:?}");
        assert!(lost.offset > 0, "{found:?}");
        let session = engine.session("s").unwrap();
        let receipt = session.append(&[&says("after")]).unwrap();
        assert_eq!(receipt.first, head + 1);
        assert_eq!(engine.verify().unwrap().state, api::State::Truncated);
        drop(session);
        engine.close().unwrap();

        // For ever: without the event store, and by a process that found nothing new.
        std::fs::remove_dir_all(fixture.path().join("store")).unwrap();
        for _ in 0..2 {
            let engine = fixture.engine();
            let found = opened(&engine, "s");
            assert_eq!(found.recovered.state, api::State::Truncated, "{found:?}");
            assert_eq!(found.recovered.damaged, std::slice::from_ref(lost));
            assert_eq!(engine.verify().unwrap().state, api::State::Truncated);
            engine.close().unwrap();
        }
    }
}

#[test]
fn a_session_of_which_nothing_is_left_is_not_begun_again_from_zero() {
    let fixture = Fixture::new();
    let head = talked(&fixture);
    std::fs::remove_file(newest(&fixture)).unwrap();
    let engine = fixture.engine();
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    assert!(session.status().unwrap().head > head);
    session.append(&CHAT[2..3]).unwrap();
    let projected = session.project(api::Project::default()).unwrap();
    assert_eq!(projected.outcome, api::Outcome::Ready, "{projected:?}");
    drop(session);
    engine.close().unwrap();
    let engine = fixture.engine();
    assert_eq!(opened(&engine, "s").recovered.state, api::State::Truncated);
    assert_eq!(engine.verify().unwrap().state, api::State::Truncated);
}

#[test]
fn what_the_event_store_could_not_say_is_told() {
    let fixture = Fixture::new();
    talked(&fixture);
    let evidence = || {
        let engine = fixture.engine();
        let recovered = opened(&engine, "s").recovered.no_evidence;
        let stats = engine.stats(&api::Stats::default()).unwrap();
        assert_eq!(stats.recovered.no_evidence, recovered);
        engine.close().unwrap();
        recovered
    };
    assert_eq!(evidence(), None);
    std::fs::remove_dir_all(fixture.path().join("store")).unwrap();
    assert_eq!(evidence().as_deref(), Some("absent"));
    assert_eq!(evidence(), None);
}
