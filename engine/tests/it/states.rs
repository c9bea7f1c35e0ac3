//! One word per state: hurts of closed directories, told alike by `recovered`, `verify` and `doctor`, with the same places.
//!
//! - Every segment is missing, cut, holed, there twice or in another's place; the event store is there, gone, or an older one.
//! - What an open does not read (the inside of sealed segments) it does not tell of; what only the store knew, the doctor tells of
//!   once it was opened.

#![allow(clippy::panic, reason = "a test stops at the first surprise")]

use crate::common::{CHAT, Fixture, answers, says};
use recount::{Chance, Engine, Options, api, doctor};
use recount_wal::disk::RealDisk;
use recount_wal::store::StoreOptions;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Truth = BTreeMap<String, Vec<String>>;
/// Session, first and last position, segment, offset, bytes.
type Place = (String, u64, u64, u64, u64, u64);

fn plain(path: &Path) -> Options {
    Options {
        chance: Chance::Seeded(5),
        segment_bytes: Some(8 << 10),
        disk: Some(Arc::new(RealDisk::at(path))),
        ..Options::default()
    }
}

fn turns(engine: &Engine, turns: std::ops::Range<u32>) {
    for turn in turns {
        for name in ["a", "b", "c"] {
            let session = engine.create(name, Some("gpt-5".into())).unwrap();
            session
                .append(&[&answers(&format!("{name} answers {turn}")), &says("go on")])
                .unwrap();
        }
    }
}

fn with_store(path: &Path) {
    let options = recount_wal::Options::default()
        .segment_size(8 << 10)
        .compress(false);
    let (wal, _) =
        recount_wal::Wal::open_with(path, options, Some(StoreOptions::default())).unwrap();
    assert!(
        wal.store()
            .unwrap()
            .wait_ready(std::time::Duration::from_secs(20))
    );
    wal.close().unwrap();
}

/// A closed directory whose sessions have a part in each segment, its event store, and an older one beside it.
fn written() -> (Fixture, tempfile::TempDir, Truth) {
    let fixture = Fixture::new();
    let path = fixture.path();
    let engine = Engine::open(path, plain(path)).unwrap();
    for name in ["a", "b", "c"] {
        let session = engine.create(name, Some("gpt-5".into())).unwrap();
        session.append(CHAT).unwrap();
    }
    turns(&engine, 0..4);
    engine
        .session("a")
        .unwrap()
        .prepare(api::Prepare::default())
        .ok();
    engine.close().unwrap();
    drop(engine);
    with_store(path);
    let stale = tempfile::tempdir().unwrap();
    copy(&path.join("store"), stale.path());
    let engine = Engine::open(path, plain(path)).unwrap();
    turns(&engine, 4..6);
    engine
        .create("d", Some("gpt-5".into()))
        .unwrap()
        .append(CHAT)
        .unwrap();
    engine
        .session("b")
        .unwrap()
        .prepare(api::Prepare::default())
        .ok();
    turns(&engine, 6..12);
    engine
        .session("a")
        .unwrap()
        .fork("f", api::At::Head)
        .unwrap();
    turns(&engine, 12..16);
    let truth = told(&engine);
    engine.close().unwrap();
    drop(engine);
    with_store(path);
    (fixture, stale, truth)
}

fn told(engine: &Engine) -> Truth {
    let log = |name: &str| -> Vec<String> {
        let Ok(session) = engine.session(name) else {
            return Vec::new();
        };
        let log = session.log(0, 1_000).unwrap();
        log.events
            .iter()
            .map(|event| event.get().to_owned())
            .collect()
    };
    ["a", "b", "c", "d", "f"]
        .map(|name| (name.to_owned(), log(name)))
        .into()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else if path.is_file() {
            fs::copy(&path, target).unwrap();
        }
    }
}

fn segments(root: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(root.join("segments"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    all.sort();
    all
}

/// What one of the three says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    whole: api::State,
    sessions: BTreeMap<String, api::State>,
    places: BTreeSet<Place>,
}

/// Names by streams: a session whose first event is lost has none.
struct Names(BTreeMap<String, String>);

impl Names {
    fn of(root: &Path, truth: &Truth) -> Names {
        let key: [u8; 32] = fs::read(root.join("key")).unwrap().try_into().unwrap();
        let stream = |name: &String| {
            let digest = blake3::keyed_hash(&key, name.as_bytes()).to_hex();
            (format!("(unnamed {})", &digest[..32]), name.clone())
        };
        Names(truth.keys().map(stream).collect())
    }

    fn get(&self, name: &str) -> String {
        self.0.get(name).map_or(name, String::as_str).to_owned()
    }
}

fn place(name: &str, damaged: &api::Damaged) -> Place {
    (
        name.into(),
        damaged.first,
        damaged.last,
        damaged.segment,
        damaged.offset,
        damaged.bytes,
    )
}

/// The doctor tells of damage by stretch; a fork's part of its parent's is the parent's.
fn by_doctor(root: &Path, names: &Names) -> Said {
    let found = doctor::examine(root);
    let mut said = Said {
        whole: found.state.unwrap(),
        ..Said::default()
    };
    for problem in &found.problems {
        let (Some(session), Some(file)) = (&problem.session, &problem.file) else {
            continue;
        };
        let segment = file
            .trim_start_matches("segments/")
            .trim_end_matches(".seg");
        said.places.insert((
            names.get(session),
            problem.first.unwrap(),
            problem.last.unwrap(),
            u64::from_str_radix(segment, 16).unwrap(),
            problem.offset.unwrap(),
            problem.bytes.unwrap(),
        ));
    }
    said
}

fn by_open(engine: &Engine, truth: &Truth) -> Said {
    let stats = engine.stats(&api::Stats::default()).unwrap();
    let mut said = Said {
        whole: stats.recovered.state,
        ..Said::default()
    };
    for name in truth.keys() {
        let ask = api::Open {
            session: name.clone(),
            ..Default::default()
        };
        let Ok(found) = engine.open_session(&ask) else {
            continue;
        };
        said.sessions.insert(name.clone(), found.recovered.state);
        let damaged = found.recovered.damaged.iter();
        said.places.extend(damaged.map(|one| place(name, one)));
    }
    said
}

fn by_verify(engine: &Engine, names: &Names) -> Said {
    let verified = engine.verify().unwrap();
    let mut said = Said {
        whole: verified.state,
        ..Said::default()
    };
    for one in &verified.sessions {
        let name = names.get(&one.session);
        said.sessions.insert(name.clone(), one.state);
        let damaged = one.damaged.iter();
        said.places
            .extend(damaged.map(|damaged| place(&name, damaged)));
    }
    said
}

/// Without what forks repeat of their parents' damage.
fn own(places: &BTreeSet<Place>, forked: u64) -> BTreeSet<Place> {
    let own = |place: &&Place| place.0 != "f" || place.1 >= forked;
    places.iter().filter(own).cloned().collect()
}

const HURTS: &[&str] = &[
    "missing",
    "empty",
    "cut in its header",
    "cut in the middle",
    "cut at its end",
    "a hole",
    "zeros to its end",
    "there twice",
    "swapped",
    "of another directory",
];

fn hurt(root: &Path, segment: usize, how: &str, foreign: &Path) {
    let all = segments(root);
    let file = &all[segment];
    let bytes = fs::read(file).unwrap();
    let zeros = |from: usize, to: usize| {
        let mut bytes = bytes.clone();
        bytes[from..to].fill(0);
        fs::write(file, bytes).unwrap();
    };
    match how {
        "missing" => fs::remove_file(file).unwrap(),
        "empty" => fs::write(file, []).unwrap(),
        "cut in its header" => fs::write(file, &bytes[..100]).unwrap(),
        "cut in the middle" => fs::write(file, &bytes[..bytes.len() / 2]).unwrap(),
        "cut at its end" => fs::write(file, &bytes[..bytes.len() - 40]).unwrap(),
        "a hole" => zeros(bytes.len() / 3, bytes.len() / 2),
        "zeros to its end" => zeros(bytes.len() / 2, bytes.len()),
        "there twice" => {
            let next = format!("segments/{:016x}.seg", all.len());
            fs::copy(file, root.join(next)).map(drop).unwrap();
        }
        "swapped" => {
            let other = &all[(segment + 1) % all.len()];
            fs::write(file, fs::read(other).unwrap()).unwrap();
            fs::write(other, bytes).unwrap();
        }
        "of another directory" => {
            let name = file.file_name().unwrap();
            fs::copy(foreign.join("segments").join(name), file)
                .map(drop)
                .unwrap();
        }
        _ => panic!("{how}"),
    }
}

/// What the three say of a hurt directory, at two opens; what any of them says otherwise than it must.
/// `silent`: an end that is missing in the segments and in the event store alike is as if it had never been written.
fn judge(root: &Path, truth: &Truth, how: &str, silent: bool, context: &str) -> Vec<String> {
    let names = Names::of(root, truth);
    let forked = truth["f"]
        .iter()
        .position(|event| event.contains("\"forked\""))
        .unwrap() as u64;
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str, said: &dyn std::fmt::Debug| {
        if !holds {
            wrong.push(format!("{context}: {what}: {said:#?}"));
        }
    };
    let before = by_doctor(root, &names);
    let options = Options {
        chance: Chance::Seeded(5),
        segment_bytes: Some(8 << 10),
        ..Options::default()
    };
    let mut first: Option<Said> = None;
    for round in 0..2 {
        let engine = Engine::open(root, options.clone()).unwrap();
        let open = by_open(&engine, truth);
        let now = told(&engine);
        let check = by_verify(&engine, &names);
        engine.close().unwrap();
        let doctor = by_doctor(root, &names);
        let said = (round, &open, &check, &doctor);
        must(check.whole == doctor.whole, "verify and doctor", &said);
        let places = own(&check.places, forked);
        must(
            places == doctor.places,
            "places of verify and doctor",
            &said,
        );
        // A torn end is cut once and told of for ever; the inside of a sealed segment is not read by an open, nor are contents.
        let less = check.whole == api::State::Torn || matches!(how, "a hole" | "zeros to its end");
        must(
            open.whole == check.whole || (less && open.whole < check.whole),
            "open and verify",
            &said,
        );
        for (name, state) in &open.sessions {
            let checked = check.sessions[name];
            must(
                *state == checked || (less && *state < checked),
                "a session of open and verify",
                &said,
            );
        }
        if how != "a hole" {
            must(
                open.places == check.places,
                "places of open and verify",
                &said,
            );
        }
        let worst = check.sessions.values().max().copied().unwrap_or_default();
        must(
            worst <= check.whole,
            "a session is worse than the whole",
            &said,
        );
        for (name, events) in truth {
            let state = check.sessions.get(name).copied().unwrap_or_default();
            let there = &now[name];
            let whole = there.len() == events.len() && there == events;
            let told = state > api::State::Torn || check.whole >= api::State::Torn;
            must(
                whole || told || silent,
                "events are missing in silence",
                &(name, &check),
            );
            let made_up = |event: &&String| !events.contains(event) && !event.contains("\"lost\"");
            let made_up: Vec<&String> = there.iter().filter(made_up).collect();
            must(made_up.is_empty(), "made up", &made_up);
            if state == api::State::Clean
                && check.whole > api::State::Torn
                && check.sessions.contains_key(name)
            {
                must(
                    events.starts_with(there),
                    "a session that is called clean",
                    &(name, there.len(), events.len()),
                );
            }
        }
        if let Some(first) = &mut first {
            // Whose events a torn end held is known to the one open that cut it.
            let torn = |state: &mut api::State| {
                if *state == api::State::Torn {
                    *state = api::State::Clean;
                }
            };
            first.sessions.values_mut().for_each(torn);
            must(*first == check, "the second check", &(&*first, &check));
        } else {
            must(
                before.whole <= doctor.whole,
                "the doctor before and after",
                &(&before, &doctor),
            );
        }
        first = Some(check);
    }
    wrong
}

#[test]
fn every_hurt_has_one_word_and_one_place() {
    let (fixture, stale, truth) = written();
    let (other, ..) = written();
    let count = segments(fixture.path()).len();
    assert!(count > 5 && count == segments(other.path()).len());
    let (mut wrong, mut cases) = (Vec::new(), 0);
    for segment in 0..count {
        for how in HURTS {
            for store in ["there", "gone", "older"] {
                let copied = tempfile::tempdir().unwrap();
                let root = copied.path();
                copy(fixture.path(), root);
                hurt(root, segment, how, other.path());
                if store != "there" {
                    fs::remove_dir_all(root.join("store")).unwrap();
                }
                if store == "older" {
                    copy(stale.path(), &root.join("store"));
                }
                let context = format!("segment {segment} {how}, store {store}");
                let silent =
                    segment + 1 == count && matches!(*how, "missing" | "empty") && store != "there";
                wrong.extend(judge(root, &truth, how, silent, &context));
                cases += 1;
            }
        }
    }
    println!("hurt directories told of alike by open, verify and doctor: {cases}");
    wrong.iter().for_each(|wrong| println!("{wrong}"));
    assert!(wrong.is_empty(), "{} do not hold", wrong.len());
}
