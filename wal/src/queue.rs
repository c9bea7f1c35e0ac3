//! Batches between their admission and their durability.
//!
//! - A batch enters the queue in the order of admission, under the index's lock.
//! - A batch that was promised (ordered, or answered `unknown`) never leaves the queue but to the disk.

use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::error::AppendError;
use crate::format::frame::frame_length;
use crate::record::{Batch, Class, NewRecord, Record, RecordDigest, Stored, StreamId};

/// What a waiting caller is told: the stream's durable head, or why there is none for it.
pub(crate) type Outcome = Result<u64, AppendError>;

/// What a stream looked like before a batch was admitted; none when there was no stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    pub(crate) head: u64,
    pub(crate) digest: RecordDigest,
    pub(crate) time: u64,
}

/// A record with its digests.
#[derive(Debug)]
pub(crate) struct Chained {
    pub(crate) new: NewRecord,
    pub(crate) seq: u64,
    pub(crate) previous: RecordDigest,
    pub(crate) digest: RecordDigest,
}

/// An admitted batch.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) stream: StreamId,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) records: Vec<Chained>,
    pub(crate) tag: Option<[u8; 32]>,
    pub(crate) origin: bool,
    /// Bytes of its frames.
    pub(crate) bytes: u64,
    pub(crate) before: Option<Before>,
    promised: AtomicBool,
    reply: Option<Sender<Outcome>>,
}

impl Pending {
    /// Chains a batch's records; a synced one comes with the receiver of its outcome.
    pub(crate) fn chain(
        batch: Batch,
        class: Class,
        from: RecordDigest,
        before: Option<Before>,
    ) -> (Pending, Option<Receiver<Outcome>>) {
        let mut previous = from;
        let bytes = batch_bytes(&batch.records);
        let link = |(seq, new): (u64, NewRecord)| {
            let digest = RecordDigest::of(previous, seq, new.kind, new.schema, &new.body);
            let chained = Chained {
                new,
                seq,
                previous,
                digest,
            };
            previous = digest;
            chained
        };
        let records: Vec<Chained> = (batch.first..).zip(batch.records).map(link).collect();
        let (reply, receiver) = match class {
            Class::Synced => Some(bounded(1)).unzip(),
            Class::Ordered => (None, None),
        };
        let pending = Pending {
            stream: batch.stream,
            first: batch.first,
            last: batch
                .first
                .saturating_add((records.len() as u64).saturating_sub(1)),
            records,
            tag: batch.tag,
            origin: batch.origin.is_some(),
            bytes,
            before,
            promised: AtomicBool::new(class == Class::Ordered),
            reply,
        };
        (pending, receiver)
    }

    pub(crate) fn promised(&self) -> bool {
        self.promised.load(Ordering::Relaxed)
    }

    /// Answers the waiting caller, if there is one that was not answered yet.
    pub(crate) fn answer(&self, outcome: Outcome) {
        if let Some(reply) = &self.reply {
            // A caller that is gone, or was answered before, misses nothing.
            let _ = reply.try_send(outcome);
        }
    }

    /// From here on the batch may be on disk: it is kept until it is.
    pub(crate) fn promise(&self, cause: &str) {
        self.promised.store(true, Ordering::Relaxed);
        self.answer(Err(AppendError::Unknown {
            cause: cause.to_owned(),
        }));
    }

    pub(crate) fn tail(&self) -> (RecordDigest, u64) {
        self.records
            .last()
            .map_or((RecordDigest::ROOT, 0), |record| {
                (record.digest, record.new.time)
            })
    }

    /// A record of it as a reader sees it before it has a place.
    pub(crate) fn record(&self, chained: &Chained) -> Record {
        Record {
            stream: self.stream,
            seq: chained.seq,
            time: chained.new.time,
            kind: chained.new.kind,
            schema: chained.new.schema,
            body: chained.new.body.clone(),
            contents: chained
                .new
                .contents
                .iter()
                .cloned()
                .map(Stored::Here)
                .collect(),
            digest: chained.digest,
            previous: chained.previous,
            tag: self.tag.filter(|_| chained.seq == self.first),
            batch: (self.first, self.last),
            place: None,
            content_places: Vec::new(),
        }
    }
}

/// Bytes that the frames of such records take.
pub(crate) fn batch_bytes(records: &[NewRecord]) -> u64 {
    let frame = |record: &NewRecord| {
        frame_length(
            record.body.len(),
            record.contents.iter().map(|content| content.bytes.len()),
        )
    };
    records.iter().map(frame).fold(0, u64::saturating_add)
}
