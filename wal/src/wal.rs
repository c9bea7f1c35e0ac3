//! The log: opened, appended to, read, closed.
//!
//! - One `Wal` holds a directory at a time; it is `Send` and `Sync`, and every method takes `&self`.
//! - Dropping it writes what was accepted and closes it, as far as the disk lets it.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::commit::Shared;
use crate::compress::pack::discard_unfinished;
use crate::compress::upkeep::{Sealed, attend, compress_now};
use crate::disk::{Disk, ReadOnly, RealDisk};
use crate::error::{AppendError, CloseError, OpenError, ReadError};
use crate::follow::Follower;
use crate::forget::finish_forgetting;
use crate::format::control::CutBody;
use crate::format::head::FrameKind;
use crate::format::{Keys, SEGMENTS};
use crate::index::Index;
use crate::lock::Lock;
use crate::options::Options;
use crate::read::{Handles, Lookup};
use crate::record::{
    Batch, Class, ContentPlace, Entry, Heads, Receipt, Stored, StreamId, StreamInfo, Tagged,
};
use crate::recovered::{Damage, KnownHead, Recovered};
use crate::recovery::{Depth, Findings, find, survey};
use crate::stats::{Counters, Stats};
use crate::store::{Doubt, EventLog, StoreOptions};
use crate::stored::{self, StoredEntries};
use crate::verify::{ContentAt, Verification, verify};
use crate::writer::{Failure, Start, Writer};
use crate::{erase, key, read, tags};

/// How often the disk is asked again after it refused.
const RETRY: Duration = Duration::from_millis(250);

/// A write-ahead log in a directory.
#[derive(Debug)]
pub struct Wal {
    pub(crate) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    log: Option<Arc<EventLog>>,
    closed: bool,
    _lock: Option<Lock>,
}

impl Wal {
    /// Opens a directory, making it when it is absent: takes its lock, recovers, cuts what was never acknowledged.
    ///
    /// # Errors
    /// [`OpenError`]; damage is no error but part of [`Recovered`].
    pub fn open(directory: &Path, options: Options) -> Result<(Wal, Recovered), OpenError> {
        Wal::open_with(directory, options, Some(StoreOptions::default()))
    }

    /// Opens a directory with a store of its own making; without one everything is read from the segments.
    ///
    /// # Errors
    /// As [`Wal::open`]; a store that fails is no error, it is left off.
    pub fn open_with(
        directory: &Path,
        options: Options,
        store: Option<StoreOptions>,
    ) -> Result<(Wal, Recovered), OpenError> {
        let disk = RealDisk::create(directory).map_err(OpenError::io("make the directory"))?;
        let lock = match Lock::take(directory) {
            Err(error) if error.only_reading() => return Wal::open_read_only(disk, options),
            other => other?,
        };
        let (mut wal, mut recovered) = Wal::open_locked(Arc::new(disk), options, Some(lock))?;
        if let Some(store) = store {
            wal.log = Some(stored::start(&wal.shared, directory, store, &mut recovered));
        }
        Ok((wal, recovered))
    }

    /// Opens what can be read and not written: nothing is recovered on disk, there is no store, and appends are refused.
    fn open_read_only(disk: RealDisk, options: Options) -> Result<(Wal, Recovered), OpenError> {
        let disk = ReadOnly(Arc::new(disk));
        let (wal, recovered) = Wal::open_locked(Arc::new(disk), options, None)?;
        wal.shared.only_read();
        Ok((wal, recovered))
    }

    /// Whether the directory can only be read: its lock could not be taken because the file system, or its permissions,
    /// let nothing be written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.shared.is_read_only()
    }

    /// Opens a log on any disk, without a lock.
    ///
    /// # Errors
    /// As [`Wal::open`].
    pub fn open_on(disk: Arc<dyn Disk>, options: Options) -> Result<(Wal, Recovered), OpenError> {
        Wal::open_locked(disk, options, None)
    }

    /// Opens a log on any disk, without a lock, with a store in a real directory.
    ///
    /// # Errors
    /// As [`Wal::open_with`].
    pub fn open_on_with(
        disk: Arc<dyn Disk>,
        options: Options,
        directory: &Path,
        store: StoreOptions,
    ) -> Result<(Wal, Recovered), OpenError> {
        let (mut wal, mut recovered) = Wal::open_locked(disk, options, None)?;
        wal.log = Some(stored::start(&wal.shared, directory, store, &mut recovered));
        Ok((wal, recovered))
    }

    fn open_locked(
        disk: Arc<dyn Disk>,
        options: Options,
        lock: Option<Lock>,
    ) -> Result<(Wal, Recovered), OpenError> {
        let survey = survey(disk.as_ref())?;
        let fresh = survey.key.is_none();
        let key = survey.key.map_or_else(key::random, Ok)?;
        // The key's name may have survived a crash that the folder's did not. A log that is there can be read without it.
        let made = disk.create_dir(SEGMENTS);
        if fresh {
            made.map_err(OpenError::io("make the folder of segments"))?;
        }
        let stored = if fresh || survey.key_file_missing {
            key::store(disk.as_ref(), &key)
        } else {
            Ok(())
        };
        match stored {
            // The segments have it as well.
            Err(error) if !fresh => tracing::warn!(%error, "the key could not be made again"),
            other => other?,
        }
        let findings = find(survey, key, Depth::Footers)?;
        let recovered = findings.recovered.clone();
        let shared = Arc::new(begin(disk, findings, options));
        let thread = spawn(&shared, options.compress)?;
        Ok((
            Wal {
                shared,
                thread: Some(thread),
                log: None,
                closed: false,
                _lock: lock,
            },
            recovered,
        ))
    }

    /// The directory's secret, made at its creation: what stream ids are derived with.
    #[must_use]
    pub fn key(&self) -> [u8; 32] {
        self.shared.keys.directory
    }

    /// Appends a batch, whole or not at all.
    ///
    /// # Errors
    /// [`AppendError`]; each kind says whether anything may be left of the batch.
    pub fn append(&self, batch: Batch, class: Class) -> Result<Receipt, AppendError> {
        self.shared.append(batch, class)
    }

    /// Waits until a record is durable, and answers the stream's durable head.
    ///
    /// # Errors
    /// `NotDurable` when the disk refuses, `Conflict` when the record was never accepted.
    pub fn sync(&self, stream: StreamId, seq: u64) -> Result<u64, AppendError> {
        self.shared.sync(stream, seq)
    }

    /// Waits until everything accepted is durable; false when the disk refuses some of it.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn sync_all(&self) -> Result<bool, AppendError> {
        self.shared.drain()
    }

    /// How far a stream reaches; none when there is no such stream.
    #[must_use]
    pub fn heads(&self, stream: StreamId) -> Option<Heads> {
        self.shared
            .look()
            .streams
            .get(&stream)
            .map(|stream| stream.heads())
    }

    /// All streams, by id.
    #[must_use]
    pub fn streams(&self) -> Vec<StreamInfo> {
        self.shared.look().infos()
    }

    /// The records `from ..= to` of a stream that are there, in order, with gaps where damage took some.
    /// What is accepted but not durable is read from memory. The iterator holds no lock and needs no `Wal` to stay open.
    pub fn read(
        &self,
        stream: StreamId,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = Result<Entry, ReadError>> + Send + use<> {
        let log = self.log.clone();
        StoredEntries::new(Arc::clone(&self.shared), log, stream, from, to)
    }

    /// The store behind the segments; none when the log was opened without one.
    #[must_use]
    pub fn store(&self) -> Option<&EventLog> {
        self.log.as_deref()
    }

    /// The same entries without their contents: `contents` is empty, `content_places` says where they stand. For what is
    /// not durable yet, which has no place, contents are given.
    pub fn read_bodies(
        &self,
        stream: StreamId,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = Result<Entry, ReadError>> + Send + use<> {
        let log = self.log.clone();
        StoredEntries::new(Arc::clone(&self.shared), log, stream, from, to).without_contents()
    }

    /// One content, read where its record's `content_places` say that it stands.
    ///
    /// # Errors
    /// [`ReadError`] when the disk refuses; damage and erasure are no errors.
    pub fn content(&self, of: ContentAt, at: ContentPlace) -> Result<Stored, ReadError> {
        read::content(&self.shared.handles, &self.shared.keys, of, at)
    }

    /// The first accepted seq of a stream that waits because it is not durable; none when all is.
    #[must_use]
    pub fn not_durable_since(&self, stream: StreamId) -> Option<u64> {
        self.shared
            .look()
            .streams
            .get(&stream)
            .and_then(|stream| stream.waiting())
    }

    /// The newest 1,024 tags of a stream, oldest first; what is accepted and not durable is included.
    ///
    /// # Errors
    /// [`ReadError`] when the disk refuses.
    pub fn tags(&self, stream: StreamId) -> Result<Vec<Tagged>, ReadError> {
        tags::newest(&self.shared, stream, tags::NEWEST)
    }

    /// The newest batch of a stream whose tag begins with `key`: from what waits, from the store, else by walking the
    /// segments backwards.
    ///
    /// # Errors
    /// [`ReadError`] when the disk refuses.
    pub fn find_tag(&self, stream: StreamId, key: [u8; 16]) -> Result<Option<Tagged>, ReadError> {
        if let Some(tagged) = tags::waiting(&self.shared, stream, key) {
            return Ok(Some(tagged));
        }
        match self.log.as_ref().and_then(|log| log.find_tag(stream, key)) {
            Some(known) => Ok(known),
            None => tags::find(&self.shared, stream, key),
        }
    }

    /// Erases contents for ever: overwrites salts and bytes in place, syncs, answers how many were there.
    ///
    /// # Errors
    /// `Io`: nothing was erased. `Unknown`: some may be; erase again. `NotDurable`: not before the disk takes what was accepted.
    pub fn erase(&self, targets: &[ContentAt]) -> Result<u64, AppendError> {
        erase::erase(&self.shared, targets)
    }

    /// Reads everything again and checks it, up to what is durable at the call; appends go on meanwhile.
    ///
    /// # Errors
    /// [`OpenError`] when the disk refuses.
    pub fn verify(&self) -> Result<Verification, OpenError> {
        verify(
            &self.shared.disk,
            self.shared.keys,
            Some(&self.shared.known()),
        )
    }

    /// Holds the log against heads that are known from elsewhere (an export, another copy). What is missing at the end of a
    /// stream is lost from here on: its positions are not given again, and every verification tells of it. Answers what
    /// nobody knew before.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn hold_against(&self, known: &[KnownHead]) -> Result<Vec<Damage>, AppendError> {
        self.shared.hold_against(known)
    }

    /// Reads the whole store again and compares it with the segments; answers how many records it holds. None without a
    /// store that serves reads. One that differs is rebuilt.
    pub fn verify_store(&self) -> Option<Result<u64, Doubt>> {
        self.log.as_ref().and_then(|log| log.verify())
    }

    /// Compresses every sealed segment that is not compressed yet, and answers how many those were; for tools and tests, since
    /// it happens in the background too. Reads and appends go on meanwhile.
    ///
    /// # Errors
    /// `Io`: some are left as they were, and whole.
    pub fn compress_now(&self) -> Result<u64, AppendError> {
        compress_now(&self.shared)
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let streams = self.shared.look().streams.len() as u64;
        self.shared.counters.stats(streams)
    }

    /// Has somebody told of every group that becomes durable from now on.
    pub fn follow(&self, follower: Arc<dyn Follower>) {
        self.shared.follow(follower);
    }

    /// Writes what was accepted, then a closing record. Never hangs; after an error the log is closed all the same.
    ///
    /// # Errors
    /// [`CloseError`].
    pub fn close(mut self) -> Result<(), CloseError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), CloseError> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        self.shared.stop_admission();
        let outcome = if self.is_read_only() {
            Ok(())
        } else {
            farewell(&self.shared)
        };
        self.shared.wake();
        // The thread that compresses may have heard of nothing since the writer died.
        self.shared.sealed.ring();
        if let Some(thread) = self.thread.take() {
            // It ends at its next look at the queue; a panic in it has poisoned the locks already.
            let _ = thread.join();
        }
        self.shared.unfollow();
        if let Some(log) = self.log.take() {
            // One that hangs is compared at the next open like any other.
            log.close();
        }
        outcome
    }
}

impl Drop for Wal {
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            tracing::warn!(%error, "the log was not closed cleanly");
        }
    }
}

impl Lookup for Arc<Shared> {
    fn with_index<T>(&self, look: impl FnOnce(&Index) -> T) -> T {
        look(&self.look())
    }

    fn handles(&self) -> &Handles {
        &self.handles
    }

    fn keys(&self) -> &Keys {
        &self.keys
    }
}

fn begin(disk: Arc<dyn Disk>, findings: Findings, options: Options) -> Shared {
    let counters = Arc::new(Counters::default());
    counters.found(findings.sizes);
    let bell = Arc::new(Sealed::new());
    discard_unfinished(disk.as_ref());
    let Findings {
        keys,
        index,
        tail,
        sealed,
        unended,
        next_number,
        group,
        last,
        recovered,
        erasing,
        ends,
        unfinished,
        ..
    } = findings;
    let start = Start {
        next_number,
        group,
        before: last,
        unended,
        ended: ends,
    };
    let mut writer = Writer::new(
        Arc::clone(&disk),
        keys,
        options,
        start,
        Arc::clone(&counters),
        Arc::clone(&bell),
    );
    if let Some(tail) = tail {
        writer.resume(tail);
    }
    if let Some((number, footer)) = sealed {
        writer.confirm(number, footer);
    }
    if let Some(cut) = &recovered.cut {
        let body = CutBody {
            segment: cut.segment,
            offset: cut.offset,
            bytes: cut.bytes,
        };
        note(&mut writer, FrameKind::Cut, &body.encode());
    }
    let shared = Shared::new(disk, keys, index, writer, counters, bell, options.backlog);
    // Nothing is done by a note that may not be durable.
    if shared.drain() == Ok(true) {
        for erasing in &erasing {
            if let Err(error) = erase::finish(&shared, erasing) {
                tracing::warn!(%error, "an erasure that was interrupted could not be made good");
            }
        }
        finish_forgetting(&shared, unfinished);
    }
    shared
}

/// Writes a control frame that only reports: on a full disk the log is opened without it.
fn note(writer: &mut Writer, frame: FrameKind, body: &[u8]) {
    if let Err(Failure::CutBack(error) | Failure::Uncertain(error)) = writer.control(frame, body) {
        tracing::warn!(%error, ?frame, "a note could not be written");
    }
}

/// The writer's thread. It starts the one that compresses once there is a segment to compress.
fn spawn(shared: &Arc<Shared>, compress: bool) -> Result<JoinHandle<()>, OpenError> {
    let shared = Arc::clone(shared);
    let run = move || {
        let mut compressor = None;
        while !shared.closing() {
            if compress && compressor.is_none() && shared.sealed.below() > 0 {
                compressor = start_compressor(&shared);
            }
            if shared.failing() {
                let _ = shared.wake.1.recv_timeout(RETRY);
            } else if shared.wake.1.recv().is_err() {
                break;
            }
            if shared.drain().is_err() {
                break;
            }
        }
        shared.sealed.ring();
        if let Some(thread) = compressor {
            // It gives up between two blocks.
            let _ = thread.join();
        }
    };
    std::thread::Builder::new()
        .name("recount-wal".to_owned())
        .spawn(run)
        .map_err(OpenError::io("start the writer's thread"))
}

/// The thread that compresses; without one nothing is compressed but on demand.
fn start_compressor(shared: &Arc<Shared>) -> Option<JoinHandle<()>> {
    let attended = Arc::clone(shared);
    let thread = std::thread::Builder::new().name("recount-wal-pack".to_owned());
    let spawned = thread.spawn(move || attend(&attended));
    if let Err(error) = &spawned {
        tracing::warn!(%error, "segments stay uncompressed");
    }
    shared.sealed.ring();
    spawned.ok()
}

fn farewell(shared: &Shared) -> Result<(), CloseError> {
    let written = shared.drain().map_err(|_| CloseError::Poisoned)?;
    if !written {
        return Err(CloseError::NotDurable {
            batches: shared.held(),
        });
    }
    let mut desk = shared.desk().map_err(|_| CloseError::Poisoned)?;
    match desk.writer.close() {
        Ok(()) => Ok(()),
        Err(Failure::CutBack(error) | Failure::Uncertain(error)) => Err(CloseError::Io {
            cause: error.to_string(),
        }),
    }
}
