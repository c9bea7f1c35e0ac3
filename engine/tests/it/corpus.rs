//! Real recordings, where they lie beside the checkout: in, shown on both wires, checked.

use crate::common::Fixture;
use recount::api;
use std::path::{Path, PathBuf};

/// All recordings below a folder, with their sizes.
fn below(folder: &Path, found: &mut Vec<(u64, PathBuf)>) {
    for path in std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
    {
        if path.is_dir() {
            below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push((
                std::fs::metadata(&path).map_or(0, |facts| facts.len()),
                path,
            ));
        }
    }
}

/// The largest recordings below a folder.
fn largest(folder: &Path, count: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    below(folder, &mut found);
    found.sort();
    found
        .into_iter()
        .rev()
        .take(count)
        .map(|(_, path)| path)
        .collect()
}

/// Where the recordings lie.
fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("RECOUNT_SHARED").map_or_else(beside, PathBuf::from)
}

/// The head and a few places before it.
fn cuts(head: u64) -> Vec<api::At> {
    let places = (1..5).map(|part| head * part / 5);
    places.map(api::At::Seq).chain([api::At::Head]).collect()
}

fn check(path: &Path) {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let began = std::time::Instant::now();
    let ask = api::Import {
        path: path.to_string_lossy().into_owned(),
        name: Some("s".into()),
        ..Default::default()
    };
    let imported = match engine.import(&ask) {
        Ok(imported) => imported,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            assert_eq!(
                error.kind(),
                recount::ErrorKind::Invalid,
                "{}",
                path.display()
            );
            return;
        }
    };
    let events: u64 = imported
        .sessions
        .iter()
        .map(|session| session.head + 1)
        .sum();
    let misfits: u64 = imported.sessions.iter().map(|session| session.kept).sum();
    for session in &imported.sessions {
        for (at, wire) in cuts(session.head)
            .into_iter()
            .flat_map(|at| [(at.clone(), "anthropic"), (at, "openai_chat")])
        {
            let ask = api::Project {
                session: session.session.clone(),
                at,
                wire: Some(wire.into()),
                profile: Some("claude-sonnet-5".into()),
                ..Default::default()
            };
            let projected = engine.project(&ask).unwrap();
            assert!(projected.outcome != api::Outcome::Ready || projected.request.is_some());
        }
    }
    let verified = engine.verify().unwrap();
    assert_eq!(
        (verified.state, &verified.problems),
        (api::State::Clean, &Vec::new()),
        "{}",
        path.display()
    );
    assert!(
        engine
            .import(&ask)
            .unwrap()
            .sessions
            .iter()
            .all(|session| session.state == "same"),
        "{}",
        path.display()
    );
    eprintln!(
        "{}: events={events} misfits={misfits} in {:?}",
        path.display(),
        began.elapsed()
    );
}

#[test]
fn the_largest_recordings_are_read_shown_and_checked() {
    let files = largest(&shared().join("corpus/claude-code-jsonl"), 3);
    if files.is_empty() {
        eprintln!("no recordings beside the checkout; nothing was read");
    }
    files.iter().for_each(|path| check(path));
}

/// Recordings of about so many bytes below a folder.
fn about(folder: &Path, bytes: u64, count: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    below(folder, &mut found);
    found.sort_by_key(|(size, path)| (size.abs_diff(bytes), path.clone()));
    found
        .into_iter()
        .take(count)
        .map(|(_, path)| path)
        .collect()
}

/// The body at a cut, open calls healed; none where nothing can be sent.
fn body_at(engine: &recount::Engine, at: api::At) -> Option<String> {
    let ask = api::Project {
        session: "s".into(),
        at,
        heal: true,
        profile: Some("claude-sonnet-5".into()),
        ..Default::default()
    };
    let request = engine.project(&ask).ok()?.request?;
    serde_json::from_str(request.body.get()).ok()
}

/// What `explain` and `diff` say of a recording is what its bodies show.
fn explains(path: &Path) {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let ask = api::Import {
        path: path.to_string_lossy().into_owned(),
        name: Some("s".into()),
        ..Default::default()
    };
    let Ok(imported) = engine.import(&ask) else {
        return;
    };
    let head = imported.sessions.first().map_or(0, |session| session.head);
    let open = api::Open {
        session: "s".into(),
        profile: Some("claude-sonnet-5".into()),
        policy: Some("claude-code".into()),
        ..Default::default()
    };
    engine.open_session(&open).unwrap();
    let explained = engine
        .explain(&api::Explain {
            session: "s".into(),
            ..Default::default()
        })
        .unwrap();
    let tokens: u64 = explained.shown.iter().map(|piece| piece.tokens).sum();
    let bytes: u64 = explained.shown.iter().map(|piece| piece.bytes).sum();
    assert_eq!(tokens, explained.tokens.total);
    assert_eq!(bytes + explained.frame_bytes, explained.bytes);
    assert!(
        explained
            .shown
            .iter()
            .filter(|piece| piece.mark.is_some())
            .count()
            <= 4
    );
    for absent in &explained.absent {
        assert!(!absent.cause.is_empty());
        if absent.by.is_some() {
            assert!(absent.back.is_some(), "{absent:?}");
        }
    }
    let cuts = [head / 3, head / 2, head].map(api::At::Seq);
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        let sides = [a, b].map(|place: usize| api::Side {
            at: cuts[place].clone(),
            profile: Some("claude-sonnet-5".into()),
            ..Default::default()
        });
        let [one, other] = sides;
        let diff = api::Diff {
            session: "s".into(),
            a: one,
            b: other,
        };
        let differed = engine.diff(&diff).unwrap();
        let bodies = body_at(&engine, cuts[a].clone()).zip(body_at(&engine, cuts[b].clone()));
        let (Some(first), Some((one, other))) = (differed.first, bodies) else {
            continue;
        };
        let same = one
            .bytes()
            .zip(other.bytes())
            .take_while(|(one, other)| one == other)
            .count() as u64;
        // A piece begins behind what opens its message: there the bodies may part a little earlier.
        assert!(
            first.byte >= same && first.byte - same < 64,
            "{}: {first:?} against {same}",
            path.display()
        );
    }
}

#[test]
fn explanations_and_differences_say_what_the_bodies_show() {
    for bytes in [100_000, 1_000_000] {
        let files = about(&shared().join("corpus/claude-code-jsonl"), bytes, 3);
        files.iter().for_each(|path| explains(path));
    }
}

#[test]
#[ignore = "minutes; for a look at everything"]
fn every_recording_is_read_shown_and_checked() {
    largest(&shared().join("corpus"), usize::MAX)
        .iter()
        .for_each(|path| check(path));
}
