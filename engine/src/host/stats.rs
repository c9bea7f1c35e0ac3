//! Sizes and counters of a directory.
//!
//! - What is counted without being asked for costs no reading of the log; the sizes of sessions cost one pass over its bodies.

use super::directory::Directory;
use super::engine::Engine;
use super::report;
use crate::lock::lock;
use crate::{Error, ErrorKind, api};
use recount_wal::store::{StoreState, StoreStatus};
use recount_wal::{Entry, Recovered, StreamInfo, Wal};
use std::path::Path;

/// How many sessions are told of, unless asked for otherwise.
const TOLD: u64 = 1_000;

impl Engine {
    /// Sizes on disk, what waits, how fast the disk is, how the event store stands, what opening found.
    ///
    /// # Errors
    /// `io`.
    pub fn stats(&self, ask: &api::Stats) -> Result<api::StatsReport, Error> {
        let dir = &*self.inner;
        let log = dir.log()?;
        let counters = log.stats();
        let streams = log.streams();
        let status = log.store().map(recount_wal::store::EventLog::status);
        let by_session = if ask.sessions {
            sizes(dir, &log, &streams, ask)?
        } else {
            Vec::new()
        };
        Ok(api::StatsReport {
            directory: dir.path.to_string_lossy().into_owned(),
            sessions: streams.len() as u64,
            events: streams.iter().map(positions).fold(0, u64::saturating_add),
            in_memory: dir.in_memory(),
            disk: disk(dir, &log),
            backlog: api::Backlog {
                batches: counters.backlog,
                bytes: counters.backlog_bytes,
                store_bytes: status.as_ref().map_or(0, |status| status.backlog),
            },
            syncs: api::Syncs {
                count: counters.syncs,
                micros: counters.sync_micros,
                slowest_micros: counters.slowest_sync_micros,
            },
            store: store(status.as_ref()),
            recovered: found(&dir.recovered, status.as_ref()),
            by_session,
        })
    }
}

/// Own positions of a stream that are durable.
fn positions(info: &StreamInfo) -> u64 {
    info.heads
        .durable
        .map_or(0, |durable| durable.saturating_sub(info.first) + 1)
}

fn store(status: Option<&StoreStatus>) -> api::StoreLine {
    let Some(status) = status else {
        return api::StoreLine {
            state: "none".to_owned(),
            ..api::StoreLine::default()
        };
    };
    let (state, why) = match &status.state {
        StoreState::Comparing => ("comparing", None),
        StoreState::Rebuilding(doubt) => ("rebuilding", Some(doubt.to_string())),
        StoreState::Ready => ("ready", None),
        StoreState::Off(doubt) => ("off", Some(doubt.to_string())),
        StoreState::Closed => ("closed", None),
    };
    api::StoreLine {
        state: state.to_owned(),
        why,
        done: status.done,
        total: status.total,
    }
}

fn found(recovered: &Recovered, status: Option<&StoreStatus>) -> api::Found {
    let lost = recovered
        .damaged
        .iter()
        .filter_map(|damage| damage.lost)
        .map(|(_, first, last)| last.saturating_sub(first).saturating_add(1));
    let rebuilt = status
        .and_then(|status| status.rebuilt.as_ref())
        .map(ToString::to_string);
    api::Found {
        state: report::state(recovered.state),
        closed: recovered.closed,
        cut: recovered.cut.as_ref().map(|cut| api::Cut {
            bytes: cut.bytes,
            after: None,
        }),
        damaged: recovered.damaged.len() as u64,
        lost: lost.fold(0, u64::saturating_add),
        rebuilt: rebuilt.or_else(|| recovered.rebuilt.clone()),
        no_evidence: recovered.no_evidence.clone(),
        key_restored: recovered.key_restored,
    }
}

fn disk(dir: &Directory, log: &Wal) -> api::DiskUse {
    let counters = log.stats();
    let mut used = api::DiskUse {
        segment_files: counters.segments,
        segments_raw: counters.bytes,
        ..api::DiskUse::default()
    };
    if dir.options.disk.is_some() {
        // A disk that stands in for the real one has no files to look at.
        used.segments = counters.bytes;
        used.total = counters.bytes;
        return used;
    }
    for (name, bytes) in parts(&dir.path) {
        let part = match name.as_str() {
            "segments" => &mut used.segments,
            "key" => &mut used.key,
            "store" => &mut used.store,
            "states" => &mut used.states,
            "out" => &mut used.out,
            "spills" => &mut used.spills,
            _ => &mut used.other,
        };
        *part = part.saturating_add(bytes);
        used.total = used.total.saturating_add(bytes);
    }
    used
}

/// What stands in a directory, with the bytes of everything below it.
fn parts(path: &Path) -> Vec<(String, u64)> {
    let Ok(entries) = std::fs::read_dir(path) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, bytes_below(&entry.path()))
        })
        .collect()
}

/// Bytes of a file or of everything in a folder. What goes away meanwhile counts nothing; links are not followed.
pub(super) fn bytes_below(path: &Path) -> u64 {
    let mut total = 0_u64;
    let mut paths = vec![path.to_path_buf()];
    while let Some(path) = paths.pop() {
        let Ok(about) = std::fs::symlink_metadata(&path) else {
            continue;
        };
        if about.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        } else if about.is_file() {
            total = total.saturating_add(about.len());
        }
    }
    total
}

fn sizes(
    dir: &Directory,
    log: &Wal,
    streams: &[StreamInfo],
    ask: &api::Stats,
) -> Result<Vec<api::SessionSize>, Error> {
    let prefix = ask.prefix.as_deref().unwrap_or_default();
    let mut found = Vec::new();
    for info in streams {
        let name = super::list::named(dir, log, info.stream)?.map(|named| named.name);
        let name = name.unwrap_or_else(|| format!("(unnamed {})", info.stream));
        if name.starts_with(prefix) {
            found.push(size(log, name, info)?);
        }
    }
    found.sort_by(|one, other| {
        weight(other)
            .cmp(&weight(one))
            .then_with(|| one.session.cmp(&other.session))
    });
    found.truncate(usize::try_from(ask.limit.unwrap_or(TOLD)).unwrap_or(usize::MAX));
    Ok(found)
}

fn weight(size: &api::SessionSize) -> u64 {
    size.bodies.saturating_add(size.content_bytes)
}

/// Reads a stream's bodies and adds up; contents are not read.
pub(super) fn size(log: &Wal, name: String, info: &StreamInfo) -> Result<api::SessionSize, Error> {
    let mut size = api::SessionSize {
        session: name,
        head: info.heads.accepted,
        at: info.heads.time,
        not_durable_since: log.not_durable_since(info.stream),
        ..api::SessionSize::default()
    };
    for entry in log.read_bodies(info.stream, info.first, info.heads.accepted) {
        let entry = entry.map_err(|cause| {
            Error::new(ErrorKind::Io, format!("the log cannot be read: {cause}"))
        })?;
        match entry {
            Entry::Gap(gap) => {
                let lost = gap.last.saturating_sub(gap.first).saturating_add(1);
                size.lost = size.lost.saturating_add(lost);
            }
            Entry::Record(record) => {
                size.events += 1;
                size.bodies = size.bodies.saturating_add(record.body.len() as u64);
                let placed = record.content_places.iter().map(|at| u64::from(at.length));
                // What is not durable yet has no place, and comes with its contents.
                let waiting = record.contents.iter().map(|stored| match stored {
                    recount_wal::Stored::Here(content) => content.bytes.len() as u64,
                    _ => 0,
                });
                let lengths: Vec<u64> = placed.chain(waiting).collect();
                size.contents = size.contents.saturating_add(lengths.len() as u64);
                size.content_bytes = lengths
                    .iter()
                    .copied()
                    .fold(size.content_bytes, u64::saturating_add);
            }
        }
    }
    Ok(size)
}

impl Engine {
    /// Looks at a directory or a file from outside; without a path at the engine's own directory. See [`crate::doctor`].
    #[must_use]
    pub fn doctor(&self, ask: &api::Doctor) -> api::Diagnosis {
        let path = ask.path.as_ref().map_or(self.directory(), Path::new);
        crate::doctor::examine(path)
    }
}

impl Directory {
    fn in_memory(&self) -> u64 {
        lock(&self.slots).len() as u64
    }
}
