//! Admission and commit: the order of batches, who writes them, what happens when the disk refuses.
//!
//! - Locks are taken in one order: the writer's, then the index's. Under the index's lock the writer's is only tried.
//! - Whoever holds the writer drains the queue in order; so the order of admission is the order on disk.
//! - A synced append commits inline when the writer is free; otherwise the writer's thread does, and many share a sync.

mod lost;
mod rounds;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};

use crate::compress::upkeep::{Sealed, Upkeep};
use crate::disk::Disk;
use crate::error::AppendError;
use crate::follow::Follower;
use crate::format::Keys;
use crate::index::{Index, Stream};
use crate::limits;
use crate::queue::{Before, Outcome, Pending, batch_bytes};
use crate::read::Handles;
use crate::record::{Batch, Class, Receipt, RecordDigest, StreamId};
use crate::recovered::Damage;
use crate::stats::Counters;
use crate::verify::Known;
use crate::writer::Writer;

/// Batches that wait in the queue at most; a full queue makes its callers help.
const QUEUE: usize = 1024;
/// How often an append helps to empty a full queue before it answers `busy`.
const HELPS: usize = 16;
/// How often whoever waits for an outcome looks whether somebody is left who could bring it.
const LOOK: Duration = Duration::from_millis(250);

/// The writer, and what it could not write yet.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) writer: Writer,
    held: VecDeque<Arc<Pending>>,
    /// Streams whose last records were found, and are not durable yet.
    unsettled: Vec<StreamId>,
}

/// What all callers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) keys: Keys,
    pub(crate) counters: Arc<Counters>,
    pub(crate) handles: Handles,
    pub(crate) sealed: Arc<Sealed>,
    pub(crate) upkeep: Upkeep,
    index: Mutex<Index>,
    desk: Mutex<Desk>,
    queue: (Sender<Arc<Pending>>, Receiver<Arc<Pending>>),
    pub(crate) wake: (Sender<()>, Receiver<()>),
    /// Accepted batches wait because the disk refused; set and cleared under both locks.
    failing: AtomicBool,
    closing: AtomicBool,
    read_only: AtomicBool,
    backlog_limit: u64,
    followers: Mutex<Vec<Arc<dyn Follower>>>,
    /// What the store proved to be lost since the log was opened.
    proven: Mutex<Vec<Damage>>,
}

impl Shared {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        keys: Keys,
        mut index: Index,
        writer: Writer,
        counters: Arc<Counters>,
        sealed: Arc<Sealed>,
        backlog_limit: u64,
    ) -> Shared {
        let wake = bounded(1);
        sealed.set_wake(wake.0.clone());
        let unsettled = index.withhold(writer.unsettled());
        Shared {
            handles: Handles::new(Arc::clone(&disk), keys),
            disk,
            keys,
            counters,
            sealed,
            upkeep: Upkeep::default(),
            index: Mutex::new(index),
            desk: Mutex::new(Desk {
                writer,
                held: VecDeque::new(),
                unsettled,
            }),
            queue: bounded(QUEUE),
            wake,
            failing: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            read_only: AtomicBool::new(false),
            backlog_limit,
            followers: Mutex::new(Vec::new()),
            proven: Mutex::default(),
        }
    }

    /// What was proven to be lost at the ends of streams since the log was opened.
    pub(crate) fn proven(&self) -> MutexGuard<'_, Vec<Damage>> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn index(&self) -> Result<MutexGuard<'_, Index>, AppendError> {
        self.index.lock().map_err(|_| AppendError::Poisoned)
    }

    /// The index for looking at: a thread that died cannot have left it half-changed in a way that matters to a reader.
    pub(crate) fn look(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn desk(&self) -> Result<MutexGuard<'_, Desk>, AppendError> {
        self.desk.lock().map_err(|_| AppendError::Poisoned)
    }

    pub(crate) fn failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    pub(crate) fn closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// From here on appends are refused, since nothing can be written. What was found counts as durable: it is what there is, and nobody
    /// here can make it more so.
    pub(crate) fn only_read(&self) {
        self.read_only.store(true, Ordering::Release);
        if let (Ok(mut desk), Ok(mut index)) = (self.desk(), self.index()) {
            index.release(&std::mem::take(&mut desk.unsettled));
        }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::Acquire)
    }

    /// From here on appends are refused.
    pub(crate) fn stop_admission(&self) {
        let _index = self.look();
        self.closing.store(true, Ordering::Release);
    }

    pub(crate) fn follow(&self, follower: Arc<dyn Follower>) {
        self.followers().push(follower);
    }

    fn followers(&self) -> MutexGuard<'_, Vec<Arc<dyn Follower>>> {
        self.followers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn unfollow(&self) {
        let followers = std::mem::take(&mut *self.followers());
        drop(followers);
    }

    pub(crate) fn wake(&self) {
        // A full channel means that the writer is going to look anyway.
        let _ = self.wake.0.try_send(());
    }

    pub(crate) fn append(&self, batch: Batch, class: Class) -> Result<Receipt, AppendError> {
        if self.is_read_only() {
            return Err(AppendError::ReadOnly);
        }
        limits::check(&batch)?;
        let bytes = batch_bytes(&batch.records);
        let mut tried = false;
        for _ in 0..HELPS {
            if self.failing() {
                self.try_again()?;
                tried = true;
            }
            let index = self.index()?;
            if self.closing() {
                return Err(AppendError::Busy);
            }
            let from = origin(&index, &batch)?;
            if self.failing() {
                // It failed between the two looks: an attempt that may have begun before the disk healed.
                if !tried {
                    continue;
                }
                return Err(not_durable(&index, batch.stream, batch.first));
            }
            if !self.room_for(bytes) {
                drop(index);
                self.drain()?;
                continue;
            }
            return self.admit(index, batch, class, from);
        }
        Err(AppendError::Busy)
    }

    /// Waits until a record is durable; answers the durable head.
    pub(crate) fn sync(&self, stream: StreamId, seq: u64) -> Result<u64, AppendError> {
        loop {
            if let Some(durable) = self.durable(stream, seq)? {
                return Ok(durable);
            }
            let mut desk = self.desk()?;
            // Somebody else may have written it while this one waited for the writer.
            if let Some(durable) = self.durable(stream, seq)? {
                return Ok(durable);
            }
            if !self.round(&mut desk)? {
                return Err(self.since(stream, seq));
            }
        }
    }

    /// Writes everything that was accepted; false when the disk refused.
    pub(crate) fn drain(&self) -> Result<bool, AppendError> {
        self.drain_at(&mut *self.desk()?)
    }

    /// Writes everything that was accepted, with the writer held; false when the disk refused.
    pub(crate) fn drain_at(&self, desk: &mut Desk) -> Result<bool, AppendError> {
        while self.round(desk)? {}
        let settled = self.is_read_only() || desk.writer.unsettled().is_none();
        Ok(settled && !self.failing())
    }

    /// Up to where segments count that were given up.
    pub(crate) fn ended(&self) -> BTreeMap<u64, u64> {
        let desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.writer.ended()
    }

    /// Tells the followers that streams are no more.
    pub(crate) fn tell_forgotten(&self, streams: &[StreamId]) {
        let followers = self.followers().clone();
        followers
            .iter()
            .for_each(|follower| follower.forgotten(streams));
    }

    /// Up to where the segments are synced, and what is durable by that.
    pub(crate) fn known(&self) -> Known {
        let desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let index = self.look();
        let durable = index
            .streams
            .iter()
            .filter_map(|(id, stream)| Some((*id, stream.durable?)));
        Known {
            until: desk.writer.position(),
            durable: durable.collect(),
        }
    }

    /// Another attempt to write what is held. Whoever is at it is waited for: an attempt that began before the disk healed says nothing
    /// about now.
    fn try_again(&self) -> Result<(), AppendError> {
        self.drain().map(drop)
    }

    pub(crate) fn held(&self) -> usize {
        self.look()
            .streams
            .values()
            .map(|stream| stream.pending.len())
            .sum()
    }

    fn room_for(&self, bytes: u64) -> bool {
        let backlog = self.counters.backlog_bytes();
        !self.queue.0.is_full()
            && (backlog == 0 || backlog.saturating_add(bytes) <= self.backlog_limit)
    }

    fn admit(
        &self,
        mut index: MutexGuard<'_, Index>,
        batch: Batch,
        class: Class,
        from: RecordDigest,
    ) -> Result<Receipt, AppendError> {
        let id = batch.stream;
        let before = index.streams.get(&id).map(|stream| Before {
            head: stream.head,
            digest: stream.digest,
            time: stream.time,
        });
        let (pending, receiver) = Pending::chain(batch, class, from, before);
        let pending = Arc::new(pending);
        match self.queue.0.try_send(Arc::clone(&pending)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                return Err(AppendError::Busy);
            }
        }
        self.counters.queued(pending.bytes);
        let stream = index
            .streams
            .entry(id)
            .or_insert_with(|| Stream::starting(pending.first));
        let (digest, time) = pending.tail();
        (stream.head, stream.digest, stream.time) = (pending.last, digest, time);
        stream.pending.push_back(Arc::clone(&pending));
        let durable = stream.durable;
        let receipt = Receipt {
            first: pending.first,
            last: pending.last,
            digest,
            durable,
        };
        let Some(receiver) = receiver else {
            drop(index);
            self.wake();
            return Ok(receipt);
        };
        // Whoever gets the writer under the index's lock has everything admitted so far in the queue before it.
        let desk = self.desk.try_lock().ok();
        drop(index);
        let durable = self.outcome(desk, &receiver)?;
        Ok(Receipt {
            durable: Some(durable),
            ..receipt
        })
    }

    fn outcome(&self, desk: Option<MutexGuard<'_, Desk>>, receiver: &Receiver<Outcome>) -> Outcome {
        let Some(mut desk) = desk else {
            self.wake();
            return self.awaited(receiver);
        };
        loop {
            let more = self.round(&mut desk)?;
            if let Ok(outcome) = receiver.try_recv() {
                drop(desk);
                if !self.queue.1.is_empty() {
                    self.wake();
                }
                return outcome;
            }
            if !more {
                return Err(AppendError::Poisoned);
            }
        }
    }

    /// Waits for an outcome that somebody else brings, unless whoever held the log died: then nobody does.
    fn awaited(&self, receiver: &Receiver<Outcome>) -> Outcome {
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if !self.is_poisoned() => {}
                Err(_) => return receiver.try_recv().unwrap_or(Err(AppendError::Poisoned)),
            }
        }
    }

    fn is_poisoned(&self) -> bool {
        self.desk.is_poisoned() || self.index.is_poisoned()
    }

    fn durable(&self, id: StreamId, seq: u64) -> Result<Option<u64>, AppendError> {
        let index = self.index()?;
        let stream = index
            .streams
            .get(&id)
            .ok_or(AppendError::Conflict { next: 0 })?;
        if seq > stream.head {
            return Err(AppendError::Conflict {
                next: stream.head.saturating_add(1),
            });
        }
        Ok(stream.durable.filter(|durable| *durable >= seq))
    }

    /// Why a record is not durable, told by the first one of its stream that waits.
    pub(crate) fn since(&self, id: StreamId, seq: u64) -> AppendError {
        self.index()
            .map_or(AppendError::Poisoned, |index| not_durable(&index, id, seq))
    }
}

/// What the first record of a batch is chained to, if the batch may come next.
fn origin(index: &Index, batch: &Batch) -> Result<RecordDigest, AppendError> {
    match (index.streams.get(&batch.stream), batch.origin) {
        _ if index.leaving.contains(&batch.stream) => Err(AppendError::Busy),
        (Some(_), Some(_)) => Err(AppendError::Invalid {
            why: "an origin on a stream that exists",
        }),
        (None, Some(origin)) => Ok(origin),
        (None, None) if batch.first == 0 => Ok(RecordDigest::ROOT),
        (None, None) => Err(AppendError::Conflict { next: 0 }),
        (Some(stream), None) if stream.head.checked_add(1) == Some(batch.first) => {
            Ok(stream.digest)
        }
        (Some(stream), None) => Err(AppendError::Conflict {
            next: stream.head.saturating_add(1),
        }),
    }
}

fn not_durable(index: &Index, id: StreamId, otherwise: u64) -> AppendError {
    let since = index
        .streams
        .get(&id)
        .and_then(Stream::waiting)
        .unwrap_or(otherwise);
    AppendError::NotDurable { since }
}
