//! What is done to segments behind the log's back: compression, one segment at a time.
//!
//! - Never under the writer's lock; whoever changes files of sealed segments holds the gate.
//! - A disk that refuses is asked again later; until then the segment stays as it is.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::pack::{GoOn, discard, pack, publish};
use crate::commit::Shared;
use crate::disk::SegmentFile;
use crate::erase::Named;
use crate::error::AppendError;
use crate::forget::rewrite::rewrite;
use crate::format::{SEGMENTS, segment_number};
use crate::segment::source::Source;
use crate::segment::view::{View, open};

/// How long after a refusal the disk is asked again.
const LATER: Duration = Duration::from_secs(30);

/// Says that a segment was sealed; shared by the writer and by whoever compresses.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// Segments below are not written any more.
    below: AtomicU64,
    bell: (Sender<()>, Receiver<()>),
    /// Wakes the writer's thread.
    wake: OnceLock<Sender<()>>,
}

impl Sealed {
    pub(crate) fn new() -> Sealed {
        Sealed {
            below: AtomicU64::new(0),
            bell: bounded(1),
            wake: OnceLock::new(),
        }
    }

    pub(crate) fn set_wake(&self, wake: Sender<()>) {
        // It is set once, when the log is opened.
        let _ = self.wake.set(wake);
    }

    /// A segment is written on from now; those before it are not any more.
    pub(crate) fn up_to(&self, current: u64) {
        self.below.fetch_max(current, Ordering::AcqRel);
        self.ring();
        if let Some(wake) = self.wake.get() {
            let _ = wake.try_send(());
        }
    }

    pub(crate) fn below(&self) -> u64 {
        self.below.load(Ordering::Acquire)
    }

    pub(crate) fn ring(&self) {
        // A full channel means that somebody is going to look anyway.
        let _ = self.bell.0.try_send(());
    }
}

/// What is known of segments that need nothing more.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Compressed, or not to be compressed.
    done: BTreeSet<u64>,
    /// Segments that still hold forgotten streams.
    pub(crate) left: BTreeSet<u64>,
    /// Contents that were overwritten, where that may not be durable.
    pub(crate) unsure: BTreeSet<Named>,
}

impl Gate {
    /// A segment holds nothing that is forgotten any more; it is compressed by that.
    pub(crate) fn finished(&mut self, number: u64) {
        self.left.remove(&number);
        self.done.insert(number);
    }
}

/// The gate that whoever changes files of sealed segments holds.
#[derive(Debug, Default)]
pub(crate) struct Upkeep(Mutex<Gate>);

impl Upkeep {
    pub(crate) fn gate(&self) -> MutexGuard<'_, Gate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Compresses all sealed segments that are not; answers how many those were.
    pub(crate) fn compress_all(&self, go_on: GoOn<'_>) -> io::Result<u64> {
        let below = self.sealed.below();
        let mut numbers: Vec<u64> = self
            .disk
            .list(SEGMENTS)?
            .iter()
            .filter_map(|name| segment_number(name))
            .filter(|number| *number < below)
            .collect();
        numbers.sort_unstable();
        let mut compressed = 0;
        let mut refused = Ok(());
        for number in numbers {
            if !go_on() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match self.compress(number, go_on) {
                Ok(done) => compressed += u64::from(done),
                // The others may still be possible; the caller learns of it all the same.
                Err(error) => refused = Err(error),
            }
        }
        refused.map(|()| compressed)
    }

    fn compress(&self, number: u64, go_on: GoOn<'_>) -> io::Result<bool> {
        let mut gate = self.upkeep.gate();
        if gate.left.contains(&number) {
            rewrite(self, number, go_on)?;
            gate.finished(number);
            return Ok(true);
        }
        if gate.done.contains(&number) {
            return Ok(false);
        }
        let view = open(self.disk.as_ref(), &self.keys, number)?;
        let source = Source {
            file: view.file.as_ref(),
            segment: number,
            keys: &self.keys,
        };
        // One that was given up, or whose footer is damaged, is left for those who mend it.
        if view.packed.is_none() && source.footer()?.is_some() {
            self.replace(&view, number, view.file.as_ref(), go_on)?;
            gate.done.insert(number);
            return Ok(true);
        }
        gate.done.insert(number);
        Ok(false)
    }

    /// Puts what `whole` holds in the place of a segment. The gate must be held.
    pub(crate) fn replace(
        &self,
        before: &View,
        number: u64,
        whole: &dyn SegmentFile,
        go_on: GoOn<'_>,
    ) -> io::Result<u64> {
        let disk = self.disk.as_ref();
        let stored = pack(disk, &self.keys, number, whole, go_on)?;
        self.publish(before, number, whole.len()?, stored)?;
        Ok(stored)
    }

    /// Gives a written segment its name, and has readers open it from now on.
    pub(crate) fn publish(
        &self,
        before: &View,
        number: u64,
        length: u64,
        stored: u64,
    ) -> io::Result<()> {
        let published = publish(self.disk.as_ref(), number);
        self.handles.forget(number);
        if published.is_err() {
            discard(self.disk.as_ref(), number);
        }
        published?;
        let raw = (before.file.len()?, length);
        let fresh = before.packed.is_none();
        self.counters.replaced(raw, (before.stored, stored), fresh);
        Ok(())
    }
}

/// Compresses what gets sealed until the log closes: what a thread of its own runs.
pub(crate) fn attend(shared: &Shared) {
    let mut refused = false;
    loop {
        let called = match refused {
            true => shared.sealed.bell.1.recv_timeout(LATER),
            false => shared
                .sealed
                .bell
                .1
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        };
        if shared.closing() || called == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        let outcome = shared.compress_all(&|| !shared.closing());
        if let Err(error) = &outcome {
            tracing::debug!(%error, "compression is put off");
        }
        refused = outcome.is_err();
    }
}

/// Compresses now, for a caller who waits for it.
pub(crate) fn compress_now(shared: &Arc<Shared>) -> Result<u64, AppendError> {
    shared
        .compress_all(&|| true)
        .map_err(|error| AppendError::Io {
            cause: error.to_string(),
        })
}
