//! Sizes, heads to keep elsewhere, and a directory held against them.

use crate::common::{Fixture, answers, says};
use recount::api::{self, Standing};
use recount::{Engine, Options, evidence};
use std::path::PathBuf;

fn newest_segment(fixture: &Fixture) -> PathBuf {
    let entries = std::fs::read_dir(fixture.path().join("segments")).unwrap();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.pop().unwrap()
}

fn against(engine: &Engine, known: &[api::Head]) -> api::DirectoryVerified {
    let ask = api::VerifyAll {
        against: known.to_vec(),
    };
    engine.verify_with(&ask, &mut |_, _| {}).unwrap()
}

fn standing(verified: &api::DirectoryVerified, session: &str) -> Standing {
    let found = verified
        .against
        .iter()
        .find(|against| against.session == session);
    found.unwrap().standing
}

#[test]
fn stats_add_up() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let engine = session.engine();
    let (from, new) = (engine.create("other", None).unwrap(), "o".repeat(5_000));
    from.append(&[&says(&new)]).unwrap();
    let stats = engine
        .stats(&api::Stats {
            sessions: true,
            ..Default::default()
        })
        .unwrap();
    assert_eq!((stats.sessions, stats.by_session.len()), (2, 2));
    let heads = [session.status().unwrap().head, from.status().unwrap().head];
    assert_eq!(stats.events, heads.iter().map(|head| head + 1).sum::<u64>());
    let events: u64 = stats.by_session.iter().map(|size| size.events).sum();
    assert_eq!(events, stats.events);
    let largest = &stats.by_session[0];
    assert_eq!(largest.session, "other");
    assert!(largest.content_bytes > 5_000 && largest.contents > 0 && largest.bodies > 0);
    assert!(stats.syncs.count > 0 && stats.syncs.slowest_micros <= stats.syncs.micros);
    assert_eq!(
        (stats.backlog.batches, stats.recovered.state),
        (0, api::State::Clean)
    );
    let disk = stats.disk;
    assert_eq!(
        disk.total,
        disk.segments + disk.key + disk.store + disk.states + disk.out + disk.other
    );
    assert_eq!((disk.key, disk.segment_files), (32, 1));
    let logged = largest.bodies + largest.content_bytes;
    assert!(disk.segments > logged, "{disk:?}");
    // What a fork inherits is counted once.
    session.fork("twin", api::At::Head).unwrap();
    let twin = api::Stats {
        sessions: true,
        prefix: Some("twin".into()),
        ..Default::default()
    };
    assert_eq!(engine.stats(&twin).unwrap().by_session[0].events, 1);
}

#[test]
fn heads_hold_while_a_log_only_grows() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    session.fork("twin", api::At::Head).unwrap();
    let engine = session.engine();
    let report = engine.heads(&api::Heads::default()).unwrap();
    let known = evidence::read(evidence::write(&report).as_bytes()).unwrap();
    assert_eq!(known.len(), 2);
    session
        .append(&[&answers("more"), &says("and more")])
        .unwrap();
    let verified = against(engine, &known);
    assert_eq!(verified.state, api::State::Clean, "{verified:?}");
    assert!(
        verified
            .against
            .iter()
            .all(|against| against.standing == Standing::Holds
                && against.agrees == Some(against.head))
    );
}

#[test]
fn what_was_cut_off_after_a_clean_close_is_truncated() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let early = session
        .engine()
        .heads(&api::Heads::default())
        .unwrap()
        .heads;
    for turn in 0..40 {
        session
            .append(&[
                &answers(&format!("answer {turn}")),
                &says(&format!("turn {turn}")),
            ])
            .unwrap();
    }
    let engine = session.engine().clone();
    let late = engine.heads(&api::Heads::default()).unwrap().heads;
    engine.close().unwrap();
    let path = newest_segment(&fixture);
    let bytes = std::fs::read(&path).unwrap();
    let at = bytes
        .windows(7)
        .position(|part| part == b"turn 20")
        .unwrap();
    std::fs::write(&path, &bytes[..at]).unwrap();
    // Nothing but the evidence knows what stood there.
    std::fs::remove_dir_all(fixture.path().join("store")).unwrap();
    let engine = fixture.engine();
    let verified = against(&engine, &late);
    assert_eq!(standing(&verified, "s"), Standing::Truncated);
    assert!(verified.state >= api::State::Truncated, "{verified:?}");
    assert_eq!(standing(&against(&engine, &early), "s"), Standing::Holds);
    let one = api::Verify {
        session: "s".into(),
        against: late,
    };
    let one = engine.verify_session(&one).unwrap();
    assert_eq!(one.against.unwrap().standing, Standing::Truncated);
    assert!(one.state >= api::State::Truncated);
}

#[test]
fn a_session_that_is_gone_is_truncated() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let known = session
        .engine()
        .heads(&api::Heads::default())
        .unwrap()
        .heads;
    session.engine().close().unwrap();
    for part in ["segments", "store"] {
        std::fs::remove_dir_all(fixture.path().join(part)).unwrap();
    }
    let engine = fixture.engine();
    let verified = against(&engine, &known);
    assert_eq!(standing(&verified, "s"), Standing::Truncated);
    assert_eq!(verified.state, api::State::Truncated, "{verified:?}");
    let one = api::Verify {
        session: "s".into(),
        against: known,
    };
    assert_eq!(
        engine.verify_session(&one).unwrap().state,
        api::State::Truncated
    );
}

#[test]
fn damage_in_the_place_of_what_was_known_is_damage() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    session
        .append(&[&answers("needle"), &says("the last words")])
        .unwrap();
    let engine = session.engine().clone();
    let head = engine.heads(&api::Heads::default()).unwrap().heads;
    session.append(&[&answers("later")]).unwrap();
    engine.close().unwrap();
    let path = newest_segment(&fixture);
    let mut bytes = std::fs::read(&path).unwrap();
    // The head of the record that holds these words stands before them.
    let at = bytes
        .windows(14)
        .position(|part| part == b"the last words")
        .unwrap();
    let magic = bytes[..at]
        .windows(3)
        .rposition(|part| part == b"RCF")
        .unwrap();
    bytes[magic + 20] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    std::fs::remove_dir_all(fixture.path().join("store")).unwrap();
    let engine = fixture.engine();
    let verified = against(&engine, &head);
    assert_eq!(standing(&verified, "s"), Standing::Damaged, "{verified:?}");
    assert_eq!(verified.state, api::State::Damaged);
}

/// The newest digest is the one that was known, whatever is gone before it: a session in several segments and its fork, of which a
/// segment is taken away or struck, held against heads and against an archive.
#[test]
fn what_is_gone_before_an_end_that_is_known_is_told() {
    let written = || {
        let fixture = Fixture::new();
        let options = Options {
            segment_bytes: Some(4_096),
            ..Options::default()
        };
        let engine = Engine::open(fixture.path(), options).unwrap();
        let session = engine.create("s", None).unwrap();
        for turn in 0..30 {
            let words = says(&format!("turn {turn} {}", "x".repeat(300)));
            session.append(&[&words]).unwrap();
        }
        session.fork("twin", api::At::Head).unwrap();
        let heads = engine.heads(&api::Heads::default()).unwrap().heads;
        let mut archives = Vec::new();
        for name in ["s", "twin"] {
            let exported = engine.session(name).unwrap().export(api::Export::default());
            let text = exported.unwrap().text.unwrap();
            archives.extend(evidence::read(text.as_bytes()).unwrap());
        }
        engine.close().unwrap();
        std::fs::remove_dir_all(fixture.path().join("store")).unwrap();
        (fixture, [heads, archives])
    };
    let segment = |fixture: &Fixture, number: u64| {
        let name = format!("segments/{number:016x}.seg");
        fixture.path().join(name)
    };
    let (whole, known) = written();
    let last = (0..)
        .take_while(|number| segment(&whole, *number).exists())
        .last()
        .unwrap();
    assert!(last >= 3, "last={last}");
    let engine = whole.engine();
    for known in &known {
        let verified = against(&engine, known);
        for one in &verified.against {
            assert_eq!((one.standing, one.missing), (Standing::Holds, None));
            assert_eq!(one.agrees, Some(one.head));
        }
    }
    // The last two hold the ends themselves.
    for number in 0..last - 1 {
        for gone in [true, false] {
            let (fixture, known) = written();
            let place = segment(&fixture, number);
            if gone {
                std::fs::remove_file(&place).unwrap();
            } else {
                let mut bytes = std::fs::read(&place).unwrap();
                let half = bytes.len() / 2;
                bytes[half..half + 64].fill(0xa5);
                std::fs::write(&place, bytes).unwrap();
            }
            let engine = fixture.engine();
            for known in &known {
                let verified = against(&engine, known);
                let context = format!("segment {number} gone={gone}: {:?}", verified.against);
                let (right, state) = if gone {
                    (Standing::Truncated, api::State::Truncated)
                } else {
                    (Standing::Damaged, api::State::Damaged)
                };
                assert_eq!(verified.against.len(), 2, "{context}");
                assert!(verified.state >= state, "{context}");
                for one in &verified.against {
                    assert_eq!(one.standing, right, "{context}");
                    let missing = one.missing.expect(&context);
                    assert!(missing < one.head, "{context}");
                    assert!(one.agrees.is_none_or(|seq| seq < missing), "{context}");
                    assert!(!gone || (number == 0) == (missing == 0), "{context}");
                }
            }
        }
    }
}

/// The same history, then two different ends: one is the evidence of the other.
#[test]
fn another_history_is_told_from_a_shorter_one() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let archive = |name: &str| {
        let path = fixture.path().join(name).to_string_lossy().into_owned();
        let ask = api::Export {
            path: Some(path.clone()),
            ..Default::default()
        };
        session.export(ask).unwrap();
        std::fs::read(&path).unwrap()
    };
    let common = session.status().unwrap().head;
    let before = archive("before");
    session.append(&[&answers("the first end")]).unwrap();
    let after = archive("after");

    let elsewhere = tempfile::tempdir().unwrap();
    let engine = Engine::open(elsewhere.path(), Options::default()).unwrap();
    let path = fixture.path().join("before").to_string_lossy().into_owned();
    let ask = api::Import {
        path,
        ..Default::default()
    };
    engine.import(&ask).unwrap();
    let known = evidence::read(&after).unwrap();
    let verified = against(&engine, &known);
    assert_eq!(standing(&verified, "s"), Standing::Truncated);
    assert_eq!(verified.against[0].agrees, Some(common));

    let other = engine.session("s").unwrap();
    other.append(&[&answers("the second end")]).unwrap();
    let verified = against(&engine, &known);
    assert_eq!(standing(&verified, "s"), Standing::Differs);
    assert_eq!(verified.state, api::State::Replaced);
    assert_eq!(verified.against[0].agrees, Some(common));
    assert_eq!(
        standing(&against(&engine, &evidence::read(&before).unwrap()), "s"),
        Standing::Holds
    );
}

#[test]
fn a_session_that_was_pruned_is_not_taken_for_a_lost_one() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let engine = session.engine().clone();
    let known = engine.heads(&api::Heads::default()).unwrap().heads;
    drop(session);
    let ask = api::Prune {
        sessions: Some(vec!["s".into()]),
        ..api::Prune::default()
    };
    engine.prune(&ask).unwrap();
    let check = |engine: &Engine| {
        let verified = against(engine, &known);
        assert_eq!(standing(&verified, "s"), Standing::Pruned);
        assert_eq!(verified.state, api::State::Clean);
    };
    check(&engine);
    engine.close().unwrap();
    check(&fixture.engine());
}

#[test]
fn sessions_leave_memory_when_they_take_more_than_they_may() {
    let folder = tempfile::tempdir().unwrap();
    let engine = || {
        let options = recount::Options {
            memory_bytes: Some(2_000_000),
            ..recount::Options::default()
        };
        recount::Engine::open(folder.path(), options).unwrap()
    };
    let first = engine();
    let names: Vec<String> = (0..20).map(|number| format!("s{number}")).collect();
    // All of them are known before any is large: whoever holds a handle must not keep a session in memory.
    let sessions: Vec<recount::Session> = names
        .iter()
        .map(|name| first.create(name, Some("claude-opus-4-5".into())).unwrap())
        .collect();
    let words = "some words ".repeat(10_000);
    let mut digests = Vec::new();
    for session in &sessions {
        session.append(&[&crate::common::says(&words)]).unwrap();
        digests.push(crate::common::digest(session));
    }
    // The words are 110 kB and stand about three times in memory: six sessions fill it.
    let large = first.stats(&api::Stats::default()).unwrap().in_memory;
    assert!((1..=8).contains(&large), "in_memory={large}");
    for (session, before) in sessions.iter().zip(&digests) {
        assert_eq!(&crate::common::digest(session), before);
    }
}
