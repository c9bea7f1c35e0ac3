//! The first look at a directory: its segments' headers and its key.
//!
//! - Fails on a newer version before anything is touched.
//! - Whoever sees a segment that was written again also sees the note, in a later one, that says why: segments are opened in order, until
//!   no new ones appear.

use std::io;
use std::sync::Arc;

use crate::compress::packed::Packed;
use crate::disk::{Access, Disk, SegmentFile, read_up_to};
use crate::error::OpenError;
use crate::format::header::{BadHeader, Header};
use crate::format::{HEADER, KEY_FILE, Keys, SEGMENTS, VERSION, segment_name, segment_number};
use crate::segment::source::Source;
use crate::segment::view::{View, view};

/// A segment's file, opened.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) number: u64,
    pub(crate) file: Arc<dyn SegmentFile>,
    /// Its own, if it holds.
    pub(crate) header: Option<Header>,
    /// What the header says instead, if it holds: another segment's number, or another directory's key. No crash does that.
    pub(super) other: Option<Header>,
    /// The file, when it is compressed.
    pub(crate) packed: Option<Arc<Packed>>,
    /// Bytes that it takes on disk.
    pub(crate) stored: u64,
}

/// The directory's key and its segments, before anything is read from them.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) segments: Vec<Opened>,
    pub(crate) key: Option<[u8; 32]>,
    pub(crate) key_file_missing: bool,
}

impl Opened {
    /// The same segment, read as it was written.
    pub(super) fn viewed(mut self, keys: &Keys) -> io::Result<Opened> {
        let own = |header: &Header| header.key == keys.directory;
        if let Some(foreign) = self.header.take_if(|header| !own(header)) {
            self.other = Some(foreign);
        }
        let View {
            file,
            packed,
            stored,
        } = view(self.file, self.number, keys)?;
        Ok(Opened {
            file,
            packed,
            stored,
            ..self
        })
    }

    pub(crate) fn source<'a>(&'a self, keys: &'a Keys) -> Source<'a> {
        Source {
            file: self.file.as_ref(),
            segment: self.number,
            keys,
        }
    }
}

/// How often the folder is listed at most, until nothing new is in it.
const LISTED: usize = 8;

/// The numbers of the segments there are, in order.
fn numbers(disk: &dyn Disk) -> Result<Vec<u64>, OpenError> {
    let names = disk
        .list(SEGMENTS)
        .map_err(OpenError::io("list segments"))?;
    let mut numbers: Vec<u64> = names
        .iter()
        .filter_map(|name| segment_number(name))
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Finds the segments and the key; fails on a newer version before anything is touched.
pub(crate) fn survey(disk: &dyn Disk) -> Result<Survey, OpenError> {
    let mut segments: Vec<Opened> = Vec::new();
    for _ in 0..LISTED {
        let mut more = false;
        for number in numbers(disk)? {
            if segments.iter().all(|segment| segment.number != number) {
                segments.push(opened(disk, number)?);
                more = true;
            }
        }
        if !more {
            break;
        }
    }
    segments.sort_unstable_by_key(|segment| segment.number);
    let stored = stored_key(disk);
    let headers: Vec<Header> = segments.iter().filter_map(|one| one.header).collect();
    let (key, key_file_missing) = match stored {
        Ok(stored) => {
            let key = written_key(&headers, stored).or(stored);
            (key, key.is_some() && key != stored)
        }
        // The file may be whole: another one is not put in its place, and without a segment that bears the key there is no log.
        Err(error) => match written_key(&headers, None) {
            None => return Err(OpenError::io("read the key file")(error)),
            key => (key, false),
        },
    };
    Ok(Survey {
        segments,
        key,
        key_file_missing,
    })
}

fn opened(disk: &dyn Disk, number: u64) -> Result<Opened, OpenError> {
    let name = segment_name(number);
    let file = disk
        .open(&name, Access::Read)
        .map_err(OpenError::io(&name))?;
    let bytes = read_up_to(file.as_ref(), 0, HEADER).map_err(OpenError::io(&name))?;
    match Header::decode(&bytes) {
        Ok(header) if header.segment == number => Ok((Some(header), None)),
        Ok(header) => Ok((None, Some(header))),
        Err(BadHeader::Damaged) => Ok((None, None)),
        Err(BadHeader::Newer(version)) => Err(OpenError::Newer {
            version,
            known: VERSION,
        }),
    }
    .map(|(header, other)| Opened {
        number,
        file,
        header,
        other,
        packed: None,
        stored: 0,
    })
}

/// The key that the segments were made with. A segment of another directory may be among them, so the key file decides where a
/// segment bears it out; else it is the one that is damaged, and the key of most segments counts.
pub(crate) fn written_key(headers: &[Header], stored: Option<[u8; 32]>) -> Option<[u8; 32]> {
    let keys = || headers.iter().map(|header| header.key);
    let borne_out = stored.filter(|stored| keys().any(|key| key == *stored));
    borne_out.or_else(|| {
        let count = |key: &[u8; 32]| keys().filter(|other| other == key).count();
        // Of equals the first counts.
        keys().rev().max_by_key(count)
    })
}

/// What the key file holds; none when there is none, or something that is no key.
pub(crate) fn stored_key(disk: &dyn Disk) -> io::Result<Option<[u8; 32]>> {
    let file = match disk.open(KEY_FILE, Access::Read) {
        // What stands there and is no file is no key either.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::InvalidInput
            ) =>
        {
            return Ok(None);
        }
        opened => opened?,
    };
    if file.len()? != 32 {
        return Ok(None);
    }
    Ok(read_up_to(file.as_ref(), 0, 32)?.try_into().ok())
}
