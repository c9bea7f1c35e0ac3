//! A reader without lock: for a second process, for tools, for a directory that cannot be written.
//!
//! - Opens everything read-only, changes nothing, needs nothing but the segments.
//! - Shows the log as it was found at the open; a group that is being written, or was torn, is not shown.

use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, RealDisk};
use crate::error::{OpenError, ReadError};
use crate::forget::LastOf;
use crate::format::Keys;
use crate::index::Index;
use crate::read::{Entries, Handles, Lookup};
use crate::record::{ContentPlace, Entry, Heads, Stored, StreamId, StreamInfo, Tagged};
use crate::recovered::Recovered;
use crate::recovery::{Depth, find, survey};
use crate::verify::{ContentAt, Verification, verify};
use crate::{read, tags};

/// A log that is only read.
#[derive(Clone, Debug)]
pub struct Reader {
    found: Arc<Found>,
}

#[derive(Debug)]
struct Found {
    disk: Arc<dyn Disk>,
    handles: Handles,
    keys: Keys,
    index: Index,
    recovered: Recovered,
}

impl Reader {
    /// Opens a directory for reading.
    ///
    /// # Errors
    /// [`OpenError`], but never `Locked`.
    pub fn open(directory: &Path) -> Result<Reader, OpenError> {
        Reader::open_on(Arc::new(RealDisk::at(directory)))
    }

    /// Opens a log on any disk for reading.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_on(disk: Arc<dyn Disk>) -> Result<Reader, OpenError> {
        let survey = survey(disk.as_ref())?;
        let key = survey.key.unwrap_or_default();
        let findings = find(survey, key, Depth::Footers)?;
        let handles = Handles::new(Arc::clone(&disk), findings.keys);
        let (index, keys, recovered) = (findings.index, findings.keys, findings.recovered);
        Ok(Reader {
            found: Arc::new(Found {
                disk,
                handles,
                keys,
                index,
                recovered,
            }),
        })
    }

    /// The directory's secret; zeros when there is no log yet.
    #[must_use]
    pub fn key(&self) -> [u8; 32] {
        self.found.keys.directory
    }

    /// What was found; what it calls cut is only left out, not cut.
    #[must_use]
    pub fn recovered(&self) -> &Recovered {
        &self.found.recovered
    }

    /// How far a stream reaches; none when there is no such stream.
    #[must_use]
    pub fn heads(&self, stream: StreamId) -> Option<Heads> {
        self.found
            .index
            .streams
            .get(&stream)
            .map(|stream| stream.heads())
    }

    /// All streams, by id.
    #[must_use]
    pub fn streams(&self) -> Vec<StreamInfo> {
        self.found.index.infos()
    }

    /// How far the stream of this id reached that was forgotten last; none when none was.
    #[must_use]
    pub fn forgotten(&self, stream: StreamId) -> Option<LastOf> {
        self.found.index.last_of(stream)
    }

    /// The records `from ..= to` of a stream that are there, in order, with gaps where damage took some.
    pub fn read(
        &self,
        stream: StreamId,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = Result<Entry, ReadError>> + Send + use<> {
        Entries::new(Arc::clone(&self.found), stream, from, to)
    }

    /// The same entries without their contents; `content_places` says where they stand.
    pub fn read_bodies(
        &self,
        stream: StreamId,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = Result<Entry, ReadError>> + Send + use<> {
        Entries::new(Arc::clone(&self.found), stream, from, to).without_contents()
    }

    /// One content, read where its record's `content_places` say that it stands.
    ///
    /// # Errors
    /// [`ReadError`] when the disk refuses; damage and erasure are no errors.
    pub fn content(&self, of: ContentAt, at: ContentPlace) -> Result<Stored, ReadError> {
        read::content(&self.found.handles, &self.found.keys, of, at)
    }

    /// The newest 1,024 tags of a stream, oldest first.
    ///
    /// # Errors
    /// [`ReadError`] when the disk refuses.
    pub fn tags(&self, stream: StreamId) -> Result<Vec<Tagged>, ReadError> {
        tags::newest(&self.found, stream, tags::NEWEST)
    }

    /// Reads everything again and checks it.
    ///
    /// # Errors
    /// [`OpenError`] when the disk refuses.
    pub fn verify(&self) -> Result<Verification, OpenError> {
        verify(&self.found.disk, self.found.keys, None)
    }
}

impl Lookup for Arc<Found> {
    fn with_index<T>(&self, look: impl FnOnce(&Index) -> T) -> T {
        look(&self.index)
    }

    fn handles(&self) -> &Handles {
        &self.handles
    }

    fn keys(&self) -> &Keys {
        &self.keys
    }
}
