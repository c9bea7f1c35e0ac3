//! What lies in a log's directory, file by file: for tools that look at a directory which may be broken or held by another process.
//!
//! - Reads the first bytes of each segment and the key file; changes nothing, takes no lock.
//! - What cannot be read is part of the answer.

use std::io;
use std::path::Path;

use crate::disk::{Access, Disk, RealDisk, read_up_to};
use crate::error::OpenError;
use crate::format::header::{BadHeader, Header};
use crate::format::{HEADER, KEY_FILE, SEGMENTS, segment_name, segment_number};
use crate::lock::Lock;
use crate::recovery::{stored_key, written_key};

/// The files of a log.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// How the key file stands.
    pub key: KeyFile,
    /// The segments, by number.
    pub segments: Vec<SegmentAt>,
    /// Why the segments cannot be listed, as the system says it.
    pub unlisted: Option<String>,
}

/// How the file with the directory's key stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFile {
    /// There is none, and no segment that would need one.
    Absent,
    /// There is none; the segments hold it.
    Missing,
    /// It is the segments' own.
    Sound,
    /// It is not the one of the segments, or not a key.
    Wrong,
    /// It cannot be read, as the system says it.
    Unread(String),
}

/// A segment's file.
#[derive(Clone, Debug)]
pub struct SegmentAt {
    /// Its number.
    pub number: u64,
    /// Its path in the directory.
    pub name: String,
    /// Its length on disk.
    pub bytes: u64,
    /// What its header says.
    pub header: HeaderFound,
}

/// What the header of a segment's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderFound {
    /// It is this segment of this directory.
    Sound {
        /// Its frames are compressed.
        compressed: bool,
    },
    /// It is another segment of this directory, under a wrong name.
    OtherNumber(u64),
    /// It is a segment of another directory.
    OtherDirectory,
    /// It is not a header any more.
    Damaged,
    /// A newer version wrote it.
    Newer(u16),
    /// It cannot be read, as the system says it.
    Unread(String),
}

/// Looks at the files of a log.
#[must_use]
pub fn inspect(directory: &Path) -> Inspection {
    let disk = RealDisk::at(directory);
    let (names, unlisted) = match disk.list(SEGMENTS) {
        Ok(names) => (names, None),
        Err(cause) => (Vec::new(), Some(cause.to_string())),
    };
    let mut numbers: Vec<u64> = names
        .iter()
        .filter_map(|name| segment_number(name))
        .collect();
    numbers.sort_unstable();
    let headers: Vec<(u64, Read)> = numbers
        .into_iter()
        .map(|number| (number, header(&disk, number)))
        .collect();
    let own = own_key(&headers, stored_key(&disk).ok().flatten());
    let segments = headers.into_iter().map(|(number, read)| SegmentAt {
        number,
        name: segment_name(number),
        bytes: read.bytes,
        header: found(read.header, number, own),
    });
    Inspection {
        segments: segments.collect(),
        key: key_file(&disk, own),
        unlisted,
    }
}

/// Writes the key file again from the segments, when it is missing or wrong; whether it was.
///
/// # Errors
/// [`OpenError`] when the disk refuses.
pub fn restore_key(directory: &Path, _held: &Lock) -> Result<bool, OpenError> {
    let disk = RealDisk::at(directory);
    let survey = crate::recovery::survey(&disk)?;
    match survey.key {
        Some(key) if survey.key_file_missing => crate::key::store(&disk, &key).map(|()| true),
        _ => Ok(false),
    }
}

struct Read {
    bytes: u64,
    header: io::Result<Result<Header, BadHeader>>,
}

fn header(disk: &RealDisk, number: u64) -> Read {
    let opened = disk.open(&segment_name(number), Access::Read);
    let bytes = opened.as_ref().ok().and_then(|file| file.len().ok());
    let header = opened
        .and_then(|file| read_up_to(file.as_ref(), 0, HEADER))
        .map(|bytes| Header::decode(&bytes));
    Read {
        bytes: bytes.unwrap_or(0),
        header,
    }
}

/// The key that recovery goes by.
fn own_key(headers: &[(u64, Read)], stored: Option<[u8; 32]>) -> Option<[u8; 32]> {
    let own = |(number, read): &(u64, Read)| match &read.header {
        Ok(Ok(header)) if header.segment == *number => Some(*header),
        _ => None,
    };
    let headers: Vec<Header> = headers.iter().filter_map(own).collect();
    written_key(&headers, stored)
}

fn found(
    header: io::Result<Result<Header, BadHeader>>,
    number: u64,
    own: Option<[u8; 32]>,
) -> HeaderFound {
    match header {
        Err(cause) => HeaderFound::Unread(cause.to_string()),
        Ok(Err(BadHeader::Newer(version))) => HeaderFound::Newer(version),
        Ok(Err(BadHeader::Damaged)) => HeaderFound::Damaged,
        Ok(Ok(header)) if own.is_some_and(|own| own != header.key) => HeaderFound::OtherDirectory,
        Ok(Ok(header)) if header.segment != number => HeaderFound::OtherNumber(header.segment),
        Ok(Ok(header)) => HeaderFound::Sound {
            compressed: header.compression != 0,
        },
    }
}

fn key_file(disk: &RealDisk, own: Option<[u8; 32]>) -> KeyFile {
    let read = disk
        .open(KEY_FILE, Access::Read)
        .and_then(|file| read_up_to(file.as_ref(), 0, 64));
    match read {
        Ok(bytes) if own.map_or(bytes.len() == 32, |own| bytes == own) => KeyFile::Sound,
        Ok(_) => KeyFile::Wrong,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            if own.is_some() {
                KeyFile::Missing
            } else {
                KeyFile::Absent
            }
        }
        Err(cause) => KeyFile::Unread(cause.to_string()),
    }
}
