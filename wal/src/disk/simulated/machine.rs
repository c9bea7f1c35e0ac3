//! A machine with a disk: what processes see, what is durable, and the changes between the two.
//!
//! - `now` is `durable` with `pending` applied in order, but for what a sync refused.
//! - What a sync settles depends on the rule for names: the letter of POSIX, or a journal that keeps metadata in order.

use std::collections::BTreeMap;

use super::change::{Change, Name, Step};
use super::tree::{Tree, folder_of};

/// What is promised of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// A name is durable once its folder was synced, not before; any of the others may survive.
    Strict,
    /// The file system's journal keeps changes of names in order, and a synced file brings along all up to its own.
    Ordered,
}

/// A machine with a disk.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) rule: Names,
    pub(super) durable: Tree,
    pub(super) now: Tree,
    pub(super) pending: Vec<Change>,
    /// Files of which a sync was refused, and how many of their pending changes it was to settle. The system says so once and takes
    /// them for settled (Linux does): they may reach the disk or not, and no later sync brings them there.
    pub(super) refused: BTreeMap<usize, usize>,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::holding(Tree::default())
    }
}

impl Machine {
    /// A machine on which all is durable.
    pub(super) fn holding(tree: Tree) -> Machine {
        Machine {
            rule: Names::Strict,
            durable: tree.clone(),
            now: tree,
            pending: Vec::new(),
            refused: BTreeMap::new(),
        }
    }

    /// A file without a name yet.
    pub(super) fn add_file(&mut self) -> usize {
        let file = self.now.next_file();
        self.make_room(file);
        file
    }

    fn make_room(&mut self, file: usize) {
        self.durable.make_room(file);
        self.now.make_room(file);
    }

    pub(super) fn apply(&mut self, step: &Step) {
        match step {
            Step::Changed(change) => {
                if let Change::Name(Name::Made { file, .. }) = change {
                    self.make_room(*file);
                }
                self.now.apply(change);
                self.pending.push(change.clone());
            }
            Step::Synced(file) => self.synced(*file),
            Step::Refused(file) => {
                let changes = self.changes_of(*file).count();
                self.refused.insert(*file, changes);
            }
            Step::SyncedFolder(folder) => self.synced_folder(folder),
        }
    }

    fn synced(&mut self, file: usize) {
        // Never all that is visible: what was refused once stays visible, and no sync settles it.
        let refused = self.refused.remove(&file).unwrap_or(0);
        let written: Vec<Change> = self.changes_of(file).skip(refused).cloned().collect();
        for change in &written {
            self.durable.apply(change);
        }
        self.pending.retain(|change| change.data_of() != Some(file));
        let names_it = |change: &Change| matches!(change, Change::Name(name) if name.names(file));
        if self.rule == Names::Ordered
            && let Some(last) = self.pending.iter().rposition(names_it)
        {
            self.settle_names(|index, _| index <= last);
        }
    }

    fn changes_of(&self, file: usize) -> impl Iterator<Item = &Change> {
        let of_file = move |change: &&Change| change.data_of() == Some(file);
        self.pending.iter().filter(of_file)
    }

    fn synced_folder(&mut self, folder: &str) {
        let inside = |change: &Change| matches!(change, Change::Name(name) if folder_of(name.name()) == folder);
        match self.rule {
            Names::Strict => self.settle_names(|_, change| inside(change)),
            Names::Ordered => {
                let last = self.pending.iter().rposition(inside);
                self.settle_names(|index, _| last.is_some_and(|last| index <= last));
            }
        }
    }

    fn settle_names(&mut self, settled: impl Fn(usize, &Change) -> bool) {
        let mut left = Vec::with_capacity(self.pending.len());
        for (index, change) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            if matches!(change, Change::Name(_)) && settled(index, &change) {
                self.durable.apply(&change);
            } else {
                left.push(change);
            }
        }
        self.pending = left;
    }
}
