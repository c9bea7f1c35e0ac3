//! A data directory in this process: its log, its sessions, its randomness.
//!
//! - Each session has one lock, held for a whole operation: requests for one session queue up, others go on.
//! - No operation waits for a session's lock while it holds another's, except a fork for its new, unnamed-to-others child,
//!   and forgetting, which takes those of all that go while no fork is under way.
//! - Sessions that nobody uses are dropped from memory when there are many; the log has them.

use super::kept::Writer;
use super::live::Live;
use super::notices::Watch;
use super::{Chance, Options};
use crate::lock::lock;
use crate::{Error, ErrorKind};
use recount_wal::disk::{Disk, RealDisk};
use recount_wal::{CloseError, OpenError, Recovered, StreamId, Wal};
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

/// Sessions held in memory before idle ones are dropped.
const HELD: usize = 512;
/// Bytes that sessions take, by estimate, before idle ones are dropped; the default.
const WEIGHT: u64 = 256 << 20;
/// The longest name of a session, in bytes.
pub(crate) const NAME_BYTES: usize = 512;

/// A session's place in memory.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Its name.
    pub(crate) name: String,
    /// Its stream in the log.
    pub(crate) stream: StreamId,
    live: Mutex<Option<Live>>,
    used: AtomicU64,
    /// About how many bytes it takes.
    weight: AtomicU64,
}

/// One data directory.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) options: Options,
    pub(crate) path: PathBuf,
    pub(crate) key: [u8; 32],
    pub(crate) recovered: Recovered,
    log: Mutex<Option<Arc<Wal>>>,
    pub(crate) slots: Mutex<HashMap<String, Arc<Slot>>>,
    pub(crate) names: Mutex<HashMap<StreamId, Named>>,
    /// Held by who forks, taken alone by who forgets.
    pub(crate) forking: RwLock<()>,
    /// What was forgotten under which key.
    pub(crate) pruned: Mutex<VecDeque<([u8; 32], crate::api::Pruned)>>,
    pub(crate) states: Writer,
    /// Where the log lies, and what is made from it.
    pub(crate) disk: Arc<dyn Disk>,
    salts: AtomicU64,
    clock: AtomicU64,
}

/// What a listing remembers of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The session's name.
    pub(crate) name: String,
    /// A few words of how it began.
    pub(crate) title: Option<String>,
}

/// A session that is locked for an operation.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    pub(crate) slot: &'a Slot,
    guard: MutexGuard<'a, Option<Live>>,
}

impl Held<'_> {
    /// The session in memory, if it is there.
    pub(crate) fn live(&mut self) -> Option<&mut Live> {
        self.guard.as_mut()
    }

    /// Puts the session into memory.
    pub(crate) fn put(&mut self, live: Live) -> &mut Live {
        self.guard.insert(live)
    }

    /// What is in memory is not trusted any more: it is read again from the log when it is needed.
    pub(crate) fn forget(&mut self) {
        *self.guard = None;
    }
}

impl Directory {
    pub(crate) fn open(path: &Path, options: Options) -> Result<Self, Error> {
        let path = &crate::place::whole(path);
        let mut sizes = recount_wal::Options::default();
        if let Some(bytes) = options.segment_bytes {
            sizes = sizes.segment_size(bytes);
        }
        let opened = match &options.disk {
            // A disk of the caller's is asked for the same in every run: nothing is compressed behind its back.
            Some(disk) => Wal::open_on(Arc::clone(disk), sizes.compress(false)),
            None => {
                let store = options.store.clone().unwrap_or_default();
                Wal::open_with(path, sizes, Some(options.notices.watch(store)))
            }
        };
        let (log, recovered) = opened.map_err(opening)?;
        log.follow(Arc::new(Watch(options.notices.clone())));
        let seed = match options.chance {
            Chance::System => 0,
            Chance::Seeded(seed) => seed,
        };
        let disk = options.disk.clone();
        let disk = disk.unwrap_or_else(|| Arc::new(RealDisk::at(path)));
        let log = Arc::new(log);
        Ok(Self {
            options,
            path: path.to_path_buf(),
            key: log.key(),
            recovered,
            states: Writer::new(Arc::clone(&disk), &log),
            disk,
            log: Mutex::new(Some(log)),
            slots: Mutex::default(),
            names: Mutex::default(),
            forking: RwLock::default(),
            pruned: Mutex::default(),
            salts: AtomicU64::new(seed),
            clock: AtomicU64::new(0),
        })
    }

    pub(crate) fn close(&self) -> Result<(), Error> {
        self.keep_all();
        let log = lock(&self.log).take();
        lock(&self.slots).clear();
        let Some(log) = log else {
            return Ok(());
        };
        // Whoever is in the middle of a request keeps the log open, and cannot be asked what became of what was accepted.
        let written = log.sync_all();
        match Arc::into_inner(log) {
            Some(log) => log.close().map_err(unclosed),
            None => Err(held_open(written.is_ok_and(|whole| whole))),
        }
    }

    /// The log, while the directory is open.
    pub(crate) fn log(&self) -> Result<Arc<Wal>, Error> {
        lock(&self.log).clone().ok_or_else(|| {
            Error::new(ErrorKind::Cancelled, "the data directory is closed")
                .with_next("open it again")
        })
    }

    /// The stream of a session.
    pub(crate) fn stream(&self, name: &str) -> StreamId {
        stream_of(&self.key, name)
    }

    /// A session's place in memory.
    pub(crate) fn slot(&self, name: &str) -> Result<Arc<Slot>, Error> {
        check_name(name)?;
        let mut slots = lock(&self.slots);
        let used = self.clock.fetch_add(1, Ordering::Relaxed);
        let slot = slots.entry(name.to_owned()).or_insert_with(|| {
            Arc::new(Slot {
                name: name.to_owned(),
                stream: self.stream(name),
                live: Mutex::default(),
                used: AtomicU64::new(used),
                weight: AtomicU64::new(0),
            })
        });
        slot.used.store(used, Ordering::Relaxed);
        let slot = Arc::clone(slot);
        let limit = self.options.memory_bytes.unwrap_or(WEIGHT);
        let gone = if slots.len() > HELD || weight(&slots) > limit {
            drop_idle(&mut slots, limit)
        } else {
            Vec::new()
        };
        drop(slots);
        self.let_go(&gone);
        Ok(slot)
    }

    /// How many salts of a seed were drawn.
    pub(crate) fn salts_drawn(&self) -> u64 {
        self.salts.load(Ordering::Relaxed)
    }

    /// What is asked again draws the same salts of a seed again.
    pub(crate) fn draw_again(&self, drawn: u64) {
        if matches!(self.options.chance, Chance::Seeded(_)) {
            self.salts.store(drawn, Ordering::Relaxed);
        }
    }

    /// Random salts; from a seed where the options say so.
    pub(crate) fn salts(&self) -> impl FnMut() -> [u8; 16] + '_ {
        let seeded = matches!(self.options.chance, Chance::Seeded(_));
        let mut pool: Vec<u8> = Vec::new();
        move || {
            let mut salt = [0; 16];
            if seeded || !from_system(&mut pool, &mut salt) {
                let count = self.salts.fetch_add(1, Ordering::Relaxed);
                blake3::Hasher::new_keyed(&if seeded { [0; 32] } else { self.key })
                    .update(&count.to_le_bytes())
                    .finalize_xof()
                    .fill(&mut salt);
            }
            salt
        }
    }
}

/// Takes a salt from a pool of the system's randomness; false when the system has none.
fn from_system(pool: &mut Vec<u8>, salt: &mut [u8; 16]) -> bool {
    if pool.len() < salt.len() {
        pool.resize(1_024, 0);
        if getrandom::fill(pool).is_err() {
            pool.clear();
            return false;
        }
    }
    let at = pool.len().saturating_sub(salt.len());
    salt.iter_mut()
        .zip(pool.drain(at..))
        .for_each(|(to, from)| *to = from);
    true
}

impl Slot {
    /// Locks the session. A thread that died while it held it leaves nothing that is trusted.
    pub(crate) fn hold(&self) -> Held<'_> {
        let guard = self.live.lock().unwrap_or_else(|poisoned| {
            let mut guard = poisoned.into_inner();
            *guard = None;
            self.live.clear_poison();
            guard
        });
        Held { slot: self, guard }
    }
}

impl Directory {
    /// Writes the states of sessions that leave memory, where that is worth it.
    fn let_go(&self, slots: &[Arc<Slot>]) {
        for slot in slots {
            if let Some(live) = slot.hold().live() {
                self.leave(slot.stream, live, self.options.disk.is_some());
            }
        }
    }

    /// Before the log is closed: the states of all sessions that nobody works with.
    fn keep_all(&self) {
        let Ok(log) = self.log() else { return };
        // Checkpoints are only of what is durable. What this answers, closing answers too.
        drop(log.sync_all());
        drop(log);
        let slots: Vec<Arc<Slot>> = lock(&self.slots).values().map(Arc::clone).collect();
        for slot in slots {
            if let Ok(guard) = slot.live.try_lock()
                && let Some(live) = &*guard
            {
                self.leave(slot.stream, live, true);
            }
        }
        self.states.finish();
    }

    /// What was erased must not stand in a checkpoint, and the state before it is not gone back to.
    pub(crate) fn erased(&self, held: &mut Held<'_>) -> Result<(), Error> {
        let stream = held.slot.stream;
        if let Some(live) = held.live() {
            live.kept = super::kept::Kept::default();
        }
        self.states.remove(stream).map_err(|cause| {
            Error::new(
                ErrorKind::Io,
                format!("the state checkpoint of an erased session is still there: {cause}"),
            )
        })
    }
}

impl Drop for Directory {
    /// A directory that nobody closed is closed; what goes wrong then, the next opening says.
    fn drop(&mut self) {
        drop(self.close());
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let weight = self.guard.as_mut().map_or(0, Live::weigh);
        self.slot.weight.store(weight, Ordering::Relaxed);
    }
}

/// About how many bytes the sessions take.
fn weight(slots: &HashMap<String, Arc<Slot>>) -> u64 {
    let slots = slots.values();
    slots
        .map(|slot| slot.weight.load(Ordering::Relaxed))
        .fold(0, u64::saturating_add)
}

/// Drops sessions that nobody uses and that hold nothing which the log does not have, those that were used longest ago first,
/// until a quarter of what may be held is free; answers them.
fn drop_idle(slots: &mut HashMap<String, Arc<Slot>>, limit: u64) -> Vec<Arc<Slot>> {
    let mut oldest: Vec<Arc<Slot>> = slots.values().map(Arc::clone).collect();
    oldest.sort_by_key(|slot| slot.used.load(Ordering::Relaxed));
    let mut gone = Vec::new();
    let mut held = weight(slots);
    for slot in oldest {
        if held <= limit / 4 * 3 && slots.len() <= HELD / 4 * 3 {
            break;
        }
        // The map has one, this list the other: nobody works with it.
        if Arc::strong_count(&slot) > 2 {
            continue;
        }
        let drafts = slot
            .hold()
            .live()
            .is_some_and(|live| !live.core.drafts.is_empty());
        if drafts {
            continue;
        }
        held = held.saturating_sub(slot.weight.load(Ordering::Relaxed));
        slots.remove(&slot.name);
        gone.push(slot);
    }
    gone
}

/// The stream of a session in a directory with this key.
pub(crate) fn stream_of(key: &[u8; 32], name: &str) -> StreamId {
    let digest = blake3::keyed_hash(key, name.as_bytes());
    let mut id = [0; 16];
    id.iter_mut()
        .zip(digest.as_bytes())
        .for_each(|(to, from)| *to = *from);
    StreamId(id)
}

/// A session's name: 1 to 512 bytes of UTF-8 without NUL.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    if name.is_empty() || name.len() > NAME_BYTES || name.contains('\0') {
        return Err(Error::invalid(format!(
            "not a session's name; bytes={} limit={NAME_BYTES}",
            name.len()
        ))
        .with_field("session")
        .with_next("a name has 1 to 512 bytes of UTF-8 without NUL"));
    }
    Ok(())
}

fn unclosed(cause: CloseError) -> Error {
    let message = format!("the log was not closed cleanly: {cause}");
    match cause {
        CloseError::NotDurable { .. } => not_durable(message),
        _ => Error::new(ErrorKind::Io, message),
    }
}

fn held_open(durable: bool) -> Error {
    let message = "requests that are under way keep the log open";
    if durable {
        Error::new(ErrorKind::Busy, message).with_next(
            "what was accepted is on disk; the lock is given back when they end, or with the process",
        )
    } else {
        not_durable(format!(
            "{message}, and not all that was accepted is on disk"
        ))
    }
}

fn not_durable(message: String) -> Error {
    Error::new(ErrorKind::NotDurable, message)
        .with_next("what was accepted and not durable is gone: make space, then do it again")
}

fn opening(cause: OpenError) -> Error {
    let kind = match &cause {
        OpenError::Locked { holder } => {
            return Error::new(ErrorKind::Locked, cause.to_string()).with_holder(holder.clone());
        }
        OpenError::Newer { .. } => ErrorKind::Newer,
        _ => ErrorKind::Io,
    };
    let detail =
        std::error::Error::source(&cause).map_or_else(String::new, |source| format!(": {source}"));
    Error::new(
        kind,
        format!("the data directory cannot be opened: {cause}{detail}"),
    )
}

/// The newest position of a stream that is on disk.
pub(super) fn durable(dir: &Directory, stream: StreamId) -> Result<Option<u64>, Error> {
    Ok(dir.log()?.heads(stream).and_then(|heads| heads.durable))
}
