//! Groups: taken from the queue, written, and what becomes of them.
//!
//! - A group that is refused stays in front of the queue, but for what may be undone without a trace.
//! - A follower is told after the callers, and cannot fail the log.

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Desk, Shared};
use crate::error::AppendError;
use crate::follow::Follower;
use crate::index::{Index, Stream};
use crate::queue::Pending;
use crate::record::{Place, Record, StreamId};
use crate::writer::{Failure, Placed};

/// A group takes batches until it has this many bytes.
const GROUP_BYTES: u64 = 8 << 20;

impl Shared {
    /// Takes the next group and commits it; false when there was none, or the disk refused.
    pub(super) fn round(&self, desk: &mut Desk) -> Result<bool, AppendError> {
        self.release(desk)?;
        let group = self.gather(desk);
        if group.is_empty() {
            return Ok(false);
        }
        let links = self.links(&group)?;
        match desk.writer.commit(&group, links) {
            Ok(placed) => self.committed(desk, &group, placed).map(|()| true),
            Err(failure) => self.settle(desk, group, &failure).map(|()| false),
        }
    }

    /// Counts what was found as durable, once it is.
    fn release(&self, desk: &mut Desk) -> Result<(), AppendError> {
        if !desk.unsettled.is_empty() && desk.writer.settle_found().is_ok() {
            let withheld = std::mem::take(&mut desk.unsettled);
            self.index()?.release(&withheld);
        }
        Ok(())
    }

    fn gather(&self, desk: &mut Desk) -> Vec<Arc<Pending>> {
        let mut group = Vec::new();
        let mut bytes = 0_u64;
        while bytes < GROUP_BYTES {
            let next = desk
                .held
                .pop_front()
                .or_else(|| self.queue.1.try_recv().ok());
            let Some(next) = next else { break };
            bytes = bytes.saturating_add(next.bytes);
            group.push(next);
        }
        group
    }

    fn links(&self, group: &[Arc<Pending>]) -> Result<HashMap<StreamId, Place>, AppendError> {
        let index = self.index()?;
        let link = |pending: &Arc<Pending>| {
            let place = index.streams.get(&pending.stream)?.last_place()?;
            Some((pending.stream, place))
        };
        Ok(group.iter().filter_map(link).collect())
    }

    fn committed(
        &self,
        desk: &Desk,
        group: &[Arc<Pending>],
        placed: Vec<Placed>,
    ) -> Result<(), AppendError> {
        let mut index = self.index()?;
        let mut places = placed.iter();
        for pending in group {
            let Some(stream) = index.streams.get_mut(&pending.stream) else {
                continue;
            };
            for (record, placed) in pending.records.iter().zip(&mut places) {
                stream.placed(record.seq, placed.place);
            }
            stream.durable = Some(pending.last);
            stream.pending.pop_front();
            self.counters.left(pending.bytes);
        }
        let regained = desk.held.is_empty() && self.failing.swap(false, Ordering::AcqRel);
        drop(index);
        for pending in group {
            pending.answer(Ok(pending.last));
        }
        self.tell(group, placed);
        if regained {
            self.tell_durability(None);
        }
        Ok(())
    }

    fn tell_durability(&self, lost: Option<&str>) {
        let followers = self.followers().clone();
        let told = catch_unwind(AssertUnwindSafe(|| {
            followers
                .iter()
                .for_each(|follower| follower.durability(lost))
        }));
        if told.is_err() {
            tracing::error!("a follower panicked: nobody is told of anything more");
            self.unfollow();
        }
    }

    fn tell(&self, group: &[Arc<Pending>], placed: Vec<Placed>) {
        let followers = self.followers().clone();
        if followers.is_empty() {
            return;
        }
        let chained = group
            .iter()
            .flat_map(|pending| pending.records.iter().map(move |record| (pending, record)));
        let record = |((pending, chained), placed): ((&Arc<Pending>, _), Placed)| {
            let record = pending.record(chained);
            Record {
                place: Some(placed.place),
                content_places: placed.contents,
                ..record
            }
        };
        let records: Vec<Record> = chained.zip(placed).map(record).collect();
        // A follower that dies must not take the log with it; what it follows with is compared at the next open.
        let tell = |follower: &Arc<dyn Follower>| {
            catch_unwind(AssertUnwindSafe(|| follower.committed(&records))).is_ok()
        };
        if !followers.iter().all(tell) {
            tracing::error!("a follower panicked: nobody is told of anything more");
            self.unfollow();
        }
    }

    /// After a refusal: what was promised stays, in order; what was not, and has nothing promised behind it, is undone.
    fn settle(
        &self,
        desk: &mut Desk,
        group: Vec<Arc<Pending>>,
        failure: &Failure,
    ) -> Result<(), AppendError> {
        let (cause, uncertain) = match failure {
            Failure::CutBack(error) => (error.to_string(), 0),
            Failure::Uncertain(error) => (error.to_string(), group.len()),
        };
        tracing::warn!(%cause, batches = group.len(), uncertain, "the disk refused a group");
        let mut index = self.index()?;
        let mut all: VecDeque<Arc<Pending>> = group.into();
        all.extend(desk.held.drain(..));
        all.extend(self.queue.1.try_iter());
        let mut kept: VecDeque<Arc<Pending>> = VecDeque::new();
        let mut needed = HashSet::new();
        let mut dropped = Vec::new();
        while let Some(pending) = all.pop_back() {
            let position = all.len();
            if position >= uncertain && !pending.promised() && !needed.contains(&pending.stream) {
                undo(&mut index, &pending);
                self.counters.left(pending.bytes);
                dropped.push(pending);
            } else {
                needed.insert(pending.stream);
                pending.promise(&cause);
                kept.push_front(pending);
            }
        }
        let waits = !kept.is_empty();
        let before = self.failing.swap(waits, Ordering::AcqRel);
        desk.held = kept;
        for pending in dropped {
            pending.answer(Err(refusal(&index, pending.stream, &cause)));
        }
        drop(index);
        if waits != before {
            self.tell_durability(waits.then_some(cause.as_str()));
        }
        Ok(())
    }
}

fn undo(index: &mut Index, pending: &Pending) {
    let Some(stream) = index.streams.get_mut(&pending.stream) else {
        return;
    };
    stream.pending.pop_back();
    match pending.before {
        Some(before) => {
            (stream.head, stream.digest, stream.time) = (before.head, before.digest, before.time)
        }
        None => drop(index.streams.remove(&pending.stream)),
    }
}

fn refusal(index: &Index, id: StreamId, cause: &str) -> AppendError {
    match index.streams.get(&id).and_then(Stream::waiting) {
        Some(since) => AppendError::NotDurable { since },
        None => AppendError::Io {
            cause: cause.to_owned(),
        },
    }
}
