//! Verification: it finds what was altered, and says nothing else.

use crate::common::{CHAT, Fixture, answers, says};
use recount::api;
use std::path::PathBuf;

fn segments(fixture: &Fixture) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(fixture.path().join("segments"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

#[test]
fn a_flipped_byte_is_found_and_the_rest_is_there() {
    let fixture = Fixture::new();
    {
        let session = fixture.chat();
        for turn in 0..20 {
            session
                .append(&[
                    &answers(&format!("answer {turn}")),
                    &says(&format!("needle {turn}")),
                ])
                .unwrap();
        }
        session.engine().close().unwrap();
    }
    let path = segments(&fixture).remove(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes
        .windows(9)
        .position(|part| part == b"needle 10")
        .unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let engine = fixture.engine();
    let verified = engine.session("s").unwrap().verify().unwrap();
    assert_eq!(verified.state, api::State::Damaged, "{verified:?}");
    let session = engine.session("s").unwrap();
    let projected = session.project(api::Project::default()).unwrap();
    assert_eq!(projected.outcome, api::Outcome::Ready);
    let text = projected.request.unwrap().body.get().to_owned();
    assert!(text.contains("needle 9") && text.contains("needle 11") && !text.contains("needle 10"));
    session
        .append(&[&answers("still here"), &says("go on")])
        .unwrap();
    assert_eq!(engine.verify().unwrap().state, api::State::Damaged);
}

#[test]
fn a_torn_tail_is_reported_and_cut() {
    let fixture = Fixture::new();
    {
        fixture.chat().engine().close().unwrap();
    }
    let path = segments(&fixture).pop().unwrap();
    let before = fixture
        .engine()
        .session("s")
        .unwrap()
        .status()
        .unwrap()
        .head;
    let whole = std::fs::read(&path).unwrap();
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap();
    std::fs::write(&path, &whole[..used - 100]).unwrap();
    let engine = fixture.engine();
    let opened = engine
        .open_session(&api::Open {
            session: "s".into(),
            ..Default::default()
        })
        .unwrap();
    assert!(opened.head <= before);
    assert_ne!(engine.verify().unwrap().state, api::State::Clean);
}

#[test]
fn a_directory_that_lost_its_segments_is_not_clean() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    session.append(CHAT).unwrap();
    drop(session);
    engine.close().unwrap();
    std::fs::remove_dir_all(fixture.path().join("segments")).unwrap();
    let engine = fixture.engine();
    let whole = engine.verify().unwrap();
    assert_eq!(whole.state, api::State::Truncated, "{whole:?}");
    assert!(
        whole
            .problems
            .iter()
            .any(|problem| problem.contains("a whole session is missing")),
        "{whole:?}"
    );
}
