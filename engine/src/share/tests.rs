//! Two handles to one directory: how the second one reaches the first.

use super::Handle;
use super::client::{Client, Lost};
use crate::{ErrorKind, MAX_LINE, Options};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"v1.hello"}"#;

fn open(dir: &Path) -> Handle {
    Handle::open(dir, Options::default()).unwrap()
}

#[test]
fn what_is_longer_than_a_line_is_refused_before_it_is_sent() {
    let dir = tempfile::tempdir().unwrap();
    let holder = open(dir.path());
    let client = open(dir.path());
    assert!(holder.local().is_some() && client.local().is_none());
    let params = format!(r#"{{"prefix":"{}"}}"#, "x".repeat(MAX_LINE));
    let error = client.call("v1.heads", &params).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    let line = vec![b'x'; MAX_LINE + 1];
    assert_eq!(client.line(&line), holder.line(&line));
}

/// A folder whose path is too long for a socket's address, and a short link to it.
fn long(base: &Path) -> (PathBuf, PathBuf) {
    let (short, long) = (
        base.join("l"),
        base.join("d".repeat(60)).join("e".repeat(60)),
    );
    std::fs::create_dir_all(&long).unwrap();
    std::os::unix::fs::symlink(&long, &short).unwrap();
    (long, short)
}

#[test]
fn whoever_holds_a_directory_is_found_under_all_its_names() {
    let base = tempfile::tempdir().unwrap();
    let (long, short) = long(base.path());
    for (held, asked) in [(&short, &long), (&long, &short)] {
        let holder = open(held);
        let client = open(asked);
        assert!(holder.local().is_some() && client.local().is_none());
        client.call("v1.hello", "{}").unwrap();
    }
}

#[test]
fn a_short_directory_is_reached_by_a_long_name() {
    let base = tempfile::tempdir().unwrap();
    let (deep, _) = long(base.path());
    let near = base.path().join("near");
    let holder = open(&near);
    let far = deep.join("link");
    std::os::unix::fs::symlink(&near, &far).unwrap();
    let client = open(&far);
    assert!(holder.local().is_some() && client.local().is_none());
    client.call("v1.hello", "{}").unwrap();
}

/// Whoever is turned away knows that nothing was done, whether the request was sent already or not.
#[test]
fn who_is_turned_away_may_ask_again() {
    for sent_before in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("socket")).unwrap();
        let client = Client::connect(dir.path()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let asking = if sent_before {
            let asking = std::thread::spawn(move || client.ask(HELLO));
            // It has been sent when the first byte is here.
            let mut first = [0];
            std::io::Read::read_exact(&mut &stream, &mut first).unwrap();
            super::server::turn_away(&stream);
            drop(stream);
            asking.join().unwrap()
        } else {
            super::server::turn_away(&stream);
            drop(stream);
            client.ask(HELLO)
        };
        assert!(matches!(asking, Err(Lost::Before)), "{asking:?}");
    }
}
