//! Where a cooled session reads its events again: the log, its own stream and its parents'.
//!
//! - It holds no log open: when the directory is closed, nothing is read any more.
//! - What the meter asks for at every prompt (usages, what was issued, profiles) is held; there are few of those.

use crate::host::read::{Read, read};
use crate::lock::lock;
use recount_events::{Body, Class, Seq};
use recount_projections::{Logged, Source};
use recount_wal::{StreamId, Wal};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The most events that are held.
const HELD: usize = 1_024;

/// Where a cooled session reads its events again.
#[derive(Debug)]
pub(crate) struct Shelf {
    log: Weak<Wal>,
    /// Which streams hold which positions, oldest first; the last goes on.
    parts: Vec<(StreamId, u64, u64)>,
    missed: AtomicBool,
    near: Mutex<BTreeMap<Seq, Arc<Logged>>>,
}

impl Shelf {
    /// Over the streams that hold a session.
    pub(crate) fn new(log: &Arc<Wal>, parts: Vec<(StreamId, u64, u64)>) -> Arc<Self> {
        Arc::new(Self {
            log: Arc::downgrade(log),
            parts,
            missed: AtomicBool::new(false),
            near: Mutex::default(),
        })
    }

    /// More was needed than is in memory, or an event could not be read.
    pub(crate) fn missed(&self) -> bool {
        self.missed.load(Ordering::Relaxed)
    }

    fn read(&self, seq: Seq) -> Option<Arc<Logged>> {
        let holds = |(_, first, last): &&(StreamId, u64, u64)| (*first..=*last).contains(&seq.0);
        let (stream, ..) = self.parts.iter().find(holds)?;
        let log = self.log.upgrade()?;
        match read(&log, *stream, seq.0, seq.0).next()?.ok()? {
            Read::Event(event, record) if record.seq == seq.0 => {
                Some(Arc::new(Logged { seq, event: *event }))
            }
            _ => None,
        }
    }
}

impl Source for Shelf {
    fn event(&self, seq: Seq) -> Option<Arc<Logged>> {
        if let Some(near) = lock(&self.near).get(&seq) {
            return Some(Arc::clone(near));
        }
        let Some(logged) = self.read(seq) else {
            self.missed.store(true, Ordering::Relaxed);
            return None;
        };
        let body = &logged.event.body;
        if body.class() == Class::Ledger || matches!(body, Body::Profile(_)) {
            let mut near = lock(&self.near);
            if near.len() >= HELD {
                near.pop_first();
            }
            near.insert(seq, Arc::clone(&logged));
        }
        Some(logged)
    }

    fn missed(&self) {
        self.missed.store(true, Ordering::Relaxed);
    }
}
