//! What a directory holds at one moment: names, folders, bytes.
//!
//! - A file is known by its number, so that it outlives its name; bytes are shared until they are changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::{Change, Name};

/// Names, folders and bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) names: BTreeMap<String, usize>,
    pub(super) folders: BTreeSet<String>,
    files: Vec<Arc<Vec<u8>>>,
}

impl Tree {
    /// The number of the next file.
    pub(super) fn next_file(&self) -> usize {
        self.files.len()
    }

    /// Makes room for a file.
    pub(super) fn make_room(&mut self, file: usize) {
        if self.files.len() <= file {
            self.files.resize(file + 1, Arc::default());
        }
    }

    pub(super) fn bytes(&self, file: usize) -> &[u8] {
        self.files.get(file).map_or(&[], |bytes| bytes)
    }

    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Write {
                file,
                offset,
                bytes,
            } => self.write(*file, *offset, bytes),
            Change::Length { file, length } => self.resize(*file, *length),
            Change::Name(name) => self.rename(name),
        }
    }

    pub(super) fn write(&mut self, file: usize, offset: usize, bytes: &[u8]) {
        let Some(contents) = self.files.get_mut(file).filter(|_| !bytes.is_empty()) else {
            return;
        };
        let contents = Arc::make_mut(contents);
        let end = offset + bytes.len();
        if contents.len() < end {
            contents.resize(end, 0);
        }
        contents[offset..end].copy_from_slice(bytes);
    }

    pub(super) fn resize(&mut self, file: usize, length: usize) {
        if let Some(contents) = self.files.get_mut(file)
            && contents.len() != length
        {
            Arc::make_mut(contents).resize(length, 0);
        }
    }

    fn rename(&mut self, change: &Name) {
        match change {
            Name::Folder { folder } => {
                self.folders.insert(folder.clone());
            }
            Name::Made { name, file } => {
                self.names.insert(name.clone(), *file);
            }
            Name::Moved { from, to, file } => {
                self.unname(from, *file);
                self.names.insert(to.clone(), *file);
            }
            Name::Removed { name, file } => self.unname(name, *file),
        }
    }

    fn unname(&mut self, name: &str, file: usize) {
        if self.names.get(name) == Some(&file) {
            self.names.remove(name);
        }
    }

    /// Takes away what stands in a folder that is not there.
    pub(super) fn drop_orphans(&mut self) {
        let folders = &self.folders;
        self.names
            .retain(|name, _| folder_of(name).is_empty() || folders.contains(folder_of(name)));
    }

    /// Equal for equal names, folders and bytes.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        let mut sized = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        self.folders
            .iter()
            .for_each(|folder| sized(folder.as_bytes()));
        for (name, file) in &self.names {
            sized(name.as_bytes());
            sized(self.bytes(*file));
        }
        let digest = hasher.finalize();
        digest
            .as_bytes()
            .iter()
            .take(8)
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

/// The folder that a name stands in; empty for the directory itself.
pub(super) fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}
