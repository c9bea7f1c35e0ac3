//! A disk in memory that fails on demand and loses what was not synced: for tests of crashes and faults.
//!
//! - A crash keeps what was synced; un-synced writes are kept, lost or torn as the chosen survival says.
//! - Names that were created or renamed without a directory sync are lost when the survival is strict about names.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Access, Disk, SegmentFile};

/// What a fault is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Making a file.
    Create,
    /// Writing bytes.
    Write,
    /// Syncing a file.
    Sync,
    /// Syncing a folder.
    SyncDir,
    /// Cutting a file.
    Truncate,
    /// Reading bytes.
    Read,
}

/// A fault: the operations of a kind from the `after`-th on (counted from 0, from when the fault was set) fail, `times` of them.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What fails.
    pub operation: Operation,
    /// How many succeed first.
    pub after: u64,
    /// How many fail then.
    pub times: u64,
    /// The error they answer.
    pub kind: io::ErrorKind,
    /// Of a failing write, how many bytes are written, durably, all the same.
    pub short: usize,
}

/// What un-synced data becomes in a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// All of it survives, still un-synced: the process was killed, the machine went on.
    Kept,
    /// None of it survives, nor names without a directory sync.
    Lost,
    /// Each piece of 512 bytes survives or not, by this seed.
    Torn(u64),
}

#[derive(Debug, Default)]
struct State {
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    files: Vec<Contents>,
    faults: Vec<Fault>,
    operations: u64,
    halt: Option<u64>,
}

#[derive(Debug, Default)]
struct Contents {
    now: Vec<u8>,
    durable: Vec<u8>,
}

/// A directory in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

impl SimulatedDisk {
    /// An empty directory.
    #[must_use]
    pub fn new() -> SimulatedDisk {
        SimulatedDisk::default()
    }

    /// Adds a fault; several may stand at once.
    pub fn fail(&self, fault: Fault) {
        self.lock().faults.push(fault);
    }

    /// The power goes with the operation of this number, counted from the disk's first: it and all later ones fail,
    /// but its own bytes may still reach the file.
    pub fn halt_at(&self, operation: u64) {
        self.lock().halt = Some(operation);
    }

    /// Takes all faults away.
    pub fn heal(&self) {
        let mut state = self.lock();
        state.faults.clear();
        state.halt = None;
    }

    /// How many operations were asked for so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.lock().operations
    }

    /// The directory as it would be found after a crash at this moment; this one goes on untouched.
    #[must_use]
    pub fn crashed(&self, survival: Survival) -> SimulatedDisk {
        let state = self.lock();
        let names = match survival {
            Survival::Lost => state.durable_names.clone(),
            Survival::Kept | Survival::Torn(_) => state.names.clone(),
        };
        let files = state
            .files
            .iter()
            .enumerate()
            .map(|(index, file)| file.after(survival, index))
            .collect();
        let durable_names = match survival {
            Survival::Kept => state.durable_names.clone(),
            Survival::Lost | Survival::Torn(_) => names.clone(),
        };
        let state = State {
            durable_names,
            names,
            files,
            ..State::default()
        };
        SimulatedDisk {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The bytes of a file, for a test to look at; none when there is no such file.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.lock();
        let index = *state.names.get(name)?;
        state.files.get(index).map(|file| file.now.clone())
    }

    /// Replaces (or makes) a file behind the log's back, durably.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut state = self.lock();
        let index = state.files.len();
        state.files.push(Contents {
            durable: bytes.clone(),
            now: bytes,
        });
        state.names.insert(name.to_owned(), index);
        state.durable_names.insert(name.to_owned(), index);
    }

    /// The names of all files.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().names.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl State {
    fn strike(&mut self, operation: Operation) -> Result<(), (io::Error, usize)> {
        let number = self.operations;
        self.operations = number.saturating_add(1);
        match self.halt {
            Some(halt) if number == halt => {
                return Err((io::ErrorKind::BrokenPipe.into(), usize::MAX));
            }
            Some(halt) if number > halt => return Err((io::ErrorKind::BrokenPipe.into(), 0)),
            _ => {}
        }
        for fault in self
            .faults
            .iter_mut()
            .filter(|fault| fault.operation == operation)
        {
            if fault.after > 0 {
                fault.after -= 1;
            } else if fault.times > 0 {
                fault.times -= 1;
                return Err((fault.kind.into(), fault.short));
            }
        }
        Ok(())
    }

    fn file(&mut self, index: usize) -> io::Result<&mut Contents> {
        self.files
            .get_mut(index)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Contents {
    fn after(&self, survival: Survival, index: usize) -> Contents {
        let bytes = match survival {
            Survival::Kept => {
                return Contents {
                    now: self.now.clone(),
                    durable: self.durable.clone(),
                };
            }
            Survival::Lost => self.durable.clone(),
            Survival::Torn(seed) => {
                self.torn(seed ^ (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            }
        };
        Contents {
            durable: bytes.clone(),
            now: bytes,
        }
    }

    fn torn(&self, seed: u64) -> Vec<u8> {
        let mut chance = seed | 1;
        let mut next = move || {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            chance
        };
        // The length is one of the two, or something in between.
        let span = self.now.len().abs_diff(self.durable.len());
        let shorter = self.now.len().min(self.durable.len());
        let length = match next() % 3 {
            0 => self.durable.len(),
            1 => self.now.len(),
            _ => shorter + (next() % (span as u64 + 1)) as usize,
        };
        let mut bytes = self.durable.clone();
        bytes.resize(length, 0);
        for (piece, target) in bytes.chunks_mut(512).enumerate() {
            let from = self.now.get(piece * 512..).unwrap_or_default();
            let size = from.len().min(target.len());
            if next() % 2 == 0 {
                target[..size].copy_from_slice(&from[..size]);
            }
        }
        bytes
    }
}

impl Disk for SimulatedDisk {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let state = self.lock();
        let inside = state
            .names
            .keys()
            .filter_map(|name| name.strip_prefix(&prefix));
        Ok(inside
            .filter(|name| !name.contains('/'))
            .map(str::to_owned)
            .collect())
    }

    fn create_dir(&self, _folder: &str) -> io::Result<()> {
        Ok(())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        let mut state = self.lock();
        state
            .strike(Operation::Create)
            .map_err(|(error, _)| error)?;
        if state.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let index = state.files.len();
        state.files.push(Contents::default());
        state.names.insert(name.to_owned(), index);
        Ok(Arc::new(SimulatedFile {
            disk: self.clone(),
            index,
            access: Access::Write,
        }))
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn SegmentFile>> {
        let index = *self.lock().names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(SimulatedFile {
            disk: self.clone(),
            index,
            access,
        }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.lock();
        let index = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.names.insert(to.to_owned(), index);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.lock()
            .names
            .remove(name)
            .map(|_| ())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_dir(&self, folder: &str) -> io::Result<()> {
        let mut state = self.lock();
        state
            .strike(Operation::SyncDir)
            .map_err(|(error, _)| error)?;
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let inside = |name: &String| {
            name.strip_prefix(&prefix)
                .is_some_and(|rest| !rest.contains('/'))
        };
        let State {
            names,
            durable_names,
            ..
        } = &mut *state;
        durable_names.retain(|name, _| !inside(name));
        durable_names.extend(
            names
                .iter()
                .filter(|(name, _)| inside(name))
                .map(|(name, index)| (name.clone(), *index)),
        );
        Ok(())
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    index: usize,
    access: Access,
}

impl SimulatedFile {
    fn writable(&self) -> io::Result<()> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

impl SegmentFile for SimulatedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.writable()?;
        let mut state = self.disk.lock();
        let struck = state.strike(Operation::Write);
        let written = match &struck {
            Ok(()) => bytes,
            Err((_, short)) => bytes.get(..*short).unwrap_or(bytes),
        };
        let file = state.file(self.index)?;
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let end = start
            .checked_add(written.len())
            .ok_or(io::ErrorKind::InvalidInput)?;
        if file.now.len() < end && !written.is_empty() {
            file.now.resize(end, 0);
        }
        if let Some(target) = file.now.get_mut(start..end) {
            target.copy_from_slice(written);
        }
        if matches!(struck, Err((_, short)) if short > 0 && short != usize::MAX) {
            // The worst of an ordinary failure: what was written is on the platter before it is cut off again.
            file.durable.clone_from(&file.now);
        }
        struck.map_err(|(error, _)| error)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.lock();
        state.strike(Operation::Read).map_err(|(error, _)| error)?;
        let file = state.file(self.index)?;
        let from = usize::try_from(offset)
            .ok()
            .and_then(|start| file.now.get(start..))
            .unwrap_or_default();
        let size = from.len().min(buffer.len());
        buffer[..size].copy_from_slice(&from[..size]);
        Ok(size)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().file(self.index)?.now.len() as u64)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.strike(Operation::Sync).map_err(|(error, _)| error)?;
        let file = state.file(self.index)?;
        file.durable.clone_from(&file.now);
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.writable()?;
        let mut state = self.disk.lock();
        state
            .strike(Operation::Truncate)
            .map_err(|(error, _)| error)?;
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        state.file(self.index)?.now.resize(length, 0);
        Ok(())
    }
}
