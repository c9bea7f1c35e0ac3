//! One completed operation that changed something, and one that made changes durable.

use std::sync::Arc;

/// What an operation changed.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Bytes were written.
    Write {
        file: usize,
        offset: usize,
        bytes: Arc<[u8]>,
    },
    /// A file was cut or grown.
    Length { file: usize, length: usize },
    /// A name came, went or moved.
    Name(Name),
}

/// What happened to a name.
#[derive(Clone, Debug)]
pub(super) enum Name {
    Folder {
        folder: String,
    },
    Made {
        name: String,
        file: usize,
    },
    Moved {
        from: String,
        to: String,
        file: usize,
    },
    Removed {
        name: String,
        file: usize,
    },
}

/// A completed operation.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Changed(Change),
    /// A file was synced.
    Synced(usize),
    /// A sync of a file was refused.
    Refused(usize),
    /// A folder was synced.
    SyncedFolder(String),
}

impl Change {
    /// The file whose bytes or length it changes.
    pub(super) fn data_of(&self) -> Option<usize> {
        match self {
            Change::Write { file, .. } | Change::Length { file, .. } => Some(*file),
            Change::Name(_) => None,
        }
    }
}

impl Name {
    /// The name that the change leaves, or takes.
    pub(super) fn name(&self) -> &str {
        match self {
            Name::Folder { folder } => folder,
            Name::Made { name, .. } | Name::Removed { name, .. } => name,
            Name::Moved { to, .. } => to,
        }
    }

    /// Whether the file has this name by it.
    pub(super) fn names(&self, wanted: usize) -> bool {
        match self {
            Name::Made { file, .. } | Name::Moved { file, .. } => *file == wanted,
            Name::Folder { .. } | Name::Removed { .. } => false,
        }
    }
}
