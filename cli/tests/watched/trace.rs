//! A recording of system calls (`strace -f -y -xx`), read: writes, syncs, names.
//!
//! - A call has a line where it began and a line where it returned; one that never returned, or failed, counts as not made.
//! - `-y` puts the path of a descriptor behind it, so no table of descriptors is kept here.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// What a call did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// Bytes written to a file at an offset.
    Wrote(PathBuf, u64, Vec<u8>),
    /// Bytes written to standard output.
    Said(Vec<u8>),
    /// A file or a directory was synced.
    Synced(PathBuf),
    /// A name was made.
    Made(PathBuf),
    /// A name was changed.
    Renamed(PathBuf, PathBuf),
    /// A name was taken away.
    Removed(PathBuf),
}

/// A call that returned.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The line where it began.
    pub(crate) began: usize,
    /// The line where it had returned.
    pub(crate) returned: usize,
    pub(crate) did: Did,
}

/// What the calls of a recording did, in the order in which they returned. `here`: where the recorded process was started.
pub(crate) fn read(recording: &[String], here: &Path) -> Vec<Call> {
    let mut begun: HashMap<&str, (usize, String)> = HashMap::new();
    let mut calls = Vec::new();
    for (number, line) in recording.iter().enumerate() {
        let Some((process, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        let (began, text) = if let Some(start) = rest.strip_suffix("<unfinished ...>") {
            begun.insert(process, (number, start.trim_end().to_owned()));
            continue;
        } else if let Some((_, end)) = rest.split_once(" resumed>") {
            let Some((began, start)) = begun.remove(process) else {
                continue;
            };
            (began, start + end)
        } else {
            (number, rest.to_owned())
        };
        if let Some(did) = call(&text, here) {
            calls.push(Call {
                began,
                returned: number,
                did,
            });
        }
    }
    calls
}

fn call(text: &str, here: &Path) -> Option<Did> {
    let (name, rest) = text.split_once('(')?;
    let (given, answer) = rest.rsplit_once(" = ")?;
    let count: u64 = answer
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()?;
    let given = given.trim_end().strip_suffix(')')?;
    let args: Vec<&str> = given.split(", ").collect();
    let path = |arg: usize| args.get(arg).and_then(|arg| named(arg, here));
    match name {
        "write" => written(args[0], args[1], count, None),
        "pwrite64" => written(args[0], args[1], count, args.get(3)?.parse().ok()),
        "fsync" | "fdatasync" => Some(Did::Synced(behind(args[0])?)),
        "openat" if args.get(2)?.contains("O_CREAT") => Some(Did::Made(path(1)?)),
        "open" if args.get(1)?.contains("O_CREAT") => Some(Did::Made(path(0)?)),
        "mkdir" => Some(Did::Made(path(0)?)),
        "mkdirat" => Some(Did::Made(path(1)?)),
        "rename" => Some(Did::Renamed(path(0)?, path(1)?)),
        "renameat" | "renameat2" => Some(Did::Renamed(path(1)?, path(3)?)),
        "unlink" => Some(Did::Removed(path(0)?)),
        "unlinkat" => Some(Did::Removed(path(1)?)),
        _ => None,
    }
}

fn written(to: &str, bytes: &str, count: u64, at: Option<u64>) -> Option<Did> {
    let mut bytes = string(bytes)?;
    bytes.truncate(usize::try_from(count).ok()?);
    match at {
        Some(at) => Some(Did::Wrote(behind(to)?, at, bytes)),
        // Nothing that matters is written at a position of the descriptor's own.
        None if to.starts_with("1<") => Some(Did::Said(bytes)),
        None => None,
    }
}

/// The path behind a descriptor: `7</path>`.
fn behind(descriptor: &str) -> Option<PathBuf> {
    let (_, path) = descriptor.split_once('<')?;
    let path = String::from_utf8(unescape(path.strip_suffix('>')?)).ok()?;
    Some(PathBuf::from(path))
}

fn named(arg: &str, here: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(String::from_utf8(string(arg)?).ok()?);
    let mut whole = PathBuf::new();
    for part in here.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    Some(whole)
}

fn string(arg: &str) -> Option<Vec<u8>> {
    assert!(!arg.ends_with("..."), "the recording cuts strings short");
    Some(unescape(arg.strip_prefix('"')?.strip_suffix('"')?))
}

/// Bytes written as `\x41`; others stand for themselves.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes: Vec<u8> = parts.next().unwrap_or_default().bytes().collect();
    for part in parts {
        let (byte, plain) = part.split_at(part.len().min(2));
        bytes.extend(u8::from_str_radix(byte, 16));
        bytes.extend(plain.bytes());
    }
    bytes
}
