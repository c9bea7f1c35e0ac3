//! Forks: they inherit, and are independent.

use crate::common::{Fixture, answers, body, digest, says};
use recount::{Engine, ErrorKind, Options, api};

#[test]
fn what_the_parent_does_afterwards_does_not_touch_a_fork() {
    let fixture = Fixture::new();
    let parent = fixture.chat();
    let fork = parent.fork("f", api::At::Head).unwrap();
    let before = digest(&fork);
    assert_eq!(before, digest(&parent));
    parent.append(&[&answers("p"), &says("parent")]).unwrap();
    parent.rollback(api::To::Seq(4)).unwrap();
    assert_eq!(digest(&fork), before);
    fork.append(&[&answers("f"), &says("child")]).unwrap();
    assert!(!body(&parent).contains("child"));
}

#[test]
fn a_fork_of_a_fork_reopens_equal() {
    let fixture = Fixture::new();
    let (one, two) = {
        let parent = fixture.chat();
        let fork = parent.fork("f", api::At::Seq(4)).unwrap();
        fork.append(&[&answers("x"), &says("y")]).unwrap();
        let second = fork.fork("g", api::At::Head).unwrap();
        second.append(&[&answers("z"), &says("w")]).unwrap();
        second.prepare(api::Prepare::default()).unwrap();
        (digest(&fork), digest(&second))
    };
    let engine = fixture.engine();
    assert_eq!(digest(&engine.session("g").unwrap()), two);
    assert_eq!(digest(&engine.session("f").unwrap()), one);
    let verified = engine.session("g").unwrap().verify().unwrap();
    assert_eq!(
        (verified.state, verified.prompts),
        (api::State::Clean, 1),
        "{verified:?}"
    );
    assert!(verified.skipped.is_empty(), "{verified:?}");
    let log = engine.session("g").unwrap().log(0, 1000).unwrap();
    let seqs: Vec<u64> = log
        .events
        .iter()
        .map(|event| serde_json::from_str::<Line>(event.get()).unwrap().seq)
        .collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>());
}

#[derive(serde::Deserialize)]
struct Line {
    seq: u64,
}

#[test]
fn a_rollback_in_a_fork_may_go_below_its_origin() {
    let fixture = Fixture::new();
    let parent = fixture.chat();
    let at_three = parent
        .project(api::Project {
            at: api::At::Seq(4),
            ..Default::default()
        })
        .unwrap()
        .digest;
    let fork = parent.fork("f", api::At::Head).unwrap();
    let back = fork.rollback(api::To::Seq(4)).unwrap();
    assert_eq!(back.digest, Some(at_three));
}

#[test]
fn the_name_must_be_free_and_possible() {
    let fixture = Fixture::new();
    let parent = fixture.chat();
    parent.fork("f", api::At::Head).unwrap();
    assert_eq!(
        parent.fork("f", api::At::Head).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(
        parent.fork("s", api::At::Head).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(
        parent.fork("", api::At::Head).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert_eq!(
        parent.fork("x\0", api::At::Head).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert_eq!(
        parent
            .fork(&"x".repeat(513), api::At::Head)
            .unwrap_err()
            .kind(),
        ErrorKind::Invalid
    );
    let ask = api::Fork {
        session: "s".into(),
        new: "k".into(),
        key: Some("once".into()),
        ..Default::default()
    };
    let one = parent.engine().fork(&ask).unwrap();
    assert_eq!(parent.engine().fork(&ask).unwrap(), one);
    let listed = parent.engine().list(&api::List::default()).unwrap();
    assert_eq!(listed.sessions.len(), 3);
}

#[test]
fn forks_may_be_deep() {
    let fixture = Fixture::new();
    let mut session = fixture.chat();
    let before = digest(&session);
    for depth in 0..150 {
        session = session.fork(&format!("f{depth}"), api::At::Head).unwrap();
    }
    drop(session);
    let deepest = std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(move || {
            let engine = fixture.engine();
            let session = engine.session("f149").unwrap();
            (digest(&session), session.verify().unwrap().state)
        })
        .unwrap();
    assert_eq!(deepest.join().unwrap(), (before, api::State::Clean));
}

#[test]
fn a_fork_that_is_folded_from_the_log_is_cooled_as_a_fork() {
    for every in 2..12 {
        let fixture = Fixture::new();
        let engine = || {
            let options = Options {
                checkpoint_every: Some(every),
                ..Options::default()
            };
            Engine::open(fixture.path(), options).unwrap()
        };
        let first = engine();
        let parent = first.create("s", Some("claude-opus-4-5".into())).unwrap();
        parent.append(crate::common::CHAT).unwrap();
        for turn in 0..3 {
            parent
                .append(&[&answers("a"), &says(&turn.to_string())])
                .unwrap();
            parent.prepare(api::Prepare::default()).unwrap();
        }
        parent.fork("f", api::At::Head).unwrap();
        first.close().unwrap();
        for turn in 0..4 {
            let engine = engine();
            let fork = engine.session("f").unwrap();
            fork.append(&[&answers("b"), &says(&turn.to_string())])
                .unwrap();
            fork.prepare(api::Prepare::default()).unwrap();
            let verified = fork.verify().unwrap();
            assert!(verified.problems.is_empty(), "every={every} {verified:?}");
            engine.close().unwrap();
        }
    }
}
