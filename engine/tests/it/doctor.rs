//! Looking at a directory from outside: whole, held, read-only, broken in many ways, not ours.

use crate::common::{Fixture, answers, says};
use recount::api::{self, State, What};
use recount::{ErrorKind, doctor};
use std::path::{Path, PathBuf};

/// A closed directory with a session of a few turns and a fork.
fn filled() -> Fixture {
    let fixture = Fixture::new();
    let session = fixture.chat();
    for turn in 0..10 {
        session
            .append(&[
                &answers(&format!("answer {turn}")),
                &says(&format!("turn {turn}")),
            ])
            .unwrap();
    }
    session.fork("twin", api::At::Head).unwrap();
    session.engine().close().unwrap();
    fixture
}

fn segment(fixture: &Fixture) -> PathBuf {
    fixture.path().join("segments/0000000000000000.seg")
}

/// Everything in a directory, with its bytes.
fn bytes_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(bytes_of(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_whole_directory_is_well_and_nothing_is_touched() {
    let fixture = filled();
    let before = bytes_of(fixture.path());
    let found = doctor::examine(fixture.path());
    assert!(found.is_well(), "{found:?}");
    assert_eq!(
        (found.what, found.state),
        (What::Recount, Some(State::Clean))
    );
    assert_eq!(found.holder, None);
    let names: Vec<&str> = found
        .sessions
        .iter()
        .map(|one| one.session.as_str())
        .collect();
    assert_eq!(names, ["s", "twin"]);
    let log = found.log.unwrap();
    assert!(log.closed && log.segments == 1 && log.events > 20);
    assert_eq!(bytes_of(fixture.path()), before);
}

#[test]
fn a_directory_that_is_being_written_is_well_and_goes_on() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let writer = std::thread::spawn({
        let session = session.clone();
        move || {
            for turn in 0..60 {
                session
                    .append(&[&answers(&format!("a {turn}")), &says(&format!("t {turn}"))])
                    .unwrap();
            }
        }
    });
    for _ in 0..10 {
        let found = doctor::examine(fixture.path());
        assert!(found.is_well(), "{found:?}");
        assert_eq!(found.what, What::Recount);
        if cfg!(target_os = "linux") {
            assert!(found.holder.unwrap().contains("pid="));
        }
    }
    writer.join().unwrap();
    assert_eq!(
        doctor::repair(fixture.path(), false).unwrap_err().kind(),
        ErrorKind::Locked
    );
    let over = api::Doctor::default();
    assert_eq!(session.engine().doctor(&over).what, What::Recount);
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_is_looked_at_too() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = filled();
    let modes = |mode: u32| {
        for folder in ["", "segments", "store"] {
            let path = fixture.path().join(folder);
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    modes(0o555);
    let found = doctor::examine(fixture.path());
    modes(0o755);
    assert!(found.is_well() && found.sessions.len() == 2, "{found:?}");
}

#[test]
fn damage_is_told_with_its_place_and_owner() {
    let fixture = filled();
    let path = segment(&fixture);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|part| part == b"turn 5").unwrap();
    let head = bytes[..at]
        .windows(3)
        .rposition(|part| part == b"RCF")
        .unwrap();
    bytes[head + 20] ^= 4;
    std::fs::write(&path, &bytes).unwrap();
    let found = doctor::examine(fixture.path());
    assert_eq!(found.state, Some(State::Damaged));
    let problem = found
        .problems
        .iter()
        .find(|problem| problem.session.as_deref() == Some("s"))
        .unwrap();
    assert_eq!(problem.offset, Some(head as u64), "{problem:?}");
    assert_eq!(
        problem.file.as_deref(),
        Some("segments/0000000000000000.seg")
    );
    assert!(problem.first == problem.last && problem.bytes > Some(0));
    assert!(problem.what.starts_with("damaged") && !problem.next.is_empty());
}

#[test]
fn a_lost_content_is_told_with_its_event() {
    let fixture = filled();
    let path = segment(&fixture);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|part| part == b"turn 5").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let found = doctor::examine(fixture.path());
    assert_eq!(found.state, Some(State::Damaged));
    assert!(
        found
            .problems
            .iter()
            .any(|problem| problem.session.as_deref() == Some("s") && problem.first.is_some()),
        "{found:?}"
    );
}

#[test]
fn a_torn_tail_is_told_apart_and_is_cut_by_the_next_open() {
    let fixture = filled();
    let path = segment(&fixture);
    let bytes = std::fs::read(&path).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    std::fs::write(&path, &bytes[..used - 300]).unwrap();
    // The event store would know what stood there: then it is truncated, not torn.
    std::fs::remove_dir_all(fixture.path().join("store")).unwrap();
    let found = doctor::examine(fixture.path());
    assert_eq!(found.state, Some(State::Torn), "{found:?}");
    assert!(found.problems[0].what.starts_with("torn"), "{found:?}");
    fixture.engine().close().unwrap();
    let after = doctor::examine(fixture.path());
    assert!(after.is_well(), "{after:?}");
    assert!(
        after.notes.iter().any(|note| note.what.contains("cut off")),
        "{after:?}"
    );
}

#[test]
fn every_kind_of_broken_directory_is_answered() {
    type Harm = fn(&Path);
    let harms: &[(&str, Harm)] = &[
        ("the key is missing", |path| {
            std::fs::remove_file(path.join("key")).unwrap();
        }),
        ("the key is not the one", |path| {
            std::fs::write(path.join("key"), [7; 32]).unwrap();
        }),
        ("the header is damaged", |path| {
            let segment = path.join("segments/0000000000000000.seg");
            let mut bytes = std::fs::read(&segment).unwrap();
            bytes[70] ^= 1;
            std::fs::write(&segment, bytes).unwrap();
        }),
        ("under a wrong name", |path| {
            let segment = path.join("segments/0000000000000000.seg");
            std::fs::copy(&segment, path.join("segments/0000000000000001.seg")).unwrap();
        }),
        ("newer version", |path| {
            let segment = path.join("segments/0000000000000000.seg");
            let mut bytes = std::fs::read(&segment).unwrap();
            bytes[8] = 9;
            let digest = blake3_of_header(&bytes);
            bytes[64..96].copy_from_slice(&digest);
            std::fs::write(&segment, bytes).unwrap();
        }),
        ("no segments", |path| {
            std::fs::remove_dir_all(path.join("segments")).unwrap();
        }),
        ("cannot be listed", |path| {
            std::fs::remove_dir_all(path.join("segments")).unwrap();
            std::fs::write(path.join("segments"), "a file").unwrap();
        }),
    ];
    for (words, harm) in harms {
        let fixture = filled();
        harm(fixture.path());
        let found = doctor::examine(fixture.path());
        assert_eq!(found.what, What::Recount, "{words}: {found:?}");
        assert!(
            found
                .problems
                .iter()
                .any(|problem| problem.what.contains(words)),
            "{words}: {:#?}",
            found.problems
        );
        assert!(
            found
                .problems
                .iter()
                .all(|problem| !problem.next.is_empty())
        );
    }
}

/// Where frames begin.
fn frames(bytes: &[u8]) -> Vec<usize> {
    let magic = [b'R', b'C', b'F', 1];
    (0..bytes.len())
        .step_by(8)
        .filter(|at| bytes[*at..].starts_with(&magic))
        .collect()
}

fn blake3_of_header(bytes: &[u8]) -> [u8; 32] {
    blake3::derive_key("recount wal 2026-11-29 segment header v1", &bytes[..64])
}

#[test]
fn a_repair_lists_and_does_only_what_is_safe() {
    let fixture = filled();
    let path = fixture.path();
    let key = std::fs::read(path.join("key")).unwrap();
    std::fs::remove_file(path.join("key")).unwrap();
    std::fs::write(path.join("key.new"), "half").unwrap();
    std::fs::write(path.join("segments/0000000000000000.seg.new"), "half").unwrap();
    std::fs::create_dir_all(path.join("out")).unwrap();
    std::fs::write(path.join("out/a.json.part"), "half").unwrap();
    std::fs::write(path.join("of the person"), "stays").unwrap();
    let segment = std::fs::read(segment(&fixture)).unwrap();
    let planned = doctor::plan(path, false);
    let files: Vec<&str> = planned
        .remedies
        .iter()
        .map(|one| one.file.as_str())
        .collect();
    assert_eq!(
        files,
        [
            "key",
            "key.new",
            "segments/0000000000000000.seg.new",
            "out/a.json.part"
        ]
    );
    assert!(planned.remedies.iter().all(|one| !one.done));
    assert!(path.join("key.new").exists(), "a plan does nothing");
    let done = doctor::repair(path, false).unwrap();
    assert!(done.remedies.iter().all(|one| one.done), "{done:?}");
    assert!(done.is_well(), "{done:?}");
    assert_eq!(std::fs::read(path.join("key")).unwrap(), key);
    assert_eq!(std::fs::read(self::segment(&fixture)).unwrap(), segment);
    assert!(path.join("of the person").exists() && path.join("store").exists());
    // What is derived goes when it is asked for, and comes back.
    let done = doctor::repair(path, true).unwrap();
    assert!(done.is_well() && !path.join("store").exists(), "{done:?}");
    let engine = fixture.engine();
    assert_eq!(engine.verify().unwrap().state, State::Clean);
    assert_eq!(
        engine.list(&api::List::default()).unwrap().sessions.len(),
        2
    );
}

#[test]
fn the_store_stays_while_something_is_damaged() {
    let fixture = filled();
    let path = segment(&fixture);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = frames(&bytes)[5];
    bytes[at + 20] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let done = doctor::repair(fixture.path(), true).unwrap();
    assert!(
        done.remedies.iter().all(|one| one.file != "store"),
        "{done:?}"
    );
    assert!(fixture.path().join("store").exists());
}

#[test]
fn what_is_not_ours_gets_a_clear_answer() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let what = |path: &Path| {
        let found = doctor::examine(path);
        assert!(!found.summary.is_empty() && found.is_well() == found.problems.is_empty());
        (found.what, found.is_well())
    };
    assert_eq!(what(&at("nowhere")), (What::Missing, false));
    assert_eq!(what(folder.path()), (What::Empty, true));
    std::fs::write(at("junk"), [0, 159, 146, 150]).unwrap();
    assert_eq!(what(&at("junk")), (What::Foreign, false));
    assert_eq!(what(folder.path()), (What::Foreign, false));
    assert_eq!(
        doctor::repair(folder.path(), false).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert!(!at("lock").exists() && !at("nowhere").exists());

    let line = |uuid: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"parentUuid\":null,\"sessionId\":\"r\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let sound = line("u1", "one");
    std::fs::write(at("r.jsonl"), &sound).unwrap();
    assert_eq!(what(&at("r.jsonl")), (What::Transcript, true));
    std::fs::write(at("r.jsonl"), format!("{sound}{{\"type\":\"us\n")).unwrap();
    let torn = doctor::examine(&at("r.jsonl"));
    assert_eq!(
        (torn.what, torn.is_well(), torn.damaged.len()),
        (What::Transcript, false, 1)
    );
    assert_eq!(torn.damaged[0].line, 2);

    let fixture = Fixture::new();
    let session = fixture.chat();
    let archive = at("a.archive").to_string_lossy().into_owned();
    let ask = api::Export {
        path: Some(archive.clone()),
        ..Default::default()
    };
    session.export(ask).unwrap();
    assert_eq!(what(Path::new(&archive)), (What::Archive, true));
    let text = std::fs::read_to_string(&archive).unwrap();
    let cut = text.lines().count() - 1;
    let cut: String = text
        .lines()
        .take(cut)
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&archive, cut).unwrap();
    assert_eq!(what(Path::new(&archive)), (What::Archive, false));
    let heads = session.engine().heads(&api::Heads::default()).unwrap();
    std::fs::write(at("heads"), recount::evidence::write(&heads)).unwrap();
    assert_eq!(what(&at("heads")), (What::Heads, true));
    std::fs::write(at("heads"), "{\"recount_heads\":1}\n").unwrap();
    assert_eq!(what(&at("heads")), (What::Heads, false));
}

/// Any byte of any file turned over: an answer, and for the log's own bytes never silence.
#[test]
fn any_flipped_byte_of_the_log_is_found_or_harmless() {
    let fixture = filled();
    let path = segment(&fixture);
    let whole = std::fs::read(&path).unwrap();
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let (mut found, mut tried) = (0, 0);
    for at in (0..used).step_by(used / 120 + 1) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&path, &bytes).unwrap();
        tried += 1;
        if doctor::examine(fixture.path()).is_well() {
            // Padding behind a frame's contents is covered by nothing and read by nobody.
            assert_eq!(whole[at], 0, "byte {at} was turned over unseen");
        } else {
            found += 1;
        }
    }
    eprintln!("{tried} bytes turned over, {found} found");
    assert!(found * 10 > tried * 9);
}

#[test]
fn segments_that_are_missing_swapped_or_from_elsewhere_are_named() {
    let many = || {
        let fixture = Fixture::new();
        let options = recount::Options {
            segment_bytes: Some(4_096),
            ..Default::default()
        };
        let engine = recount::Engine::open(fixture.path(), options).unwrap();
        let session = engine.create("s", None).unwrap();
        for turn in 0..30 {
            session
                .append(&[&says(&format!("turn {turn} {}", "x".repeat(300)))])
                .unwrap();
        }
        engine.close().unwrap();
        fixture
    };
    let name =
        |fixture: &Fixture, number: u64| fixture.path().join(format!("segments/{number:016x}.seg"));
    let told = |fixture: &Fixture, words: &str| {
        let found = doctor::examine(fixture.path());
        let problem = found
            .problems
            .iter()
            .find(|problem| problem.what.contains(words));
        assert!(problem.is_some(), "{words}: {:#?}", found.problems);
        found
    };
    let whole = many();
    let well = doctor::examine(whole.path());
    assert!(
        well.is_well() && well.log.unwrap().segments > 3,
        "{:?}",
        well.problems
    );

    let fixture = many();
    std::fs::remove_file(name(&fixture, 1)).unwrap();
    let found = told(&fixture, "a segment is missing");
    assert!(found.sessions[0].lost > 0, "{found:?}");

    let fixture = many();
    std::fs::rename(name(&fixture, 1), name(&fixture, 99)).unwrap();
    std::fs::rename(name(&fixture, 2), name(&fixture, 1)).unwrap();
    std::fs::rename(name(&fixture, 99), name(&fixture, 2)).unwrap();
    told(&fixture, "under a wrong name; number=2");

    let fixture = many();
    std::fs::copy(name(&whole, 1), name(&fixture, 1)).unwrap();
    let found = told(&fixture, "a segment of another directory");
    assert!(found.sessions[0].lost > 0, "{found:?}");
}

/// What may stand where a file is expected, and is none.
#[cfg(unix)]
type Make = fn(&Path);

#[cfg(unix)]
fn stand_ins() -> [(&'static str, Make); 3] {
    [
        ("a directory", |path| std::fs::create_dir(path).unwrap()),
        ("a link into nothing", |path| {
            std::os::unix::fs::symlink("/nowhere/at/all", path).unwrap();
        }),
        // No process is started for it: a child has the locks of other tests until it runs its program.
        ("a pipe", |path| {
            let (reader, writer) = std::io::pipe().unwrap();
            let end = std::os::fd::AsRawFd::as_raw_fd(&reader);
            std::os::unix::fs::symlink(format!("/dev/fd/{end}"), path).unwrap();
            std::mem::forget((reader, writer));
        }),
    ]
}

/// Whatever stands in a file's place: nothing waits for it, nothing is made elsewhere, and the doctor names it.
#[test]
#[cfg(unix)]
fn what_is_no_file_where_one_is_expected_stops_nobody() {
    for name in ["lock", "key", "socket.path"] {
        for (shape, make) in stand_ins() {
            let fixture = filled();
            let place = fixture.path().join(name);
            let _ = std::fs::remove_file(&place);
            make(&place);
            let context = format!("{name} is {shape}");
            let found = doctor::examine(fixture.path());
            assert_eq!(found.what, What::Recount, "{context}");
            // The socket's pointer is only a hint.
            assert_eq!(
                found.is_well(),
                name == "socket.path",
                "{context}: {found:?}"
            );
            if name == "lock" {
                let refused = doctor::repair(fixture.path(), false).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Io, "{context}");
                let refused = recount::Engine::open(fixture.path(), recount::Options::default());
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::Io, "{context}");
            }
        }
    }
    let found = doctor::examine(Path::new("/dev/null"));
    assert_eq!(found.what, What::Foreign);
    assert!(!found.is_well());
}
