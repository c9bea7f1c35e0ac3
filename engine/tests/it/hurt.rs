//! Damage in every file of a data directory: whatever is read is the truth or says that it is lost, and what is missing is told.
//!
//! - `RECOUNT_FLIPS` says how many bytes are flipped (default 60); the figures are printed with `--nocapture`.

#![allow(clippy::panic, reason = "a test stops at the first surprise")]

use crate::common::{CHAT, Fixture, answers, says};
use recount::{Chance, Engine, Options, api};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

type Truth = BTreeMap<String, Vec<String>>;

fn options() -> Options {
    Options {
        chance: Chance::Seeded(5),
        segment_bytes: Some(8 << 10),
        ..Options::default()
    }
}

/// A closed directory with some sessions in several segments, and what it says.
fn written() -> (Fixture, Truth) {
    let fixture = Fixture::new();
    let engine = Engine::open(fixture.path(), options()).unwrap();
    for name in ["a", "b", "c"] {
        let session = engine.create(name, Some("gpt-5".into())).unwrap();
        session.append(CHAT).unwrap();
        for turn in 0..6 {
            session
                .append(&[&answers(&format!("{name} answers {turn}")), &says("go on")])
                .unwrap();
        }
    }
    let truth = told(&engine);
    engine.close().unwrap();
    (fixture, truth)
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
    ["a", "b", "c"]
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

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// The position in an event's JSON.
fn seq(event: &str) -> &str {
    let (_, rest) = event.split_once("\"seq\":").unwrap();
    rest.split([',', '}']).next().unwrap()
}

/// Opens a damaged copy: true when something is missing, which must then be reported.
fn found(directory: &Path, truth: &Truth, context: &str) -> bool {
    let engine = Engine::open(directory, options())
        .unwrap_or_else(|error| panic!("{context}: it does not open: {error}"));
    let now = told(&engine);
    let mut missing = false;
    for (name, events) in truth {
        let original: BTreeMap<&str, &String> =
            events.iter().map(|event| (seq(event), event)).collect();
        let mut whole = 0;
        for event in &now[name] {
            match original.get(seq(event)) {
                Some(was) if *was == event => whole += 1,
                _ => assert!(
                    event.contains("\"lost\""),
                    "{context}: made up in {name}: {event}"
                ),
            }
        }
        missing |= whole < original.len();
    }
    let verified = engine.verify().unwrap();
    if missing {
        assert_ne!(verified.state, api::State::Clean, "{context}: not told of");
    }
    // It goes on, and no position is given again.
    let session = engine.create("a", Some("gpt-5".into())).unwrap();
    let receipt = session.append(&[&says("after the damage")]).unwrap();
    if !missing {
        assert!(receipt.first >= truth["a"].len() as u64, "{context}");
    }
    engine.close().unwrap();
    missing
}

/// What was damaged, how often, and how often something was missing by it.
#[derive(Default)]
struct Census(BTreeMap<String, (u32, u32)>);

impl Census {
    fn count(&mut self, what: &str, missing: bool) {
        let entry = self.0.entry(what.to_owned()).or_default();
        entry.0 += 1;
        entry.1 += u32::from(missing);
    }

    fn print(&self) {
        for (what, (all, missing)) in &self.0 {
            println!(
                "{what}: {all}, found and reported={missing} harmless={}",
                all - missing
            );
        }
    }
}

/// Which file it is, in a few words.
fn kind(root: &Path, file: &Path) -> String {
    let name = file
        .strip_prefix(root)
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let top = name.split('/').next().unwrap_or_default();
    if top == "store" {
        format!(
            "store/{}",
            file.file_name()
                .unwrap()
                .to_string_lossy()
                .split('.')
                .next()
                .unwrap()
        )
    } else {
        top.to_owned()
    }
}

fn random(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    usize::try_from(*state >> 33).unwrap()
}

#[test]
fn a_flipped_byte_in_any_file_is_found_or_harmless() {
    let flips = std::env::var("RECOUNT_FLIPS");
    let flips: usize = flips.ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let (fixture, truth) = written();
    let all: Vec<PathBuf> = files(fixture.path())
        .into_iter()
        .filter(|file| fs::metadata(file).unwrap().len() > 0)
        .collect();
    let (mut census, mut state) = (Census::default(), 11);
    for flip in 0..flips {
        let original = &all[flip % all.len()];
        let copied = tempfile::tempdir().unwrap();
        copy(fixture.path(), copied.path());
        let file = copied
            .path()
            .join(original.strip_prefix(fixture.path()).unwrap());
        let mut bytes = fs::read(&file).unwrap();
        // sled's file is mostly zeros: half of the flips go where something stands.
        let mut at = random(&mut state) % bytes.len();
        if flip % 2 == 0 {
            at = (at..bytes.len()).find(|at| bytes[*at] != 0).unwrap_or(at);
        }
        bytes[at] ^= 1 << (random(&mut state) % 8);
        fs::write(&file, bytes).unwrap();
        let what = kind(fixture.path(), original);
        let missing = found(copied.path(), &truth, &format!("{what} flipped at {at}"));
        census.count(&format!("bytes flipped in {what}"), missing);
    }
    census.print();
}

#[test]
fn holes_cuts_and_segments_out_of_place_are_found_or_harmless() {
    let (fixture, truth) = written();
    let (other, _) = written();
    let foreign = files(&other.path().join("segments"));
    let all = files(fixture.path());
    let segments: Vec<PathBuf> = files(&fixture.path().join("segments"));
    assert!(segments.len() > 3);
    let mut census = Census::default();
    let mut strike = |what: &str, change: &dyn Fn(&Path)| {
        let copied = tempfile::tempdir().unwrap();
        copy(fixture.path(), copied.path());
        change(copied.path());
        let missing = found(copied.path(), &truth, what);
        census.count(what.split(':').next().unwrap(), missing);
        missing
    };
    for file in all
        .iter()
        .filter(|file| fs::metadata(file).unwrap().len() > 0)
    {
        let name = file.strip_prefix(fixture.path()).unwrap();
        let what = kind(fixture.path(), file);
        strike(
            &format!("a hole of zeros in {what}: {}", name.display()),
            &|root| {
                let mut bytes = fs::read(root.join(name)).unwrap();
                let (from, to) = (bytes.len() / 3, bytes.len() * 2 / 3);
                bytes[from..to].fill(0);
                fs::write(root.join(name), bytes).unwrap();
            },
        );
        strike(&format!("cut short {what}: {}", name.display()), &|root| {
            let bytes = fs::read(root.join(name)).unwrap();
            fs::write(root.join(name), &bytes[..bytes.len() / 2]).unwrap();
        });
    }
    let at = |root: &Path, segment: usize| {
        root.join("segments")
            .join(segments[segment].file_name().unwrap())
    };
    let missing = strike("segments swapped", &|root| {
        let (one, two) = (
            fs::read(at(root, 0)).unwrap(),
            fs::read(at(root, 1)).unwrap(),
        );
        fs::write(at(root, 0), two).unwrap();
        fs::write(at(root, 1), one).unwrap();
    });
    assert!(missing);
    strike("a segment there twice", &|root| {
        let next = format!("{:016x}.seg", segments.len());
        fs::copy(at(root, 1), root.join("segments").join(next)).unwrap();
    });
    for segment in 0..segments.len() {
        let missing = strike("a segment of another directory", &|root| {
            let from = &foreign[segment.min(foreign.len() - 1)];
            fs::copy(from, at(root, segment)).unwrap();
        });
        assert!(missing);
        strike("a segment gone", &|root| {
            fs::remove_file(at(root, segment)).unwrap()
        });
    }
    census.print();
}
