//! Forgetting sessions: what goes, what stays, what is said, and that nothing of it is left.

use crate::common::{Fixture, answers, says};
use recount::api;
use recount::{Engine, ErrorKind, evidence};

const DAY: u64 = 86_400_000;

fn names(engine: &Engine) -> Vec<String> {
    let listed = engine.list(&api::List::default()).unwrap();
    let mut names: Vec<String> = listed.sessions.into_iter().map(|one| one.session).collect();
    names.sort();
    names
}

/// Sessions with one event at a time.
fn filled(engine: &Engine, sessions: &[(&str, &str, u64)]) {
    for (name, kind, at) in sessions {
        let ask = api::Open {
            session: (*name).to_owned(),
            kind: Some((*kind).to_owned()),
            create: true,
            at: Some(*at),
            ..Default::default()
        };
        engine.open_session(&ask).unwrap();
        let event =
            format!(r#"{{"type":"message","role":"user","at":{at},"content":"secret of {name}"}}"#);
        engine.session(name).unwrap().append(&[&event]).unwrap();
    }
}

fn gone(done: &api::Pruned) -> Vec<&str> {
    done.pruned.iter().map(|one| one.session.as_str()).collect()
}

fn dry(ask: api::Prune) -> api::Prune {
    api::Prune {
        dry_run: true,
        ..ask
    }
}

fn named(sessions: &[&str]) -> api::Prune {
    api::Prune {
        sessions: Some(sessions.iter().map(|name| (*name).to_owned()).collect()),
        ..Default::default()
    }
}

#[test]
fn a_policy_names_by_age_kind_and_number() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let now = 100 * DAY;
    filled(
        &engine,
        &[
            ("old", "main", 10 * DAY),
            ("older", "main", 5 * DAY),
            ("new", "main", 99 * DAY),
            ("side", "side", 50 * DAY),
            ("later", "main", 101 * DAY),
        ],
    );
    let at = |ask: api::Prune| {
        let done = engine
            .prune(&dry(api::Prune {
                now: Some(now),
                ..ask
            }))
            .unwrap();
        assert!(done.dry_run && done.damaged.is_empty());
        gone(&done).join(" ")
    };
    let aged = api::Prune {
        older_than: Some(30 * DAY),
        ..Default::default()
    };
    assert_eq!(at(aged.clone()), "old older side");
    let kinds = api::Prune {
        kinds: Some(vec!["side".to_owned()]),
        ..Default::default()
    };
    assert_eq!(at(kinds), "side");
    let keep = api::Prune {
        keep: Some(1),
        ..aged
    };
    assert_eq!(at(keep), "old older");
    let keep = api::Prune {
        keep: Some(2),
        ..Default::default()
    };
    assert_eq!(
        at(keep),
        "old older",
        "what came after `now` is not looked at"
    );
    assert_eq!(names(&engine).len(), 5);
    let nothing = api::Prune::default();
    assert_eq!(
        engine.prune(&nothing).unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn what_a_fork_continues_stays_unless_the_fork_goes_too() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    filled(&engine, &[("a", "main", DAY), ("b", "main", DAY)]);
    let a = engine.session("a").unwrap();
    a.fork("a/1", api::At::Head).unwrap();
    engine
        .session("a/1")
        .unwrap()
        .fork("a/2", api::At::Head)
        .unwrap();
    let done = engine.prune(&dry(named(&["a", "a/1", "b"]))).unwrap();
    assert_eq!(gone(&done), ["b"]);
    let why: Vec<&str> = done.kept.iter().map(|kept| kept.why.as_str()).collect();
    assert_eq!(why.len(), 2, "{why:?}");
    assert!(why.iter().all(|why| why.contains("continues it")));
    let done = engine.prune(&dry(named(&["a", "a/1", "a/2"]))).unwrap();
    assert_eq!(gone(&done), ["a", "a/1", "a/2"]);
}

#[test]
fn what_goes_is_archived_forgotten_and_can_come_back() {
    let fixture = Fixture::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let archive = elsewhere.path().join("gone").to_string_lossy().into_owned();
    let engine = fixture.engine();
    filled(
        &engine,
        &[
            ("one", "main", DAY),
            ("two", "side", DAY),
            ("stays", "main", DAY),
        ],
    );
    let two = engine.session("two").unwrap();
    let file = api::Project {
        profile: Some("claude-opus-4-5".into()),
        form: api::As::File,
        ..Default::default()
    };
    let out = two.project(file).unwrap().request.unwrap();
    let out: String = serde_json::from_str(out.body.get()).unwrap();
    assert!(std::path::Path::new(&out).exists());
    let heads = engine.heads(&api::Heads::default()).unwrap().heads;
    let digest = |session: &str| {
        let found = heads.iter().find(|head| head.session == session);
        found.unwrap().digest.clone()
    };
    let ask = api::Prune {
        archive: Some(archive.clone()),
        key: Some("k".to_owned()),
        ..named(&["one", "two", "nobody"])
    };
    let done = engine.prune(&ask).unwrap();
    assert_eq!(
        (gone(&done), done.absent.as_slice()),
        (vec!["one", "two"], &["nobody".to_owned()][..])
    );
    assert_eq!(done.pruned[1].kind, "side");
    assert!(
        done.events >= 4 && done.bytes > 0 && done.left == 0,
        "{done:?}"
    );
    assert_eq!(names(&engine), ["stays"]);
    assert_eq!(
        engine.session("one").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        two.status().unwrap_err().kind(),
        ErrorKind::NotFound,
        "an old handle"
    );
    assert!(!std::path::Path::new(&out).exists());
    assert_eq!(
        engine.prune(&ask).unwrap(),
        done,
        "the same key, the same answer"
    );
    let again = engine.prune(&named(&["one", "two"])).unwrap();
    assert!(again.pruned.is_empty() && again.absent.len() == 2);
    let known = api::VerifyAll {
        against: heads.clone(),
    };
    let verified = engine.verify_with(&known, &mut |_, _| {}).unwrap();
    let standing: Vec<api::Standing> = verified.against.iter().map(|one| one.standing).collect();
    assert_eq!(
        standing,
        [
            api::Standing::Pruned,
            api::Standing::Holds,
            api::Standing::Pruned
        ]
    );
    assert_eq!(verified.state, api::State::Clean);
    let other = api::Prune {
        key: Some("k".to_owned()),
        ..named(&["stays"])
    };
    assert_eq!(
        engine.prune(&other).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(engine.verify().unwrap().state, api::State::Clean);

    // Nothing of it stands in any file any more.
    engine.close().unwrap();
    let mut folders = vec![fixture.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap_or_default();
                let holds = |words: &[u8]| bytes.windows(words.len()).any(|part| part == words);
                assert!(
                    !holds(b"secret of one") && !holds(b"secret of two"),
                    "{}",
                    path.display()
                );
            }
        }
    }
    let engine = fixture.engine();
    assert_eq!(names(&engine), ["stays"]);
    assert_eq!(engine.verify().unwrap().state, api::State::Clean);
    let import = api::Import {
        path: archive.clone(),
        ..Default::default()
    };
    engine.import(&import).unwrap();
    assert_eq!(names(&engine), ["one", "stays", "two"]);
    let back = engine.heads(&api::Heads::default()).unwrap().heads;
    let same = |session: &str| {
        let found = back.iter().find(|head| head.session == session).unwrap();
        assert_eq!(found.digest, digest(session));
    };
    same("one");
    same("two");
    assert_eq!(
        evidence::read(&std::fs::read(&archive).unwrap())
            .unwrap()
            .len(),
        4
    );
}

#[test]
fn an_archive_never_replaces_another_file() {
    let fixture = Fixture::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("there");
    std::fs::write(&path, "of the person").unwrap();
    let engine = fixture.engine();
    filled(&engine, &[("one", "main", DAY)]);
    let ask = api::Prune {
        archive: Some(path.to_string_lossy().into_owned()),
        ..named(&["one"])
    };
    assert_eq!(engine.prune(&ask).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(names(&engine), ["one"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"of the person");
    let own = api::Prune {
        archive: Some(fixture.path().join("key").to_string_lossy().into_owned()),
        ..named(&["one"])
    };
    assert_eq!(engine.prune(&own).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn damage_of_others_is_refused_and_a_dry_run_says_so() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    filled(&engine, &[("one", "main", DAY), ("two", "main", DAY)]);
    for turn in 0..5 {
        let two = engine.session("two").unwrap();
        two.append(&[&answers(&format!("a {turn}")), &says(&format!("t {turn}"))])
            .unwrap();
    }
    engine.close().unwrap();
    let path = fixture.path().join("segments/0000000000000000.seg");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(3).position(|part| part == b"t 2").unwrap();
    let head = bytes[..at]
        .windows(3)
        .rposition(|part| part == b"RCF")
        .unwrap();
    bytes[head + 20] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let engine = fixture.engine();
    let planned = engine.prune(&dry(named(&["one"]))).unwrap();
    assert!(!planned.damaged.is_empty(), "{planned:?}");
    assert_eq!(
        engine.prune(&named(&["one"])).unwrap_err().kind(),
        ErrorKind::Damaged
    );
    assert_eq!(names(&engine), ["one", "two"]);
    let ask = api::Prune {
        give_up_damage: true,
        ..named(&["one"])
    };
    engine.prune(&ask).unwrap();
    assert_eq!(names(&engine), ["two"]);
    assert_eq!(
        engine.session("two").unwrap().verify().unwrap().state,
        api::State::Damaged
    );
}

/// Wherever a byte is hurt: what a dry run says stands in the way is refused when it is meant, whosever segments it is in.
#[test]
fn what_a_dry_run_finds_damaged_is_refused() {
    let fixture = Fixture::new();
    let small = |path: &std::path::Path| {
        let options = recount::Options {
            segment_bytes: Some(4_096),
            ..recount::Options::default()
        };
        Engine::open(path, options).unwrap()
    };
    let engine = small(fixture.path());
    filled(&engine, &[("one", "main", DAY), ("two", "main", DAY)]);
    for turn in 0..12 {
        let name = if turn % 4 == 3 { "one" } else { "two" };
        let event = says(&format!("turn {turn} {}", "words ".repeat(100)));
        engine.session(name).unwrap().append(&[&event]).unwrap();
    }
    engine.close().unwrap();
    let segments = fixture.path().join("segments");
    let mut refused = 0;
    for entry in std::fs::read_dir(&segments).unwrap() {
        let name = entry.unwrap().file_name();
        let bytes = std::fs::read(segments.join(&name)).unwrap();
        for part in 1..6 {
            let copy = tempfile::tempdir().unwrap();
            std::fs::create_dir(copy.path().join("segments")).unwrap();
            std::fs::copy(fixture.path().join("key"), copy.path().join("key")).unwrap();
            for other in std::fs::read_dir(&segments).unwrap() {
                let other = other.unwrap();
                let to = copy.path().join("segments").join(other.file_name());
                std::fs::copy(other.path(), to).unwrap();
            }
            let mut hurt = bytes.clone();
            let at = hurt.len() * part / 6;
            hurt[at] ^= 1;
            std::fs::write(copy.path().join("segments").join(&name), hurt).unwrap();
            let engine = small(copy.path());
            let before = names(&engine);
            let Ok(planned) = engine.prune(&dry(named(&["one"]))) else {
                continue;
            };
            let done = engine.prune(&named(&["one"]));
            // Nothing goes where the session's own name is what was hurt.
            if planned.damaged.is_empty() || planned.pruned.is_empty() {
                continue;
            }
            assert_eq!(
                done.unwrap_err().kind(),
                ErrorKind::Damaged,
                "{name:?} {at}"
            );
            assert_eq!(names(&engine), before);
            refused += 1;
        }
    }
    assert!(refused >= 3, "{refused}");
}

#[test]
fn a_session_may_begin_again_under_its_name() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    filled(&engine, &[("one", "main", DAY), ("stays", "main", DAY)]);
    engine.prune(&named(&["one"])).unwrap();
    filled(&engine, &[("one", "main", 2 * DAY)]);
    let one = engine.session("one").unwrap();
    assert_eq!(one.status().unwrap().head, 1);
    engine.close().unwrap();
    let engine = fixture.engine();
    let log = engine.session("one").unwrap().log(0, 10).unwrap();
    assert_eq!(log.events.len(), 2);
    assert_eq!(engine.verify().unwrap().state, api::State::Clean);
}

#[test]
fn forks_and_prunes_at_once_leave_no_orphan() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    for round in 0..6 {
        let name = format!("p{round}");
        filled(&engine, &[(&name, "main", DAY)]);
        let parent = engine.session(&name).unwrap();
        let child = format!("{name}/child");
        let forking = std::thread::spawn(move || parent.fork(&child, api::At::Head).is_ok());
        let pruned = engine.prune(&named(&[&name]));
        let forked = forking.join().unwrap();
        let there = names(&engine);
        let gone = pruned.is_ok_and(|done| !done.pruned.is_empty());
        assert!(gone || there.contains(&name));
        assert!(!(forked && gone), "a fork lost what it continues");
    }
}
