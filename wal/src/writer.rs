//! The one hand that writes: groups of frames, each synced before the next is written.
//!
//! - A failed write is cut back and the cut is synced; only then is nothing left of it.
//! - A failed sync is never tried again in the same process: the segment is given up, and the next one says up to where it counts.
//! - A segment's file is never recycled.
//! - No record is written behind positions that were lost before it is written down that they were.

mod found;
mod group;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::time::Instant;

use crate::compress::upkeep::Sealed;
use crate::disk::{Disk, SegmentFile};
use crate::format::control::{Opening, Pruning};
use crate::format::footer::{Parts, trailer};
use crate::format::head::{FrameKind, Head};
use crate::format::header::Header;
use crate::format::lost::{Lost, LostTail};
use crate::format::{HEADER, Keys, SEGMENTS, segment_name};
use crate::options::Options;
use crate::queue::Pending;
use crate::record::{ContentPlace, Place, StreamId};
use crate::stats::Counters;
use found::Found;
use group::Group;

/// Why a group is not on disk.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nothing is left of it.
    CutBack(io::Error),
    /// It may be there or not; the segment is given up.
    Uncertain(io::Error),
}

/// Where a record and its contents came to stand.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) place: Place,
    pub(crate) contents: Vec<ContentPlace>,
}

#[derive(Debug)]
struct Current {
    number: u64,
    file: Arc<dyn SegmentFile>,
    /// Everything before is synced.
    end: u64,
    /// The file reaches this far, with zeros behind `end`.
    reach: u64,
    /// Nothing stands in it but its opening, and prunings.
    bare: bool,
    parts: Parts,
}

/// Writes segments.
#[derive(Debug)]
pub(crate) struct Writer {
    disk: Arc<dyn Disk>,
    keys: Keys,
    segment_size: u64,
    ahead: u64,
    current: Option<Current>,
    /// What is to be made durable before anything is written.
    found: Option<Found>,
    next_number: u64,
    group: u64,
    before: Option<(StreamId, u64)>,
    unended: Vec<(u64, u64)>,
    /// Ends of streams that were lost, where that is not written down yet.
    owed: Lost,
    /// The folder of the segments may not be durable yet.
    unanchored: bool,
    counters: Arc<Counters>,
    sealed: Arc<Sealed>,
    /// Segments that count up to an offset, as openings say.
    ended: BTreeMap<u64, u64>,
}

/// Where a writer starts.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) next_number: u64,
    pub(crate) group: u64,
    pub(crate) before: Option<(StreamId, u64)>,
    pub(crate) unended: Vec<(u64, u64)>,
    pub(crate) ended: BTreeMap<u64, u64>,
}

impl Writer {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        keys: Keys,
        options: Options,
        start: Start,
        counters: Arc<Counters>,
        sealed: Arc<Sealed>,
    ) -> Writer {
        let Start {
            next_number,
            group,
            before,
            unended,
            ended,
        } = start;
        let Options {
            segment_size,
            ahead,
            ..
        } = options;
        Writer {
            disk,
            keys,
            segment_size,
            ahead,
            current: None,
            found: None,
            next_number,
            group,
            before,
            unended,
            owed: Lost::default(),
            unanchored: true,
            counters,
            sealed,
            ended,
        }
    }

    /// Writes and syncs batches as one group. `links`: the last frame of each stream.
    pub(crate) fn commit(
        &mut self,
        batches: &[Arc<Pending>],
        links: HashMap<StreamId, Place>,
    ) -> Result<Vec<Placed>, Failure> {
        self.settle_debts().map_err(spared)?;
        let bytes = batches
            .iter()
            .map(|batch| batch.bytes)
            .fold(0, u64::saturating_add);
        self.make_room(bytes)?;
        let mut group = self.group()?;
        group.links = links;
        group.before = self.before;
        batches.iter().for_each(|batch| group.batch(batch));
        let Group {
            bytes,
            heads,
            placed,
            before,
            ..
        } = group;
        self.write(&bytes)?;
        self.before = before;
        if let Some(current) = &mut self.current {
            heads.iter().for_each(|head| current.parts.add(head));
        }
        Ok(placed)
    }

    /// Writes and syncs a control frame as a group of its own.
    pub(crate) fn control(&mut self, frame: FrameKind, body: &[u8]) -> Result<(), Failure> {
        self.make_room(body.len() as u64)?;
        let mut group = self.group()?;
        group.before = self.before;
        group.control(frame, body);
        let bytes = group.bytes;
        self.write(&bytes)
    }

    /// What was lost is written down with the next group, or by [`Writer::settle_debts`].
    pub(crate) fn owe(&mut self, tails: impl IntoIterator<Item = LostTail>) {
        self.owed.tails.extend(tails);
    }

    /// Writes down what was lost, if that is not done yet; answers where.
    pub(crate) fn settle_debts(&mut self) -> Result<Option<Place>, Failure> {
        if self.owed.tails.is_empty() {
            return Ok(None);
        }
        let body = self.owed.encode();
        self.make_room(body.len() as u64)?;
        let at = self.position().unwrap_or_default();
        self.control(FrameKind::Lost, &body)?;
        let lost = std::mem::take(&mut self.owed);
        if let Some(current) = &mut self.current {
            current.parts.gone(&lost, at.offset);
        }
        Ok(Some(at))
    }

    /// Begins a segment with a note that streams are forgotten: what earlier segments hold of them does not count from then on.
    /// Answers the segment's number.
    pub(crate) fn prune(&mut self, pruning: &Pruning) -> Result<u64, Failure> {
        if self.current.as_ref().is_some_and(|current| !current.bare) {
            self.seal().map_err(spared)?;
        }
        let named = self.before;
        let gone = |(stream, _): &(StreamId, u64)| {
            let mut streams = pruning.streams.iter();
            streams.any(|pruned| pruned.stream == *stream)
        };
        // A record behind it must not name one that is forgotten as lost.
        self.before = self.before.filter(|before| !gone(before));
        let noted = self.note_pruning(pruning);
        match noted {
            Ok(_) => {
                let owed = &mut self.owed.tails;
                owed.retain(|tail| !gone(&(tail.stream, tail.last)));
            }
            Err(_) => self.before = named,
        }
        noted
    }

    fn note_pruning(&mut self, pruning: &Pruning) -> Result<u64, Failure> {
        if self.current.is_none() {
            self.begin().map_err(Failure::CutBack)?;
        }
        self.control(FrameKind::Pruning, &pruning.encode())?;
        let current = self.current.as_mut();
        let current = current.ok_or_else(|| Failure::CutBack(io::ErrorKind::NotFound.into()))?;
        current.bare = true;
        Ok(current.number)
    }

    /// Up to where segments count that were given up, also if no opening says so yet.
    pub(crate) fn ended(&self) -> BTreeMap<u64, u64> {
        let mut ended = self.ended.clone();
        ended.extend(self.unended.iter().copied());
        ended
    }

    /// Writes a closing record.
    pub(crate) fn close(&mut self) -> Result<(), Failure> {
        self.settle_debts()?;
        self.ahead = 0;
        self.trim().map_err(Failure::CutBack)?;
        self.control(FrameKind::Closing, &[])
    }

    /// The segment that is written on, and up to where it is synced.
    pub(crate) fn position(&self) -> Option<Place> {
        self.current.as_ref().map(|current| Place {
            segment: current.number,
            offset: current.end,
        })
    }

    fn make_room(&mut self, bytes: u64) -> Result<(), Failure> {
        let full = |current: &Current| {
            !current.parts.streams.is_empty()
                && current.end.saturating_add(bytes) > self.segment_size
        };
        if self.current.as_ref().is_some_and(full) {
            self.seal().map_err(spared)?;
        }
        if self.current.is_none() {
            self.begin().map_err(Failure::CutBack)?;
        }
        Ok(())
    }

    fn group(&mut self) -> Result<Group, Failure> {
        self.group = self.group.saturating_add(1);
        let current = self
            .current
            .as_ref()
            .ok_or_else(|| Failure::CutBack(io::ErrorKind::NotFound.into()))?;
        Ok(Group::new(
            self.keys,
            self.group,
            Place {
                segment: current.number,
                offset: current.end,
            },
        ))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(current) = self.current.as_mut() else {
            return Err(Failure::CutBack(io::ErrorKind::NotFound.into()));
        };
        if let Err(error) = current.write(bytes, self.ahead) {
            // On a full disk the zeros may be what does not fit.
            self.ahead = 0;
            return Err(match current.cut_back() {
                Ok(()) => Failure::CutBack(error),
                Err(_) => self.give_up(error),
            });
        }
        let started = Instant::now();
        if let Err(error) = current.file.sync_data() {
            return Err(self.give_up(error));
        }
        self.counters.synced(started.elapsed(), bytes.len() as u64);
        current.end = current.end.saturating_add(bytes.len() as u64);
        current.bare = false;
        Ok(())
    }

    /// Ends the file where its last frame ends: what is sealed or closed has no zeros behind it.
    fn trim(&mut self) -> io::Result<()> {
        if let Some(current) = self
            .current
            .as_mut()
            .filter(|current| current.reach > current.end)
        {
            current.file.truncate(current.end)?;
            current.reach = current.end;
        }
        Ok(())
    }

    fn give_up(&mut self, error: io::Error) -> Failure {
        if let Some(current) = self.current.take() {
            tracing::warn!(segment = current.number, end = current.end, %error, "segment given up");
            self.unended.push((current.number, current.end));
        }
        Failure::Uncertain(error)
    }

    fn seal(&mut self) -> Result<(), Failure> {
        let Some(current) = &self.current else {
            return Ok(());
        };
        let (footer, body) = (current.end, current.parts.encode());
        let mut group = self.group()?;
        group.before = self.before;
        group.control(FrameKind::Footer, &body);
        let mut bytes = group.bytes;
        bytes.extend(trailer(footer, &self.keys));
        // A sealed segment ends in its trailer, so the zeros go first; a crash in between leaves an ordinary segment.
        self.trim().map_err(Failure::CutBack)?;
        let ahead = std::mem::take(&mut self.ahead);
        let written = self.write(&bytes);
        self.ahead = ahead;
        written?;
        self.current = None;
        Ok(())
    }

    fn begin(&mut self) -> io::Result<()> {
        self.settle_found()?;
        if self.current.is_some() {
            return Ok(());
        }
        let number = self.next_number;
        let name = segment_name(number);
        let made = self.disk.create(&name);
        if made
            .as_ref()
            .is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
        {
            self.skip(number);
        }
        let file = made?;
        match self.opening(number, file.as_ref()) {
            Ok(end) => {
                self.next_number = number.saturating_add(1);
                self.ended.extend(self.unended.drain(..));
                self.counters.segment();
                self.sealed.up_to(number);
                self.current = Some(Current {
                    number,
                    file,
                    end,
                    reach: end,
                    bare: true,
                    parts: Parts::default(),
                });
                Ok(())
            }
            Err(error) => {
                if self.disk.remove(&name).is_err() {
                    self.skip(number);
                }
                Err(error)
            }
        }
    }

    fn skip(&mut self, number: u64) {
        self.unended.push((number, 0));
        self.next_number = number.saturating_add(1);
    }

    fn opening(&mut self, number: u64, file: &dyn SegmentFile) -> io::Result<u64> {
        let mut bytes = Header {
            segment: number,
            key: self.keys.directory,
            compression: 0,
        }
        .encode();
        self.group = self.group.saturating_add(1);
        let mut group = Group::new(
            self.keys,
            self.group,
            Place {
                segment: number,
                offset: HEADER,
            },
        );
        group.before = self.before;
        group.control(
            FrameKind::Opening,
            &Opening {
                ends: self.unended.clone(),
            }
            .encode(),
        );
        bytes.extend(group.bytes);
        file.write_at(&bytes, 0)?;
        let started = Instant::now();
        file.sync_data()?;
        self.disk.sync_dir(SEGMENTS)?;
        if self.unanchored {
            self.disk.sync_dir("")?;
            self.unanchored = false;
        }
        self.counters.synced(started.elapsed(), bytes.len() as u64);
        Ok(bytes.len() as u64)
    }
}

impl Current {
    /// Writes at the end. Where the file is not long enough yet, zeros are written behind the bytes: a sync that does not
    /// have to record a new length is a third cheaper.
    fn write(&mut self, bytes: &[u8], ahead: u64) -> io::Result<()> {
        let end = self.end.saturating_add(bytes.len() as u64);
        if end <= self.reach || ahead == 0 {
            self.reach = self.reach.max(end);
            return self.file.write_at(bytes, self.end);
        }
        let mut longer = bytes.to_vec();
        longer.resize(
            bytes
                .len()
                .saturating_add(usize::try_from(ahead).unwrap_or(0)),
            0,
        );
        self.reach = self.end.saturating_add(longer.len() as u64);
        self.file.write_at(&longer, self.end)
    }

    fn cut_back(&mut self) -> io::Result<()> {
        self.file.truncate(self.end)?;
        self.reach = self.end;
        self.file.sync_data()
    }
}

/// A failure before the batch was touched leaves nothing of the batch, whatever it left of the segment.
fn spared(failure: Failure) -> Failure {
    match failure {
        Failure::CutBack(error) | Failure::Uncertain(error) => Failure::CutBack(error),
    }
}

/// A head with place, group and base set.
fn placed_head(mut head: Head, place: Place, group: u64, base: u64) -> Head {
    (head.place, head.group, head.base) = (place, group, base);
    head
}
