//! The files beside a transcript, read from the disk.

use recount_transcripts::Files;
use std::path::{Component, Path, PathBuf};

/// The largest file beside a transcript that is read, in bytes: 1 GiB.
const LARGEST: u64 = 1 << 30;

/// A transcript's folder.
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The folder in which a transcript lies.
    pub(crate) fn beside(transcript: &Path) -> Self {
        let parent = transcript
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        Self {
            root: parent.unwrap_or_else(|| Path::new(".")).to_path_buf(),
        }
    }

    /// A folder.
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            root: path.to_path_buf(),
        }
    }

    /// A path inside the folder: a recording cannot name a file elsewhere.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let plain = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        plain.then(|| self.root.join(path))
    }
}

impl Files for Folder {
    fn list(&self, folder: &str) -> Vec<String> {
        let Some(path) = self.inside(folder) else {
            return Vec::new();
        };
        let Ok(entries) = std::fs::read_dir(path) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = self.inside(path)?;
        file(&path)
    }
}

/// The bytes of a file that is one, and not too large.
pub(super) fn file(path: &Path) -> Option<Vec<u8>> {
    let size = std::fs::metadata(path)
        .ok()
        .filter(std::fs::Metadata::is_file)?
        .len();
    if size > LARGEST {
        None
    } else {
        std::fs::read(path).ok()
    }
}
