//! A host that changes its working directory after it opened a data directory by a relative path. The working directory is the process's, so
//! this is alone in its binary.

use recount::share::Handle;
use recount::{Engine, Options, api};

fn options() -> Options {
    Options {
        segment_bytes: Some(64 << 10),
        ..Options::default()
    }
}

fn says(number: usize) -> String {
    let words = "w".repeat(4_000);
    format!(r#"{{"type":"message","role":"user","content":"{number} {words}"}}"#)
}

#[test]
fn a_directory_stays_where_it_was_opened() {
    let base = tempfile::tempdir().unwrap();
    let (home, other) = (base.path().join("home"), base.path().join("other"));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&other).unwrap();
    std::env::set_current_dir(&home).unwrap();
    let holder = Handle::open("data".as_ref(), options()).unwrap();
    let client = Handle::open("data".as_ref(), options()).unwrap();
    assert!(client.local().is_none());
    let engine = holder.local().unwrap();
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    for number in 0..60 {
        session.append(&[&says(number)]).unwrap();
    }
    let events = |engine: &Engine| {
        let session = engine.session("s").unwrap();
        session.log(0, 1_000).unwrap().events.len()
    };
    let before = events(&engine);
    let files = std::fs::read_dir(home.join("data/segments")).unwrap();
    assert!(files.count() >= 3);

    std::env::set_current_dir(&other).unwrap();
    for number in 60..120 {
        session.append(&[&says(number)]).unwrap();
    }
    assert_eq!(events(&engine), before + 60);
    assert_eq!(engine.verify().unwrap().state, api::State::Clean);
    assert!(engine.directory().is_absolute());
    holder.close().unwrap();
    drop((session, engine, holder));

    // Whoever was a client takes over, in the same place.
    client.call("v1.hello", "{}").unwrap();
    let engine = client.local().unwrap();
    assert_eq!(events(&engine), before + 60);
    client.close().unwrap();
    let stray = std::fs::read_dir(&other).unwrap();
    assert_eq!(stray.count(), 0);
}
