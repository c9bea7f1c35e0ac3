//! Recordings and archives: in, again, grown, rewritten, under another name.

use crate::common::{CHAT, Fixture};
use recount::{Engine, ErrorKind, api};
use std::path::{Path, PathBuf};

fn line(uuid: &str, parent: &str, role: &str, text: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    let content = if role == "user" {
        format!("\"{text}\"")
    } else {
        format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]")
    };
    let id = if role == "user" {
        String::new()
    } else {
        format!("\"id\":\"msg_{uuid}\",\"model\":\"claude-sonnet-4-5\",\"type\":\"message\",")
    };
    format!(
        "{{\"type\":\"{role}\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{{id}\"role\":\"{role}\",\"content\":{content}}}}}\n"
    )
}

fn recording() -> Vec<String> {
    vec![
        line("u1", "", "user", "hello"),
        line("a1", "u1", "assistant", "hi"),
        line("u2", "a1", "user", "how are you"),
        line("a2", "u2", "assistant", "well"),
    ]
}

fn write(dir: &Path, lines: &[String]) -> PathBuf {
    let path = dir.join("talk.jsonl");
    std::fs::write(&path, lines.concat()).unwrap();
    path
}

fn import(engine: &Engine, path: &Path) -> api::Imported {
    let ask = api::Import {
        path: path.to_string_lossy().into_owned(),
        ..Default::default()
    };
    engine.import(&ask).unwrap()
}

fn body(engine: &Engine, session: &str) -> String {
    let ask = api::Project {
        session: session.into(),
        profile: Some("claude-sonnet-4-5".into()),
        ..Default::default()
    };
    engine.project(&ask).unwrap().body_digest.unwrap()
}

#[test]
fn the_same_file_again_writes_nothing() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let path = write(files.path(), &recording());
    let first = import(&engine, &path);
    assert_eq!(
        (
            first.sessions[0].state.as_str(),
            first.sessions[0].session.as_str()
        ),
        ("created", "talk")
    );
    let again = import(&engine, &path);
    assert_eq!(
        (again.sessions[0].state.as_str(), again.sessions[0].events),
        ("same", 0)
    );
    assert_eq!(again.sessions[0].head, first.sessions[0].head);
}

#[test]
fn a_file_that_grew_adds_what_is_new() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let mut lines = recording();
    let path = write(files.path(), &lines[..2]);
    let first = import(&engine, &path);
    let path2 = write(files.path(), &lines);
    let second = import(&engine, &path2);
    assert_eq!(second.sessions[0].state, "grown");
    assert!(second.sessions[0].head > first.sessions[0].head);
    let whole = tempfile::tempdir().unwrap();
    let other = Fixture::new();
    let engine2 = other.engine();
    import(&engine2, &write(whole.path(), &lines));
    assert_eq!(body(&engine, "talk"), body(&engine2, "talk"));
    lines.push(line("u3", "a2", "user", "bye"));
    assert_eq!(
        import(&engine, &write(files.path(), &lines)).sessions[0].state,
        "grown"
    );
}

#[test]
fn a_line_that_was_still_being_written_makes_no_fork() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let lines = recording();
    for (upto, state) in [(40, "created"), (60, "grown"), (60, "same"), (40, "same")] {
        let mut begun = lines[..2].to_vec();
        begun.push(lines[2][..upto].to_owned());
        let done = import(&engine, &write(files.path(), &begun));
        assert_eq!(
            (done.sessions[0].state.as_str(), done.damaged.len()),
            (state, 1)
        );
    }
    let path = write(files.path(), &lines);
    for state in ["grown", "same"] {
        let done = import(&engine, &path);
        assert_eq!(
            (
                done.sessions[0].session.as_str(),
                done.sessions[0].state.as_str()
            ),
            ("talk", state)
        );
    }
    let other = Fixture::new();
    let engine2 = other.engine();
    import(&engine2, &path);
    assert_eq!(body(&engine, "talk"), body(&engine2, "talk"));
}

#[test]
fn a_rewritten_file_becomes_a_fork() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let mut lines = recording();
    import(&engine, &write(files.path(), &lines));
    let before = body(&engine, "talk");
    lines[2] = line("u2", "a1", "user", "what else");
    let second = import(&engine, &write(files.path(), &lines));
    let forked = &second.sessions[0];
    assert_eq!(
        (
            forked.state.as_str(),
            forked.session.as_str(),
            forked.from.as_deref()
        ),
        ("forked", "talk~2", Some("talk"))
    );
    assert_eq!(body(&engine, "talk"), before);
    let other = Fixture::new();
    let engine2 = other.engine();
    import(&engine2, &write(files.path(), &lines));
    assert_eq!(body(&engine, "talk~2"), body(&engine2, "talk"));
    assert_eq!(
        import(&engine, &write(files.path(), &lines)).sessions[0].state,
        "same"
    );
    lines.push(line("u3", "a2", "user", "bye"));
    let third = import(&engine, &write(files.path(), &lines));
    assert_eq!(
        (
            third.sessions[0].state.as_str(),
            third.sessions[0].session.as_str()
        ),
        ("grown", "talk~2")
    );
    assert_eq!(engine.verify().unwrap().state, api::State::Clean);
}

#[test]
fn a_recording_whose_name_is_taken_is_found_under_its_own() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    import(&engine, &write(files.path(), &recording()));
    let later = |line: String| line.replace("T00:00:00", "T01:00:00");
    let mut other: Vec<String> = recording().into_iter().map(later).collect();
    let path = write(files.path(), &other);
    let session = |done: api::Imported| {
        (
            done.sessions[0].state.clone(),
            done.sessions[0].session.clone(),
        )
    };
    assert_eq!(
        session(import(&engine, &path)),
        ("created".into(), "talk~2".into())
    );
    let names = |engine: &Engine| -> Vec<String> {
        let listed = engine.list(&api::List::default()).unwrap();
        listed
            .sessions
            .into_iter()
            .map(|line| line.session)
            .collect()
    };
    assert_eq!(names(&engine), ["talk~2", "talk"]);
    let heads = engine.heads(&api::Heads::default()).unwrap();
    assert_eq!(heads.heads.len(), 2);
    assert_eq!(
        session(import(&engine, &path)),
        ("same".into(), "talk~2".into())
    );
    other.push(later(line("u3", "a2", "user", "bye")));
    let path = write(files.path(), &other);
    assert_eq!(
        session(import(&engine, &path)),
        ("grown".into(), "talk~2".into())
    );
    drop(engine);
    let engine = fixture.engine();
    assert_eq!(names(&engine), ["talk~2", "talk"]);
    assert_eq!(engine.verify().unwrap().state, api::State::Clean);
}

fn exported(engine: &Engine, session: &str) -> String {
    engine
        .export(&api::Export {
            session: session.into(),
            ..Default::default()
        })
        .unwrap()
        .text
        .unwrap()
}

fn import_archive(
    engine: &Engine,
    text: &str,
    name: Option<&str>,
) -> Result<api::Imported, recount::Error> {
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("archive.jsonl");
    std::fs::write(&path, text).unwrap();
    engine.import(&api::Import {
        path: path.to_string_lossy().into_owned(),
        name: name.map(str::to_owned),
        ..Default::default()
    })
}

#[test]
fn an_archive_keeps_every_digest_under_another_name() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let session = engine
        .create("first", Some("claude-opus-4-5".into()))
        .unwrap();
    session.append(CHAT).unwrap();
    session.prepare(api::Prepare::default()).unwrap();
    let fork = session.fork("second", api::At::Seq(3)).unwrap();
    fork.append(&[r#"{"type":"message","role":"user","content":"other"}"#])
        .unwrap();
    for name in ["first", "second"] {
        let text = exported(&engine, name);
        let other = Fixture::new();
        let target = other.engine();
        let done = import_archive(&target, &text, Some("elsewhere")).unwrap();
        assert_eq!(done.sessions[0].state, "created");
        let (old, new) = (
            engine.session(name).unwrap(),
            target.session("elsewhere").unwrap(),
        );
        let (old, new) = (old.log(0, 1000).unwrap(), new.log(0, 1000).unwrap());
        for (one, two) in old.events.iter().zip(&new.events) {
            assert_eq!(one.get(), two.get());
        }
        assert!(new.events.len() >= old.events.len());
        assert_eq!(target.verify().unwrap().state, api::State::Clean);
        assert_eq!(
            target.list(&api::List::default()).unwrap().sessions[0].session,
            "elsewhere"
        );
        assert_eq!(
            import_archive(&target, &text, Some("elsewhere"))
                .unwrap()
                .sessions[0]
                .state,
            "same"
        );
    }
}

#[test]
fn a_tampered_archive_is_refused_and_leaves_nothing() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let session = engine
        .create("first", Some("claude-opus-4-5".into()))
        .unwrap();
    session.append(CHAT).unwrap();
    let text = exported(&engine, "first");
    let other = Fixture::new();
    let target = other.engine();
    let altered = text.replacen("what is in a.txt?", "what is in b.txt?", 1);
    assert_ne!(altered, text);
    let error = import_archive(&target, &altered, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    assert!(
        target
            .list(&api::List::default())
            .unwrap()
            .sessions
            .is_empty()
    );
}

#[test]
fn a_file_that_is_no_recording_is_refused() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let ask = |path: &Path| api::Import {
        path: path.to_string_lossy().into_owned(),
        ..Default::default()
    };
    let missing = engine.import(&ask(&files.path().join("none"))).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let junk = files.path().join("junk");
    std::fs::write(&junk, b"\x00\x01 nothing").unwrap();
    assert_eq!(
        engine.import(&ask(&junk)).unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn rule_11_an_orphans_words_beside_it_are_kept() {
    let (fixture, files) = (Fixture::new(), tempfile::tempdir().unwrap());
    let engine = fixture.engine();
    let orphan = line("u3", "a2", "user", "x").replace(
        "\"content\":\"x\"",
        r#""content":[{"type":"tool_result","tool_use_id":"gone","content":"nobody asked"},{"type":"text","text":"the words beside"}]"#,
    );
    let mut lines = recording();
    lines.push(orphan);
    let path = write(files.path(), &lines);
    let imported = import(&engine, &path);
    assert_eq!(imported.sessions[0].kept, 0);
    assert!(
        imported
            .doubted
            .iter()
            .any(|note| note.line == 5 && note.problem.contains("not shown")),
        "{imported:?}"
    );
    let ask = api::Project {
        session: "talk".into(),
        profile: Some("claude-sonnet-4-5".into()),
        ..Default::default()
    };
    let text = engine
        .project(&ask)
        .unwrap()
        .request
        .unwrap()
        .body
        .get()
        .to_owned();
    assert!(
        text.contains("the words beside") && !text.contains("nobody asked"),
        "{text}"
    );
    assert_eq!(import(&engine, &path).sessions[0].state, "same");
}
