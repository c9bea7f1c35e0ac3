//! The first look at a directory: its segments' headers and its key.
//!
//! - Fails on a newer version before anything is touched.

use std::sync::Arc;

use crate::disk::{Access, Disk, SegmentFile, read_up_to};
use crate::error::OpenError;
use crate::format::header::{BadHeader, Header};
use crate::format::{HEADER, KEY_FILE, Keys, SEGMENTS, VERSION, segment_name, segment_number};
use crate::segment::source::Source;

/// A segment's file, opened.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) number: u64,
    pub(crate) file: Arc<dyn SegmentFile>,
    pub(crate) header: Option<Header>,
}

/// The directory's key and its segments, before anything is read from them.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) segments: Vec<Opened>,
    pub(crate) key: Option<[u8; 32]>,
    pub(crate) key_file_missing: bool,
}

impl Opened {
    pub(crate) fn source<'a>(&'a self, keys: &'a Keys) -> Source<'a> {
        Source {
            file: self.file.as_ref(),
            segment: self.number,
            keys,
        }
    }
}

/// Finds the segments and the key; fails on a newer version before anything is touched.
pub(crate) fn survey(disk: &dyn Disk) -> Result<Survey, OpenError> {
    let names = disk
        .list(SEGMENTS)
        .map_err(OpenError::io("list segments"))?;
    let mut numbers: Vec<u64> = names
        .iter()
        .filter_map(|name| segment_number(name))
        .collect();
    numbers.sort_unstable();
    let mut segments = Vec::with_capacity(numbers.len());
    for number in numbers {
        segments.push(opened(disk, number)?);
    }
    let written = segments
        .iter()
        .find_map(|segment| segment.header)
        .map(|header| header.key);
    let stored = stored_key(disk);
    // The segments were made with their key; a key file that says otherwise is the one that is damaged.
    let key = written.or(stored);
    Ok(Survey {
        segments,
        key,
        key_file_missing: key.is_some() && key != stored,
    })
}

fn opened(disk: &dyn Disk, number: u64) -> Result<Opened, OpenError> {
    let name = segment_name(number);
    let file = disk
        .open(&name, Access::Read)
        .map_err(OpenError::io(&name))?;
    let bytes = read_up_to(file.as_ref(), 0, HEADER).map_err(OpenError::io(&name))?;
    match Header::decode(&bytes) {
        Ok(header) => Ok(Opened {
            number,
            file,
            header: (header.segment == number).then_some(header),
        }),
        Err(BadHeader::Damaged) => Ok(Opened {
            number,
            file,
            header: None,
        }),
        Err(BadHeader::Newer(version)) => Err(OpenError::Newer {
            version,
            known: VERSION,
        }),
    }
}

fn stored_key(disk: &dyn Disk) -> Option<[u8; 32]> {
    let file = disk.open(KEY_FILE, Access::Read).ok()?;
    if file.len().ok()? != 32 {
        return None;
    }
    read_up_to(file.as_ref(), 0, 32).ok()?.try_into().ok()
}
