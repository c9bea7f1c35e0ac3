//! Paths that a request names, at which something else stands than a file: nothing waits for it, nothing takes its place.

#![cfg(unix)]

use crate::common::Fixture;
use recount::{ErrorKind, api, place};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::Path;

/// Makes something at a path.
type Make = fn(&Path);

/// What is no file. None of them is made by a process: a child has the locks of other tests until it runs its program.
const NO_FILES: &[(&str, Make)] = &[
    ("a folder", |path| std::fs::create_dir(path).unwrap()),
    ("a socket", |path| {
        drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    }),
    ("a pipe", pipe),
    ("a device", |path| symlink("/dev/null", path).unwrap()),
];

/// Links: written over, they would be gone; what they lead to would be a surprise.
const LINKS: &[(&str, Make)] = &[
    ("a link into nothing", |path| {
        symlink("nowhere", path).unwrap();
    }),
    ("a link to a file", |path| {
        let file = path.with_extension("file");
        std::fs::write(&file, "the host's own").unwrap();
        symlink(file, path).unwrap();
    }),
    ("a link to itself", |path| {
        symlink(path.file_name().unwrap(), path).unwrap();
    }),
];

/// A pipe that somebody may write to: whoever reads it waits.
fn pipe(path: &Path) {
    let (reader, writer) = std::io::pipe().unwrap();
    symlink(format!("/dev/fd/{}", reader.as_raw_fd()), path).unwrap();
    std::mem::forget((reader, writer));
}

/// What stands at a path, by what cannot stay the same when something else takes its place.
fn identity(path: &Path) -> (u64, Option<std::path::PathBuf>, bool) {
    use std::os::unix::fs::MetadataExt as _;
    let about = path.symlink_metadata().unwrap();
    let socket = about.file_type().is_socket();
    (about.ino(), std::fs::read_link(path).ok(), socket)
}

/// The names in a folder: nothing unfinished stays behind.
fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[test]
fn an_export_takes_the_place_of_nothing_but_a_file() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    for (shape, make) in NO_FILES.iter().chain(LINKS) {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("place");
        make(&place);
        let (before, around) = (identity(&place), names(scratch.path()));
        for format in [None, Some("recount"), Some("cline-task")] {
            if format == Some("cline-task") && *shape == "a folder" {
                continue;
            }
            let ask = api::Export {
                path: Some(text(&place)),
                format: format.map(str::to_owned),
                ..Default::default()
            };
            let refused = session.export(ask).expect_err(shape);
            assert_eq!(refused.kind(), ErrorKind::Invalid, "{shape} {format:?}");
            assert_eq!(refused.field(), Some("path"), "{shape} {format:?}");
            assert_eq!(identity(&place), before, "{shape} {format:?}");
            assert_eq!(names(scratch.path()), around, "{shape} {format:?}");
        }
        if *shape == "a link to a file" {
            assert_eq!(std::fs::read(&place).unwrap(), b"the host's own");
        }
    }
    // A file is replaced, as ever.
    let scratch = tempfile::tempdir().unwrap();
    let place = scratch.path().join("place");
    std::fs::write(&place, "an older export").unwrap();
    let ask = api::Export {
        path: Some(text(&place)),
        ..Default::default()
    };
    session.export(ask).unwrap();
    assert!(std::fs::read(&place).unwrap().len() > 100);
}

#[test]
fn an_import_reads_nothing_but_files_and_folders() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    for (shape, make) in NO_FILES.iter().filter(|(shape, _)| *shape != "a folder") {
        for name in ["place", "api_conversation_history.json"] {
            for format in [None, Some("recount-archive"), Some("claude-code-jsonl")] {
                let scratch = tempfile::tempdir().unwrap();
                let place = scratch.path().join(name);
                make(&place);
                let ask = api::Import {
                    path: text(&place),
                    format: format.map(str::to_owned),
                    name: None,
                };
                let refused = engine.import(&ask).expect_err(shape);
                assert_eq!(refused.kind(), ErrorKind::Invalid, "{shape} {format:?}");
                assert_eq!(refused.field(), Some("path"), "{shape} {name} {format:?}");
            }
        }
    }
    let nothing = api::Import {
        path: text(&fixture.path().join("nothing")),
        ..Default::default()
    };
    assert_eq!(
        engine.import(&nothing).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

/// A link to a file is read as that file.
#[test]
fn what_a_link_leads_to_counts_for_reading() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let scratch = tempfile::tempdir().unwrap();
    let (file, link) = (scratch.path().join("file"), scratch.path().join("link"));
    let ask = api::Export {
        path: Some(text(&file)),
        ..Default::default()
    };
    session.export(ask).unwrap();
    symlink(&file, &link).unwrap();
    let ask = api::Import {
        path: text(&link),
        ..Default::default()
    };
    session.engine().import(&ask).unwrap();
    place::readable(&link).unwrap();
    assert!(place::replaceable(&link).is_err());
    for (shape, make) in NO_FILES {
        let place = scratch.path().join(shape);
        make(&place);
        assert!(place::readable(&place).is_err(), "{shape}");
    }
}

#[test]
fn a_prune_writes_its_archive_over_nothing_and_reads_no_pipe() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let engine = session.engine().clone();
    drop(session);
    for (shape, make) in NO_FILES.iter().chain(LINKS) {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("place");
        make(&place);
        let (before, around) = (identity(&place), names(scratch.path()));
        let ask = api::Prune {
            sessions: Some(vec!["s".into()]),
            archive: Some(text(&place)),
            ..Default::default()
        };
        let refused = engine.prune(&ask).expect_err(shape);
        let file = *shape == "a link to a file";
        let itself = *shape == "a link to itself";
        let kind = match (file, itself) {
            // It leads to a file that holds something else.
            (true, _) => ErrorKind::Conflict,
            (_, true) => ErrorKind::Io,
            _ => ErrorKind::Invalid,
        };
        assert_eq!(refused.kind(), kind, "{shape}: {refused:?}");
        assert_eq!(refused.field(), Some("archive"), "{shape}");
        assert_eq!(identity(&place), before, "{shape}");
        assert_eq!(names(scratch.path()), around, "{shape}");
        assert!(
            engine.session("s").is_ok(),
            "{shape}: nothing was forgotten"
        );
    }
}
