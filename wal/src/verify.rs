//! Reading everything again: frames, record digests, chains, contents, and footers against what they list.
//!
//! - Trusts no footer and no index; counts only what a scan of the bytes shows.
//! - Tells of what earlier recoveries cut, for ever.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::disk::Disk;
use crate::error::OpenError;
use crate::format::Keys;
use crate::index::Index;
use crate::read::{Entries, Handles, Lookup};
use crate::record::{Entry, Gap, Place, Record, RecordDigest, Stored, StreamId};
use crate::recovered::{Cut, Damage, State};
use crate::recovery::{Depth, find, survey};

/// A content that cannot be read, or is no longer there on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentAt {
    /// The stream.
    pub stream: StreamId,
    /// The record.
    pub seq: u64,
    /// Which of its contents.
    pub index: u32,
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The worst of what follows.
    pub state: State,
    /// Records that verified.
    pub records: u64,
    /// Streams that have any.
    pub streams: u64,
    /// Bytes of the segments.
    pub bytes: u64,
    /// Everything that recoveries ever cut, as far as it was written down; who was affected is not kept.
    pub cuts: Vec<Cut>,
    /// Damaged bytes and lost records.
    pub damaged: Vec<Damage>,
    /// Records whose body is not the one that their digest was made over, or that do not follow the record before them.
    pub unchained: Vec<(StreamId, u64)>,
    /// Records whose seq an earlier record of their stream has already, the first of each row. The earlier ones count.
    pub doubled: Vec<(StreamId, u64)>,
    /// Contents that cannot be read.
    pub lost: Vec<ContentAt>,
    /// Contents that were erased.
    pub erased: Vec<ContentAt>,
}

/// What the segments are held against: how far they are being written, and what is known to be durable.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) until: Option<Place>,
    pub(crate) durable: BTreeMap<StreamId, u64>,
}

#[derive(Debug)]
struct Scanned {
    handles: Handles,
    keys: Keys,
    index: Index,
}

pub(crate) fn verify(
    disk: &Arc<dyn Disk>,
    keys: Keys,
    known: Option<&Known>,
) -> Result<Verification, OpenError> {
    let until = known.and_then(|known| known.until);
    let findings = find(
        survey(disk.as_ref())?,
        keys.directory,
        Depth::Everything { until },
    )?;
    let cut_before = |cut: crate::format::control::CutBody| Cut {
        segment: cut.segment,
        offset: cut.offset,
        bytes: cut.bytes,
        after: Vec::new(),
    };
    let mut verification = Verification {
        state: findings.recovered.state,
        bytes: findings.sizes.bytes,
        cuts: findings
            .cuts
            .into_iter()
            .map(cut_before)
            .chain(findings.recovered.cut)
            .collect(),
        damaged: findings.recovered.damaged,
        doubled: findings.recovered.doubled,
        ..Verification::default()
    };
    let scanned = Arc::new(Scanned {
        handles: Handles::new(Arc::clone(disk), keys),
        keys,
        index: findings.index,
    });
    let mut ids: Vec<StreamId> = scanned.index.streams.keys().copied().collect();
    ids.sort_unstable();
    for id in ids {
        verification.stream(&scanned, id)?;
    }
    if let Some(known) = known {
        verification.hold_against(&scanned.index, known);
    }
    verification.conclude();
    Ok(verification)
}

impl Verification {
    fn stream(&mut self, scanned: &Arc<Scanned>, id: StreamId) -> Result<(), OpenError> {
        let mut previous: Option<RecordDigest> = None;
        let before = self.records;
        for entry in Entries::new(Arc::clone(scanned), id, 0, u64::MAX) {
            let entry = entry.map_err(|error| OpenError::Io {
                what: "read a stream".to_owned(),
                source: std::io::Error::other(error),
            })?;
            match entry {
                Entry::Gap(gap) => {
                    self.gap(id, gap);
                    previous = None;
                }
                Entry::Record(record) => {
                    self.record(&record, previous);
                    previous = Some(record.digest);
                }
            }
        }
        self.streams += u64::from(self.records > before);
        Ok(())
    }

    fn gap(&mut self, id: StreamId, gap: Gap) {
        let damage = Damage {
            lost: Some((id, gap.first, gap.last)),
            segment: gap.segment,
            offset: gap.offset,
            bytes: gap.bytes,
        };
        if !self.damaged.contains(&damage) {
            self.damaged.push(damage);
        }
    }

    fn record(&mut self, record: &Record, previous: Option<RecordDigest>) {
        self.records += 1;
        let digest = RecordDigest::of(
            record.previous,
            record.seq,
            record.kind,
            record.schema,
            &record.body,
        );
        if digest != record.digest || previous.is_some_and(|previous| previous != record.previous) {
            self.unchained.push((record.stream, record.seq));
        }
        for (index, stored) in (0_u32..).zip(&record.contents) {
            let at = ContentAt {
                stream: record.stream,
                seq: record.seq,
                index,
            };
            match stored {
                Stored::Here(_) => {}
                Stored::Lost => self.lost.push(at),
                Stored::Erased => self.erased.push(at),
            }
        }
    }

    /// What is known to be durable and is not there any more.
    fn hold_against(&mut self, index: &Index, known: &Known) {
        for (id, durable) in &known.durable {
            let at = known.until.map_or(0, |until| until.segment);
            if index.is_gone(*id, at) {
                continue; // forgotten since
            }
            let found = index.streams.get(id).map(|stream| stream.head);
            if found.is_some_and(|found| found >= *durable) {
                continue;
            }
            let first = found.map_or(0, |found| found.saturating_add(1));
            let at = index
                .streams
                .get(id)
                .and_then(crate::index::Stream::last_place)
                .unwrap_or_default();
            let lost = Some((*id, first, *durable));
            self.damaged.push(Damage {
                lost,
                segment: at.segment,
                offset: at.offset,
                bytes: 0,
            });
            self.state = self.state.max(State::Truncated);
        }
    }

    fn conclude(&mut self) {
        if !self.cuts.is_empty() {
            self.state = self.state.max(State::Torn);
        }
        let damaged = self.damaged.iter().map(Damage::state).max();
        self.state = self.state.max(damaged.unwrap_or_default());
        if !self.unchained.is_empty() || !self.lost.is_empty() {
            self.state = State::Damaged;
        }
    }
}

impl Lookup for Arc<Scanned> {
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
