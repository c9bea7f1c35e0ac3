//! A disk in memory that fails on demand and loses what was not synced: for tests of crashes and faults.
//!
//! - Every completed operation is one step of a machine that knows what is visible and what is durable.
//! - A crash keeps what was synced; what was not is kept, lost or torn as chosen: plainly ([`Survival`]), or in every way
//!   that a disk may choose ([`Journal`]).

mod change;
mod choice;
mod fault;
mod file;
mod journal;
mod machine;
mod pieces;
mod survival;
#[cfg(test)]
mod tests;
mod tree;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::change::{Change, Name, Step};
use self::fault::Faults;
use self::file::SimulatedFile;
use self::machine::Machine;
use self::tree::folder_of;
use super::{Access, Disk, SegmentFile};

pub use choice::Plan;
pub use fault::{Fault, Operation};
pub use journal::{Crash, Journal, View};
pub use survival::Survival;

#[derive(Debug, Default)]
struct State {
    machine: Machine,
    faults: Faults,
    journal: Option<Journal>,
}

impl State {
    fn step(&mut self, step: Step) {
        self.machine.apply(&step);
        if let Some(journal) = &mut self.journal {
            journal.push(step);
        }
    }

    fn name(&mut self, name: Name) {
        self.step(Step::Changed(Change::Name(name)));
    }

    fn file(&self, name: &str) -> io::Result<usize> {
        let names = &self.machine.now.names;
        names
            .get(name)
            .copied()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Fails when the folder of a name is not there.
    fn folder(&self, name: &str) -> io::Result<()> {
        let folder = folder_of(name);
        if folder.is_empty() || self.machine.now.folders.contains(folder) {
            Ok(())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
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

    fn on(machine: Machine) -> SimulatedDisk {
        let state = State {
            machine,
            ..State::default()
        };
        SimulatedDisk {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Adds a fault; several may stand at once.
    pub fn fail(&self, fault: Fault) {
        self.lock().faults.standing.push(fault);
    }

    /// The power goes with the operation of this number, counted from the disk's first: it and all later ones fail,
    /// but its own bytes may still reach the file.
    pub fn halt_at(&self, operation: u64) {
        self.lock().faults.halt = Some(operation);
    }

    /// Takes all faults away.
    pub fn heal(&self) {
        let mut state = self.lock();
        state.faults.standing.clear();
        state.faults.halt = None;
    }

    /// How many operations were asked for so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.lock().faults.operations
    }

    /// From here on every completed operation is written down, for [`SimulatedDisk::journal`].
    pub fn record(&self) {
        let mut state = self.lock();
        state.journal = Some(Journal::from(&state.machine));
    }

    /// How many operations that change something or make it durable were written down: the moment that it is now.
    #[must_use]
    pub fn moment(&self) -> usize {
        self.lock().journal.as_ref().map_or(0, Journal::moments)
    }

    /// What was written down; none without [`SimulatedDisk::record`].
    #[must_use]
    pub fn journal(&self) -> Option<Journal> {
        self.lock().journal.clone()
    }

    /// The directory as it would be found after a crash at this moment; this one goes on untouched.
    #[must_use]
    pub fn crashed(&self, survival: Survival) -> SimulatedDisk {
        SimulatedDisk::on(survival.of(&self.lock().machine))
    }

    /// The bytes of a file, for a test to look at; none when there is no such file.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.lock();
        let file = state.file(name).ok()?;
        Some(state.machine.now.bytes(file).to_vec())
    }

    /// Replaces (or makes) a file behind the log's back, durably.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut state = self.lock();
        let file = state.machine.add_file();
        let folder = folder_of(name);
        state
            .machine
            .pending
            .retain(|change| !matches!(change, Change::Name(pending) if pending.name() == name));
        let Machine { durable, now, .. } = &mut state.machine;
        for tree in [durable, now] {
            tree.write(file, 0, &bytes);
            tree.names.insert(name.to_owned(), file);
            if !folder.is_empty() {
                tree.folders.insert(folder.to_owned());
            }
        }
    }

    /// The names of all files.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().machine.now.names.keys().cloned().collect()
    }

    /// Equal for equal names and bytes, as a process sees them.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.lock().machine.now.fingerprint()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self, file: usize, access: Access) -> Arc<dyn SegmentFile> {
        Arc::new(SimulatedFile {
            disk: self.clone(),
            file,
            access,
        })
    }
}

impl Disk for SimulatedDisk {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut state = self.lock();
        state.faults.pass(Operation::List)?;
        let names = state.machine.now.names.keys();
        let inside = names.filter(|name| folder_of(name) == folder);
        let own = inside.filter_map(|name| name.rsplit('/').next());
        Ok(own.map(str::to_owned).collect())
    }

    fn create_dir(&self, folder: &str) -> io::Result<()> {
        let mut state = self.lock();
        state.faults.pass(Operation::CreateDir)?;
        let mut missing: Vec<&str> = Vec::new();
        let mut above = folder;
        while !above.is_empty() && !state.machine.now.folders.contains(above) {
            missing.push(above);
            above = folder_of(above);
        }
        for folder in missing.into_iter().rev() {
            state.name(Name::Folder {
                folder: folder.to_owned(),
            });
        }
        Ok(())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        let mut state = self.lock();
        state.faults.pass(Operation::Create)?;
        state.folder(name)?;
        if state.file(name).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = state.machine.add_file();
        state.name(Name::Made {
            name: name.to_owned(),
            file,
        });
        Ok(self.opened(file, Access::Write))
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn SegmentFile>> {
        let mut state = self.lock();
        state.faults.pass(Operation::Open)?;
        Ok(self.opened(state.file(name)?, access))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.lock();
        state.faults.pass(Operation::Rename)?;
        let file = state.file(from)?;
        state.folder(to)?;
        state.name(Name::Moved {
            from: from.to_owned(),
            to: to.to_owned(),
            file,
        });
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.lock();
        state.faults.pass(Operation::Remove)?;
        let file = state.file(name)?;
        state.name(Name::Removed {
            name: name.to_owned(),
            file,
        });
        Ok(())
    }

    fn sync_dir(&self, folder: &str) -> io::Result<()> {
        let mut state = self.lock();
        state.faults.pass(Operation::SyncDir)?;
        state.step(Step::SyncedFolder(folder.to_owned()));
        Ok(())
    }
}
