//! Forgetting whole streams, for ever: what pruning a log is made of.
//!
//! - A durable note says first which streams are forgotten; from then on they are gone for every reader, whatever still stands in files.
//! - Then the segments that hold them are written again, without them: everything else keeps its place and its bytes.
//! - A crash in between is finished at the next open.

pub(crate) mod rewrite;

use std::collections::BTreeSet;
use std::io;

use thiserror::Error;

use crate::commit::Shared;
use crate::compress::upkeep::Gate;
use crate::disk::Access;
use crate::error::AppendError;
use crate::format::control::{Pruned, Pruning};
use crate::format::head::FrameKind;
use crate::format::{SEGMENTS, segment_name, segment_number};
use crate::index::{Gone, Index};
use crate::record::{RecordDigest, StreamId};
use crate::recovered::Damage;
use crate::segment::scan::{Found, Item};
use crate::wal::Wal;
use crate::writer::Failure;

/// What forgetting streams gave up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Streams that were there and are no more.
    pub streams: u64,
    /// Their records.
    pub records: u64,
    /// Bytes of their frames, contents included, as they were written.
    pub bytes: u64,
    /// Bytes that all segments took on disk before.
    pub disk_before: u64,
    /// Bytes that they take now.
    pub disk_after: u64,
    /// Segments that could not be written again yet, so that bytes of what was forgotten are still in them; tried again at the
    /// next call, with the next compression in the background, and at the next open. 0 when all is done.
    pub left: u64,
}

/// How far a stream reached that was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOf {
    /// The last seq it had.
    pub last: u64,
    /// Record digest of its last record.
    pub digest: RecordDigest,
}

/// What to do about damage in segments that are written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Change nothing, answer [`ForgetError::Damaged`].
    Refuse,
    /// Go on: bytes of which nobody knows whose they were are given up too; what is damaged stays reported.
    GiveUp,
}

/// Why streams were not forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// Segments that would be written again hold damage that is not the streams' own: look at it first, then give it up. Nothing was changed.
    #[error("segments that would be written again are damaged: look at it first: places={}", .damaged.len())]
    Damaged {
        /// The damage.
        damaged: Vec<Damage>,
    },
    /// The disk refused; nothing was forgotten. Try again when the cause is gone.
    #[error("the disk refused, nothing was forgotten: cause={cause}")]
    Io {
        /// The cause, as the system names it.
        cause: String,
    },
    /// The note may have reached the disk: forget the same streams again.
    #[error("may have been forgotten: forget again: cause={cause}")]
    Unknown {
        /// The cause, as the system names it.
        cause: String,
    },
    /// Accepted records wait for the disk: nothing is forgotten before they are durable. Try again later.
    #[error("accepted records wait for the disk: try again later")]
    NotDurable,
    /// The log is closing, or a stream is being appended to without a pause: try again later. Nothing was changed.
    #[error("busy: try again later")]
    Busy,
    /// A thread died while it held the log: close it and open it again.
    #[error("a thread died while it held the log: reopen it")]
    Poisoned,
}

impl Wal {
    /// How far the stream of this id reached that was forgotten last; none when none was. Another one may have begun since.
    #[must_use]
    pub fn forgotten(&self, stream: StreamId) -> Option<LastOf> {
        self.shared.look().last_of(stream)
    }

    /// Forgets streams for ever: their records, their contents, their names. Others keep their places; the same stream may
    /// begin again at 0 afterwards. Streams that are not there are passed over. Appends and reads of others go on meanwhile.
    ///
    /// # Errors
    /// [`ForgetError`]; `Damaged` when segments that would be written again are damaged.
    pub fn forget(&self, streams: &[StreamId]) -> Result<Forgotten, ForgetError> {
        self.forget_with(streams, OnDamage::Refuse)
    }

    /// As [`Wal::forget`], and says what to do about damage.
    ///
    /// # Errors
    /// [`ForgetError`].
    pub fn forget_with(
        &self,
        streams: &[StreamId],
        on_damage: OnDamage,
    ) -> Result<Forgotten, ForgetError> {
        forget(&self.shared, streams, on_damage)
    }
}

fn forget(
    shared: &Shared,
    streams: &[StreamId],
    on_damage: OnDamage,
) -> Result<Forgotten, ForgetError> {
    let mut gate = shared.upkeep.gate();
    if shared.closing() {
        return Err(ForgetError::Busy);
    }
    if !shared.drain()? {
        return Err(ForgetError::NotDurable);
    }
    let leaving = Leaving::of(shared, streams);
    let mut forgotten = Forgotten {
        disk_before: on_disk(shared).map_err(refused)?,
        ..Forgotten::default()
    };
    if !leaving.streams.is_empty() {
        let found = look(shared, &leaving.streams).map_err(refused)?;
        if on_damage == OnDamage::Refuse && !found.damaged.is_empty() {
            return Err(ForgetError::Damaged {
                damaged: found.damaged,
            });
        }
        forgotten.bytes = found.bytes;
        let noted = leaving.note(shared, on_damage)?;
        forgotten.streams = leaving.streams.len() as u64;
        forgotten.records = noted.records;
        gate.left.extend(noted.segments);
        shared.tell_forgotten(&leaving.streams);
    }
    drop(leaving);
    finish_left(shared, &mut gate);
    forgotten.left = gate.left.len() as u64;
    forgotten.disk_after = on_disk(shared).unwrap_or(forgotten.disk_before);
    Ok(forgotten)
}

/// Goes on, at an open, with what an interrupted process noted.
pub(crate) fn finish_forgetting(shared: &Shared, unfinished: BTreeSet<u64>) {
    if unfinished.is_empty() {
        return;
    }
    let mut gate = shared.upkeep.gate();
    gate.left = unfinished;
    let noted = shared
        .look()
        .forgotten
        .values()
        .map(|gone| gone.below)
        .max();
    // What was read may have come from memory: the note must be durable before anything that it allows is done.
    let durable = noted.map_or(Ok(()), |segment| {
        let disk = shared.disk.as_ref();
        disk.open(&segment_name(segment), Access::Write)?
            .sync_data()?;
        disk.sync_dir(SEGMENTS)
    });
    match durable {
        Ok(()) => finish_left(shared, &mut gate),
        Err(error) => tracing::warn!(%error, "forgotten streams are still in their segments"),
    }
}

/// Writes again what still holds forgotten streams; what the disk refuses stays in the list.
fn finish_left(shared: &Shared, gate: &mut Gate) {
    let left = gate.left.clone();
    for number in left {
        match rewrite::rewrite(shared, number, &|| true) {
            Ok(()) => {
                gate.finished(number);
            }
            Err(error) => {
                tracing::warn!(segment = number, %error, "a segment with forgotten streams could not be written again");
            }
        }
    }
}

/// What stands in the segments that would be written again.
#[derive(Debug, Default)]
struct Look {
    damaged: Vec<Damage>,
    /// Bytes of frames of the streams.
    bytes: u64,
}

fn look(shared: &Shared, streams: &[StreamId]) -> io::Result<Look> {
    let until = shared.known().until;
    let ended = shared.ended();
    let mut look = Look::default();
    for number in affected(&shared.look(), streams) {
        let end = until
            .filter(|until| until.segment == number)
            .map(|until| until.offset)
            .or(ended.get(&number).copied());
        let scanned = rewrite::scanned(shared, number, end)?;
        for item in &scanned.items {
            let own = item
                .found
                .head()
                .filter(|head| head.frame == FrameKind::Record && streams.contains(&head.stream));
            match own {
                Some(_) => look.bytes = look.bytes.saturating_add(item.bytes),
                None => look.damaged.extend(damage(number, item)),
            }
        }
        if end.is_none() && !scanned.sealed {
            look.damaged.push(Damage {
                lost: None,
                segment: number,
                offset: scanned.length,
                bytes: 0,
            });
        }
    }
    Ok(look)
}

fn damage(segment: u64, item: &Item) -> Option<Damage> {
    let lost = match &item.found {
        Found::Sound(_) => return None,
        Found::BodyBad(head) if head.frame == FrameKind::Record => {
            Some((head.stream, head.seq, head.seq))
        }
        _ => None,
    };
    Some(Damage {
        lost,
        segment,
        offset: item.offset,
        bytes: item.bytes,
    })
}

/// The segments that hold records of streams.
fn affected(index: &Index, streams: &[StreamId]) -> BTreeSet<u64> {
    let there = streams.iter().filter_map(|id| index.streams.get(id));
    there
        .flat_map(|stream| stream.stretches.iter().map(|stretch| stretch.segment))
        .collect()
}

fn on_disk(shared: &Shared) -> io::Result<u64> {
    let mut bytes = 0_u64;
    for name in shared.disk.list(SEGMENTS)? {
        if segment_number(&name).is_some() {
            let file = shared
                .disk
                .open(&format!("{SEGMENTS}/{name}"), Access::Read)?;
            bytes = bytes.saturating_add(file.len()?);
        }
    }
    Ok(bytes)
}

/// Streams to which nothing is admitted while this stands.
struct Leaving<'a> {
    shared: &'a Shared,
    streams: Vec<StreamId>,
}

/// What the note took out of the index.
struct Noted {
    records: u64,
    segments: BTreeSet<u64>,
}

impl<'a> Leaving<'a> {
    /// Of those that are there.
    fn of(shared: &'a Shared, streams: &[StreamId]) -> Leaving<'a> {
        let mut index = shared.look();
        let unique: BTreeSet<StreamId> = streams.iter().copied().collect();
        let streams: Vec<StreamId> = unique
            .into_iter()
            .filter(|id| index.streams.contains_key(id))
            .collect();
        index.leaving.extend(&streams);
        drop(index);
        Leaving { shared, streams }
    }

    /// Writes the note, durably, and takes the streams out of the index.
    fn note(&self, shared: &Shared, on_damage: OnDamage) -> Result<Noted, ForgetError> {
        let mut desk = shared.desk()?;
        // What was admitted before nothing more was is written first; nobody else can write meanwhile.
        if !shared.drain_at(&mut desk)? {
            return Err(ForgetError::NotDurable);
        }
        let damage = on_damage == OnDamage::GiveUp;
        let pruning = {
            let index = shared.index()?;
            let pruned = self.streams.iter().filter_map(|id| {
                let stream = index.streams.get(id)?;
                Some(Pruned {
                    stream: *id,
                    last: stream.head,
                    digest: stream.digest,
                })
            });
            Pruning {
                damage,
                streams: pruned.collect(),
            }
        };
        let below = desk
            .writer
            .prune(&pruning)
            .map_err(|failure| match failure {
                Failure::CutBack(error) => refused(error),
                Failure::Uncertain(error) => ForgetError::Unknown {
                    cause: error.to_string(),
                },
            })?;
        let mut index = shared.index()?;
        let segments = affected(&index, &self.streams);
        let mut records = 0;
        for pruned in &pruning.streams {
            let stretches = index.streams.remove(&pruned.stream);
            let runs = stretches.iter().flat_map(|stream| &stream.stretches);
            records += runs
                .map(|stretch| stretch.run.offsets.len() as u64)
                .sum::<u64>();
            let gone = Gone {
                below,
                last: pruned.last,
                digest: pruned.digest,
                damage,
            };
            index.forgotten.insert(pruned.stream, gone);
        }
        // What was proven to be lost of them concerns nobody any more.
        let named = |damage: &Damage| {
            let lost = damage.lost.map(|(stream, ..)| stream);
            lost.is_some_and(|stream| self.streams.contains(&stream))
        };
        shared.proven().retain(|damage| !named(damage));
        Ok(Noted { records, segments })
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut index = self.shared.look();
        for stream in &self.streams {
            index.leaving.remove(stream);
        }
    }
}

fn refused(error: io::Error) -> ForgetError {
    ForgetError::Io {
        cause: error.to_string(),
    }
}

impl From<AppendError> for ForgetError {
    fn from(error: AppendError) -> ForgetError {
        match error {
            AppendError::Poisoned => ForgetError::Poisoned,
            AppendError::Busy => ForgetError::Busy,
            AppendError::NotDurable { .. } => ForgetError::NotDurable,
            other => ForgetError::Io {
                cause: other.to_string(),
            },
        }
    }
}
