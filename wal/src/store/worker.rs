//! The worker: opens a store, compares it with the segments or fills a new one, then follows the commits.
//!
//! - It runs on its own thread and is given up when it hangs; a worker that was given up changes nothing any more.
//! - Every step ends in a beat, so that slow and hung can be told apart.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::chunk::Chunk;
use super::compare::{Comparison, Seen, Tail, compare, examine, take_inventory};
use super::contract::{Order, Store, StoreError, Table};
use super::evidence;
use super::generations::Generations;
use super::layout::{ABOUT, about_row, chunk_key, rows_of};
use super::live::Holes;
use super::shared::Shared;
use super::status::{Doubt, StoreState};
use crate::record::{Record, StreamId};

/// Bytes of chunks that a fill from the segments collects before it writes them.
const FILL_BYTES: usize = 1 << 20;

/// What a worker begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The newest directory there is.
    Current,
    /// A new directory, because of a doubt.
    Fresh(Doubt),
}

/// A worker's ticket: what it shares, and until when it may change it.
pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) epoch: u64,
}

/// What the worker does next.
enum Step {
    Close,
    Write(Arc<Chunk>, Option<Tail>),
    Fetch(StreamId, u64, u64),
    Settle,
    Ready,
    Flush,
    Rest,
}

impl Worker {
    /// Runs until the store is closed.
    pub(super) fn run(&self, generations: &Generations, start: Start) -> Result<(), Doubt> {
        let (store, directory) = match start {
            Start::Current => {
                let (store, directory) = self.open_current(generations)?;
                self.weigh(&*store)?;
                (store, directory)
            }
            Start::Fresh(doubt) => {
                self.shared
                    .enter_state(self.epoch, StoreState::Rebuilding(doubt))?;
                self.open_fresh(generations)?
            }
        };
        self.align(&*store)?;
        self.follow(&store, generations, &directory)?;
        self.shared.publish(self.epoch, None)?;
        drop(store);
        Ok(())
    }

    fn open_current(&self, generations: &Generations) -> Result<(Arc<dyn Store>, PathBuf), Doubt> {
        let empty = self.shared.segments.streams().is_empty();
        let Some(directory) = generations.newest() else {
            return if empty {
                self.open_fresh(generations)
            } else {
                Err(Doubt::Absent)
            };
        };
        let store = self.open(&directory)?;
        match self.about(&*store)? {
            Some(true) => Ok((store, directory)),
            Some(false) => Err(Doubt::Foreign),
            None if empty => self.open_fresh(generations),
            None => Err(Doubt::Absent),
        }
    }

    /// Tells the segments where the store knows streams to end behind their own ends, before anything is appended there.
    fn weigh(&self, store: &dyn Store) -> Result<(), Doubt> {
        let heads = self.shared.segments.streams();
        let known = evidence::ahead_of(store, &heads, &|| self.beat())?;
        if !known.is_empty() {
            let ahead = evidence::in_words(&known, &heads);
            self.shared
                .with_status(self.epoch, |status| status.ahead = ahead)?;
            self.shared.segments.ahead(&known);
        }
        self.shared.weighed(self.epoch)
    }

    fn open_fresh(&self, generations: &Generations) -> Result<(Arc<dyn Store>, PathBuf), Doubt> {
        let directory = generations.fresh().map_err(StoreError::from)?;
        let store = self.open(&directory)?;
        store.put(&[about_row(self.shared.identity, &self.shared.terms)])?;
        Ok((store, directory))
    }

    fn open(&self, directory: &Path) -> Result<Arc<dyn Store>, Doubt> {
        let store = self.shared.options.opener.open(directory)?;
        self.beat();
        Ok(store)
    }

    /// Whether the store says that it is ours; none when it says nothing and holds nothing.
    fn about(&self, store: &dyn Store) -> Result<Option<bool>, Doubt> {
        let ours = about_row(self.shared.identity, &self.shared.terms).value;
        let found = store.get(Table::Meta, ABOUT)?;
        if found.is_some() {
            return Ok(Some(found == ours));
        }
        let mut rows = 0_u32;
        for table in Table::ALL {
            store.range(
                table,
                &[],
                &super::compare::LAST_KEY,
                Order::Ascending,
                &mut |_, _| {
                    rows = 1;
                    ControlFlow::Break(())
                },
            )?;
        }
        Ok((rows > 0).then_some(false))
    }

    /// Compares what the store has and fills in what it lacks.
    fn align(&self, store: &dyn Store) -> Result<(), Doubt> {
        let inventory = take_inventory(store, &self.shared.terms, &|| self.beat())?;
        let streams = self.shared.segments.streams();
        let known = !inventory.is_empty();
        self.shared.with_live(self.epoch, |live| {
            inventory
                .tails()
                .for_each(|(stream, tail)| live.enter(stream, tail));
        })?;
        let mut comparison = Comparison::new(inventory);
        let mut outcome = Ok(());
        self.shared.segments.scan(&mut |record| {
            outcome = self.compare_or_fill(store, &mut comparison, record);
            if outcome.is_ok() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        outcome?;
        if known {
            self.conclude(store, comparison, streams)?;
        }
        self.shared
            .with_live(self.epoch, |live| live.filling = true)?;
        for info in self.shared.segments.streams() {
            if let Some(durable) = info.heads.durable {
                self.shared
                    .with_live(self.epoch, |live| live.note(info.stream, durable))?;
            }
        }
        Ok(())
    }

    fn compare_or_fill(
        &self,
        store: &dyn Store,
        comparison: &mut Comparison,
        record: &Record,
    ) -> Result<(), Doubt> {
        self.advance(1);
        if self.shared.closing.load(Ordering::Acquire) {
            // What was filled in so far is written by whoever opens it next.
            return Err(Doubt::Asked);
        }
        if comparison.see(record)? == Seen::New {
            let waiting = self.shared.with_live(self.epoch, |live| {
                live.push(record, Holes::Passed);
                if live.open_bytes > self.shared.options.open_bytes {
                    live.close_chunks();
                }
                live.pending_bytes
            })?;
            if waiting > FILL_BYTES {
                self.write_all(store)?;
            }
        }
        Ok(())
    }

    fn conclude(
        &self,
        store: &dyn Store,
        comparison: Comparison,
        streams: Vec<crate::record::StreamInfo>,
    ) -> Result<(), Doubt> {
        let (suspects, ahead) = comparison.finish(&streams);
        if !ahead.is_empty() {
            self.shared
                .with_status(self.epoch, |status| status.ahead = ahead)?;
            return Err(Doubt::Ahead);
        }
        for suspect in suspects {
            let salvaged = examine(store, &*self.shared.segments, suspect)?;
            self.shared
                .with_status(self.epoch, |status| status.salvaged.extend(salvaged))?;
            self.beat();
        }
        Ok(())
    }

    fn write_all(&self, store: &dyn Store) -> Result<(), Doubt> {
        while let Some((chunk, tail)) = self
            .shared
            .with_live(self.epoch, |live| live.next_pending())?
        {
            self.write(store, &chunk, tail)?;
        }
        Ok(())
    }

    /// Writes a chunk, into the last one of its stream when both fit into one row.
    fn write(&self, store: &dyn Store, chunk: &Chunk, tail: Option<Tail>) -> Result<(), Doubt> {
        let merged = match tail {
            Some(tail) if mergeable(tail, chunk) => self.merge(store, tail, chunk)?,
            _ => None,
        };
        let whole = merged.as_ref().unwrap_or(chunk);
        let rows = rows_of(whole, &self.shared.terms)
            .map_err(|bad| StoreError::Corrupt(bad.to_string()))?;
        store.put(&rows)?;
        let bytes = rows
            .iter()
            .filter_map(|row| row.value.as_ref().map(Vec::len))
            .sum();
        self.shared.unflushed.fetch_add(bytes, Ordering::Relaxed);
        self.shared.cache.forget(whole.stream, whole.first);
        self.shared
            .with_live(self.epoch, |live| live.written(Tail::of(whole)))?;
        self.shared.room.notify_all();
        self.beat();
        if self.shared.unflushed.load(Ordering::Relaxed) > self.shared.options.flush_bytes {
            self.flush(store)?;
        }
        Ok(())
    }

    fn merge(&self, store: &dyn Store, tail: Tail, chunk: &Chunk) -> Result<Option<Chunk>, Doubt> {
        let differs = |what| Doubt::Differs {
            stream: Some(chunk.stream),
            what,
        };
        let value = store.get(Table::Chunk, &chunk_key(chunk.stream, tail.first))?;
        let value = value.ok_or_else(|| differs("a chunk is gone"))?;
        let mut base = Chunk::decode(&value).map_err(|bad| differs(bad.0))?;
        if !base.continues(chunk.first, chunk.previous)
            || !base.has_room(chunk.count(), chunk.size())
        {
            return Ok(None);
        }
        base.absorb(chunk).map_err(|bad| differs(bad.0))?;
        Ok(Some(base))
    }

    fn flush(&self, store: &dyn Store) -> Result<(), Doubt> {
        self.shared.unflushed.store(0, Ordering::Relaxed);
        store.flush()?;
        self.beat();
        Ok(())
    }

    /// Follows the commits until the store is closed or doubted.
    fn follow(
        &self,
        store: &Arc<dyn Store>,
        generations: &Generations,
        directory: &Path,
    ) -> Result<(), Doubt> {
        let mut ready = false;
        loop {
            self.beat();
            if ready {
                self.answer_askers(&**store)?;
            }
            match self.next_step(ready)? {
                Step::Write(chunk, tail) => self.write(&**store, &chunk, tail)?,
                Step::Fetch(stream, from, to) => self.fetch(stream, from, to)?,
                Step::Settle => self
                    .shared
                    .with_live(self.epoch, |live| live.close_chunks())?,
                Step::Ready => {
                    ready = true;
                    self.flush(&**store)?;
                    generations.keep_only(directory);
                    self.shared.publish(self.epoch, Some(Arc::clone(store)))?;
                }
                Step::Flush => self.flush(&**store)?,
                Step::Rest => self.shared.rest(),
                Step::Close => return self.flush(&**store),
            }
        }
    }

    fn answer_askers(&self, store: &dyn Store) -> Result<(), Doubt> {
        let askers = std::mem::take(&mut *self.shared.askers());
        if askers.is_empty() {
            return Ok(());
        }
        let outcome = self.verify(store);
        for asker in askers {
            // Whoever asked may have gone.
            let _ = asker.send(outcome.clone());
        }
        outcome.map(drop)
    }

    fn verify(&self, store: &dyn Store) -> Result<u64, Doubt> {
        compare(store, &*self.shared.segments, &self.shared.terms, &|| {
            self.beat()
        })
    }

    fn next_step(&self, ready: bool) -> Result<Step, Doubt> {
        if let Some(doubt) = self.shared.doubt() {
            return Err(doubt);
        }
        let closing = self.shared.closing.load(Ordering::Acquire);
        let idle = closing || self.shared.idle();
        let unflushed = self.shared.unflushed.load(Ordering::Relaxed) > 0;
        let limit = self.shared.options.open_bytes;
        self.shared.with_live(self.epoch, |live| {
            // What waits in memory can be read too, so only missing records stand in the way of serving reads.
            if !ready && !closing && !live.is_behind() {
                return Step::Ready;
            }
            if let Some((chunk, tail)) = live.next_pending() {
                return Step::Write(chunk, tail);
            }
            // Left behind by the commits or not: with nothing waiting there is room for them again.
            live.filling = true;
            match live.next_behind() {
                Some((stream, from, to)) if !closing => Step::Fetch(stream, from, to),
                _ if live.open_bytes > limit || (idle && live.has_open()) => Step::Settle,
                _ if closing => Step::Close,
                _ if idle && unflushed => Step::Flush,
                _ => Step::Rest,
            }
        })
    }

    /// Takes the records of a stream from the segments; what they lack is passed over.
    fn fetch(&self, stream: StreamId, from: u64, to: u64) -> Result<(), Doubt> {
        let mut outcome = Ok(());
        let mut more = false;
        self.shared.segments.read(stream, from, to, &mut |record| {
            self.advance(1);
            outcome = self.shared.with_live(self.epoch, |live| {
                live.push(record, Holes::Passed);
                more = live.pending_bytes > FILL_BYTES;
            });
            if outcome.is_ok() && !more {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        outcome?;
        if more {
            return Ok(());
        }
        self.shared
            .with_live(self.epoch, |live| live.caught_up(stream, to))
    }

    fn beat(&self) {
        self.shared.beat.fetch_add(1, Ordering::Relaxed);
    }

    fn advance(&self, records: u64) {
        self.beat();
        self.shared.advance(self.epoch, records);
    }
}

fn mergeable(tail: Tail, chunk: &Chunk) -> bool {
    tail.last.checked_add(1) == Some(chunk.first)
        && tail.last_digest == chunk.previous
        && tail.bytes.saturating_add(chunk.size()) <= super::chunk::MAX_BYTES
        && chunk.last().saturating_sub(tail.first) < super::chunk::MAX_RECORDS as u64
}
